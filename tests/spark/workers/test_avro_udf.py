from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from pyspark.sql import Row, SparkSession

from spark_avro import KAFKA_POSITION, confluent_avro_udf, from_confluent_avro
from spark_avro.columns.part import FEW
from spark_avro.errors import UnsupportedSchema

#: Most tests of this file take seconds each.
pytestmark = pytest.mark.slow


def record(*fields: Any, name: str = "R") -> str:
    keys = ("name", "type", "default", "aliases")
    return json.dumps({"type": "record", "name": name, "fields": [dict(zip(keys, f, strict=False)) for f in fields]})


def logical(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": name, **more}


def line(name: str) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": "n", "type": "int"}, {"name": "s", "type": "string"}]}


OTHER = {"type": "record", "name": "Other", "fields": [{"name": "x", "type": "double"}]}
UNIT = {"type": "enum", "name": "Unit", "symbols": ["KG", "EACH"]}
MARK = {"type": "fixed", "name": "Mark", "size": 3}
KEYED = {"type": "record", "name": "Keyed", "fields": [{"name": "k", "type": "int"}]}
AT = datetime(2024, 2, 29, 23, 59, 59, 123456, tzinfo=UTC)
MILLI = AT.replace(microsecond=123000)

#: Every type and logical type: schema and values.
TYPES: Mapping[str, tuple[Any, list[Any]]] = {
    "boolean": ("boolean", [True, False]),
    "int": ("int", [0, -1, 2**31 - 1, -(2**31)]),
    "long": ("long", [0, 2**63 - 1, -(2**63)]),
    "float": ("float", [0.0, 1.5, -2.25, float("inf")]),
    "double": ("double", [0.1, -1e300, float("-inf")]),
    "bytes": ("bytes", [b"", b"\x00\xff"]),
    "string": ("string", ["", "text", "\u00e4\u20ac\U0001f600"]),
    "enum": (UNIT, ["KG", "EACH"]),
    "fixed": (MARK, [b"abc", b"\x00\x00\x00"]),
    "array": ({"type": "array", "items": "int"}, [[], [1, 2, 3]]),
    "map": ({"type": "map", "values": ["null", "long"]}, [{}, {"a": 1, "b": None}]),
    "record": (line("Line"), [{"n": 1, "s": "x"}]),
    "optional": (["null", line("Optional")], [None, {"n": 1, "s": "x"}]),
    "nested": ({"type": "array", "items": {"type": "map", "values": {"type": "array", "items": line("Nested")}}},
               [[], [{"k": [{"n": 1, "s": "a"}, {"n": 2, "s": "b"}]}, {}]]),
    "numbers": (["int", "long"], [1, 2**40]),
    "floats": (["float", "double"], [0.5]),
    "union": (["null", "int", "string", "boolean", {"type": "array", "items": "int"}, OTHER],
              [None, 7, "seven", True, [7], {"x": 7.0}]),
    "string or enum": (["string", {**UNIT, "name": "U1"}], ["KG", ("U1", "KG")]),
    "bytes or fixed": (["bytes", {**MARK, "name": "M1"}], [("bytes", b"abc"), ("M1", b"abc")]),
    "records alike": (["null", line("A1"), line("B1")],
                      [None, ("B1", {"n": 1, "s": "x"}), ("A1", {"n": 1, "s": "x"})]),
    "map or record": ([{"type": "map", "values": "int"}, KEYED], [("map", {"k": 1}), ("Keyed", {"k": 1})]),
    "moment or not": (["int", "string", logical("long", "timestamp-millis")], [1, "x", ("long", MILLI)]),
    "moments": ([logical("int", "date"), "string", logical("long", "timestamp-micros")],
                [("int", date(2024, 2, 29)), "x", ("long", AT)]),
    "moments among numbers": (["null", logical("int", "date"), logical("long", "timestamp-millis")],
                              [("int", date(2024, 2, 29)), ("long", MILLI), None]),
    "times among numbers": ([logical("int", "time-millis"), logical("long", "time-micros")],
                            [("int", time(1)), ("long", time(1))]),
    "unions in an array": ({"type": "array", "items": ["null", "string", {**UNIT, "name": "U2"}, "double"]},
                           [["KG", ("U2", "KG"), None, 0.5], []]),
    "unions in a map": ({"type": "map", "values": {"type": "record", "name": "In", "fields": [
                            {"name": "u", "type": [line("A2"), line("B2"), {"type": "array", "items": "int"}]}]}},
                        [{"a": {"u": ("B2", {"n": 1, "s": "x"})}, "b": {"u": [1]}}, {}]),
    "decimal": (logical("bytes", "decimal", precision=38, scale=9), [Decimal("0E-9"), Decimal("-12345.678900001")]),
    "decimal fixed": ({"type": "fixed", "name": "D", "size": 8, **logical("fixed", "decimal", precision=9, scale=2)},
                      [Decimal("1.25"), Decimal("-1234567.89")]),
    "date": (logical("int", "date"), [date(1970, 1, 1), date(2024, 2, 29), date(1900, 3, 1)]),
    "time-millis": (logical("int", "time-millis"), [time(0), time(23, 59, 59, 999000)]),
    "time-micros": (logical("long", "time-micros"), [time(1, 2, 3, 456789)]),
    "timestamp-millis": (logical("long", "timestamp-millis"), [MILLI, datetime(1950, 1, 1, tzinfo=UTC)]),
    "timestamp-micros": (logical("long", "timestamp-micros"), [AT]),
    "local-timestamp-millis": (logical("long", "local-timestamp-millis"), [MILLI.replace(tzinfo=None)]),
    "local-timestamp-micros": (logical("long", "local-timestamp-micros"), [AT.replace(tzinfo=None)]),
    "timestamp-nanos": (logical("long", "timestamp-nanos"), [1709251199123456789]),
    "uuid": (logical("string", "uuid"), [UUID(int=5)]),
    "unknown": (logical("string", "no-such-type"), ["x"]),
}  # fmt: skip

# ruff: noqa: E501  (one case a line)
#: Evolutions: the writer's schema, the reader's, and values.
EVOLUTIONS: Mapping[str, tuple[str, str, list[Any]]] = {
    "promotions": (
        record(("a", "int"), ("b", "int"), ("c", "long"), ("d", "float"), ("e", "string"), ("f", "bytes")),
        record(("a", "long"), ("b", "double"), ("c", "float"), ("d", "double"), ("e", "bytes"), ("f", "string")),
        [{"a": 1, "b": 2, "c": 3, "d": 0.5, "e": "x", "f": b"y"}],
    ),
    "added with a default": (
        record(("a", "int")),
        record(("b", "string", "none"), ("a", "int"), ("c", {"type": "array", "items": "int"}, [1]), ("d", line("Line"), {"n": 1, "s": "d"})),
        [{"a": 1}],
    ),
    "removed": (record(("a", "int"), ("b", line("Line")), ("c", ["null", "string"])), record(("c", ["null", "string"])), [{"a": 1, "b": {"n": 1, "s": "x"}, "c": "y"}]),
    "alias": (record(("old", "int")), json.dumps({"type": "record", "name": "R", "fields": [{"name": "new", "type": "long", "aliases": ["old"]}]}), [{"old": 5}]),
    "null by default": (record(("a", "int")), record(("n", ["null", "int"], None), ("a", "int"), ("s", ["null", "string"], None)), [{"a": 1}]),
    "null by default, called as an alias": (record(("a", "int")), record(("a", "int", 0, ["b"]), ("b", ["null", "int"], None)), [{"a": 1}]),
    "into a union": (record(("a", "int")), record(("a", ["null", "long"])), [{"a": 5}]),
    "out of a union": (record(("a", ["null", "int"])), record(("a", "int")), [{"a": 5}]),
    "union to union": (record(("a", ["null", "int", "string"])), record(("a", ["string", "null", "int", "boolean"])), [{"a": 5}, {"a": "x"}, {"a": None}]),
    "enum default": (
        record(("u", {"type": "enum", "name": "U", "symbols": ["A", "B"]})),
        record(("u", {"type": "enum", "name": "U", "symbols": ["A", "Z"], "default": "Z"})),
        [{"u": "A"}, {"u": "B"}],
    ),
    "unit": (record(("t", logical("long", "timestamp-millis"))), record(("t", logical("long", "timestamp-micros"))), [{"t": MILLI}]),
    "unit the other way": (record(("t", logical("long", "timestamp-micros"))), record(("t", logical("long", "timestamp-millis"))), [{"t": AT}]),
    "logical types added": (
        record(("d", "int"), ("t", "int"), ("u", "long"), ("m", "long"), ("l", "long"), ("i", "int")),
        record(("d", logical("int", "date")), ("t", logical("int", "time-millis")), ("u", logical("long", "time-micros")), ("m", logical("long", "timestamp-millis")), ("l", logical("long", "local-timestamp-millis")), ("i", logical("long", "timestamp-micros"))),
        [{"d": 19782, "t": 1, "u": 2, "m": 1709251199123, "l": -1, "i": 5}],
    ),
    "logical types dropped": (
        record(("d", logical("int", "date")), ("l", logical("int", "date")), ("t", logical("int", "time-millis")), ("m", logical("long", "timestamp-millis")), ("c", logical("bytes", "decimal", precision=4, scale=2)), ("u", logical("string", "uuid")), ("f", logical("int", "date"))),
        record(("d", "int"), ("l", "long"), ("t", "int"), ("m", "long"), ("c", "bytes"), ("u", "string"), ("f", "double")),
        [{"d": date(2024, 2, 29), "l": date(2024, 2, 29), "t": time(1), "m": MILLI, "c": Decimal("12.34"), "u": UUID(int=5), "f": date(2024, 2, 29)}],
    ),
    "decimals added": (
        record(("b", "bytes"), ("f", MARK), ("s", "string")),
        record(("b", logical("bytes", "decimal", precision=9, scale=2)), ("f", {**MARK, **logical("fixed", "decimal", precision=6, scale=0)}), ("s", logical("bytes", "decimal", precision=4, scale=2))),
        [{"b": b"\x01\x02", "f": b"\xff\xff\xfe", "s": "\x01"}],
    ),
    "rounded to floats": (record(("a", "long"), ("b", "int"), ("c", "long")), record(("a", ["float", "double"]), ("b", ["null", "float", "double"]), ("c", "float")), [{"a": 2**24 + 1, "b": 2**24 + 1, "c": 2**60 + 2**36 + 1}]),
    "times beyond the day": (record(("t", "int")), record(("t", logical("int", "time-millis"))), [{"t": -1}, {"t": 86_400_000}]),
    "to the branch of the type": (
        record(("i", "int"), ("s", "string"), ("d", logical("int", "date")), ("n", "int"), ("l", "long"), ("b", "bytes")),
        record(("i", ["double", "long", "int"]), ("s", ["bytes", "string"]), ("d", ["string", "long", "int"]), ("n", ["string", logical("int", "date")]), ("l", ["string", "double", "float"]), ("b", ["string", logical("bytes", "decimal", precision=4, scale=2)])),
        [{"i": 5, "s": "x", "d": date(2024, 2, 29), "n": 19782, "l": 2**40, "b": b"\x01"}],
    ),
    "to the record of the name, or of the fields": (
        record(("a", line("A")), ("b", line("C")), ("c", [line("D"), line("E")]), ("d", line("F"))),
        record(("a", ["null", line("n.B"), line("n.A")]), ("b", [OTHER, line("X"), line("Y")]), ("c", ["string", {**line("K"), "aliases": ["E"]}, {**line("L"), "aliases": ["D"]}]), ("d", line("G"))),
        [{"a": {"n": 1, "s": "x"}, "b": {"n": 2, "s": "x"}, "c": (each, {"n": 3, "s": "x"}), "d": {"n": 4, "s": "x"}} for each in ("D", "E")],
    ),
    "wider decimal": (record(("d", logical("bytes", "decimal", precision=4, scale=2))), record(("d", logical("bytes", "decimal", precision=9, scale=4))), [{"d": Decimal("12.34")}]),
}  # fmt: skip


#: What neither reads: the writer's type, the reader's, and a datum.
MISREAD: list[tuple[Any, Any, Any]] = [
    (logical("int", "date"), logical("int", "time-millis"), date(2024, 2, 29)),
    (logical("int", "date"), [logical("int", "time-millis"), "double", "string"], date(2024, 2, 29)),
    (
        [logical("int", "date"), logical("long", "timestamp-micros")],
        logical("long", "timestamp-micros"),
        ("int", date(2024, 2, 29)),
    ),
    (logical("long", "timestamp-millis"), logical("long", "local-timestamp-millis"), MILLI),
    (logical("long", "timestamp-nanos"), logical("long", "timestamp-micros"), 5),
    (
        logical("bytes", "decimal", precision=4, scale=2),
        ["string", logical("bytes", "decimal", precision=3, scale=2)],
        Decimal("1.25"),
    ),
    (UNIT, ["null", "string"], "KG"),
    (UNIT, {**UNIT, "name": "Else"}, "KG"),
    (MARK, ["string", {**MARK, "size": 2}], b"abc"),
]


def both(
    spark: SparkSession, avro: Any, cases: list[tuple[str, str | None, list[bytes]]], mode: str = "FAILFAST"
) -> Iterator[tuple[Any, Any]]:
    """The results of the JVM and of our codecs for each case's messages (subject, reader's schema, messages), in one query."""
    count = max(len(messages) for _, _, messages in cases)
    rows = [[n, *(bytearray(messages[n % len(messages)]) for _, _, messages in cases)] for n in range(count)]
    columns = [f"c{index} binary" for index in range(len(cases))]
    data = spark.createDataFrame(rows, f"n int, {', '.join(columns)}").coalesce(1)
    decoded = []
    for index, (subject, reader, _) in enumerate(cases):
        settings = {"subject": subject, "registry": avro.registry, "reader_schema": reader, "mode": mode}
        decoded += [
            from_confluent_avro(f"c{index}", **settings).alias(f"jvm{index}"),
            confluent_avro_udf(f"c{index}", **settings).alias(f"python{index}"),
        ]
    found = data.select("n", *decoded).orderBy("n").collect()
    for index, (_, _, messages) in enumerate(cases):
        yield ([row[f"{how}{index}"] for row in found[: len(messages)]] for how in ("jvm", "python"))


def test_the_jvm_and_our_codecs_read_every_type_alike(spark: SparkSession, avro: Any, subject: str) -> None:
    schema = record(*((f"f{n}", kind) for n, (kind, _) in enumerate(TYPES.values())))
    [one] = avro.register(subject, schema)
    count = max(len(values) for _, values in TYPES.values())
    data = [{f"f{n}": values[i % len(values)] for n, (_, values) in enumerate(TYPES.values())} for i in range(count)]
    [[jvm, python]] = both(spark, avro, [(subject, None, [avro.message(one, schema, datum) for datum in data])])
    for ours, theirs in zip(python, jvm, strict=True):
        for n, name in enumerate(TYPES):
            assert ours[f"f{n}"] == theirs[f"f{n}"], name


def test_the_jvm_and_columns_read_every_type_alike(spark: SparkSession, avro: Any, subject: str) -> None:
    schema = record(*((name.replace("-", "").replace(" ", ""), kind) for name, (kind, _) in TYPES.items()))
    [one] = avro.register(subject, schema)
    names = [field["name"] for field in json.loads(schema)["fields"]]
    values = [values for _, values in TYPES.values()]
    data = [{name: each[i % len(each)] for name, each in zip(names, values, strict=True)} for i in range(2 * FEW)]
    [[jvm, python]] = both(spark, avro, [(subject, None, [avro.message(one, schema, datum) for datum in data])])
    assert python == jvm


def test_the_jvm_and_our_codecs_resolve_alike(spark: SparkSession, avro: Any, subject: str) -> None:
    cases = []
    for n, (writer, reader, data) in enumerate(EVOLUTIONS.values()):
        [one] = avro.register(f"{subject}{n}", writer)
        cases.append((f"{subject}{n}", reader, [avro.message(one, writer, datum) for datum in data]))
    for name, (jvm, python) in zip(EVOLUTIONS, both(spark, avro, cases), strict=True):
        read = list(jvm)
        assert read == list(python), name
        assert None not in read, name


def test_neither_reader_misreads_a_message(spark: SparkSession, avro: Any, subject: str) -> None:
    cases = []
    for n, (writer, reader, datum) in enumerate(MISREAD):
        written = record(("a", writer))
        [one] = avro.register(f"{subject}{n}", written)
        cases.append((f"{subject}{n}", record(("a", reader)), [avro.message(one, written, {"a": datum})]))
    for case, found in zip(MISREAD, both(spark, avro, cases, "PERMISSIVE"), strict=True):
        for how in found:
            [row] = how
            assert row.value is None, case
            assert row.error.reason.startswith(("unreadable schema", "malformed payload")), case


TREE = json.dumps(
    {
        "type": "record",
        "name": "Tree",
        "fields": [{"name": "n", "type": "int"}, {"name": "left", "type": ["null", "Tree"], "default": None}],
    }
)


def test_recursive_schemas(spark: SparkSession, avro: Any, subject: str) -> None:
    [one] = avro.register(subject, TREE)
    message = avro.message(one, TREE, {"n": 1, "left": {"n": 2, "left": None}})
    data = spark.createDataFrame([(bytearray(message),), (None,)], "value binary").coalesce(1)
    text = confluent_avro_udf("value", subject=subject, registry=avro.registry, as_json=True)
    assert [row.v for row in data.select(text.alias("v")).collect()] == [
        '{"n":1,"left":{"Tree":{"n":2,"left":null}}}',
        None,
    ]
    part = confluent_avro_udf(
        "value", subject=subject, registry=avro.registry, reader_schema=record(("n", "int"), name="Tree")
    )
    assert [row.v for row in data.select(part.alias("v")).collect()] == [Row(n=1), None]
    with pytest.raises(UnsupportedSchema, match="left is of type Tree, which contains itself"):
        confluent_avro_udf("value", subject=subject, registry=avro.registry)


V1 = record(("a", "int"))


def test_broken_records(spark: SparkSession, avro: Any, subject: str, query_failure: type[Exception]) -> None:
    [one] = avro.register(subject, V1)
    good = avro.message(one, V1, {"a": 1})
    messages = [good, good + b"\x00", good[:5], good[:3], b"\x05" + good[1:], b"\x00\x00\x0f\x42\x40\x02", None]
    rows = [("t", 0, n, None if m is None else bytearray(m)) for n, m in enumerate(messages)]
    data = spark.createDataFrame(rows, "topic string, partition int, offset long, value binary").coalesce(1)
    settings = {"subject": subject, "registry": avro.registry}
    column = confluent_avro_udf("value", **settings, mode="PERMISSIVE")
    found = [row.v for row in data.select(column.alias("v")).collect()]
    assert [row.value for row in found] == [Row(a=1), None, None, None, None, None, None]
    assert [row.error and row.error.reason.partition(":")[0] for row in found] == [
        None, "malformed payload", "malformed payload", "payload too short", "wrong magic byte", "unknown schema id", None,
    ]  # fmt: skip
    strict = confluent_avro_udf("value", **settings, position=KAFKA_POSITION)
    with pytest.raises(query_failure, match=r"unknown schema id: 1000000 .* at topic t, partition 0, offset 5, Spark"):
        data.where("offset = 5").select(strict.alias("v")).collect()


def test_ids_unknown_when_planned_can_be_asked_for(spark: SparkSession, avro: Any, subject: str) -> None:
    [one] = avro.register(subject, V1)
    asking = [
        confluent_avro_udf("value", subject=subject, registry=avro.url, ask_registry=True),
        from_confluent_avro("value", subject=subject, registry=avro.url, ask_registry=True),
    ]
    later = record(("a", "int"), ("b", "string", "x"))
    [two] = avro.register(subject, later)
    messages = [avro.message(one, V1, {"a": 1}), avro.message(two, later, {"a": 2, "b": "y"})]
    data = spark.createDataFrame([(bytearray(m),) for m in messages], "value binary").coalesce(1)
    for column in asking:
        assert [row.v for row in data.select(column.alias("v")).collect()] == [Row(a=1), Row(a=2)]
    gone = [struct.pack(">bI", 0, 99999) + b"x", b"\x00", None]
    broken = spark.createDataFrame([(None if m is None else bytearray(m),) for m in gone], "value binary").coalesce(1)
    column = from_confluent_avro("value", subject=subject, registry=avro.url, ask_registry=True, mode="PERMISSIVE")
    reasons = [row.v.error and row.v.error.reason for row in broken.select(column.alias("v")).collect()]
    assert reasons[0].startswith("unknown schema id: 99999 (0x0001869F): Schema 99999 not found")
    assert reasons[1:] == ["payload too short: 1 bytes, the header alone has 5", None]
