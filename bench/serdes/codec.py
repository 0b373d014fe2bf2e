"""Avro codecs beside bare fastavro: microseconds of CPU a datum, interleaved in one run.

Each row's two sides take turns; a turn is a loop of about 5 ms. Columns: the median of ours, its spread (the middle
half of the turns), fastavro's median, and the median of the turns' ratios. Run
`python -P bench/serdes/codec.py`, so that no file of this folder stands for a package.
"""

from __future__ import annotations

import argparse
import io
import json
import statistics
import sys
import time
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

import fastavro
import orjson

from serdes.codec import codec

HEADER = b"\0\0\0\0\1"

ORDER = {
    "type": "record",
    "name": "com.example.Order",
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
LOGICAL = {
    "type": "record",
    "name": "Logical",
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
EVENTS = [
    {
        "type": "record",
        "name": f"Event{index}",
        "fields": [{"name": "id", "type": "long"}, {"name": f"only{index}", "type": "string"}],
    }
    for index in range(4)
]
ADDED = {"name": "channel", "type": "string", "default": "web"}
READER = {**ORDER, "fields": [field for field in ORDER["fields"] if field["name"] != "attributes"] + [ADDED]}


class Row(NamedTuple):
    """One comparison: what is done, ours and fastavro's way."""

    name: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]


def rows_of(name: str, schema: Any, datum: Any) -> list[Row]:
    """Writing and reading of one datum, framed and bare."""
    parsed = fastavro.parse_schema(schema)
    made = codec.compile_codec(json.dumps(schema))
    encode, decode = made.encode, made.decode

    def write() -> bytes:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, parsed, datum)
        return out.getvalue()

    content = write()
    framed = HEADER + content
    if encode(datum, HEADER) != framed or decode(framed, 5) != fastavro.schemaless_reader(io.BytesIO(content), parsed):
        raise AssertionError(name)
    return [
        Row(f"{name}: write, framed", lambda: encode(datum, HEADER), write),
        Row(
            f"{name}: read, framed",
            lambda: decode(framed, 5),
            lambda: fastavro.schemaless_reader(io.BytesIO(content), parsed),
        ),
    ]


def json_rows() -> list[Row]:
    """Avro JSON text to Avro bytes and back, and reading with another schema."""
    parsed = fastavro.parse_schema(ORDER)
    made = codec.compile_codec(json.dumps(ORDER))
    plain = codec.compile_codec(json.dumps(ORDER), plain_unions=True)
    content = made.encode(AN_ORDER)
    text, plain_text = made.avro_to_json_bytes(content), plain.avro_to_json_bytes(content)
    line = text.decode()

    def to_avro() -> bytes:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, parsed, next(fastavro.json_reader(io.StringIO(line), parsed)))
        return out.getvalue()

    def to_json(*, tagged: bool = True) -> str:
        out = io.StringIO()
        datum = fastavro.schemaless_reader(io.BytesIO(content), parsed)
        fastavro.json_writer(out, parsed, [datum], write_union_type=tagged)
        return out.getvalue()

    resolving = codec.compile_codec(json.dumps(ORDER), json.dumps(READER))
    reader = fastavro.parse_schema(READER)
    return [
        Row("Avro JSON -> Avro", lambda: made.json_to_avro(orjson.loads(text)), to_avro),
        Row("Avro -> Avro JSON", lambda: made.avro_to_json_bytes(content), to_json),
        Row("plain JSON -> Avro", lambda: plain.json_to_avro(orjson.loads(plain_text)), to_avro),
        Row("Avro -> plain JSON", lambda: plain.avro_to_json_bytes(content), lambda: to_json(tagged=False)),
        Row(
            "order: read as another schema",
            lambda: resolving.decode(content),
            lambda: fastavro.schemaless_reader(io.BytesIO(content), parsed, reader),
        ),
        Row("order: compile, encode and decode", _compile_both, lambda: fastavro.parse_schema(dict(ORDER))),
    ]


def _compile_both() -> None:
    made = codec.AvroCodec(codec.Source(json.dumps(ORDER), None, (), (), plain_unions=False, json_defaults=False))
    made.encode(AN_ORDER)
    made.decode(made.encode(AN_ORDER))


def turn(work: Callable[[], Any], count: int) -> float:
    """Microseconds of CPU a call, over `count` calls."""
    started = time.process_time()
    for _ in range(count):
        work()
    return (time.process_time() - started) / count * 1e6


def measured(row: Row, rounds: int) -> dict[str, Any]:
    """The row's figures."""
    counts = [max(1, int(5000 / max(turn(work, 20), 0.1))) for work in (row.ours, row.theirs)]
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(turn(row.ours, counts[0]))
        theirs.append(turn(row.theirs, counts[1]))
    quarters = statistics.quantiles(ours, n=4)
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    return {
        "row": row.name,
        "us": round(statistics.median(ours), 2),
        "spread": [round(quarters[0], 2), round(quarters[2], 2)],
        "fastavro_us": round(statistics.median(theirs), 2),
        "ratio": round(statistics.median(ratios), 2),
    }


def main() -> int:
    """All rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--json", action="store_true", help="one JSON object a row")
    options = parser.parse_args()
    rows = [
        *rows_of("order", ORDER, AN_ORDER),
        *rows_of("logical types", LOGICAL, A_LOGICAL),
        *rows_of("union of 4 records", EVENTS, {"id": 7, "only3": "x"}),
        *rows_of("array of 100 longs", {"type": "array", "items": "long"}, list(range(-5000, 5000, 100))),
        *rows_of("array of 20 orders", {"type": "array", "items": ORDER}, [AN_ORDER] * 20),
        *rows_of("a string of 1 kB", "string", "x" * 1000),
        *json_rows(),
    ]
    if not options.json:
        print(f"{'':34}{'ours us':>9} {'spread':>17} {'fastavro':>9} {'ratio':>6}")
    for row in rows:
        result = measured(row, options.rounds)
        if options.json:
            print(json.dumps(result))
            continue
        low, high = result["spread"]
        print(
            f"{result['row']:34}{result['us']:9} {f'{low} - {high}':>17} {result['fastavro_us']:9} {result['ratio']:6}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
