from __future__ import annotations

import json
import re
import struct
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from compat.schema import AVRO, Reference, SchemaText
from serdes.error import RegistryUnavailable
from spark_avro import KAFKA_POSITION, confluent_avro_udf, confluent_schema_id, from_confluent_avro
from spark_avro.errors import NoSubject, PlanError, UnsupportedSchema
from spark_avro.plan.selection import plan_decoding, select_versions
from spark_avro.streams.dead_letters import split


def record(*fields: Any, name: str = "Flight") -> str:
    return json.dumps(
        {
            "type": "record",
            "name": name,
            "fields": [dict(zip(("name", "type", "default"), field, strict=False)) for field in fields],
        }
    )


def frame(spark: SparkSession, messages: Sequence[bytes | None]) -> DataFrame:
    rows = [
        ("flights", 3, offset, None if value is None else bytearray(value)) for offset, value in enumerate(messages)
    ]
    return spark.createDataFrame(rows, "topic string, partition int, offset long, value binary").coalesce(1)


def values(data: DataFrame, column: Any) -> list[Any]:
    return [row.value for row in data.select("offset", column.alias("value")).orderBy("offset").collect()]


V1 = record(("carrier", "string"), ("delay", "int"))
V2 = record(("carrier", "string"), ("delay", "long"), ("tail", ["null", "string"], None))


def test_versions_of_a_subject_are_read_with_the_latest(spark: SparkSession, avro: Any, subject: str) -> None:
    one, two = avro.register(subject, V1, V2)
    data = frame(
        spark,
        [
            avro.message(one, V1, {"carrier": "UA", "delay": -3}),
            None,
            avro.message(two, V2, {"carrier": "DL", "delay": 2**40, "tail": "N1"}),
        ],
    )
    column = from_confluent_avro("value", topic=subject.removesuffix("-value"), registry=avro.registry)
    assert values(data, column) == [
        Row(carrier="UA", delay=-3, tail=None),
        None,
        Row(carrier="DL", delay=2**40, tail="N1"),
    ]
    assert (
        data.select(column.alias("v")).schema["v"].dataType.simpleString()
        == "struct<carrier:string,delay:bigint,tail:string>"
    )


def test_fields_and_a_readers_schema_of_ones_own(spark: SparkSession, avro: Any, subject: str) -> None:
    one, two = avro.register(subject, V1, V2)
    data = frame(
        spark,
        [
            avro.message(one, V1, {"carrier": "UA", "delay": 1}),
            avro.message(two, V2, {"carrier": "DL", "delay": 2, "tail": None}),
        ],
    )
    assert values(data, from_confluent_avro("value", subject=subject, registry=avro.registry, fields=["delay"])) == [
        Row(delay=1),
        Row(delay=2),
    ]
    assert values(
        data,
        from_confluent_avro(
            "value",
            ids=[two, one],
            registry=avro.registry,
            reader_schema=record(("delay", "double"), ("note", "string", "none")),
        ),
    ) == [
        Row(delay=1.0, note="none"),
        Row(delay=2.0, note="none"),
    ]
    assert values(data, confluent_schema_id("value")) == [one, two]


def test_references_are_resolved(spark: SparkSession, avro: Any, subject: str) -> None:
    money = json.dumps(
        {"type": "record", "name": "Money", "namespace": "shop", "fields": [{"name": "cents", "type": "long"}]}
    )
    order = json.dumps(
        {
            "type": "record",
            "name": "Order",
            "fields": [{"name": "price", "type": "shop.Money"}, {"name": "tax", "type": "shop.Money"}],
        }
    )
    avro.registry.register(f"{subject}-money", SchemaText(AVRO, money))
    held = avro.registry.register(subject, SchemaText(AVRO, order, (Reference("shop.Money", f"{subject}-money", 1),)))
    data = frame(spark, [struct.pack(">bI", 0, held.id) + b"\x06\x02"])
    assert values(data, from_confluent_avro("value", subject=subject, registry=avro.registry)) == [
        Row(price=Row(cents=3), tax=Row(cents=1))
    ]


BROKEN = [
    (b"", "payload too short: 0 bytes, the header alone has 5"),
    (b"\x00\x00\x01", "payload too short: 3 bytes, the header alone has 5"),
    (b"\x02\x00\x00\x00\x01xyz", "wrong magic byte: 0x02 where a schema id's message has 0x00"),
    (b"{}", "wrong magic byte: 0x7B where a schema id's message has 0x00"),
    (
        b"\x00\x00\x0f\x42\x40\x02",
        "unknown schema id: 1000000 (0x000F4240) is not among those of subject {subject} when the query was planned",
    ),
    (
        b"\x01" + bytes(16) + b"\x04UA\x02",
        "unknown schema guid: 00000000-0000-0000-0000-000000000000 is not among those of subject {subject} when",
    ),
    (b"\x01" + bytes(15), "payload too short: 16 bytes, magic byte and schema guid alone have 17"),
    (b"{header}", "malformed payload: the 0 bytes after the header are not one value of schema id {id} (0x{hex})"),
    (b"{header}\x04UA", "malformed payload: the 3 bytes after the header"),
    (b"{header}\x04UA\x02\x00", "malformed payload: the 5 bytes after the header"),
    (b"{header}\x04UA\x02{header}\x04UA\x02", "malformed payload: the 13 bytes after the header"),
    (b"{header}\x04UA\x02" + bytes(50), "malformed payload: the 54 bytes after the header"),
    (b"{header}\x04UA\x02\x82", "malformed payload: the 5 bytes after the header"),
    (b"{header}\x04UA\x02\x82\x01"[:-1] + b"\n", "malformed payload: the 6 bytes after the header"),
    (b"{header}\x04UA\x02\x82\x01", "malformed payload: the 6 bytes after the header"),
    (b"{header}\x04UA\x02\x82\x01\x80", "malformed payload: the 7 bytes after the header"),
    (b"{header}\x04UA\x02\x82\x01\x82\x01", "malformed payload: the 8 bytes after the header"),
    (b"{header}\x04UA\x02\x82\x01\n\n\n", "malformed payload: the 9 bytes after the header"),
    (b"{header}\xfe\xff\xff\xff\x0fUA\x02", "malformed payload: the 8 bytes after the header"),
    (b"{header}\x80\x80\x80\x80\x08UA\x02", "malformed payload: the 8 bytes after the header"),
    (b"{header}\x03UA\x02", "malformed payload: the 4 bytes after the header"),
]


def test_a_broken_record_is_named(spark: SparkSession, avro: Any, subject: str, query_failure: type[Exception]) -> None:
    [one] = avro.register(subject, V1)
    header = struct.pack(">bI", 0, one)
    good = avro.message(one, V1, {"carrier": "UA", "delay": 1})
    bad = [body.replace(b"{header}", header) for body, _ in BROKEN]
    data = frame(spark, [good, *bad, None, good])
    found = values(data, from_confluent_avro("value", subject=subject, registry=avro.registry, mode="PERMISSIVE"))
    assert [row.value for row in found] == [
        Row(carrier="UA", delay=1),
        *[None] * len(bad),
        None,
        Row(carrier="UA", delay=1),
    ]
    assert [found[0].error, found[-2].error, found[-1].error] == [None, None, None]
    for row, raw, (_, reason) in zip(found[1:-2], bad, BROKEN, strict=True):
        assert row.error.reason.startswith(reason.format(subject=subject, id=one, hex=f"{one:08X}")), row.error.reason
        assert bytes(row.error.raw) == raw
        assert row.error.id == (struct.unpack(">I", raw[1:5])[0] if raw[:1] == b"\x00" and len(raw) >= 5 else None)
    dropped = (
        data.select(
            "offset", from_confluent_avro("value", subject=subject, registry=avro.registry, mode="DROP").alias("value")
        )
        .orderBy("offset")
        .collect()
    )
    assert [row.offset for row in dropped] == [0, len(bad) + 1, len(bad) + 2]
    column = from_confluent_avro("value", subject=subject, registry=avro.registry, position=KAFKA_POSITION)
    for offset, (_, reason) in enumerate(BROKEN[:6:2], 1):
        with pytest.raises(query_failure) as failure:
            data.where(F.col("offset").isin(0, 2 * offset - 1)).select(column.alias("v")).where("v.delay > 0").collect()
        text = reason.format(subject=subject, id=one, hex=f"{one:08X}")
        assert text in str(failure.value)
        assert f" at topic flights, partition 3, offset {2 * offset - 1}, Spark partition 0" in str(failure.value)


def test_a_reason_with_percent_signs(spark: SparkSession, avro: Any) -> None:
    avro.register("100%s %1$s", V1)
    column = from_confluent_avro("value", subject="100%s %1$s", registry=avro.registry, mode="PERMISSIVE")
    [found] = values(frame(spark, [b"\x00\xff\xff\xff\xff"]), column)
    assert found.error.reason == (
        "unknown schema id: 4294967295 (0xFFFFFFFF) is not among those of subject 100%s %1$s when the query was planned"
    )


@pytest.mark.parametrize("decode", [from_confluent_avro, confluent_avro_udf])
def test_a_column_that_holds_no_messages(
    spark: SparkSession, avro: Any, subject: str, decode: Any, spark_version: tuple[int, int]
) -> None:
    avro.register(subject, V1)
    column = decode("v", subject=subject, registry=avro.registry)
    assert spark.sql("select cast(null as binary) as v").select(column).columns == ["decoded"]
    with pytest.raises(PySparkException, match='should all be the same type, but it\'s \\("INT" or "BINARY"\\)'):
        spark.sql("select 1 as v").select(column)
    # Spark 3.5 refuses texts when the query is planned.
    text = "wrong magic byte: 0x55" if spark_version >= (4, 0) else "should all be the same type, but it's"
    with pytest.raises(PySparkException, match=text):
        spark.sql("select 'UA' as v").select(column).collect()


def test_a_schema_that_is_named_in_a_header(spark: SparkSession, avro: Any, subject: str) -> None:
    [one] = avro.register(subject, V1)
    good = bytearray(avro.message(one, V1, {"carrier": "UA", "delay": 1}))
    named = [("own", bytearray(b"x")), ("__value_schema_id", bytearray(17))]
    kinds = "value binary, headers array<struct<key:string,value:binary>>"
    data = spark.createDataFrame([(good, named), (good, named[:1]), (good, None), (None, named)], kinds).coalesce(1)
    how = plan_decoding(select_versions(registry=avro.registry, subject=subject))
    rows = split(data, how).collect()
    assert [row.decoded and row.decoded.delay for row in rows] == [None, 1, 1, None]
    assert [row.error and (row.error.reason, row.error.id, row.error.raw) for row in rows] == [
        (
            "malformed schema id header: unknown magic byte 0: expected 1;"
            " the message was not written with a schema id",
            None,
            good,
        ),
        *[None] * 3,
    ]


def test_the_check_of_headers_stays_in_generated_code(spark: SparkSession, avro: Any, subject: str) -> None:
    avro.register(subject, V1)
    kinds = "value binary, headers array<struct<key:string,value:binary>>"
    data = spark.createDataFrame([(bytearray(b"x"), [("h", bytearray(b"x"))])], kinds)
    rows = split(data, plan_decoding(select_versions(registry=avro.registry, subject=subject)))
    plan = rows._jdf.queryExecution().executedPlan().toString()
    operators = {line.lstrip(" +-:").split(" [")[0] for line in plan.splitlines()}
    assert {operator for operator in operators if "Project" in operator} == {"*(1) Project"}


ALL_NULLABLE = record(("a", ["null", "int"], None), ("b", ["null", "string"], None), name="R")
TOP_LEVEL: list[tuple[Any, Any, Any]] = [
    (ALL_NULLABLE, {"a": None, "b": None}, Row(a=None, b=None)),
    (ALL_NULLABLE, {"a": 1, "b": None}, Row(a=1, b=None)),
    ('"string"', "text", "text"),
    ('"int"', -7, -7),
    ('["null","int"]', None, None),
    ('["null","int"]', 5, 5),
    ('{"type":"array","items":"int"}', [1, 2], [1, 2]),
    ('{"type":"map","values":"string"}', {"a": "b"}, {"a": "b"}),
    ('{"type":"enum","name":"E","symbols":["A","B"]}', "B", "B"),
    ('{"type":"fixed","name":"F","size":2}', b"ab", bytearray(b"ab")),
    ('{"type":"record","name":"Empty","fields":[]}', {}, Row()),
    (f'["null",{V1}]', {"carrier": "UA", "delay": 2}, Row(carrier="UA", delay=2)),
]


@pytest.mark.parametrize(("schema", "datum", "expected"), TOP_LEVEL)
def test_any_top_level_type(
    spark: SparkSession, avro: Any, subject: str, schema: str, datum: Any, expected: Any
) -> None:
    [one] = avro.register(subject, schema)
    good = avro.message(one, schema, datum)
    data = frame(spark, [good, None, good + b"\x00", good[:4]])
    found = values(data, from_confluent_avro("value", subject=subject, registry=avro.registry, mode="PERMISSIVE"))
    assert [row.value for row in found] == [expected, None, None, None]
    assert [row.error is None for row in found] == [True, True, False, False]


def test_top_level_bytes_are_the_payload_itself(spark: SparkSession, avro: Any, subject: str) -> None:
    [one] = avro.register(subject, '"bytes"')
    data = frame(spark, [struct.pack(">bI", 0, one) + b"\x02\x03", struct.pack(">bI", 0, one), None])
    assert values(data, from_confluent_avro("value", subject=subject, registry=avro.registry)) == [
        bytearray(b"\x02\x03"),
        bytearray(),
        None,
    ]


def test_units_of_time_are_converted(spark: SparkSession, avro: Any, subject: str) -> None:
    millis = record(("at", {"type": "long", "logicalType": "timestamp-millis"}))
    micros = record(("at", {"type": "long", "logicalType": "timestamp-micros"}))
    one, two = avro.register(subject, millis, micros)
    at = datetime(2013, 1, 1, 5, 17, tzinfo=UTC)
    data = frame(spark, [avro.message(one, millis, {"at": at}), avro.message(two, micros, {"at": at})])
    column = from_confluent_avro("value", subject=subject, registry=avro.registry)
    assert values(data.select("offset", column.alias("v")), F.unix_micros("v.at")) == [1357017420000000] * 2


def test_a_decimal_with_too_many_digits_says_so(spark: SparkSession, avro: Any, subject: str) -> None:
    price = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}
    text = record(("id", "long"), ("lines", {"type": "array", "items": ["null", price]}), ("rate", price))
    [schema_id] = avro.register(subject, text)
    plain = text.replace(', "logicalType": "decimal", "precision": 4, "scale": 2', "")
    datum = {"id": 1, "lines": [b"\x04\xd2"], "rate": b"\x04\xd2"}
    messages = [
        avro.message(schema_id, plain, datum),
        avro.message(schema_id, plain, {**datum, "rate": b"\x01\x86\xa0"}),
        avro.message(schema_id, plain, {**datum, "lines": [None, b"\x01" + b"\0" * 7]}),
        avro.message(schema_id, plain, datum)[:-1],
    ]
    column = from_confluent_avro("value", subject=subject, registry=avro.registry, mode="PERMISSIVE")
    found = values(frame(spark, messages), column)
    shown = f"{schema_id} (0x{schema_id:08X})"
    names = "lines[] decimal(4,2), rate decimal(4,2)"
    too_many = f"too many digits: a decimal of id {shown} has more than its type: {names}"
    sound = Row(id=1, lines=[Decimal("12.34")], rate=Decimal("12.34"))
    assert [row.value for row in found] == [sound, None, None, None]
    assert [row.error and row.error.reason for row in found[:3]] == [None, too_many, too_many]
    assert found[3].error.reason.startswith("malformed payload: the ")


def decimal_type(precision: int, scale: int, size: int | None = None) -> dict[str, Any]:
    kind = {"type": "bytes"} if size is None else {"type": "fixed", "name": f"D{precision}", "size": size}
    return {**kind, "logicalType": "decimal", "precision": precision, "scale": scale}


def stored(unscaled: int, size: int | None = None) -> bytes:
    return unscaled.to_bytes(size or unscaled.bit_length() // 8 + 1, "big", signed=True)


SHORT, LONG, FIXED = decimal_type(4, 2), decimal_type(18, 0), decimal_type(4, 2, 21)
#: Around a decimal -> the type, the datum, and the value.
PLACES: dict[str, tuple[Any, Any, Any]] = {
    "field": (lambda kind: kind, lambda value: value, lambda value: value),
    "union": (lambda kind: ["null", kind], lambda value: value, lambda value: value),
    "two types": (lambda kind: ["null", "string", kind], lambda value: value, lambda value: Row(None, value)),
    "array": (lambda kind: {"type": "array", "items": kind}, lambda value: [value], lambda value: [value]),
    "nullable items": (
        lambda kind: {"type": "array", "items": ["null", kind]},
        lambda value: [None, value, None],
        lambda value: [None, value, None],
    ),
    "map": (
        lambda kind: ["null", {"type": "map", "values": kind}],
        lambda value: {"a": value},
        lambda value: {"a": value},
    ),
    "records in an array": (
        lambda kind: {"type": "array", "items": json.loads(record(("p", ["null", kind]), name="Line"))},
        lambda value: [{"p": None}, {"p": value}],
        lambda value: [Row(p=None), Row(p=value)],
    ),
    "arrays in an array": (
        lambda kind: {"type": "array", "items": ["null", {"type": "array", "items": kind}]},
        lambda value: [None, [], [value]],
        lambda value: [None, [], [value]],
    ),
    "maps in a map": (
        lambda kind: {"type": "map", "values": {"type": "map", "values": kind}},
        lambda value: {"a": {}, "b": {"c": value}},
        lambda value: {"a": {}, "b": {"c": value}},
    ),
}
#: A type, the bytes, and the value; None if they have too many digits.
DIGITS = [
    (SHORT, stored(9999), Decimal("99.99")),
    (SHORT, stored(-9999), Decimal("-99.99")),
    (SHORT, stored(10000), None),
    (SHORT, stored(-10000), None),
    (SHORT, stored(9999, 21), Decimal("99.99")),
    (SHORT, stored(-1, 21), Decimal("-0.01")),
    (SHORT, stored(2**64), None),
    (SHORT, stored(2**64 + 1234), None),
    (SHORT, stored(-(2**64) + 1), None),
    (SHORT, b"\x01" + b"\0" * 20, None),
    (LONG, stored(10**18 - 1), Decimal(10**18 - 1)),
    (LONG, stored(-(10**18) + 1), Decimal(-(10**18) + 1)),
    (LONG, stored(10**18), None),
    (LONG, stored(2**127 + 5), None),
    (FIXED, stored(9999, 21), Decimal("99.99")),
    (FIXED, stored(10000, 21), None),
    (FIXED, b"\x01" + b"\0" * 20, None),
]


@pytest.mark.slow
def test_no_digit_of_a_decimal_is_lost(spark: SparkSession, avro: Any, subject: str) -> None:
    """Each place of a record with each case, while the others have 0.01."""
    kinds = {**dict.fromkeys(PLACES, SHORT), "long": LONG, "fixed": FIXED}
    around = {name: PLACES.get(name, PLACES["field"]) for name in kinds}
    schema = record(*((name.replace(" ", "_"), around[name][0](kind)) for name, kind in kinds.items()))
    plain = re.sub(r', "logicalType": "decimal", "precision": \d+, "scale": \d', "", schema)
    [schema_id] = avro.register(subject, schema)
    sound = {name.replace(" ", "_"): around[name][1](stored(1, kind.get("size"))) for name, kind in kinds.items()}
    cases = [
        (name, around[name][1](raw), None if value is None else around[name][2](value))
        for name, kind in kinds.items()
        for of, raw, value in DIGITS
        if of is kind
    ]
    data = frame(
        spark,
        [avro.message(schema_id, plain, {**sound, name.replace(" ", "_"): datum}) for name, datum, _ in cases],
    )
    column = from_confluent_avro("value", subject=subject, registry=avro.registry, mode="PERMISSIVE")
    for row, (name, _, expected) in zip(values(data, column), cases, strict=True):
        assert (None if row.value is None else row.value[name.replace(" ", "_")]) == expected, name
        assert (row.error is None) == (expected is not None)
        assert row.error is None or row.error.reason.startswith(f"too many digits: a decimal of id {schema_id} (0x")
    dropped = from_confluent_avro("value", subject=subject, registry=avro.registry, mode="DROP")
    assert len(data.select(dropped).collect()) == sum(expected is not None for _, _, expected in cases)
    with pytest.raises(PySparkException, match="too many digits: a decimal of id"):
        values(data, from_confluent_avro("value", subject=subject, registry=avro.registry))


def test_digits_are_those_of_the_writers_type(spark: SparkSession, avro: Any, subject: str) -> None:
    kinds = [decimal_type(4, 2), decimal_type(6, 3), decimal_type(20, 4)]
    narrow, wide, wider = (record(("price", kind)) for kind in kinds)
    ids = avro.register(subject, narrow, wide, wider)
    plain = record(("price", "bytes"))
    prices = [(0, 9999), (0, 10000), (0, 2**64), (1, 999999), (1, 2**64 + 1), (2, 10**20 - 1), (2, 10**20), (2, 1)]
    data = frame(spark, [avro.message(ids[version], plain, {"price": stored(price)}) for version, price in prices])
    read = {
        20: ["99.9900", None, None, "999.9990", None, "9999999999999999.9999", None, "0.0001"],
        6: ["99.990", None, None, "999.999", None, None, None, None],
    }
    for reader, digits in ((None, 20), (wide, 6)):
        column = from_confluent_avro(
            "value", subject=subject, registry=avro.registry, reader_schema=reader, mode="PERMISSIVE"
        )
        found = values(data, column)
        assert [row.value and str(row.value.price) for row in found] == read[digits]
        assert [row.error.reason.partition(":")[0] for row in found[1:3]] == ["too many digits"] * 2
    narrowest, finest = record(("price", decimal_type(9, 0))), record(("price", decimal_type(38, 20)))
    [schema_id] = avro.register(f"fine-{subject}", narrowest)
    with pytest.raises(PySparkException, match=r"decimal\(9,0\) in the data, and Spark has no room to check it for"):
        values(
            frame(spark, [avro.message(schema_id, plain, {"price": b"\1"})]),
            from_confluent_avro("value", ids=[schema_id], reader_schema=finest, registry=avro.registry),
        )


def test_decimals_widen(spark: SparkSession, avro: Any, subject: str) -> None:
    narrow, wide = (
        record(("price", {"type": "bytes", "logicalType": "decimal", "precision": p, "scale": s}))
        for p, s in ((4, 2), (10, 4))
    )
    one, two = avro.register(subject, narrow, wide)
    data = frame(
        spark,
        [
            avro.message(one, narrow, {"price": Decimal("12.34")}),
            avro.message(two, wide, {"price": Decimal("-1.2345")}),
        ],
    )
    assert values(data, from_confluent_avro("value", subject=subject, registry=avro.registry)) == [
        Row(price=Decimal("12.3400")),
        Row(price=Decimal("-1.2345")),
    ]
    back = from_confluent_avro(
        "value", subject=subject, registry=avro.registry, reader_schema=narrow, mode="PERMISSIVE"
    )
    assert values(data, back)[1].error.reason.startswith(
        f"unreadable schema: id {two} (0x{two:08X}): price is decimal(10,4) in the data, which decimal(4,2) cannot hold"
    )


REFUSED = [
    (
        '{"type":"record","name":"L","fields":[{"name":"next","type":["null","L"],"default":null}]}',
        "next is of type L, which contains itself",
    ),
    (
        '{"type":"record","name":"R","fields":[{"name":"d","type":{"type":"bytes","logicalType":"decimal","precision":39}}]}',
        "d is a decimal of 39 digits; Spark has no more than 38",
    ),
    (
        '{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"A","type":"int"}]}',
        "A differs from a in case only",
    ),
]


@pytest.mark.parametrize(("schema", "problem"), REFUSED)
def test_types_that_spark_lacks_are_refused(avro: Any, subject: str, schema: str, problem: str) -> None:
    [one] = avro.register(subject, schema)
    with pytest.raises(UnsupportedSchema, match=f"schema id {one} \\({subject} version 1\\): {problem}"):
        from_confluent_avro("value", subject=subject, registry=avro.registry)


def test_types_that_spark_lacks_in_an_old_version(spark: SparkSession, avro: Any, subject: str) -> None:
    flat = record(("next", "int"), name="L")
    old, new = avro.register(subject, REFUSED[0][0], flat)
    data = frame(spark, [avro.message(old, REFUSED[0][0], {"next": None}), avro.message(new, flat, {"next": 1})])
    found = values(data, from_confluent_avro("value", subject=subject, registry=avro.registry, mode="PERMISSIVE"))
    assert [row.value for row in found] == [None, Row(next=1)]
    assert found[0].error.reason.startswith(
        f"unreadable schema: id {old} (0x{old:08X}): next is of type L, which contains itself"
    )
    with pytest.raises(UnsupportedSchema, match="next is of type L, which contains itself"):
        from_confluent_avro("value", ids=[old], reader_schema=flat, registry=avro.registry)


def test_missing_subjects_and_ids(avro: Any, subject: str) -> None:
    with pytest.raises(
        NoSubject, match=r"subject .nowhere-value. is not in the registry .the topic name strategy's for topic nowhere"
    ):
        from_confluent_avro("value", topic="nowhere", registry=avro.registry)
    with pytest.raises(PlanError, match="schema id 99999: Schema 99999 not found"):
        from_confluent_avro("value", ids=[99999], registry=avro.registry)
    with pytest.raises(PlanError, match="give a subject, a topic, or ids"):
        from_confluent_avro("value", registry=avro.registry)
    avro.register(subject, V1)
    with pytest.raises(UnsupportedSchema, match="the schema has no field dely; its fields are carrier, delay"):
        from_confluent_avro("value", subject=subject, registry=avro.registry, fields=["dely"])
    with pytest.raises(PlanError, match="mode is FAILFAST, PERMISSIVE or DROP, not 'LENIENT'"):
        from_confluent_avro("value", subject=subject, registry=avro.registry, mode="LENIENT")
    with pytest.raises(RegistryUnavailable, match="schema registry unavailable: GET /subjects/x/versions"):
        from_confluent_avro("value", subject="x", registry="http://127.0.0.1:9")


@pytest.mark.parametrize("mode", ["FAILFAST", "PERMISSIVE"])
def test_a_record_is_decoded_once(
    spark: SparkSession, avro: Any, subject: str, capsys: pytest.CaptureFixture[str], mode: str
) -> None:
    data = frame(spark, [b""])
    priced = record(("delay", "long"), ("price", decimal_type(4, 2), "\0"))
    # The reason of a broken record with decimals decodes it again.
    for count, schema in ((1, V1), (2, V2), (6, priced)):
        avro.register(subject, schema)
        column = from_confluent_avro("value", subject=subject, registry=avro.registry, mode=mode)
        rows = data.select(column.alias("v"))
        inside = rows.select("v.value.delay" if mode == "PERMISSIVE" else "v.delay").where("delay > 0")
        for query in (rows, inside):
            capsys.readouterr()
            query.explain("codegen")
            assert capsys.readouterr().out.count("AvroDataToCatalyst) ") == count
