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


def test_there_and_back(spark: SparkSession, avro: Any, subject: str) -> None:
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
