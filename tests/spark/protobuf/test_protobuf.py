from __future__ import annotations

import struct
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from compat.schema import PROTOBUF, SchemaText
from spark_avro import from_confluent_protobuf, to_confluent_protobuf
from spark_avro.errors import PlanError, UnsupportedSchema

ORDER = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
message Other { int32 x = 1; }
message Order {
  enum Unit { KG = 0; EACH = 1; }
  message Line { string sku = 1; uint32 n = 2; }
  int64 id = 1;
  optional string note = 2;
  repeated Line lines = 3;
  map<string, double> tags = 4;
  Unit unit = 5;
  uint64 big = 6;
  bytes raw = 7;
  google.protobuf.Timestamp at = 8;
  google.protobuf.Int32Value maybe = 9;
  oneof way { bool fast = 10; string slow = 11; }
}
"""


def test_protobuf_round_trip(spark: SparkSession, avro: Any, subject: str) -> None:
    data = spark.sql(
        "select named_struct('id', 7L, 'lines', array(named_struct('sku', 'a', 'n', 4000000000L)), 'unit', 'EACH',"
        " 'tags', map('x', 1.5D), 'big', 18446744073709551615BD, 'raw', X'00FF', 'maybe', 5, 'slow', 's',"
        " 'at', timestamp'2020-01-01 00:00:00.123456') as v union all select null"
    ).coalesce(1)
    settings = {"registry": avro.registry, "subject": subject}
    column = to_confluent_protobuf("v", schema=ORDER, message="shop.Order", **settings)
    held = [row.m for row in data.select(column.alias("m")).collect()]
    version = avro.registry.version(subject)
    assert bytes(held[0])[:8] == struct.pack(">bI", 0, version.id) + b"\x02\x02\x08"
    assert held[1] is None
    back = from_confluent_protobuf("m", message="shop.Order", **settings)
    rows = data.select(column.alias("m")).select(back.alias("v"), F.unix_micros("v.at").alias("micros")).collect()
    micros = int(datetime(2020, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000 + 123456
    assert rows[0].micros == micros
    assert {**rows[0].v.asDict(), "at": None} == {
        "id": 7,
        "note": None,
        "lines": [Row(sku="a", n=4000000000)],
        "tags": {"x": 1.5},
        "unit": "EACH",
        "big": Decimal(18446744073709551615),
        "raw": bytearray(b"\x00\xff"),
        "at": None,
        "maybe": 5,
        "fast": None,
        "slow": "s",
    }
    assert rows[1].v is None


def test_broken_messages_and_schemas(spark: SparkSession, avro: Any, subject: str) -> None:
    text = 'syntax = "proto3"; message A { string s = 1; }'
    one = avro.registry.register(subject, SchemaText(PROTOBUF, text)).id
    header = struct.pack(">bI", 0, one)
    messages = [header + b"\x00\x0a\x01x", header + b"\x00\x0a\x09x", header, b"\x00\x00\x0f\x42\x40\x00", b"x", None]
    rows = [(None if m is None else bytearray(m),) for m in messages]
    data = spark.createDataFrame(rows, "value binary").coalesce(1)
    column = from_confluent_protobuf("value", subject=subject, registry=avro.registry, mode="PERMISSIVE")
    found = [row.v for row in data.select(column.alias("v")).collect()]
    assert [row.value for row in found] == [Row(s="x"), *[None] * 5]
    assert [row.error and row.error.reason.partition(":")[0] for row in found] == [
        None, "malformed payload", "malformed payload", "unknown schema id", "wrong magic byte", None,
    ]  # fmt: skip
    recursive = 'syntax = "proto3"; message Node { Node next = 1; }'
    avro.registry.register(f"{subject}r", SchemaText(PROTOBUF, recursive))
    with pytest.raises(UnsupportedSchema, match="next is of type Node, which contains itself"):
        from_confluent_protobuf("value", subject=f"{subject}r", registry=avro.registry)
    with pytest.raises(UnsupportedSchema, match="has no message Nothing"):
        from_confluent_protobuf("value", subject=subject, registry=avro.registry, message="Nothing")
    with pytest.raises(PlanError, match="give a subject or a topic"):
        to_confluent_protobuf("value", schema=text, registry=avro.registry)


SHOP = """
syntax = "proto3";
package shop;
message Item { string sku = 1; message Part { string sku = 1; } }
message Basket { string owner = 1; }
"""

#: The bytes of message indexes, and the message that they name.
INDEXES = [
    (b"\x00", "shop.Item"),
    (b"\x02\x00", "shop.Item"),
    (b"\x02\x02", "shop.Basket"),
    (b"\x04\x00\x00", "shop.Item.Part"),
]


@pytest.mark.parametrize("copies", [1, 200], ids=["by rows", "in columns"])
@pytest.mark.parametrize("message", [None, "shop.Basket", "shop.Item.Part"])
def test_the_indexes_name_the_message_of_a_record(
    spark: SparkSession, avro: Any, subject: str, message: str | None, copies: int
) -> None:
    schema_id = avro.registry.register(subject, SchemaText(PROTOBUF, SHOP)).id
    header = struct.pack(">bI", 0, schema_id)
    values = [bytearray(header + indexes + b"\x0a\x01x") for indexes, _ in INDEXES]
    rows = [(number, value) for number, value in enumerate(values) for _ in range(copies)]
    data = spark.createDataFrame(rows, "n int, value binary").coalesce(1)
    column = from_confluent_protobuf(
        "value", subject=subject, registry=avro.registry, mode="PERMISSIVE", message=message
    )
    shown = data.select("n", column.alias("v")).selectExpr("n", "to_json(v.value) as value", "v.error.reason as reason")
    read = message or "shop.Item"
    field = "owner" if read == "shop.Basket" else "sku"
    results = {(row["n"], row["value"], row["reason"]) for row in shown.collect()}
    assert results == {
        (number, f'{{"{field}":"x"}}', None)
        if name == read
        else (
            number,
            None,
            f"another message: the record at message indexes {path} is a {name}, and the column has {read};"
            " set `message` to the one to read",
        )
        for (number, (_, name)), path in zip(enumerate(INDEXES), ["[0]", "[0]", "[1]", "[0, 0]"], strict=True)
    }


def test_an_index_without_a_message_is_a_broken_record(spark: SparkSession, avro: Any, subject: str) -> None:
    schema_id = avro.registry.register(subject, SchemaText(PROTOBUF, SHOP)).id
    value = bytearray(struct.pack(">bI", 0, schema_id) + b"\x02\x0a\x0a\x01x")
    data = spark.createDataFrame([(value,)] * 200, "value binary").coalesce(1)
    column = from_confluent_protobuf("value", subject=subject, registry=avro.registry, mode="PERMISSIVE")
    reasons = {row["reason"] for row in data.select(column.alias("v")).selectExpr("v.error.reason").collect()}
    assert len(reasons) == 1
    assert reasons.pop().endswith("The schema has no message at [5]")


def test_a_message_is_found_by_its_name_in_each_version(spark: SparkSession, avro: Any, subject: str) -> None:
    moved = SHOP.replace("message Item", "message First { }\nmessage Item")
    one, two = (avro.registry.register(subject, SchemaText(PROTOBUF, text)).id for text in (SHOP, moved))
    values = [
        struct.pack(">bI", 0, one) + b"\x00\x0a\x01x",
        struct.pack(">bI", 0, two) + b"\x02\x02\x0a\x01y",
        struct.pack(">bI", 0, two) + b"\x00",
    ]
    data = spark.createDataFrame([(bytearray(value),) for value in values * 200], "value binary").coalesce(1)
    column = from_confluent_protobuf(
        "value", subject=subject, registry=avro.registry, mode="PERMISSIVE", message="shop.Item"
    )
    found = {row["sku"] for row in data.select(column.alias("v")).selectExpr("v.value.sku").collect()}
    assert found == {"x", "y", None}
