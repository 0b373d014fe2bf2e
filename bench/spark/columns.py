"""Protobuf and JSON Schema messages decoded in Python workers: in columns, beside the decoder of single messages.

Both decode the same batches by turns, in this process: CPU in microseconds a message, the median and the middle half,
and the same of the ratio turn by turn. Spark's own work on the column comes on top, and is the same for both.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from compat.schema import JSON, PROTOBUF, SchemaText
from serdes.rules.context import Ruled
from spark_avro.columns import decode_batch
from spark_avro.plan.arrow_type import arrow_type
from spark_avro.plan.protobuf_types import message_class, message_type
from spark_avro.plan.rules.refusing import ANY
from spark_avro.sent_schema import SentSchema
from spark_avro.workers.decoding import Decoder, json_decoder, protobuf_decoder

ID = 7
HEADER = b"\x00\x00\x00\x00\x07"
PROTO = """
syntax = "proto3";
import "google/protobuf/timestamp.proto";
message Flight {
  int64 id = 1; string carrier = 2; string origin = 3; string destination = 4; optional string tail = 5;
  int32 seats = 6; double delay = 7; bool cancelled = 8; google.protobuf.Timestamp at = 9;
}
"""
TYPES = {
    "id": "integer",
    "carrier": "string",
    "origin": "string",
    "destination": "string",
    "tail": ["string", "null"],
    "seats": "integer",
    "delay": "number",
    "cancelled": "boolean",
    "at": "string",
}


def flights(count: int) -> list[dict[str, Any]]:
    """The data: nine fields."""
    return [
        {
            "id": number * 1_000_003,
            "carrier": "United Air Lines Inc.",
            "origin": "EWR",
            "destination": "IAH",
            "tail": f"N{number}" if number % 2 else None,
            "seats": number % 400,
            "delay": number * 0.5,
            "cancelled": number % 3 == 0,
        }
        for number in range(count)
    ]


def protobuf(count: int) -> tuple[Decoder, pa.DataType, pa.Array]:
    """The decoder of Protobuf messages, the type of their values, and messages."""
    sent = SentSchema(Ruled("the bench", SchemaText(PROTOBUF, PROTO)))
    make = message_class(sent, "Flight")
    messages = []
    for number, flight in enumerate(flights(count)):
        message = make(**flight)
        message.at.seconds = 1_600_000_000 + number
        messages.append(HEADER + b"\x00" + message.SerializeToString())
    kind = arrow_type(message_type(make.DESCRIPTOR))
    return protobuf_decoder({ID: sent}, sent, "Flight", "the bench", ANY, None), kind, pa.array(messages)


def json_schema(count: int) -> tuple[Decoder, pa.DataType, pa.Array]:
    """The decoder of JSON Schema messages, the type of their texts, and messages."""
    schema = {"type": "object", "properties": {name: {"type": kind} for name, kind in TYPES.items()}}
    sent = SentSchema(Ruled("the bench", SchemaText(JSON, json.dumps({**schema, "required": ["id"]}))))
    messages = [HEADER + json.dumps({**flight, "at": "2013-01-01"}).encode() for flight in flights(count)]
    return json_decoder({ID: sent}, "the bench", ANY, None), pa.string(), pa.array(messages)


def compare(decoder: Decoder, kind: pa.DataType, messages: pa.Array, turns: int) -> tuple[list[float], list[float]]:
    """Microseconds a message in columns and one by one, turn by turn; both have the same values."""
    schema = decoder.schemas[ID]
    columns = decoder.make_columns and decoder.make_columns(schema, kind)
    if columns is None:
        raise SystemExit("this schema is not read in columns")
    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(turns):
        values = []
        for way, reader in enumerate((columns, None)):
            start = time.process_time()
            values.append(decode_batch(messages, kind, decoder.decode, lambda _, reader=reader: reader)[0])
            spent[way].append((time.process_time() - start) / len(messages) * 1e6)
        if not values[0].equals(values[1]):
            raise SystemExit("the values differ")
    return spent


def shown(values: Sequence[float]) -> str:
    """The median and the middle half."""
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:6.2f} ({low:.2f} to {high:.2f})"


def main() -> None:
    """Print a row for each type."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--turns", type=int, default=15)
    options = parser.parse_args()
    for name, make in (("Protobuf", protobuf), ("JSON Schema, validated", json_schema)):
        columns, single = compare(*make(options.messages), options.turns)
        ratio = [one / together for one, together in zip(single, columns, strict=True)]
        print(f"{name:<24} in columns {shown(columns)}  one by one {shown(single)}  times {shown(ratio)}")


if __name__ == "__main__":
    main()
