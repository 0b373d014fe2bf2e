"""Records whose schema a header names, among records with a prefix."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient, header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroDeserializer as TheirDeserializer
from confluent_kafka.schema_registry.avro import AvroSerializer as TheirSerializer
from confluent_kafka.serialization import MessageField
from confluent_kafka.serialization import SerializationContext as TheirContext
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from compat.schema import JSON, PROTOBUF, SchemaText
from serdes.avro import AvroDeserializer, AvroSerializer
from serdes.json_schema import JSONDeserializer
from serdes.message import wire
from serdes.serialization import SerializationContext, SerializationError
from spark_avro import (
    confluent_avro_udf,
    confluent_json_udf,
    confluent_schema_guid,
    confluent_schema_id,
    from_confluent_avro,
    from_confluent_avro_records,
    from_confluent_json,
    from_confluent_protobuf,
    to_confluent_avro,
    to_confluent_json,
    to_confluent_protobuf,
)
from spark_avro.errors import PlanError
from spark_avro.plan.selection import plan_decoding, select_versions
from spark_avro.streams.dead_letters import split

Headers = Sequence[tuple[str, bytes | None]]

V1 = json.dumps({"type": "record", "name": "Flight", "fields": [{"name": "n", "type": "int"}]})
V2 = json.dumps(
    {
        "type": "record",
        "name": "Flight",
        "fields": [{"name": "n", "type": "int"}, {"name": "tail", "type": "string", "default": "?"}],
    }
)
#: The payloads of n = 7 by both versions.
OLD, NEW = b"\x0e", b"\x0e\x04N1"
VALUE, KEY = "__value_schema_id", "__key_schema_id"
COLUMNS = "number int, value binary, headers array<struct<key: string, value: binary>>"


def frame(spark: SparkSession, records: Sequence[tuple[bytes | None, Headers | None]]) -> DataFrame:
    rows = [
        (
            number,
            None if value is None else bytearray(value),
            headers and [(name, None if held is None else bytearray(held)) for name, held in headers],
        )
        for number, (value, headers) in enumerate(records)
    ]
    return spark.createDataFrame(rows, COLUMNS).coalesce(1)


def outcomes(data: DataFrame, column: Any) -> list[Any]:
    """The fields of each value, or the reason of its error."""
    rows = data.select("number", column.alias("v")).orderBy("number").collect()
    return [
        row.v.error.reason if row.v.error is not None else tuple(row.v.value) if row.v.value is not None else None
        for row in rows
    ]


class Versions:
    """Two versions of a subject, with their prefixes and the values of their headers."""

    def __init__(self, avro: Any, subject: str) -> None:
        avro.register(subject, V1, V2)
        self.one, self.two = (avro.registry.version(subject, number) for number in (1, 2))
        self.prefix_one, self.prefix_two = wire.prefix(self.one.id), wire.prefix(self.two.id)
        self.header_one, self.header_two = wire.guid_bytes(self.one.guid), wire.guid_bytes(self.two.guid)


@pytest.fixture
def versions(avro: Any, subject: str) -> Versions:
    return Versions(avro, subject)


UNKNOWN = "0a0b0c0d-0000-4000-8000-0000000000ff"
MALFORMED = "malformed schema id header: "
DECODERS = [from_confluent_avro, confluent_avro_udf]


@pytest.mark.parametrize("decode", DECODERS)
def test_a_header_decides_and_else_the_prefix(
    spark: SparkSession, avro: Any, subject: str, versions: Versions, decode: Any
) -> None:
    held = versions
    unknown = f"unknown schema guid: {UNKNOWN} is not among those of subject {subject} when the query was planned"
    cases: list[tuple[bytes | None, Headers | None, Any]] = [
        (held.prefix_one + OLD, None, (7, "?")),
        (held.prefix_two + NEW, [], (7, "N1")),
        (OLD, [(VALUE, held.header_one)], (7, "?")),
        (NEW, [("trace", b"x"), (VALUE, held.header_two)], (7, "N1")),
        # V1 before the payload.
        (held.header_one + OLD, None, (7, "?")),
        (held.header_two + NEW, [("trace", None)], (7, "N1")),
        # The last header of the name counts; one without a value counts as none.
        (NEW, [(VALUE, held.header_one), (VALUE, held.header_two)], (7, "N1")),
        (OLD, [(VALUE, held.header_one), (VALUE, None)], (7, "?")),
        (held.prefix_two + NEW, [(VALUE, None)], (7, "N1")),
        # The header of the key is none of the value.
        (held.prefix_one + OLD, [(KEY, held.header_two)], (7, "?")),
        # Bytes after the guid would be the message indexes of Protobuf.
        (OLD, [(VALUE, held.header_one + b"\x02\x04")], (7, "?")),
        # The header decides, so the payload has no prefix.
        (held.prefix_one + OLD, [(VALUE, held.header_one)], "malformed payload: the 6 bytes after the header"),
        (NEW[:-1], [(VALUE, held.header_two)], "malformed payload: the 3 bytes after the header"),
        (None, [(VALUE, held.header_one)], None),
        (None, [(VALUE, b"")], None),
        (b"", [(VALUE, held.header_one)], "malformed payload: the 0 bytes after the header"),
        (b"", [(KEY, held.header_one)], "payload too short: 0 bytes, the header alone has 5"),
        (OLD, [(VALUE, wire.guid_bytes(UNKNOWN))], unknown),
        (held.prefix_one + OLD, [(VALUE, wire.guid_bytes(UNKNOWN))], unknown),
        (wire.guid_bytes(UNKNOWN) + OLD, None, unknown),
        (held.header_one[:16], None, "payload too short: 16 bytes, magic byte and schema guid alone have 17"),
        (held.prefix_one + OLD, [(VALUE, b"")], f"{MALFORMED}truncated message: the magic byte of the schema id header"
            " needs 1 bytes, the message has 0"),
        (held.prefix_one + OLD, [(VALUE, held.header_one[:-1])], f"{MALFORMED}truncated message: the schema id header"
            " needs 17 bytes, the message has 16"),
        (held.prefix_one + OLD, [(VALUE, held.prefix_one)], f"{MALFORMED}unknown magic byte 0: expected 1; the message"
            " was not written with a schema id"),
        (OLD, [(VALUE, held.header_one), (VALUE, b"\xff" * 17)], f"{MALFORMED}unknown magic byte 255: expected 1;"),
    ]  # fmt: skip
    data = frame(spark, [(value, headers) for value, headers, _ in cases])
    column = decode("value", subject=subject, registry=avro.registry, mode="PERMISSIVE", headers="headers")
    for found, (value, headers, expected) in zip(outcomes(data, column), cases, strict=True):
        same = found.startswith(expected) if isinstance(expected, str) else found == expected
        # The two decoders explain a malformed payload in words of their own.
        assert same or (decode is confluent_avro_udf and str(expected).startswith("malformed payload")), (
            found,
            value,
            headers,
        )
        # A deserializer of the serdes decodes the same records.
        context = SerializationContext("t", "value", list(headers or ()))
        theirs = AvroDeserializer(avro.registry, V2)
        if isinstance(expected, str) and expected.startswith(MALFORMED):
            with pytest.raises(SerializationError) as failure:
                theirs(value, context)
            assert found == f"{MALFORMED}{failure.value}"
        elif not isinstance(expected, str):
            read = theirs(value, context)
            assert read is None if expected is None else tuple(read.values()) == expected
    known = [(value, headers) for value, headers, expected in cases if not isinstance(expected, str)]
    with_ids = frame(spark, known).select(
        confluent_schema_id(
            "value", headers="headers", guids={held.one.guid: held.one.id, held.two.guid: held.two.id}
        ).alias("id"),
        confluent_schema_guid("value", headers="headers").alias("guid"),
    )
    assert [(row.id, row.guid) for row in with_ids.collect()][:6] == [
        (held.one.id, None),
        (held.two.id, None),
        (held.one.id, held.one.guid),
        (held.two.id, held.two.guid),
        (held.one.id, held.one.guid),
        (held.two.id, held.two.guid),
    ]


@pytest.mark.slow
def test_an_error_names_the_id_of_a_guid_and_keeps_the_bytes(
    spark: SparkSession, avro: Any, subject: str, versions: Versions, query_failure: type[Exception]
) -> None:
    data = frame(spark, [(b"\x0e\x00", [(VALUE, versions.header_one)]), (OLD, [(VALUE, b"\x01")])])
    settings = {"subject": subject, "registry": avro.registry, "headers": "headers"}
    rows = data.select(from_confluent_avro("value", mode="PERMISSIVE", **settings).alias("v")).collect()
    assert [(row.v.error.id, bytes(row.v.error.raw)) for row in rows] == [(versions.one.id, b"\x0e\x00"), (None, OLD)]
    assert data.select(from_confluent_avro("value", mode="DROP", **settings)).collect() == []
    with pytest.raises(query_failure, match=r"malformed payload: the 2 bytes .* at Spark partition|at topic"):
        data.limit(1).select(from_confluent_avro("value", **settings)).collect()


@pytest.mark.slow
def test_keys_are_named_by_a_header_of_their_own(
    spark: SparkSession, avro: Any, subject: str, versions: Versions
) -> None:
    data = frame(spark, [(OLD, [(VALUE, b"x"), (KEY, versions.header_one)]), (versions.prefix_one + OLD, None)])
    settings = {"subject": subject, "registry": avro.registry, "mode": "PERMISSIVE", "headers": "headers"}
    column = from_confluent_avro("value", is_key=True, **settings)
    assert outcomes(data, column) == [(7, "?"), (7, "?")]
    rows = split(data.withColumnRenamed("value", "key"), plan_decoding(select_versions(
        registry=avro.registry, subject=subject
    )), "key").orderBy("number").collect()  # fmt: skip
    assert [tuple(row.decoded) for row in rows] == [(7, "?"), (7, "?")]


def test_headers_that_are_not_given_are_not_read(
    spark: SparkSession, avro: Any, subject: str, versions: Versions
) -> None:
    data = frame(spark, [(versions.prefix_one + OLD, [(VALUE, b"x")]), (OLD, [(VALUE, versions.header_one)])])
    column = from_confluent_avro("value", subject=subject, registry=avro.registry, mode="PERMISSIVE")
    assert outcomes(data, column) == [(7, "?"), "payload too short: 1 bytes, the header alone has 5"] or outcomes(
        data, column
    )[1].startswith("wrong magic byte: 0x0E")


@pytest.mark.slow
@pytest.mark.parametrize("decode", [from_confluent_json, confluent_json_udf])
def test_json_schemas(spark: SparkSession, avro: Any, subject: str, decode: Any) -> None:
    schema = {"type": "object", "title": "Order", "properties": {"id": {"type": "integer"}}}
    held = avro.registry.register(subject, SchemaText(JSON, json.dumps(schema)))
    guid = wire.guid_bytes(held.guid)
    data = frame(
        spark,
        [
            (b'{"id": 5}', [(VALUE, guid)]),
            (wire.prefix(held.id) + b'{"id": 6}', None),
            (guid + b'{"id": 7}', None),
            (b'{"id": 8}', [(VALUE, guid[:4])]),
            (b"{", [(VALUE, guid)]),
        ]
        + [(b'{"id": 9}', [(VALUE, guid)])] * 40,
    )
    column = decode("value", subject=subject, registry=avro.registry, mode="PERMISSIVE", headers="headers")
    found = outcomes(data, column)
    assert found[:3] == [(5,), (6,), (7,)]
    assert found[3] == f"{MALFORMED}truncated message: the schema id header needs 17 bytes, the message has 4"
    assert found[4].startswith("malformed payload: the 1 bytes after the header")
    assert found[5:] == [(9,)] * 40


PROTO = 'syntax = "proto3"; package p; message A { int32 x = 1; } message B { message C { string s = 1; } C c = 1; }'


def test_protobuf_indexes_follow_the_guid(spark: SparkSession, avro: Any, subject: str) -> None:
    held = avro.registry.register(subject, SchemaText(PROTOBUF, PROTO))
    guid = wire.guid_bytes(held.guid)
    indexes = wire.write_indexes((1, 0))
    data = frame(
        spark,
        [
            (b"\x0a\x01s", [(VALUE, guid + indexes)]),
            (wire.prefix(held.id) + indexes + b"\x0a\x01t", None),
            (b"\x08\x01", [(VALUE, guid + b"\x00")]),
            (b"\x0a\x01s", [(VALUE, wire.guid_bytes(UNKNOWN) + indexes)]),
        ]
        + [(b"\x0a\x01u", [(VALUE, guid + indexes)])] * 40,
    )
    settings = {"subject": subject, "registry": avro.registry, "mode": "PERMISSIVE", "headers": "headers"}
    found = outcomes(data, from_confluent_protobuf("value", message="p.B.C", **settings))
    assert found[:2] == [("s",), ("t",)]
    assert found[2].startswith("another message: the record at message indexes [0] is a p.A, and the column has p.B.C")
    assert found[3].startswith(f"unknown schema guid: {UNKNOWN} is not among those of subject {subject}")
    assert found[4:] == [("u",)] * 40


@pytest.mark.slow
def test_several_record_types(spark: SparkSession, avro: Any, subject: str) -> None:
    other = json.dumps({"type": "record", "name": "Gate", "fields": [{"name": "g", "type": "string"}]})
    avro.register(f"{subject}-a", V1)
    avro.register(f"{subject}-b", other)
    flight, gate = (avro.registry.version(f"{subject}-{name}") for name in "ab")
    data = frame(
        spark,
        [
            (OLD, [(VALUE, wire.guid_bytes(flight.guid))]),
            (b"\x02x", [(VALUE, wire.guid_bytes(gate.guid))]),
            (wire.prefix(gate.id) + b"\x02y", None),
            (OLD, [(VALUE, wire.guid_bytes(UNKNOWN))]),
        ],
    )
    column = from_confluent_avro_records(
        "value", subjects=[f"{subject}-a", f"{subject}-b"], registry=avro.registry, mode="PERMISSIVE", headers="headers"
    )
    found = outcomes(data, column)
    assert [tuple(part and tuple(part) for part in value) for value in found[:3]] == [
        ((7,), None),
        (None, ("x",)),
        (None, ("y",)),
    ]
    assert found[3].startswith(f"unknown schema guid: {UNKNOWN} is not among those of subjects {subject}-a, ")


@pytest.mark.slow
def test_workers_ask_for_guids(spark: SparkSession, avro: Any, subject: str, versions: Versions) -> None:
    url = avro.registry.urls[0]
    settings = {"subject": subject, "registry": url, "mode": "PERMISSIVE", "headers": "headers", "ask_registry": True}
    columns = [decode("value", **settings) for decode in DECODERS]
    later = json.dumps({"type": "record", "name": "Flight", "fields": [
        {"name": "n", "type": "int"}, {"name": "tail", "type": "string", "default": "?"},
        {"name": "more", "type": "int"}]})  # fmt: skip
    avro.register(subject, later)
    guid = wire.guid_bytes(avro.registry.version(subject).guid)
    data = frame(
        spark,
        [
            (NEW + b"\x02", [(VALUE, guid)]),
            (guid + NEW + b"\x02", None),
            (OLD, [(VALUE, versions.header_one)]),
            (OLD, [(VALUE, wire.guid_bytes(UNKNOWN))]),
        ],
    )
    absent = f"unknown schema guid: {UNKNOWN}: the registry has no schema of it"
    for column in columns:
        assert outcomes(data, column) == [(7, "N1"), (7, "N1"), (7, "?"), absent]


@pytest.mark.slow
@pytest.mark.parametrize("is_key", [False, True])
def test_written_headers_are_read_by_all_deserializers(
    spark: SparkSession, avro: Any, subject: str, is_key: bool
) -> None:
    data = spark.sql("select struct(7 as n, 'N1234' as tail) as v union all select null").coalesce(1)
    settings = {"registry": avro.registry, "subject": subject, "is_key": is_key}
    column = to_confluent_avro("v", data=data, record_name="Flight", schema_id="header", **settings)
    name, header = ("key", KEY) if is_key else ("value", VALUE)
    whole, nothing = data.select(column.alias("m")).select("m.*").collect()
    assert (nothing[name], nothing.headers) == (None, [])
    guid = wire.guid_bytes(avro.registry.version(subject).guid)
    assert [(pair.key, bytes(pair.value)) for pair in whole.headers] == [(header, guid)]
    headers = [(header, guid)]
    ours = AvroDeserializer(avro.registry)(bytes(whole[name]), SerializationContext("t", name, headers))
    client = SchemaRegistryClient({"url": avro.url})
    field = MessageField.KEY if is_key else MessageField.VALUE
    theirs = TheirDeserializer(client)(bytes(whole[name]), TheirContext("t", field, headers))
    assert ours == theirs == {"n": 7, "tail": "N1234"}
    back = from_confluent_avro(f"m.{name}", headers="m.headers", **settings)
    rows = data.select(column.alias("m")).select(back.alias("v")).collect()
    assert [row.v and tuple(row.v) for row in rows] == [(7, "N1234"), None]


@pytest.mark.slow
def test_written_json_and_protobuf(spark: SparkSession, avro: Any, subject: str) -> None:
    data = spark.sql("select struct('x' as s) as v union all select null").coalesce(1)
    settings = {"registry": avro.registry, "subject": f"{subject}-j"}
    column = to_confluent_json("v", data=data, schema_id="header", **settings)
    [whole, nothing] = data.select(column.alias("m")).select("m.*").collect()
    assert (bytes(whole.value), nothing.value, nothing.headers) == (b'{"s":"x"}', None, [])
    headers = [(pair.key, bytes(pair.value)) for pair in whole.headers]
    assert headers == [(VALUE, wire.guid_bytes(avro.registry.version(f"{subject}-j").guid))]
    read = JSONDeserializer(None, schema_registry_client=avro.registry)
    assert read(bytes(whole.value), SerializationContext("t", "value", headers)) == {"s": "x"}
    back = from_confluent_json("m.value", headers="m.headers", **settings)
    assert [tuple(row.v) for row in data.select(column.alias("m")).select(back.alias("v")).collect() if row.v] == [
        ("x",)
    ]

    settings = {"registry": avro.registry, "subject": f"{subject}-p", "message": "p.B.C"}
    column = to_confluent_protobuf("v", schema=PROTO, schema_id="header", **settings)
    [whole, nothing] = data.select(column.alias("m")).select("m.*").collect()
    assert (bytes(whole.value), nothing.value, nothing.headers) == (b"\x0a\x01x", None, [])
    guid = wire.guid_bytes(avro.registry.version(f"{subject}-p").guid)
    assert [(pair.key, bytes(pair.value)) for pair in whole.headers] == [(VALUE, guid + wire.write_indexes((1, 0)))]
    back = from_confluent_protobuf("m.value", headers="m.headers", **settings)
    assert [tuple(row.v) for row in data.select(column.alias("m")).select(back.alias("v")).collect() if row.v] == [
        ("x",)
    ]


@pytest.mark.slow
def test_headers_of_all_serializers_are_read(spark: SparkSession, avro: Any, subject: str) -> None:
    topic = f"t-{uuid.uuid4()}"
    headers: list[tuple[str, bytes]] = []
    ours = AvroSerializer(avro.registry, V2, conf={"schema.id.serializer": "header"})
    records = [(ours({"n": 7, "tail": "a"}, SerializationContext(topic, "value", headers)), headers)]
    client = SchemaRegistryClient({"url": avro.url})
    theirs = TheirSerializer(client, V1, conf={"schema.id.serializer": header_schema_id_serializer})
    headers = []
    records.append((theirs({"n": 7}, TheirContext(topic, MessageField.VALUE, headers)), headers))
    assert [len(value) for value, _ in records] == [3, 1]
    column = from_confluent_avro(
        "value", topic=topic, registry=avro.registry, reader_schema=V2, mode="PERMISSIVE", headers="headers"
    )
    assert outcomes(frame(spark, records), column) == [(7, "a"), (7, "?")]


def test_a_place_that_there_is_not(avro: Any, subject: str) -> None:
    for encode, schema in ((to_confluent_avro, V1), (to_confluent_json, "{}"), (to_confluent_protobuf, PROTO)):
        with pytest.raises(PlanError, match="schema_id is prefix or header, not 'headers'"):
            encode("v", schema=schema, subject=subject, registry=avro.registry, schema_id="headers")
    assert avro.registry.subjects(subject) == []


def test_headers_of_another_type_are_refused(spark: SparkSession, avro: Any, subject: str, versions: Versions) -> None:
    data = frame(spark, [(OLD, None)])
    column = from_confluent_avro("value", subject=subject, registry=avro.registry, headers=F.col("number"))
    with pytest.raises(PySparkException, match=r"array|extract"):
        data.select(column)
