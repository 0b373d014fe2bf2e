"""Pipelines over records whose schema a header names: mixed with prefixes, followed, dead-lettered and replayed."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.schema_registry import SchemaRegistryClient, header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroSerializer as TheirSerializer
from confluent_kafka.serialization import MessageField
from confluent_kafka.serialization import SerializationContext as TheirContext
from pyspark.sql import SparkSession

import spark_avro
from magicbyte.cli.dead_letter import main as dead_letter
from serdes.avro import AvroDeserializer, AvroSerializer
from serdes.codec import compile_codec
from serdes.letters.headers import original_headers, read_letter
from serdes.message import wire
from serdes.serialization import SerializationContext
from spark_avro.pipeline.batch.refusals import SchemaRefused
from spark_avro.pipeline.file.place import PipelineError
from spark_avro.pipeline.run.running import Running
from tests.spark.pipeline.flights import V1, V2, CrashesOnce, ListSink, messages
from tests.spark.pipeline.state.events import EVENT, MINUTE

VALUE, KEY = "__value_schema_id", "__key_schema_id"
UNKNOWN = "0a0b0c0d-0000-4000-8000-0000000000ff"
TEXT_KEY = '{"type":"record","name":"K","fields":[{"name":"k","type":"string"}]}'


def guid(avro: Any, subject: str, version: int | str = "latest") -> bytes:
    """The header's value of a version."""
    return wire.guid_bytes(avro.registry.version(subject, version).guid)


class Records:
    """Sends records with headers to a topic."""

    def __init__(self, servers: str, topic: str) -> None:
        self._producer, self._topic = Producer({"bootstrap.servers": servers}), topic

    def send(self, value: bytes | None, headers: Sequence[tuple[str, bytes]] = (), key: bytes | None = None) -> None:
        self._producer.produce(self._topic, value, key, partition=0, headers=list(headers))
        assert self._producer.flush(30) == 0


def flight(number: int, schema: str = V1) -> bytes:
    row = {"id": number, "carrier": "UA", "delay": number, "tail": "N1"}
    return bytes(compile_codec(schema).encode({name: row[name] for name in ("id", "carrier", "delay", "tail")}))


def ids(sink: ListSink) -> list[int]:
    return sorted(row["id"] for row in sink.rows)


def test_a_topic_has_prefixes_and_headers_for_values_and_keys(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Callable[..., Path]
) -> None:
    topic, dead = topics.create(), topics.create()
    one, two = avro.register(f"{topic}-value", V1, V2)
    [key_id] = avro.register(f"{topic}-key", TEXT_KEY)
    key = compile_codec(TEXT_KEY).encode({"k": "a"})
    records = Records(topics.servers, topic)
    framed_key = wire.prefix(key_id) + key
    records.send(*[messages(avro, one, 1)[0], [("trace", b"x")]], key=framed_key)  # id 0
    records.send(flight(1), [(VALUE, guid(avro, f"{topic}-value", 1))], framed_key)
    records.send(flight(2, V2), [(VALUE, guid(avro, f"{topic}-value", 2)), (KEY, guid(avro, f"{topic}-key"))], key)
    records.send(messages(avro, one, 1, 3)[0], [(KEY, guid(avro, f"{topic}-key"))], key)
    records.send(guid(avro, f"{topic}-value", 2) + flight(4, V2))
    records.send(flight(5), [(VALUE, b"")])
    records.send(flight(6), [(VALUE, wire.guid_bytes(UNKNOWN))], framed_key)
    records.send(flight(7), [(VALUE, guid(avro, f"{topic}-value", 1)), (KEY, b"\x07")], key)
    records.send(None, [(VALUE, b"")])
    file = pipeline_file(topic, f"errors: {{tolerance: all, topic: {dead}}}")
    settings = [f"source={{topics: {topic}, key: {{}}}}"]
    steps = "steps=[{select: ['id', '_key.k as k', '_kafka.schema_id as schema', '_kafka.schema_version as version']}]"
    result = spark_avro.pipeline(file, overrides=[*settings, steps]).run(spark)
    assert (result.read, result.written, result.dead) == (9, 6, 3)
    found = {row["id"]: (row["k"], row["schema"], row["version"]) for row in sink.rows}
    assert found == {
        0: ("a", one, 1),
        1: ("a", one, 1),
        2: ("a", two, 2),
        3: ("a", one, 1),
        4: (None, two, 2),
        None: (None, None, None),
    }
    letters = {letter.value(): letter for letter in topics.consume(dead, 3)}
    told = {value: read_letter(letter.headers()) for value, letter in letters.items()}
    assert {value: (letter.stage, letter.schema_id) for value, letter in told.items() if letter is not None} == {
        flight(5): ("VALUE_CONVERTER", None),
        flight(6): ("VALUE_CONVERTER", None),
        flight(7): ("KEY_CONVERTER", None),
    }
    assert [str(told[flight(number)].message) for number in (5, 6, 7)] == [
        "malformed schema id header: truncated message: the magic byte of the schema id header needs 1 bytes, the"
        " message has 0",
        f"unknown schema guid: {UNKNOWN} is not among those of subject {topic}-value when the query was planned",
        "malformed schema id header: unknown magic byte 7: expected 1; the message was not written with a schema id",
    ]
    assert letters[flight(6)].key() == framed_key
    assert original_headers(letters[flight(6)].headers()) == [(VALUE, wire.guid_bytes(UNKNOWN))]
    assert original_headers(letters[flight(7)].headers()) == [
        (VALUE, guid(avro, f"{topic}-value", 1)),
        (KEY, b"\x07"),
    ]


@pytest.mark.slow
def test_a_letter_is_told_by_its_schema_fixed_and_replayed(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Callable[..., Path], capsys: Any
) -> None:
    topic = topics.create()
    dead = f"{topic}-dead"
    one, two = avro.register(f"{topic}-value", V1, V2)
    records = Records(topics.servers, topic)
    records.send(flight(1)[:-1], [(VALUE, guid(avro, f"{topic}-value", 1))])
    # A payload of the first version, whose header names the second one.
    records.send(flight(2), [("trace", b"x"), (VALUE, guid(avro, f"{topic}-value", 2))])
    # A schema of another subject: its guid has an id, which the subject does not have.
    other = json.dumps({**json.loads(V1), "doc": topic})
    [other_id] = avro.register(f"{topic}-other", other)
    records.send(flight(3), [(VALUE, guid(avro, f"{topic}-other"))])
    records.send(flight(4), [(VALUE, wire.guid_bytes(UNKNOWN))])
    file = pipeline_file(topic, f"errors: {{tolerance: all, topic: {dead}, at-most: 0.9}}")
    records.send(flight(5), [(VALUE, guid(avro, f"{topic}-value", 1))])
    with pytest.raises(SchemaRefused, match=rf"unknown schema id: {other_id} .* it is of another subject"):
        spark_avro.pipeline(file).run(spark)
    file.write_text(f"{file.read_text()}\nevolve: {{unreadable: dead-letter}}\n")
    result = spark_avro.pipeline(file).run(spark)
    assert (result.read, result.written, result.dead) == (5, 1, 4)
    letters = {letter.value(): read_letter(letter.headers()) for letter in topics.consume(dead, 4)}
    found = {value: letter.schema_id for value, letter in letters.items() if letter is not None}
    assert found == {flight(1)[:-1]: one, flight(2): two, flight(3): other_id, flight(4): None}
    assert str(letters[flight(3)].message).startswith(f"unknown schema id: {other_id} (0x{other_id:08X}) is not among")

    def command(name: str, *arguments: str, code: int = 0) -> dict[str, Any]:
        where = ["--bootstrap-server", topics.servers, "--output", "json"]
        where += [] if name == "list" else ["--schema-registry-url", avro.url]
        assert dead_letter.main([name, dead, *where, *arguments]) == code
        return dict(json.loads(capsys.readouterr().out))

    groups = command("list", "--by", "schema-id")["groups"]
    assert sorted((group["name"], group["letters"]) for group in groups) == sorted(
        (name, 1) for name in (str(one), str(two), str(other_id), UNKNOWN)
    )
    # Now the subject has the third one's schema, so it passes as it is; the header of the second is exchanged.
    avro.register(f"{topic}-value", other)
    assert command("replay", "--where", f"schema_id = {other_id}")["sent"] == {topic: 1}
    assert command("replay", "--where", f"schema_id = {two}", code=100)["stay"] == {"would fail again": 1}
    assert command("replay", "--where", f"schema_id = {two}", "--schema-id", str(one))["sent"] == {topic: 1}
    result = spark_avro.pipeline(file).run(spark)
    assert (result.read, result.written, result.dead) == (2, 2, 0)
    assert ids(sink) == [2, 3, 5]


def test_a_guid_becomes_known_like_an_id(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Callable[..., Path]
) -> None:
    topic, dead = topics.create(), topics.create()
    avro.register(f"{topic}-value", V1)
    newer = json.dumps({**json.loads(V2), "doc": topic})
    # The registry has the schema for a moment, which tells its guid.
    records = Records(topics.servers, topic)
    records.send(flight(1), [(VALUE, guid(avro, f"{topic}-value"))])

    class Registers(ListSink):
        def write(self, rows: Any, batch: Any, *, reject: Any) -> Any:
            result = super().write(rows, batch, reject=reject)
            if batch.number == 0:
                # Registered after the plan of this batch was made.
                avro.register(f"{topic}-value", newer)
                records.send(flight(2, V2), [(VALUE, guid(avro, f"{topic}-value"))])
            return result

    sink.__class__ = Registers
    file = pipeline_file(topic, f"errors: {{tolerance: all, topic: {dead}}}\ntrigger: {{every: 100ms}}")
    running = Running(spark_avro.pipeline(file).file, spark)
    running.on_batch = lambda counts: running.stop() if counts.read and counts.number else None
    result = running.run()
    assert (result.read, result.written, result.dead) == (2, 2, 0)
    versions = {row["id"]: row["_kafka"]["schema_version"] for row in sink.rows}
    assert versions == {1: 1, 2: 2}


def test_an_id_of_a_batch_is_that_of_the_newest_plan(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The plan is made, then the version is registered, and the batch has its guid: it is decoded again."""
    topic = topics.create()
    avro.register(f"{topic}-value", V1)
    newer = json.dumps({**json.loads(V2), "doc": topic})
    records = Records(topics.servers, topic)
    refresh = spark_avro.Follower.refresh
    registered: list[int] = []

    def refresh_then_register(follower: Any) -> Any:
        plan = refresh(follower)
        if not registered and follower.topic == topic and records is not None and asked:
            registered.extend(avro.register(f"{topic}-value", newer))
        return plan

    asked: list[bool] = []
    monkeypatch.setattr(spark_avro.Follower, "refresh", refresh_then_register)
    # Its guid is that of the same schema in another subject.
    avro.register(f"{topic}-twin", newer)
    records.send(flight(1, V2), [(VALUE, guid(avro, f"{topic}-twin"))])
    file = pipeline_file(topic, "quality: [{name: any, expect: id > 0, else: fail}]")
    pipeline = spark_avro.pipeline(file)
    asked.append(True)
    result = pipeline.run(spark)
    assert (result.read, result.written) == (1, 1)
    [row] = sink.rows
    assert (row["id"], row["_kafka"]["schema_id"]) == (1, registered[0])


@pytest.mark.slow
def test_a_repeat_leaves_out_a_guid_that_was_unknown_when_the_batch_was_first_written(
    spark: SparkSession, topics: Any, avro: Any, sink: Any, pipeline_file: Callable[..., Path]
) -> None:
    topic, dead = topics.create(), topics.create()
    avro.register(f"{topic}-value", EVENT)
    newer = json.dumps({**json.loads(EVENT), "doc": topic})
    # The guid is that of the content, so it is known before the registry has the schema.
    scratch = f"{topic}-scratch"
    avro.register(scratch, newer)
    header = guid(avro, scratch)
    avro.registry.delete_subject(scratch)
    avro.registry.delete_subject(scratch, permanent=True)
    records = Records(topics.servers, topic)

    def event(number: int, key: str) -> bytes:
        return bytes(compile_codec(EVENT).encode({"id": number, "k": key, "at": MINUTE}))

    first_guid = guid(avro, f"{topic}-value")
    records.send(event(1, "a"), [(VALUE, first_guid)])
    records.send(event(2, "b"), [(VALUE, header)])
    sink.__class__ = CrashesOnce
    steps = "steps: [{deduplicate: {by: k, time: at, within: 1h}}]"
    file = pipeline_file(topic, f"{steps}\nerrors: {{tolerance: all, topic: {dead}}}")
    with pytest.raises(ZeroDivisionError):
        spark_avro.pipeline(file).run(spark)
    avro.register(f"{topic}-value", newer)
    assert guid(avro, f"{topic}-value") == header
    records.send(event(3, "c"), [(VALUE, header)])
    spark_avro.pipeline(file).run(spark)
    # The repeat has the same rows; the next batch knows the guid.
    assert [row["id"] for row in sink.lost] == [1]
    assert ids(sink) == [1, 3]
    reasons = {str(read_letter(letter.headers()).message) for letter in topics.consume(dead, 2)}  # type: ignore[union-attr]
    named = str(uuid.UUID(bytes=header[1:]))
    assert f"the registry had no schema guid {named} when the batch was first run" in reasons


@pytest.mark.parametrize("delivery", ["exactly-once", "at-least-once"])
def test_the_sink_puts_guids_into_headers(
    spark: SparkSession, topics: Any, avro: Any, pipeline_file: Callable[..., Path], delivery: str
) -> None:
    source, target = topics.create(), topics.create()
    [one] = avro.register(f"{source}-value", V1)
    topics.produce(source, *messages(avro, one, 2))
    sink = (
        f"{{kafka: {{topic: {target}, key: id, delivery: {delivery}, headers: {{own: carrier}},"
        " value: {schema-id: header}, key-format: {format: avro, schema-id: header}}}"
    )
    file = pipeline_file(source, "steps: [{headers: {step: \"'x'\"}}]", sink)
    assert spark_avro.pipeline(file).run(spark).written == 2
    read = AvroDeserializer(avro.registry)
    found = []
    for message in topics.consume(target, 2):
        headers = message.headers()
        names = [name for name, _ in headers if name != "__magicbyte.src"]
        assert names == ["step", "own", KEY, VALUE]
        assert dict(headers)[VALUE] == guid(avro, f"{target}-value")
        found.append(
            (
                read(message.key(), SerializationContext(target, "key", headers)),
                read(message.value(), SerializationContext(target, "value", headers))["id"],
            )
        )
    assert sorted(found) == [(0, 0), (1, 1)]


def test_the_settings_of_frames(pipeline_file: Callable[..., Path]) -> None:
    for sink, finding in (
        ("{kafka: {topic: t, value: {format: string, schema-id: header}}}", "sink.kafka.value.schema-id: is for"),
        ("{kafka: {topic: t, key-format: {schema-id: header, format: bytes}}}", "sink.kafka.key-format.schema-id: is"),
        ("{kafka: {topic: t, value: {schema-id: both}}}", "sink.kafka.value.schema-id: must be prefix or header"),
    ):
        with pytest.raises(PipelineError) as error:
            spark_avro.pipeline(pipeline_file("flights", "", sink))
        assert finding in str(error.value)


def test_what_other_serializers_write_is_read(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Callable[..., Path]
) -> None:
    topic = topics.create()
    records = Records(topics.servers, topic)
    client = SchemaRegistryClient({"url": avro.url})
    row = {"id": 1, "carrier": "UA", "delay": None}
    headers: list[tuple[str, bytes]] = []
    theirs = TheirSerializer(client, V1, conf={"schema.id.serializer": header_schema_id_serializer})
    records.send(theirs(row, TheirContext(topic, MessageField.VALUE, headers)), headers)
    headers = []
    ours = AvroSerializer(avro.registry, V2, conf={"schema.id.serializer": "header"})
    row = {"id": 2, "carrier": "UA", "delay": None, "tail": "N1"}
    records.send(ours(row, SerializationContext(topic, "value", headers)), headers)
    plain = AvroSerializer(avro.registry, V2)
    records.send(plain({**row, "id": 3}, SerializationContext(topic, "value")))
    assert spark_avro.pipeline(pipeline_file(topic, "")).run(spark).written == 3
    assert ids(sink) == [1, 2, 3]
