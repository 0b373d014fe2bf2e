"""Comparison of JSON Schemas: milliseconds of CPU to read and to compare pairs, the median of rounds and their spread.

Rows with a goal say whether it is met. Run `python -P bench/compat/json_schema.py`, so that no file of this folder
stands for a package.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Any

from compat.json_schema import FORMAT
from compat.schema import JSON, ParsedSchema, SchemaText

ALTERNATIVES = 12
DEFINITIONS = 500


@dataclass(frozen=True, slots=True)
class Row:
    """A pair of schemas to compare, and the most milliseconds that it may take."""

    name: str
    old: Any
    new: Any
    goal: float | None = None


def nested(leaf: Callable[[int, int], Any], order: int = 1) -> Any:
    """A oneOf of 12 oneOfs of 12 leaves, in their order or the reverse."""
    places = range(ALTERNATIVES)[::order]
    return {"oneOf": [{"oneOf": [leaf(outer, inner) for inner in places]} for outer in places]}


def text(longer: int) -> Callable[[int, int], Any]:
    """Strings of different lengths."""
    return lambda outer, inner: {"type": "string", "maxLength": 10 + ALTERNATIVES * outer + inner + longer}


def tagged(**more: Any) -> Callable[[int, int], Any]:
    """Closed objects told apart by a constant."""
    return lambda outer, inner: {
        "type": "object",
        "properties": {"kind": {"const": f"{outer}.{inner}"}, f"value{outer}_{inner}": {"type": "string"}},
        "required": ["kind"],
        "additionalProperties": False,
        **more,
    }


def referring(name_type: str = "string", **more: Any) -> Any:
    """Some 11,000 lines with 500 definitions that refer to each other in circles; one of them may differ."""
    definitions = {
        f"type{place}": {
            "type": "object",
            "properties": {
                "id": {"type": "integer", "minimum": 0},
                "name": {"type": name_type if place == DEFINITIONS // 2 else "string"},
                "next": {"$ref": f"#/definitions/type{(place * 7 + 1) % DEFINITIONS}"},
                **(more if place == DEFINITIONS // 2 else {}),
            },
            "required": ["id"],
            "additionalProperties": False,
        }
        for place in range(DEFINITIONS)
    }
    properties = {f"field{place}": {"$ref": f"#/definitions/type{place}"} for place in range(DEFINITIONS)}
    return {"type": "object", "properties": properties, "additionalProperties": False, "definitions": definitions}


def rows() -> Iterator[Row]:
    """The pairs."""
    small = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]}
    yield Row("two properties", small, {**small, "required": []})
    yield Row("oneOf 12 x 12: the same strings", nested(text(0)), nested(text(0)), 50)
    yield Row("oneOf 12 x 12: longer strings", nested(text(0)), nested(text(1)), 50)
    yield Row("oneOf 12 x 12: shorter strings", nested(text(0)), nested(text(-1)), 50)
    yield Row("oneOf 12 x 12: objects", nested(tagged()), nested(tagged()), 50)
    yield Row("oneOf 12 x 12: objects in reverse", nested(tagged()), nested(tagged(), -1), 50)
    yield Row("oneOf 12 x 12: all objects narrower", nested(tagged()), nested(tagged(maxProperties=1)), 50)
    yield Row("500 definitions: the same", referring(), referring(), 1_000)
    yield Row("500 definitions: one compatible change", referring(), referring(extra={"type": "string"}), 1_000)
    yield Row("500 definitions: one breaking change", referring(), referring(name_type="integer"), 1_000)


def parsed(schema: Any) -> ParsedSchema:
    """The schema, read as a new one."""
    return FORMAT.parse(SchemaText(JSON, json.dumps(schema, indent=2)), (), True)


def timed(rounds: int, work: Callable[[], object]) -> list[float]:
    """Milliseconds of CPU of each round, in order of size: other work on the machine does not count."""
    taken = []
    for _ in range(rounds):
        start = process_time()
        work()
        taken.append(1e3 * (process_time() - start))
    return sorted(taken)


def main() -> int:
    """Prints one line per pair; the exit code tells whether all goals were met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    missed = 0
    print(f"{'pair':42}{'read ms':>9}{'compare ms':>12}{'spread':>16}{'goal':>8}")
    for row in rows():
        old, new = parsed(row.old), parsed(row.new)
        reading = median(timed(max(rounds // 5, 1), lambda row=row: parsed(row.new)))  # type: ignore[misc]
        comparing = timed(rounds, lambda old=old, new=new: FORMAT.differences(new, old))  # type: ignore[misc]
        spread = f"{comparing[len(comparing) // 4]:.1f} to {comparing[3 * len(comparing) // 4]:.1f}"
        is_missed = row.goal is not None and median(comparing) > row.goal
        missed += is_missed
        goal = "" if row.goal is None else f"{row.goal:.0f}{' MISSED' if is_missed else ''}"
        print(f"{row.name:42}{reading:9.1f}{median(comparing):12.1f}{spread:>16}{goal:>8}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
