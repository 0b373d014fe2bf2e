from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession

from compat.schema import JSON, Reference, SchemaText
from serdes.rules.context import Ruled
from spark_avro import confluent_json_udf, from_confluent_json, to_confluent_json
from spark_avro.errors import NoSubject, UnsupportedSchema
from spark_avro.json_schema.types import json_type
from spark_avro.sent_schema import SentSchema

ORDER = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 1},
        "note": {"oneOf": [{"type": "null"}, {"type": "string"}]},
        "lines": {"type": "array", "items": {"$ref": "#/definitions/Line"}},
        "tags": {"type": "object", "additionalProperties": {"type": "number"}},
        "any": {},
        "place": {"$ref": "place.json"},
    },
    "required": ["id"],
    "definitions": {
        "Line": {
            "allOf": [{"properties": {"n": {"type": "integer"}}}],
            "properties": {"sku": {"type": ["string", "null"]}},
        }
    },
}
PLACE = {"type": "object", "properties": {"city": {"type": "string"}, "inner": {"$ref": "#"}}}


def test_types_and_broken_messages(spark: SparkSession, avro: Any, subject: str) -> None:
    registry = avro.registry
    registry.register(f"{subject}-place", SchemaText(JSON, json.dumps(PLACE)))
    order = SchemaText(JSON, json.dumps(ORDER), (Reference("place.json", f"{subject}-place", 1),))
    held = registry.register(subject, order)
    header = struct.pack(">bI", 0, held.id)
    texts = [
        b'{"id": 7, "note": null, "lines": [{"sku": "a", "n": 1}], "tags": {"x": 1.5}, "any": [1, "b"],'
        b' "place": {"city": "Ulm", "inner": {"city": "x"}}}',
        b'{"id": 0}',
        b'{"id": "seven"}',
        b'{"id": 1',
        b"",
        b'{"id": 1, "note": "\xffA"}',
    ]
    messages = [*(header + text for text in texts), None, b"{}", b"\x00\x00\x0f\x42\x40{}"]
    rows = [(n, None if m is None else bytearray(m)) for n, m in enumerate(messages)]
    data = spark.createDataFrame(rows, "n int, value binary").coalesce(1)
    settings = {"subject": subject, "registry": registry, "mode": "PERMISSIVE"}
    quick = from_confluent_json("value", **settings).alias("quick")
    strict = confluent_json_udf("value", **settings).alias("strict")
    found = data.select("n", quick, strict).orderBy("n").collect()
    first = Row(
        id=7,
        note=None,
        lines=[Row(n=1, sku="a")],
        tags={"x": 1.5},
        any='[1,"b"]',
        place=Row(city="Ulm", inner=Row(city="x", inner=None)),
    )
    assert found[0].quick.value == found[0].strict.value == first
    assert found[1].quick.value.id == 0
    assert found[1].strict.error.reason.endswith("0 is less than the minimum of 1")
    kinds = ["malformed payload"] * 4 + [None, "wrong magic byte", "unknown schema id"]
    for row, kind in zip(found[2:], kinds, strict=True):
        for read in (row.quick, row.strict):
            assert read.value is None
            assert (read.error and read.error.reason.partition(":")[0]) == kind


def test_a_poisoned_message_does_not_stop_a_task(spark: SparkSession, avro: Any, subject: str) -> None:
    links = {f"d{level}": {"oneOf": [{"$ref": f"#/definitions/d{level + 1}"}] * 2} for level in range(30)}
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "amount": {"$ref": "#/definitions/d0"}},
        "definitions": {**links, "d30": {"type": "integer"}},
    }
    held = avro.registry.register(subject, SchemaText(JSON, json.dumps(schema)))
    header = struct.pack(">bI", 0, held.id)
    rows = [(bytearray(header + text),) for text in (b'{"n":1}', b'{"amount":"x"}', b'{"n":"a"}', b'{"n":2}')]
    data = spark.createDataFrame(rows, "value binary").coalesce(1)
    read = confluent_json_udf(
        "value", subject=subject, registry=avro.registry, mode="PERMISSIVE", data_type="n int"
    ).alias("read")
    found = [row.read for row in data.select(read).collect()]
    assert [row.value and row.value.n for row in found] == [1, None, None, 2]
    assert "$.amount: refused by oneOf (at #/definitions/d0/oneOf of the schema); validation was ended" in (
        found[1].error.reason
    )
    assert found[2].error.reason.endswith('$.n: "a" is not of type "integer"')


def test_writing(spark: SparkSession, avro: Any, subject: str) -> None:
    data = spark.sql(
        "select named_struct('id', 1, 's', cast(null as string), 'l', array(1.5D)) as v union all select null"
    )
    column = to_confluent_json("v", subject=subject, registry=avro.registry, data=data, title="Order")
    rows = data.coalesce(1).select(column.alias("m")).collect()
    held = avro.registry.version(subject)
    assert bytes(rows[0].m) == struct.pack(">bI", 0, held.id) + b'{"id":1,"l":[1.5]}'
    assert rows[1].m is None
    assert json.loads(held.schema.text)["properties"]["id"] == {"type": "integer"}
    back = confluent_json_udf("m", subject=subject, registry=avro.registry)
    assert data.select(column.alias("m")).where("m is not null").select(back.alias("v")).collect()[0].v.id == 1


def test_recursion_becomes_text_and_other_types_are_refused(avro: Any, subject: str) -> None:
    tree = {"type": "object", "properties": {"n": {"type": "integer"}, "next": {"$ref": "#"}}}
    assert json_type(SentSchema(Ruled("a test", SchemaText(JSON, json.dumps(tree))))).simpleString() == (
        "struct<n:bigint,next:struct<n:bigint,next:string>>"
    )
    avro.register(subject, '"string"')
    with pytest.raises(UnsupportedSchema, match="is of type AVRO, not JSON"):
        from_confluent_json("value", subject=subject, registry=avro.registry)
    with pytest.raises(NoSubject):
        from_confluent_json("value", topic="nowhere", registry=avro.registry)
