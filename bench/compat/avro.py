"""Times Avro parsing, printing and compatibility, beside fastavro's parser and Apache's checker in the same run.

    PYTHONPATH=bench/kit python -P bench/compat/avro.py

Each row is the median of the rounds in processor time, with the fastest and the slowest round as spread.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import avro.schema
import fastavro
from avro.compatibility import ReaderWriterCompatibilityChecker
from processor_time import head, row

from compat.avro import FORMAT
from compat.engine import Previous, check
from compat.formats import parse
from compat.level import LEVELS
from compat.schema import AVRO, ParsedSchema, SchemaText

VERSIONS = 1000


def flat(fields: int, *, added: int = 0) -> str:
    """A record of primitive fields, so many of them added with a default."""
    kinds = ["string", "int", "long", "double"]
    listed: list[dict[str, Any]] = [{"name": f"f{n}", "type": kinds[n % 4]} for n in range(fields)]
    listed += [{"name": f"added{n}", "type": "int", "default": n} for n in range(added)]
    return json.dumps({"type": "record", "name": "Flat", "namespace": "com.example", "fields": listed})


def mixed(fields: int, *, added: int = 0) -> str:
    """A record of fields of all kinds: of ten, three primitive, three unions, an array, a map, and two named types."""
    listed: list[dict[str, Any]] = []
    for n in range(fields):
        named: list[dict[str, Any]] = [
            {"type": "enum", "name": f"Kind{n}", "symbols": ["A", "B", "C"]},
            {
                "type": "record",
                "name": f"Part{n}",
                "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": "long"}],
            },
        ]
        kind: Any = [
            "string",
            ["null", "string"],
            {"type": "array", "items": "int"},
            {"type": "map", "values": "double"},
            named[0],
            ["null", "long"],
            "long",
            {"type": "long", "logicalType": "timestamp-millis"},
            ["null", "boolean"],
            named[1],
        ][n % 10]
        listed.append({"name": f"f{n}", "type": kind, "doc": "What the field is for"})
    listed += [{"name": f"added{n}", "type": ["null", "int"], "default": None} for n in range(added)]
    return json.dumps({"type": "record", "name": "Mixed", "namespace": "com.example", "fields": listed})


def read(text: str) -> ParsedSchema:
    """The parsed schema, read as a new one."""
    return parse(SchemaText(AVRO, text), strict=True)


def transitive(make: Callable[..., str], fields: int, *, cached: bool) -> Callable[[], object]:
    """A check of a new version against a thousand, of which each tenth adds a field."""
    texts = [make(fields, added=n // 100) for n in range(VERSIONS)]
    new = read(make(fields, added=VERSIONS // 100))
    if cached:
        schemas = [read(text) for text in texts]
        previous = [Previous(n, schema) for n, schema in enumerate(schemas, 1)]
    else:
        previous = [Previous(n, lambda text=text: parse(SchemaText(AVRO, text))) for n, text in enumerate(texts, 1)]

    def work() -> None:
        verdict = check(new, previous, LEVELS["BACKWARD_TRANSITIVE"])
        assert verdict.compatible, verdict.messages

    return work


def main() -> None:
    """Prints the table."""
    head()
    for name, make in (("flat", flat), ("mixed", mixed)):
        old_text, new_text = make(100), make(100, added=1)
        old, new = read(old_text), read(new_text)
        old_json = json.loads(old_text)
        apache_old, apache_new = avro.schema.parse(old_text), avro.schema.parse(new_text)
        print(f"100 fields, {name}, {len(old_text) // 1024} KB")
        row("  compare", lambda old=old, new=new: FORMAT.differences(new, old), repeat=20, goal="0.3")
        row(
            "  compare: Apache's checker",
            lambda old=apache_old, new=apache_new: ReaderWriterCompatibilityChecker().get_compatibility(new, old),
        )
        row("  parse, names and defaults checked", lambda text=old_text: read(text), repeat=5)
        row("  parse: fastavro.parse_schema of the decoded JSON", lambda value=old_json: fastavro.parse_schema(value))
        row("  parse: Apache's avro.schema.parse", lambda text=old_text: avro.schema.parse(text))
        row("  parse and canonical text", lambda text=old_text: read(text).canonical, repeat=5)
        row("  parse and normalised text", lambda text=old_text: read(text).normalized(), repeat=5)
    print(f"{VERSIONS} versions, BACKWARD_TRANSITIVE, all compatible")
    row("  100 fields, flat, parsed before", transitive(flat, 100, cached=True), goal="100")
    row("  100 fields, mixed, parsed before", transitive(mixed, 100, cached=True), goal="100")
    row("  10 fields, flat, parsed in the check", transitive(flat, 10, cached=False), goal="100")
    row("  10 fields, mixed, parsed in the check", transitive(mixed, 10, cached=False))


if __name__ == "__main__":
    main()
