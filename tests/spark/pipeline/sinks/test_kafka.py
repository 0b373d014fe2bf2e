"""The Kafka sink on a real broker: once, fenced, encoded with registered schemas; and at least once with the source."""

from __future__ import annotations

import io
import json
import re
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    NewTopic,
)
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from compat.schema import AVRO, Reference, SchemaText
from magicbyte.testing import running_registry
from serdes.client.clients import RegistryClient
from serdes.codec import compile_codec
from serdes.message import wire
from spark_avro.pipeline.file.field_path import FieldPath
from spark_avro.pipeline.file.sinks import Mirror, Payload
from spark_avro.pipeline.file.sql_text import Sql
from spark_avro.pipeline.ports import BatchIdentity, Fenced, ForeignCheckpoint, SinkContext, SinkRefused, SourceRange
from spark_avro.pipeline.sinks.kafka import markers_topic as markers_topic_module
from spark_avro.pipeline.sinks.kafka import ownership, transactional
from spark_avro.pipeline.sinks.kafka.markers_topic import MARKERS
from spark_avro.pipeline.sinks.kafka.mirroring import frame_columns, frames_of
from tests.spark.pipeline.sinks.kafka_topic import Topic, murmur2
from tests.topics import create_topics

#: Most tests of this file take seconds each.
pytestmark = pytest.mark.slow

Rows = Callable[..., DataFrame]

#: Microseconds of the years 1, 1582, 1754, 1883, 9999 and 294247, and before.
TIMES = [-62135596800000000, -12219292800000001, -6816355200000000, -2717640000000001, 253402300799999999, 2**63 - 1]


#: For tests of what the writers on executors share with the driver's.
BY_DRIVER = pytest.mark.parametrize("topic", [{}], ids=["driver"], indirect=True)


@pytest.fixture(params=[{}, {"via": "executors", "writers": 3}], ids=["driver", "executors"])
def topic(
    kafka: str, registry_url: str, context: Callable[..., SinkContext], tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Topic]:
    made = Topic(kafka, registry_url, partial(context, checkpoint=str(tmp_path / "checkpoint")), **request.param)
    yield made
    made.close()


def test_a_repeated_batch_is_there_once(topic: Topic, numbers: Rows) -> None:
    sink = topic.sink()
    assert sink.write(numbers(0, 5), topic.batch(0, 0, 5)).written == 5
    again = sink.write(numbers(0, 5), topic.batch(0, 0, 5))
    assert (again.written, again.repeated) == (5, True)
    # A successor reads the marker.
    again = topic.sink().write(numbers(0, 5), topic.batch(0, 0, 5))
    assert (again.written, again.repeated) == (5, True)
    assert topic.sink().write(numbers(5, 7), topic.batch(1, 5, 7)).repeated is False
    assert topic.values() == [b"%d" % n for n in range(7)]


def test_the_next_driver_writes_a_batch_that_its_predecessor_left_open(topic: Topic, numbers: Rows) -> None:
    topic.create()
    dead = Producer({"bootstrap.servers": topic.servers, "transactional.id": f"magicbyte-pipeline-{topic.pipeline}"})
    dead.init_transactions(30)
    dead.begin_transaction()
    for n in range(5):
        dead.produce(topic.name, b"%d" % n)
    assert dead.flush(30) == 0
    assert topic.sink().write(numbers(0, 5), topic.batch(0, 0, 5)).repeated is False
    assert topic.values() == [b"%d" % n for n in range(5)]


def test_a_zombie_is_fenced(topic: Topic, numbers: Rows) -> None:
    zombie, successor = topic.sink(), topic.sink()
    zombie.write(numbers(0, 5), topic.batch(0, 0, 5))
    successor.write(numbers(5, 8), topic.batch(1, 5, 8))
    with pytest.raises(Fenced, match=r"another driver of this pipeline has taken over"):
        zombie.write(numbers(5, 8), topic.batch(1, 5, 8))
    assert topic.values() == [b"%d" % n for n in range(8)]


def test_another_checkpoint_is_refused_unless_it_is_adopted(topic: Topic, numbers: Rows) -> None:
    topic.sink().write(numbers(0, 5), topic.batch(0, 0, 5))
    with pytest.raises(ForeignCheckpoint, match=r"was written by query q1 of pipeline .*--adopt"):
        topic.sink().write(numbers(0, 5), topic.batch(0, 0, 5, "q2"))
    assert topic.sink({"adopt": True}).write(numbers(5, 6), topic.batch(0, 5, 6, "q2")).written == 1
    assert topic.sink().write(numbers(6, 7), topic.batch(1, 6, 7, "q2")).written == 1
    with pytest.raises(SinkRefused, match=r"batch q2-1 was written from other offsets"):
        topic.sink().write(numbers(6, 9), topic.batch(1, 6, 9, "q2"))
    assert topic.values() == [b"%d" % n for n in range(7)]


def test_a_backfill_has_a_transaction_and_a_marker_of_its_own(topic: Topic, numbers: Rows) -> None:
    stream = topic.sink()
    stream.write(numbers(0, 5), topic.batch(0, 0, 5))
    assert topic.sink().write(numbers(0, 2), topic.batch(0, 0, 2, "bf-1a2b")).written == 2
    assert stream.write(numbers(5, 6), topic.batch(1, 5, 6)).written == 1


@BY_DRIVER
def test_the_marker_is_a_record_of_a_compacted_topic(topic: Topic, numbers: Rows) -> None:
    topic.sink().write(numbers(0, 5), topic.batch(3, 0, 5))
    records = {message.key().decode(): json.loads(message.value()) for message in topic.messages(MARKERS)}
    assert records[f"_marker/q1/0/{topic.name}"] == {
        "batch": 3,
        "written": 5,
        "refused": 0,
        "late": 0,
        "ranges": [["flights", 0, 0, 5]],
        "ends": [],
        "topic_ids": {},
        "input_id": "",
    }
    assert records[f"_owner/{topic.pipeline}/{topic.name}"] == {"query": "q1"}


@pytest.fixture
def markers_topic(topic: Topic, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Creates a topic of markers for one test."""

    def create(partitions: int, **config: str) -> str:
        name = f"{MARKERS}-{uuid.uuid4()}"
        for module in (markers_topic_module, ownership, transactional):
            monkeypatch.setattr(module, "MARKERS", name)
        create_topics(topic.admin, NewTopic(name, partitions, 1, config=config))
        return name

    return create


@BY_DRIVER
def test_a_marker_is_found_after_partitions_were_added_to_the_topic_of_markers(
    topic: Topic, numbers: Rows, markers_topic: Callable[..., str]
) -> None:
    markers = markers_topic(1, **{"cleanup.policy": "compact"})
    topic.sink().write(numbers(0, 5), topic.batch(0, 0, 5))
    for number, partitions in ((1, 7), (2, 16)):
        topic.add_partitions(markers, partitions)
        start, end = 5 * number, 5 * number + 5
        sink = topic.sink()
        assert sink.write(numbers(start - 5, start), topic.batch(number - 1, start - 5, start)).repeated is True
        assert sink.write(numbers(start, end), topic.batch(number, start, end)).repeated is False
    with pytest.raises(ForeignCheckpoint):
        topic.sink().write(numbers(0, 5), topic.batch(0, 0, 5, "q2"))
    assert topic.values() == sorted(b"%d" % n for n in range(15))
    # The key stays where it is.
    assert {message.partition() for message in topic.messages(markers)} == {0}


@BY_DRIVER
def test_of_markers_in_several_partitions_the_last_batch_counts(
    topic: Topic, numbers: Rows, markers_topic: Callable[..., str]
) -> None:
    markers = markers_topic(3, **{"cleanup.policy": "compact"})
    topic.sink().write(numbers(0, 5), topic.batch(8, 0, 5))
    key = f"_marker/q1/0/{topic.name}"
    [marker] = [message for message in topic.messages(markers) if message.key().decode() == key]
    producer = Producer({"bootstrap.servers": topic.servers})
    for partition, batch in zip({0, 1, 2} - {marker.partition()}, (7, 9), strict=True):
        text = marker.value().replace(b'"batch":8', b'"batch":%d' % batch)
        producer.produce(markers, text, key.encode(), partition=partition, timestamp=1_000)
    assert producer.flush(30) == 0
    assert topic.sink().write(numbers(0, 5), topic.batch(9, 0, 5)).repeated is True
    with pytest.raises(SinkRefused, match="has batch 9"):
        topic.sink().write(numbers(0, 5), topic.batch(8, 0, 5))


@BY_DRIVER
def test_a_topic_of_markers_that_deletes_records_is_refused(
    topic: Topic, numbers: Rows, markers_topic: Callable[..., str]
) -> None:
    markers = markers_topic(1)
    refused = rf"the topic {markers} has cleanup\.policy=delete: .*--alter --topic {markers} --add-config"
    with pytest.raises(SinkRefused, match=refused):
        topic.sink().prepare(numbers(0, 0).schema)
    with pytest.raises(SinkRefused, match=refused):
        topic.sink().write(numbers(0, 5), topic.batch(0, 0, 5))
    topic.set_config(markers, "cleanup.policy", "compact,delete")
    with pytest.raises(SinkRefused, match=r"cleanup\.policy=compact,delete"):
        topic.sink().write(numbers(0, 5), topic.batch(0, 0, 5))
    # The topic has lost its first records by then.
    producer = Producer({"bootstrap.servers": topic.servers})
    for _ in range(3):
        producer.produce(markers, b"{}", b"lost", partition=0)
    assert producer.flush(30) == 0
    topic.admin.delete_records([TopicPartition(markers, 0, 3)])[TopicPartition(markers, 0)].result(30)
    topic.set_config(markers, "cleanup.policy", "compact")
    assert topic.sink().write(numbers(0, 5), topic.batch(0, 0, 5)).repeated is False
    assert topic.sink().write(numbers(0, 5), topic.batch(0, 0, 5)).repeated is True


def test_two_topics_of_one_pipeline_both_get_the_batch(topic: Topic, numbers: Rows) -> None:
    other = Topic(topic.servers, topic.registry_url, topic.context)
    other.pipeline = topic.pipeline
    sinks = [topic.sink(), other.sink()]
    for number, start in ((0, 0), (1, 5)):
        for sink in sinks:
            assert sink.write(numbers(start, start + 5), topic.batch(number, start, start + 5)).repeated is False
    other_order = [other.sink(), topic.sink()]
    assert [sink.write(numbers(5, 10), topic.batch(1, 5, 10)).repeated for sink in other_order] == [True, True]
    other.close()
    assert topic.values() == other.values() == [b"%d" % n for n in range(10)]


def test_a_renamed_pipeline_finds_its_marker_and_fences_its_zombie(topic: Topic, numbers: Rows) -> None:
    zombie = topic.sink()
    zombie.write(numbers(0, 5), topic.batch(0, 0, 5))
    topic.pipeline = f"renamed-{topic.pipeline}"
    successor = topic.sink()
    assert successor.write(numbers(0, 5), topic.batch(0, 0, 5)).repeated is True
    successor.write(numbers(5, 8), topic.batch(1, 5, 8))
    with pytest.raises(Fenced, match=r"another driver of this pipeline has taken over"):
        zombie.write(numbers(5, 8), topic.batch(1, 5, 8))
    assert topic.values() == [b"%d" % n for n in range(8)]


def test_a_driver_whose_topic_was_adopted_is_fenced_and_then_refused(topic: Topic, numbers: Rows) -> None:
    former = topic.sink()
    former.write(numbers(0, 5), topic.batch(0, 0, 5))
    topic.sink({"adopt": True}).write(numbers(5, 6), topic.batch(0, 5, 6, "q2"))
    with pytest.raises(Fenced):
        former.write(numbers(5, 6), topic.batch(1, 5, 6))
    with pytest.raises(ForeignCheckpoint, match="was written by query q2"):
        former.write(numbers(5, 6), topic.batch(1, 5, 6))
    assert topic.values() == [b"%d" % n for n in range(6)]


def test_an_older_copy_of_the_checkpoint_is_refused(topic: Topic, numbers: Rows) -> None:
    topic.sink().write(numbers(0, 5), topic.batch(0, 0, 5))
    topic.sink().write(numbers(5, 10), topic.batch(1, 5, 10))
    older = r"has batch 1.*new checkpoint with source.start: \{flights: \{0: 10\}\}, .*--adopt"
    with pytest.raises(SinkRefused, match=older):
        topic.sink().write(numbers(0, 7), topic.batch(0, 0, 7))
    with pytest.raises(SinkRefused, match=r"q1-1 was written from other offsets"):
        topic.sink().write(numbers(5, 12), topic.batch(1, 5, 12))
    assert topic.values() == sorted(b"%d" % n for n in range(10))


def test_a_repeated_batch_reports_the_refused_records_of_the_first_time(topic: Topic, numbers: Rows) -> None:
    topic.create(**{"max.message.bytes": "2000"})
    rows = numbers(0, 10, "if(n = 7, repeat('x', 5000), cast(n as string)) as value")
    first = topic.sink().write(rows, topic.batch(0, 0, 10))
    again = topic.sink().write(rows, topic.batch(0, 0, 10))
    assert (first.written, again.written, again.refused, again.repeated) == (9, 9, 1, True)


def test_records_have_key_headers_and_javas_partition(topic: Topic, numbers: Rows) -> None:
    topic.create(partitions=6)
    sink = topic.sink(
        key=(FieldPath(("id",)),), value=Payload(format="json-plain"), headers={"origin": Sql("upper(code)")}
    )
    sink.write(numbers(0, 40, "n as id", "'jfk' as code"), topic.batch(0, 0, 40))
    messages = topic.messages()
    # DefaultPartitioner: murmur2 of the key.
    expected = {message.key(): murmur2(message.key()) % 6 for message in messages}
    assert {message.key(): message.partition() for message in messages} == expected
    [seventh] = [message for message in messages if message.key() == b"7"]
    assert (seventh.value(), seventh.headers()) == (b'{"id":7,"code":"jfk"}', [("origin", b"JFK")])


def test_an_expression_names_the_topic_of_each_record(topic: Topic, numbers: Rows) -> None:
    other = f"{topic.name}-odd"
    expression = Sql(f"concat('{topic.name}', if(n % 2 = 1, '-odd', ''))")
    topic.create()
    admin = AdminClient({"bootstrap.servers": topic.servers})
    create_topics(admin, NewTopic(other, 1, 1))
    topic.sink(topic=expression).write(numbers(0, 4), topic.batch(0, 0, 4))
    assert topic.values() == [b"0", b"2"]
    assert sorted(message.value() for message in topic.messages(other)) == [b"1", b"3"]
    with pytest.raises(SinkRefused, match=r"the topic is an expression, which names no subject; set value.subject"):
        topic.sink(topic=expression, value=Payload()).prepare(numbers(0, 1).schema)


@BY_DRIVER
def test_a_derived_schema_is_checked_beforehand_and_registered_with_the_first_batch(
    topic: Topic, numbers: Rows
) -> None:
    sink, subject = topic.sink(value=Payload()), f"{topic.name}-value"
    rows = numbers(0, 3, "n", "if(n = 1, null, 'x') as s")
    name = topic.name.replace("-", "_")
    schema = (
        f'{{"type":"record","name":"{name}","fields":[{{"name":"n","type":"long"}},'
        '{"name":"s","type":["null","string"],"default":null}]}'
    )
    assert sink.prepare(rows.schema)[0] == f"register under subject {subject}: {schema}"
    assert subject not in topic.registry.subjects()
    sink.write(rows, topic.batch(0, 0, 3))
    registered = topic.registry.version(subject)
    codec = compile_codec(schema)
    values = sorted((codec.decode(message.value()[5:]) for message in topic.messages()), key=lambda row: row["n"])
    assert values == [{"n": 0, "s": "x"}, {"n": 1, "s": None}, {"n": 2, "s": "x"}]
    assert {message.value()[:5] for message in topic.messages()} == {b"\0" + registered.id.to_bytes(4, "big")}
    # A new column is a new version.
    sink.write(numbers(3, 4, "n", "if(n = 1, null, 'y') as s", "cast(null as int) as i"), topic.batch(1, 3, 4))
    assert topic.registry.versions(subject) == [1, 2]


@BY_DRIVER
def test_a_schema_that_the_subject_refuses_stops_the_pipeline_before_the_first_batch(
    topic: Topic, numbers: Rows
) -> None:
    subject = f"{topic.name}-value"
    topic.registry.put_config({"compatibility": "BACKWARD"}, subject)
    old = {"type": "record", "name": "R", "fields": [{"name": "n", "type": "string"}]}
    topic.registry.register(subject, SchemaText(AVRO, json.dumps(old)))
    with pytest.raises(SinkRefused, match=rf"subject {subject} refuses the schema of the rows: .*reader type: LONG"):
        topic.sink(value=Payload()).prepare(numbers(0, 1).schema)
    with pytest.raises(SinkRefused, match=r"the schema is not registered, and sink.kafka.value.register is false"):
        topic.sink(value=Payload(register=False)).prepare(numbers(0, 1).schema)
    # The latest version is text: a number does not fit.
    with pytest.raises(SinkRefused, match=r"sink.kafka.value: the column does not fit the schema: n is bigint"):
        topic.sink(value=Payload(schema="use-latest")).prepare(numbers(0, 1).schema)
    sink = topic.sink(value=Payload(schema="use-latest"))
    sink.write(numbers(0, 1, "cast(n as string) as n"), topic.batch(0, 0, 1))
    assert [message.value()[5:] for message in topic.messages()] == [b"\x020"]


@BY_DRIVER
@pytest.mark.parametrize("kind", ["json", "protobuf"])
def test_other_formats(topic: Topic, numbers: Rows, tmp_path: Any, kind: str) -> None:
    proto = tmp_path / "flight.proto"
    proto.write_text('syntax = "proto3"; message Flight { int64 n = 1; }')
    payload = Payload(format=kind, schema="derive" if kind == "json" else f"@{proto}")
    sink = topic.sink(value=payload)
    assert sink.prepare(numbers(3, 4).schema)[0].startswith(f"register under subject {topic.name}-value: ")
    sink.write(numbers(3, 4), topic.batch(0, 3, 4))
    [value] = topic.values()
    assert value[5:] == (b'{"n":3}' if kind == "json" else b"\x00\x08\x03")


def test_a_record_that_the_topic_does_not_take_is_rejected(topic: Topic, numbers: Rows, positions: Any) -> None:
    topic.create(**{"max.message.bytes": "10000"})
    rows = numbers(0, 10, "if(n = 7, repeat('x', 20000), 'x') as s")
    result = topic.sink().write(rows, topic.batch(0, 0, 10))
    assert result.written == 9
    assert positions(result.rejected) == [(7, "the record has 20000 bytes, and the topic takes 10000")]
    assert topic.values() == [b"x"] * 9


def test_a_topic_of_small_records_has_a_marker_of_many_partitions(topic: Topic, numbers: Rows) -> None:
    topic.create(partitions=1, **{"max.message.bytes": "2000"})
    ranges = tuple(SourceRange("flights-of-the-whole-world", partition, 0, 5) for partition in range(100))
    batch = BatchIdentity(topic.pipeline, "q1", 0, ranges)
    # More rows than one batch of the topic's records may have.
    rows = numbers(0, 300, "repeat('x', 100) as s")
    assert topic.sink().write(rows, batch).written == 300
    assert topic.sink().write(rows, batch).repeated is True
    assert len(topic.values()) == 300


@BY_DRIVER
def test_at_least_once_repeats_records_with_the_same_source(topic: Topic, numbers: Rows) -> None:
    topic.create()
    sink = topic.sink(delivery="at-least-once")
    assert sink.write(numbers(0, 2), topic.batch(0, 0, 2)).written == 2
    assert sink.write(numbers(0, 2), topic.batch(0, 0, 2)).repeated is False
    assert sorted((message.value(), dict(message.headers())) for message in topic.messages()) == [
        (b"0", {"__magicbyte.src": b"flights:0:0"}),
        (b"0", {"__magicbyte.src": b"flights:0:0"}),
        (b"1", {"__magicbyte.src": b"flights:0:1"}),
        (b"1", {"__magicbyte.src": b"flights:0:1"}),
    ]


def test_a_mirror_copies_records_as_they_are(topic: Topic, spark: SparkSession) -> None:
    topic.create(partitions=3)
    rows = spark.sql("""
        select x'00000000070102' as value, named_struct('topic', 'f', 'partition', 2, 'offset', 5L,
            'timestamp', timestamp'2026-01-01 05:00:00.123', 'headers', array(named_struct('key', 'h', 'value', x'ff')),
            'key', x'0003', 'schema_id', 7) as _kafka
    """)
    sink = topic.sink(mirror=True)
    assert all(statement.startswith("create topic ") for statement in sink.prepare(rows.schema))
    sink.write(rows, topic.batch(0, 5, 6))
    [message] = topic.messages()
    assert (message.key(), message.value()) == (b"\0\x03", b"\0\0\0\0\x07\x01\x02")
    assert (message.partition(), message.timestamp()[1]) == (2, 1767243600123)
    assert message.headers() == [("h", b"\xff")]
    with pytest.raises(SinkRefused, match=r"sink.kafka.mirror: copies records as they are; set source.value.format"):
        topic.sink(mirror=True).prepare(rows.selectExpr("value", "1 as one", "_kafka").schema)


@BY_DRIVER
def test_a_mirror_copies_the_schemas_of_its_records_under_their_ids(topic: Topic, spark: SparkSession) -> None:
    name = f"r{uuid.uuid4().hex}"
    inner = SchemaText(AVRO, f'{{"type":"enum","name":"{name}","symbols":["A"]}}')
    inner_id = topic.registry.register(f"{name}-inner", inner).id
    outer = SchemaText(
        AVRO,
        json.dumps({"type": "record", "name": f"{name}o", "fields": [{"name": "e", "type": name}]}),
        (Reference(name, f"{name}-inner", 1),),
    )
    outer_id = topic.registry.register(f"{name}-value", outer).id
    columns = """
        named_struct('topic', 'f', 'partition', 0, 'offset', 5L, 'timestamp', timestamp'2026-01-01 05:00:00',
            'headers', cast(null as array<struct<key: string, value: binary>>), 'key', x'007fffffff01') as _kafka
    """
    rows = spark.sql(f"select unhex('00{outer_id:08x}00') as value, {columns}")
    with running_registry() as server:
        target = RegistryClient(server.url)
        sink = topic.sink(mirror=Mirror(registry=server.url))
        sink.write(rows, topic.batch(0, 5, 6))
        assert target.schema_by_id(inner_id).schema.text == inner.text
        assert target.version(f"{name}-value").id == outer_id
        assert target.schema_by_id(outer_id).schema.references == outer.references
        # An id of another schema is not overwritten.
        other = RegistryClient(topic.registry.urls[0]).register(f"{name}-other", SchemaText(AVRO, '"string"')).id
        target.put_mode("IMPORT", "taken", force=True)
        target.register("taken", SchemaText(AVRO, '"long"'), schema_id=other, version=1)
        taken = spark.sql(f"select unhex('00{other:08x}00') as value, {columns}")
        with pytest.raises(SinkRefused, match=rf"has another schema under id {other}; mirror into a registry, or"):
            sink.write(taken, topic.batch(1, 6, 7))
    assert len(topic.messages()) == 1


def test_a_mirror_finds_the_frames_of_records(spark: SparkSession) -> None:
    guid = b"\1" + bytes(range(16))
    named = [("__value_schema_id", guid), ("x", b"y"), ("__key_schema_id", b"\1")]
    kind = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    headers = pa.array([[{"key": key, "value": value} for key, value in named], None, []], kind)
    records = pa.table(
        {
            "key": pa.array([b"\0\0\0\0\7ab", None, b"\0"], pa.binary()),
            "value": pa.array([b"plain", guid[::-1], b"\1" + guid[:0:-1] + b"z"], pa.binary()),
            "headers": headers,
        }
    )
    by_guid = b"\1" + guid[:0:-1]
    found = {b"\0\0\0\0\7", b"\0", b"plain", guid[::-1][:5], b"\1\x0f\x0e\x0d\x0c", by_guid, guid, b"\1"}
    assert frames_of(records) == found
    rows = spark.createDataFrame(
        records.to_pylist(), "key binary, value binary, headers array<struct<key: string, value: binary>>"
    )
    of_spark = rows.select(F.explode(frame_columns(rows.columns)).alias("frame")).distinct().collect()
    # Spark reads the first five bytes only of those that are not the whole guid's.
    assert {bytes(row.frame) for row in of_spark if row.frame is not None} == found - {b"\1\x0f\x0e\x0d\x0c"}
    without = rows.drop("headers").select(F.explode(frame_columns(["key", "value"])).alias("frame")).distinct()
    assert guid not in {bytes(row.frame) for row in without.collect() if row.frame is not None}


def test_a_mirror_copies_the_schemas_that_headers_name(topic: Topic, spark: SparkSession) -> None:
    name = f"r{uuid.uuid4().hex}"
    text = SchemaText(AVRO, f'{{"type":"enum","name":"{name}","symbols":["A"]}}')
    held = topic.registry.register(f"{name}-value", text)
    assert held.guid is not None
    frame = wire.guid_bytes(held.guid)
    rows = spark.sql(f"""
        select x'00' as value, named_struct('topic', 'f', 'partition', 0, 'offset', 5L,
            'timestamp', timestamp'2026-01-01 05:00:00', 'key', x'007fffffff01',
            'headers', array(named_struct('key', 'h', 'value', x'ff'),
                named_struct('key', '__value_schema_id', 'value', x'{frame.hex()}'))) as _kafka
    """)
    with running_registry() as server:
        sink = topic.sink(mirror=Mirror(registry=server.url))
        sink.write(rows, topic.batch(0, 5, 6))
        copied = RegistryClient(server.url).version(f"{name}-value")
        assert (copied.id, copied.guid) == (held.id, held.guid)
    [message] = topic.messages()
    assert message.headers() == [("h", b"\xff"), ("__value_schema_id", frame)]


@BY_DRIVER
def test_a_preparation_writes_nothing(topic: Topic, numbers: Rows) -> None:
    statements = topic.sink(value=Payload()).prepare(numbers(0, 1).schema)
    assert f"create topic {topic.name}" in statements
    admin = AdminClient({"bootstrap.servers": topic.servers})
    assert topic.name not in admin.list_topics(timeout=30).topics


def test_a_registry_that_is_away_is_no_refusal(kafka: str, context: Callable[..., SinkContext], numbers: Rows) -> None:
    from serdes.error import RegistryUnavailable  # noqa: PLC0415 - here alone

    with running_registry() as server:
        url = server.url
    away = Topic(kafka, url, context)
    with pytest.raises(RegistryUnavailable):
        away.sink(value=Payload()).prepare(numbers(0, 1).schema)


#: Micros, days and the rest at the edges of their types -> fastavro's reader has raw numbers without logical types.
EDGES: dict[str, tuple[str, Any]] = {
    "at": (f"array({', '.join(f'timestamp_micros({micros}L)' for micros in TIMES)})", TIMES),
    "local": (f"array(cast(timestamp_micros({TIMES[0]}L) as timestamp_ntz))", TIMES[:1]),
    "day": ("array(date_from_unix_date(-719162), date_from_unix_date(11248738))", [-719162, 11248738]),
    "double": ("array(double('NaN'), double('-0.0'), double('-Infinity'), 4.9E-324D, null)",
               ["nan", "-0.0", "-inf", "5e-324", "None"]),
    "float": ("array(float('NaN'), float('-0.0'))", ["nan", "-0.0"]),
    "digits": ("array(cast('-99999999999999999999999999999999999999' as decimal(38,0)))",
               [(1 - 10**38).to_bytes(16, "big", signed=True)]),
    "money": ("array(cast('-99.99' as decimal(4,2)), cast('0.01' as decimal(4,2)))",
              [(-9999).to_bytes(2, "big", signed=True), b"\1"]),
    "long": ("array(9223372036854775807L, -9223372036854775807L - 1L)", [2**63 - 1, -(2**63)]),
    "int": ("array(2147483647, -2147483647 - 1)", [2**31 - 1, -(2**31)]),
    "text": ("array('', 'a\\u0000b', null)", ["", "a\0b", None]),
    "bytes": ("array(cast('' as binary), unhex('00FF'))", [b"", b"\0\xff"]),
    "struct": ("array(named_struct('a', cast(null as int)), null)", [{"a": None}, None]),
    "map": ("map('', cast(null as string), 'b', 'c')", {"": None, "b": "c"}),
    "none": ("cast(null as struct<a: int>)", None),
}  # fmt: skip


@BY_DRIVER
def test_avro_keeps_each_value(topic: Topic, numbers: Rows) -> None:
    columns = [f"{sql} as {name}" for name, (sql, _) in EDGES.items()]
    broken = "cast(unhex('FF41') as string) as broken"
    assert topic.sink(value=Payload()).write(numbers(0, 1, *columns, broken), topic.batch(0, 0, 1)).written == 1
    [value] = topic.values()
    text = topic.registry.version(f"{topic.name}-value").schema.text
    # Without logical types, the numbers and bytes are those of the payload; fastavro cannot read the broken text.
    plain = re.sub(r'"logicalType":"[^"]*",?|,"logicalType":"[^"]*"', "", text.replace(" ", ""))
    bare = json.loads(plain)
    bare["fields"][-1]["type"] = ["bytes", "null"] if bare["fields"][-1]["type"][0] == "string" else ["null", "bytes"]
    found: Any = fastavro.schemaless_reader(io.BytesIO(value[5:]), fastavro.parse_schema(bare), None)
    assert found.pop("broken") == b"\xffA"
    for name in ("double", "float"):
        found[name] = [str(one) for one in found[name]]
    assert found == {name: expected for name, (_, expected) in EDGES.items()}


@BY_DRIVER
def test_a_map_whose_keys_are_no_texts_is_refused(topic: Topic, numbers: Rows) -> None:
    schema = numbers(0, 1, "map(unhex('00FF'), 1) as v").schema
    with pytest.raises(SinkRefused, match=r"sink.kafka.value: JSON has no keys that are bytes, structs or arrays"):
        topic.sink(value=Payload(format="json-plain")).prepare(schema)


@BY_DRIVER
@pytest.mark.parametrize("delivery", ["exactly-once", "at-least-once"])
@pytest.mark.parametrize("format_", ["json", "json-plain", "protobuf"])
def test_a_text_that_is_not_utf8_is_rejected(
    topic: Topic, numbers: Rows, positions: Any, tmp_path: Path, delivery: str, format_: str
) -> None:
    (tmp_path / "texts.proto").write_text('syntax = "proto3"; message Texts { repeated string v = 1; }')
    schema = f"@{tmp_path}/texts.proto" if format_ == "protobuf" else "derive"
    rows = numbers(0, 3, "array(if(n = 1, cast(unhex('FF41') as string), 'a\\uFFFD')) as v")
    payload = Payload(format=format_, schema=schema)
    result = topic.sink(value=payload, delivery=delivery).write(rows, topic.batch(0, 0, 3))
    assert result.written == 2
    [(place, reason)] = positions(result.rejected)
    assert (place, reason.partition(";")[0]) == (
        1, "column v: a text is not UTF-8, and the record would have U+FFFD in place of its bytes"
    )  # fmt: skip
    if format_ == "protobuf":
        assert [value[5:] for value in topic.values()] == [b"\0\x0a\x04a\xef\xbf\xbd"] * 2
        return
    skip = 5 if format_ == "json" else 0
    assert [json.loads(value[skip:]) for value in topic.values()] == [{"v": ["a\ufffd"]}] * 2
