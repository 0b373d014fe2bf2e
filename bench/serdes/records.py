"""Codecs of generated records beside those of dicts: microseconds of CPU a datum, interleaved in one run.

The columns are those of `codec.py`, with the dict codec in fastavro's place: the ratio is records to dicts. Run
`python -P bench/serdes/records.py`, so that no file of this folder stands for a package.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from uuid import UUID

from magicbyte.generate.model import Source
from magicbyte.generate.modules import record_files
from serdes.codec import compile_codec

ORDER: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "namespace": "bench",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "customer", "type": "string"},
        {"name": "email", "type": ["null", "string"], "default": None},
        {"name": "quantity", "type": "int"},
        {"name": "price", "type": "double"},
        {"name": "paid", "type": "boolean"},
        {"name": "status", "type": {"type": "enum", "name": "Status", "symbols": ["NEW", "PAID", "SENT"]}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "attributes", "type": {"type": "map", "values": "string"}},
        {
            "name": "address",
            "type": {
                "type": "record",
                "name": "Address",
                "fields": [
                    {"name": "street", "type": "string"},
                    {"name": "city", "type": "string"},
                    {"name": "zip", "type": ["null", "string"], "default": None},
                ],
            },
        },
    ],
}
AN_ORDER = {
    "id": 1234567890,
    "customer": "Ada Lovelace",
    "email": "ada@example.com",
    "quantity": 3,
    "price": 19.99,
    "paid": True,
    "status": "PAID",
    "tags": ["new", "vip", "x"],
    "attributes": {"source": "web", "campaign": "spring"},
    "address": {"street": "12 St James's Square", "city": "London", "zip": "SW1Y"},
}
LOGICAL: dict[str, Any] = {
    "type": "record",
    "name": "Logical",
    "namespace": "bench",
    "fields": [
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "seen", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
        {"name": "key", "type": {"type": "string", "logicalType": "uuid"}},
    ],
}
A_LOGICAL = {
    "at": datetime(2026, 5, 1, 12, 30, 15, 250000, tzinfo=UTC),
    "seen": datetime(2026, 5, 1, 12, 30, 15, 250001, tzinfo=UTC),
    "day": date(2026, 5, 1),
    "amount": Decimal("1234.50"),
    "key": UUID("12345678-1234-5678-1234-567812345678"),
}
EVENTS: dict[str, Any] = {
    "type": "record",
    "name": "Envelope",
    "namespace": "bench",
    "fields": [
        {
            "name": "event",
            "type": [
                {
                    "type": "record",
                    "name": f"Event{index}",
                    "fields": [{"name": "id", "type": "long"}, {"name": f"only{index}", "type": "string"}],
                }
                for index in range(4)
            ],
        }
    ],
}
OLD = {**ORDER, "fields": [field for field in ORDER["fields"] if field["name"] != "attributes"]}
NEW = {**ORDER, "fields": [*OLD["fields"], {"name": "channel", "type": "string", "default": "web"}]}


class Row(NamedTuple):
    """One comparison: what is done with records, and with dicts."""

    name: str
    records: Callable[[], Any]
    dicts: Callable[[], Any]


def class_of(schema: Any, folder: Path, *, frozen: bool) -> Any:
    """The class of a schema, generated and imported."""
    files = record_files([Source("AVRO", json.dumps(schema), origin="bench", stem="bench")], frozen=frozen)
    name = f"generated_{schema['name'].lower()}_{len(list(folder.iterdir()))}"
    (folder / name).mkdir()
    for path, text in files.items():
        (folder / name / path).write_text(text)
    importlib.invalidate_caches()
    return getattr(importlib.import_module(f"{name}.bench"), schema["name"])


def rows_of(name: str, schema: Any, datum: Any, folder: Path, *, frozen: bool = False) -> Iterator[Row]:
    """Writing and reading of one datum."""
    cls = class_of(schema, folder, frozen=frozen)
    text = json.dumps(schema)
    dicts, records = compile_codec(text), compile_codec(text, record=cls)
    content = dicts.encode(datum)
    instance = records.decode(content)
    if records.encode(instance) != content or not isinstance(instance, cls):
        raise AssertionError(name)
    yield Row(f"{name}: write", lambda: records.encode(instance), lambda: dicts.encode(datum))
    yield Row(f"{name}: read", lambda: records.decode(content), lambda: dicts.decode(content))


def resolving(folder: Path) -> Row:
    """Reading of older data, with a default and a field that is dropped."""
    cls = class_of(NEW, folder, frozen=False)
    content = compile_codec(json.dumps(ORDER)).encode(AN_ORDER)
    dicts = compile_codec(json.dumps(ORDER), json.dumps(NEW))
    records = compile_codec(json.dumps(ORDER), json.dumps(NEW), record=cls)
    return Row("order: read as another version", lambda: records.decode(content), lambda: dicts.decode(content))


def turn(work: Callable[[], Any], count: int) -> float:
    """Microseconds of CPU a call, over `count` calls."""
    started = time.process_time()
    for _ in range(count):
        work()
    return (time.process_time() - started) / count * 1e6


def measured(row: Row, rounds: int) -> dict[str, Any]:
    """The row's figures."""
    counts = [max(1, int(5000 / max(turn(work, 20), 0.1))) for work in (row.records, row.dicts)]
    records, dicts = [], []
    for _ in range(rounds):
        records.append(turn(row.records, counts[0]))
        dicts.append(turn(row.dicts, counts[1]))
    quarters = statistics.quantiles(records, n=4)
    return {
        "row": row.name,
        "us": round(statistics.median(records), 2),
        "spread": [round(quarters[0], 2), round(quarters[2], 2)],
        "dict_us": round(statistics.median(dicts), 2),
        "ratio": round(statistics.median(mine / other for mine, other in zip(records, dicts, strict=True)), 2),
    }


def main() -> int:
    """All rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--json", action="store_true", help="one JSON object a row")
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        sys.path.insert(0, name)
        rows = [
            *rows_of("order", ORDER, AN_ORDER, folder),
            *rows_of("order, frozen", ORDER, AN_ORDER, folder, frozen=True),
            *rows_of("logical types", LOGICAL, A_LOGICAL, folder),
            *rows_of("union of 4 records", EVENTS, {"event": ("bench.Event3", {"id": 7, "only3": "x"})}, folder),
            resolving(folder),
        ]
        if not options.json:
            print(f"{'':34}{'records us':>11} {'spread':>17} {'dicts':>9} {'ratio':>6}")
        for row in rows:
            result = measured(row, options.rounds)
            if options.json:
                print(json.dumps(result))
                continue
            low, high = result["spread"]
            print(
                f"{result['row']:34}{result['us']:11} {f'{low} - {high}':>17} {result['dict_us']:9} {result['ratio']:6}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
