"""Throws mutated and hostile Avro schemas at the parser, the printer and the checker.

Whatever the text: it is refused with InvalidSchema or read; what is read prints, reads back as the same schema and can
be compared; nothing else is raised and nothing takes long. Run it for as long as you like:

    python tests/fuzz/fuzz_avro.py --seconds 600
"""

from __future__ import annotations

import argparse
import copy
import itertools
import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from compat.avro import AvroSchema
from compat.avro.nodes import NAMED, Array, Enum, Field, Fixed, Map, Node, Primitive, Record, Union
from compat.engine import Previous, check
from compat.formats import parse
from compat.level import LEVELS
from compat.schema import AVRO, InvalidSchema, SchemaText

CASES = Path(__file__).parents[1] / "compat" / "cases" / "avro"
#: No text of the size made here may keep the parser or the checker busy for more processor time.
SECONDS_PER_TEXT = 10.0
_WORDS = (
    '"null" "int" "string" "record" "enum" "fixed" "array" "map" "error" "type" "name" "fields" "items" "values"'
    ' "symbols" "size" "default" "aliases" "namespace" "doc" "order" "logicalType" "decimal" "precision" "scale" "a.b"'
    ' "" "." "R" ".R" "A" null true false 0 -1 1.5 1e400 NaN 99999999999999999999 { } [ ] , : // /* */ "'
    " \\ \\ud800 \ud800 é"
)
WORDS = _WORDS.split(" ")


def seeds() -> list[Any]:
    """The golden cases' schemas."""
    cases = [json.loads(path.read_text("utf-8")) for path in sorted(CASES.glob("*/*.json"))]
    return [case[side] for case in cases for side in ("reader", "writer")]


def texts(rng: random.Random) -> Iterator[str]:
    """Texts without end."""
    trees = seeds()
    while True:
        kind = rng.random()
        if kind < 0.02:
            yield hostile(rng)
            continue
        tree = mutated(rng, copy.deepcopy(rng.choice(trees)), trees)
        text = json.dumps(tree, ensure_ascii=rng.random() < 0.5)
        yield text if kind < 0.7 else scrambled(rng, text)


def mutated(rng: random.Random, tree: Any, trees: list[Any]) -> Any:
    """The tree with some values replaced by others."""
    box: Any = [tree]
    for _ in range(rng.randint(0, 4)):
        places = [
            (container, key)
            for container in containers(box)
            for key in (container if isinstance(container, dict) else range(len(container)))
        ]
        container, key = rng.choice(places)
        what = rng.randrange(4)
        if what == 0:
            container[key] = copy.deepcopy(rng.choice(list(containers(trees))))
        elif what == 1:
            container[key] = rng.choice([None, True, 0, -1, 2**31, 1.5, "", "a.b", "R", "int", "E", [], {}, ["null"]])
        elif what == 2:
            container[key] = {
                "type": container[key],
                "name": rng.choice(["R", "x.R", "E", "f"]),
                "items": container[key],
            }
        elif isinstance(container, dict) and container is not box:
            container[rng.choice(WORDS).strip('"')] = container.pop(key)
    try:
        return json.loads(json.dumps(box[0]))
    except (ValueError, RecursionError):
        return None  # a value was put inside itself


def containers(value: Any) -> Iterator[Any]:
    """All arrays and objects inside a value."""
    todo = [value]
    for _ in range(10_000):
        if not todo:
            return
        found = todo.pop()
        if isinstance(found, dict | list):
            if found:
                yield found
            todo += found.values() if isinstance(found, dict) else found


def scrambled(rng: random.Random, text: str) -> str:
    """The text with pieces put in, taken out or doubled."""
    for _ in range(rng.randint(1, 4)):
        start, end = sorted((rng.randint(0, len(text)), rng.randint(0, len(text))))
        end = min(end, start + 20)
        piece = rng.choice([rng.choice(WORDS), "", text[start:end] * 2, chr(rng.randrange(0x3000))])
        text = text[:start] + piece + text[rng.choice([start, end]) :]
    return text


def hostile(rng: random.Random) -> str:
    """A text made to exhaust the stack, the memory or the patience."""
    size = rng.choice([10, 199, 201, 2_000, 6_000])
    number = rng.randrange(11)
    fields = [f'{{"name":"f{index}","type":"int"}}' for index in range(size)]
    return [
        lambda: '{"type":"array","items":' * size + '"int"' + "}" * size,
        lambda: '{"type":"map","values":' * size,
        lambda: "[" * size + "]" * size,
        lambda: '"' + "\\" * size,
        lambda: "[" + ",".join(f'{{"type":"fixed","name":"N{index}","size":1}}' for index in range(size)) + "]",
        lambda: '{"type":"record","name":"R","fields":[' + ",".join(fields) + "]}",
        lambda: '{"type":"fixed","name":"F","size":' + "9" * size + "}",
        lambda: '{"type":"record","name":"' + "a." * size + 'R","fields":[]}',
        lambda: "/*" * size + "//" * size + "\n" + '"int"',
        lambda: chain(size),
        lambda: (
            '{"type":"record","name":"R","fields":[{"name":"f","type":["null","R"],"default":'
            + '{"f":' * min(size, 190)
            + "null"
            + "}" * min(size, 190)
            + "}]}"
        ),
    ][number]()


def chain(length: int) -> str:
    """A union of records, each with two fields of the one before it and a default for each."""
    records = ['{"type":"record","name":"N0","fields":[]}']
    for number in range(1, length):
        listed = ",".join(f'{{"name":"{name}","type":"N{number - 1}","default":{{}}}}' for name in "ab")
        records.append(f'{{"type":"record","name":"N{number}","fields":[{listed}]}}')
    return f"[{','.join(records)}]"


def shape(root: Node) -> list[Any]:
    """The shape of a schema, for comparing: types in order of the walk, with a named type's second use as its name."""
    told: list[Any] = []
    seen: set[str] = set()
    todo: list[Node | Field] = [root]
    while todo:
        one = todo.pop()
        if isinstance(one, Field):
            told.append((one.name, repr(one.default), one.order, one.doc, one.aliases, repr(one.props)))
            todo.append(one.type)
        elif isinstance(one, NAMED) and one.name.full in seen:
            told.append(one.name)
        else:
            told.append((one.type, None if isinstance(one, Union) else repr(one.props)))
            if isinstance(one, NAMED):
                seen.add(one.name.full)
                told.append((one.name, one.doc, one.aliases))
            told.append(own(one))
            todo += inner(one)
    return told


def own(node: Node) -> Any:
    """The properties that only this type has, besides the types inside it."""
    if isinstance(node, Enum):
        return node.symbols, node.default
    if isinstance(node, Fixed):
        return node.size
    return node.is_error if isinstance(node, Record) else None


def inner(node: Node) -> list[Any]:
    """The types and fields directly inside a type."""
    if isinstance(node, Record):
        return list(node.fields)
    if isinstance(node, Array):
        return [node.items]
    if isinstance(node, Map):
        return [node.values]
    assert isinstance(node, Union | Primitive | Enum | Fixed)
    return list(node.branches) if isinstance(node, Union) else []


def read(text: str, *, strict: bool) -> AvroSchema | None:
    """The schema, or None if the parser refuses it as it should."""
    try:
        parsed = parse(SchemaText(AVRO, text), strict=strict)
    except InvalidSchema:
        return None
    assert isinstance(parsed, AvroSchema)
    return parsed


def examine(text: str, earlier: list[AvroSchema]) -> str:
    """Puts one text through everything; says what became of it."""
    strict, parsed = read(text, strict=True), read(text, strict=False)
    if parsed is None:
        assert strict is None, "strict reading is the stricter"
        return "refused"
    again = read(parsed.canonical, strict=False)
    if again is None:
        # Enclosed in the types around it, a shared type may nest deeper than a text may.
        assert "Nested deeper" in str(reason(parsed.canonical)), reason(parsed.canonical)
        return "read, too deep to read back"
    assert again.canonical == parsed.canonical
    assert shape(again.root) == shape(parsed.root)
    normalized = read(parsed.normalized(), strict=False)
    assert normalized is not None
    assert normalized.canonical == normalized.normalized() == parsed.normalized()
    assert parsed.rendered("resolved") == parsed.canonical
    previous = [Previous(index, schema) for index, schema in enumerate(earlier)]
    verdict = check(parsed, previous, LEVELS["FULL_TRANSITIVE"], every_version=True)
    for incompatibility in verdict.incompatibilities[:5]:
        assert incompatibility.to_text()
        json.dumps(incompatibility.to_json())
    earlier.append(parsed)
    del earlier[:-3]
    return "read" if strict else "read leniently"


def reason(text: str) -> str:
    """The reason why a text is refused; empty if it is accepted."""
    try:
        parse(SchemaText(AVRO, text))
    except InvalidSchema as refused:
        return refused.detail
    return ""


def main() -> None:
    """Runs until the time or the number of texts is used up, and tells how many of them became what."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to go on (60)")
    parser.add_argument("--texts", type=int, help="how many texts at most")
    parser.add_argument("--seed", type=int, default=None, help="the seed of the run to repeat")
    options = parser.parse_args()
    seed = random.randrange(2**32) if options.seed is None else options.seed
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    earlier: list[AvroSchema] = []
    end = time.monotonic() + options.seconds
    for text in itertools.islice(texts(rng), options.texts):
        start = time.process_time()
        try:
            counts[examine(text, earlier)] += 1
            assert time.process_time() - start < SECONDS_PER_TEXT, "took too long"
        except BaseException:
            print(f"seed {seed}, text {sum(counts.values())}: {text[:2000]!r}")
            raise
        if time.monotonic() > end:
            break
    print(f"seed {seed}: {sum(counts.values())} texts, {dict(counts.most_common())}")


if __name__ == "__main__":
    main()
