"""Random schemas whose references tangle: a validator never does more work than the bound says."""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from typing import Any

from compat.json_schema.validate.validators import bounded_work, compiled

DRAFTS = (
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
)
#: A unit of work takes about 10 ns; that and so much more, on a machine that is busy.
SECONDS_OF_UNIT = 200e-9
SECONDS_AT_LEAST = 0.02
#: Schemas of more work are not tried.
MOST_WORK = 2e6


def schema(chance: random.Random, names: list[str], depth: int = 0) -> Any:
    """A schema that refers to definitions, and to itself."""

    def below() -> Any:
        return schema(chance, names, depth + 1)

    if depth > 3 or chance.random() < 0.45:
        return {"$ref": f"#/$defs/{chance.choice(names)}"} if chance.random() < 0.7 else leaf(chance)
    made: dict[str, Any] = {}
    for _ in range(chance.randint(1, 3)):
        kind = chance.randrange(9)
        if kind < 3:
            made[chance.choice(["allOf", "anyOf", "oneOf"])] = [below() for _ in range(chance.randint(1, 3))]
        elif kind == 3:
            made["properties"] = {name: below() for name in chance.sample(["a", "b", "c"], chance.randint(1, 3))}
        elif kind == 4:
            made["items"] = below()
        elif kind == 5:
            made |= {"if": below(), "then": below(), "else": below()}
        elif kind == 6:
            made[chance.choice(["additionalProperties", "unevaluatedProperties", "contains"])] = below()
        elif kind == 7:
            made["not"] = below()
        else:
            made["patternProperties"] = {"^[ab]": below()}
    return made


def leaf(chance: random.Random) -> Any:
    """A schema without others in it."""
    return chance.choice([{"type": "integer"}, {"type": "object"}, {"enum": ["a", 1]}, True, {"required": ["a"]}])


def value(chance: random.Random, depth: int) -> Any:
    """A value of some depth."""
    if depth == 0 or chance.random() < 0.1:
        return chance.choice([1, "a", None])
    if chance.random() < 0.3:
        return [value(chance, depth - 1) for _ in range(chance.randint(1, 2))]
    return {name: value(chance, depth - 1) for name in chance.sample(["a", "b", "c"], chance.randint(1, 2))}


def main() -> int:
    """Try them and compare; 0 if all was well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schemas", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    tried = skipped = refused = 0
    worst = 0.0
    for number in range(options.schemas):
        names = [f"d{index}" for index in range(chance.randint(1, 12))]
        raw: dict[str, Any] = {
            "$schema": chance.choice(DRAFTS),
            "$defs": {name: schema(chance, names) for name in names},
        }
        raw["allOf"] = [{"$ref": f"#/$defs/{names[0]}"}]
        work = bounded_work(raw)
        instance = value(chance, chance.randint(1, 9))
        size = len(json.dumps(instance))
        if work.bound(size) > MOST_WORK:
            skipped += 1
            continue
        try:
            validator = compiled(raw)
        except ValueError:
            refused += 1
            continue
        started = time.process_time()
        validator.is_valid(instance)
        seconds = time.process_time() - started
        tried += 1
        worst = max(worst, seconds / (work.bound(size) * SECONDS_OF_UNIT + SECONDS_AT_LEAST))
        if seconds > work.bound(size) * SECONDS_OF_UNIT + SECONDS_AT_LEAST:
            print(f"schema {number}: {seconds:.3f} s with a bound of {work.bound(size):.0f}: {json.dumps(raw)}")
            print(f"  value: {json.dumps(instance)}")
            return 1
    print(f"{tried} tried, {skipped} beyond the bound, {refused} refused; the worst used {worst:.0%} of its time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
