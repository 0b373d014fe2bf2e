"""Serializers and deserializers beside confluent-kafka's, and beside the bare libraries underneath, in one run.

Every row is measured in rounds that take turns, so that a noisy machine disturbs all alike; the figures are
microseconds per message, the median of the rounds and their spread, and the median of the ratios to the bare library
within a turn.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from statistics import median
from time import perf_counter
from typing import Any

import confluent_kafka.schema_registry as theirs
import fastavro
import jsonschema_rs
import orjson
from confluent_kafka.schema_registry import avro as their_avro
from confluent_kafka.schema_registry import json_schema as their_json
from confluent_kafka.schema_registry import protobuf as their_protobuf
from google.protobuf.struct_pb2 import Value
from google.rpc import error_details_pb2

import serdes
from magicbyte.testing import running_registry

CONTEXT = serdes.SerializationContext("bench", "value")

AVRO_SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "namespace": "bench",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "customer", "type": "string"},
            {"name": "paid", "type": "boolean"},
            {"name": "total", "type": "double"},
            {"name": "note", "type": ["null", "string"], "default": None},
            {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "SENT", "DONE"]}},
            {"name": "tags", "type": {"type": "array", "items": "string"}},
            {"name": "amounts", "type": {"type": "map", "values": "int"}},
            {
                "name": "address",
                "type": {
                    "type": "record",
                    "name": "Address",
                    "fields": [{"name": "city", "type": "string"}, {"name": "zip", "type": "int"}],
                },
            },
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        ],
    }
)
DATUM: dict[str, Any] = {
    "id": 1234567,
    "customer": "Ada Lovelace",
    "paid": True,
    "total": 99.5,
    "note": "by hand",
    "state": "SENT",
    "tags": ["new", "gift"],
    "amounts": {"books": 3, "pens": 12},
    "address": {"city": "London", "zip": 12345},
    "at": 1_700_000_000_000,
}
JSON_SCHEMA = json.dumps(
    {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Order",
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "customer": {"type": "string", "minLength": 1},
            "paid": {"type": "boolean"},
            "total": {"type": "number", "minimum": 0},
            "note": {"type": ["null", "string"]},
            "state": {"enum": ["NEW", "SENT", "DONE"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "amounts": {"type": "object", "additionalProperties": {"type": "integer"}},
            "address": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "zip": {"type": "integer"}},
                "required": ["city"],
            },
            "at": {"type": "integer"},
        },
        "required": ["id", "customer", "total"],
    }
)
MESSAGE = error_details_pb2.ErrorInfo(
    reason="STOCKOUT", domain="spanner.googleapis.com", metadata={"zone": "us-east1-a", "type": "e2-medium"}
)


@dataclass
class Row:
    """One way to do one thing."""

    group: str
    name: str
    call: Callable[[], object]
    #: The goal: at most this many times the group's first row; None if there is none.
    limit: float | None = None
    rounds: list[float] = field(default_factory=list)

    def run(self, seconds: float) -> None:
        """One round: as many calls as fit into the time."""
        call, calls, done = self.call, 200, 0
        start = perf_counter()
        while (now := perf_counter()) < start + seconds:
            for _ in range(calls):
                call()
            done += calls
        self.rounds.append((now - start) / done * 1e6)

    @property
    def median(self) -> float:
        """Microseconds per call."""
        return median(self.rounds)


def avro_rows(url: str) -> list[Row]:
    """Avro: bare fastavro, ours, theirs."""
    schema = fastavro.parse_schema(json.loads(AVRO_SCHEMA))

    def bare_write() -> bytes:
        out = BytesIO()
        fastavro.schemaless_writer(out, schema, DATUM)
        return out.getvalue()

    payload = bare_write()
    ours, other = clients(url)
    write = serdes.AvroSerializer(ours, AVRO_SCHEMA)
    their_write = their_avro.AvroSerializer(other, AVRO_SCHEMA)
    message = write(DATUM, CONTEXT)
    assert message == their_write(DATUM, CONTEXT)
    read, their_read = serdes.AvroDeserializer(ours), their_avro.AvroDeserializer(other)
    assert read(message, CONTEXT) == their_read(message, CONTEXT)
    return [
        Row("Avro write", "fastavro, payload only", bare_write),
        Row("Avro write", "serdes", lambda: write(DATUM, CONTEXT), 1.0),
        Row("Avro write", "confluent-kafka", lambda: their_write(DATUM, CONTEXT)),
        Row("Avro read", "fastavro, payload only", lambda: fastavro.schemaless_reader(BytesIO(payload), schema, None)),
        Row("Avro read", "serdes", lambda: read(message, CONTEXT), 1.0),
        Row("Avro read", "confluent-kafka", lambda: their_read(message, CONTEXT)),
    ]


def json_rows(url: str) -> list[Row]:
    """JSON Schema: bare orjson and jsonschema-rs, ours, theirs."""
    validate = jsonschema_rs.validator_for(json.loads(JSON_SCHEMA)).validate

    def bare_write() -> bytes:
        validate(DATUM)
        return orjson.dumps(DATUM)

    payload = bare_write()

    def bare_read() -> object:
        datum = orjson.loads(payload)
        validate(datum)
        return datum

    ours, other = clients(url)
    context = serdes.SerializationContext("bench-json", "value")
    write = serdes.JSONSerializer(JSON_SCHEMA, ours)
    their_write = their_json.JSONSerializer(JSON_SCHEMA, other)
    message, their_message = write(DATUM, context), their_write(DATUM, context)
    read, their_read = serdes.JSONDeserializer(JSON_SCHEMA, None, ours), their_json.JSONDeserializer(JSON_SCHEMA)
    assert read(their_message, context) == their_read(message, context)
    return [
        Row("JSON Schema write", "orjson + jsonschema-rs", bare_write),
        Row("JSON Schema write", "serdes", lambda: write(DATUM, context), 2.0),
        Row("JSON Schema write", "confluent-kafka", lambda: their_write(DATUM, context)),
        Row("JSON Schema read", "orjson + jsonschema-rs", bare_read),
        Row("JSON Schema read", "serdes", lambda: read(message, context), 2.0),
        Row("JSON Schema read", "confluent-kafka", lambda: their_read(message, context)),
    ]


def protobuf_rows(url: str, message: Any) -> list[Row]:
    """Protobuf: the bare runtime, ours, theirs."""
    message_type = type(message)
    name = message.DESCRIPTOR.name
    payload = message.SerializeToString()
    ours, other = clients(url)
    context = serdes.SerializationContext(f"bench-{name}", "value")
    write = serdes.ProtobufSerializer(message_type, ours)
    their_write = their_protobuf.ProtobufSerializer(message_type, other, {"use.deprecated.format": False})
    framed = write(message, context)
    assert framed == their_write(message, context)
    read = serdes.ProtobufDeserializer(message_type, None, ours)
    their_read = their_protobuf.ProtobufDeserializer(message_type, {"use.deprecated.format": False})
    assert read(framed, context) == their_read(framed, context) == message
    return [
        Row(f"Protobuf write, {name}", "upb, payload only", lambda: message.SerializeToString()),  # noqa: PLW0108  # as the others, so that a call costs the same
        Row(f"Protobuf write, {name}", "serdes", lambda: write(message, context), 2.0),
        Row(f"Protobuf write, {name}", "confluent-kafka", lambda: their_write(message, context)),
        Row(f"Protobuf read, {name}", "upb, payload only", lambda: message_type.FromString(payload)),
        Row(f"Protobuf read, {name}", "serdes", lambda: read(framed, context), 2.0),
        Row(f"Protobuf read, {name}", "confluent-kafka", lambda: their_read(framed, context)),
    ]


def clients(url: str) -> tuple[Any, Any]:
    """Our client and confluent-kafka's."""
    return serdes.SchemaRegistryClient({"url": url}), theirs.SchemaRegistryClient({"url": url})


def show(rows: list[Row]) -> bool:
    """Prints the table; answers whether every goal is met."""
    met = True
    group = ""
    print(f"{'':34} {'us':>8}  {'min .. max':>17}  {'x bare':>7}  goal")
    for row in rows:
        if row.group != group:
            group, bare = row.group, row
            print(group)
        # Rounds of one turn met the same noise.
        ratio = median(time / bare_time for time, bare_time in zip(row.rounds, bare.rounds, strict=True))
        verdict = ""
        if row.limit is not None:
            reached = ratio <= row.limit
            met = met and reached
            verdict = f"at most {row.limit:g}: {'met' if reached else 'MISSED'}"
        spread = f"{min(row.rounds):.2f} .. {max(row.rounds):.2f}"
        print(f"  {row.name:32} {row.median:8.2f}  {spread:>17}  {ratio:7.2f}  {verdict}")
    return met


def main() -> int:
    """Measures all rows; returns 1 if a goal is missed and `--strict` is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--seconds", type=float, default=0.02, help="per row and round")
    parser.add_argument("--strict", action="store_true", help="exit 1 where a goal is missed")
    arguments = parser.parse_args()
    with running_registry() as registry:
        rows = [
            *avro_rows(registry.url),
            *json_rows(registry.url),
            *protobuf_rows(registry.url, MESSAGE),
            *protobuf_rows(registry.url, Value(number_value=1.5)),
        ]
    for _ in range(arguments.rounds):
        for row in rows:
            row.run(arguments.seconds)
    met = show(rows)
    return 1 if arguments.strict and not met else 0


if __name__ == "__main__":
    sys.exit(main())
