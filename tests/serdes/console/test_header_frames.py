"""Console tools write and read schemas that a record's header names by guid, beside those with a prefix."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import httpx
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient as ConfluentClient
from confluent_kafka.schema_registry import header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import SerializationContext

from magicbyte.cli.records import produce
from serdes.codec import compile_codec
from serdes.message import wire

STRING = '"string"'
USER = '{"type":"record","name":"User","fields":[{"name":"id","type":"int"},{"name":"name","type":"string"}]}'
ADA = {"id": 0, "name": "Ada Lovelace"}
HEADER_CLASS = "io.confluent.kafka.serializers.schema.id.HeaderSchemaIdSerializer"


def header_of(registry: str, subject: str) -> bytes:
    guid = httpx.get(f"{registry}/subjects/{subject}/versions/latest").json()["guid"]
    return b"\x01" + UUID(guid).bytes


def test_produce_and_consume_with_frames_in_headers(tools: Any, topic: str, stored: Any):
    lines = "".join(
        json.dumps(record) + "\n"
        for record in (
            {"key": "a", "value": ADA, "headers": [{"name": "own", "value": "1"}]},
            {"key": "b", "value": None},
            {"key": None, "value": ADA, "headers": [{"name": "__value_schema_id", "value": "of the old frame"}]},
        )
    )
    schemas = ("--key-schema", STRING, "--value-schema", USER)
    for more in (("--key-framing", "header", "--value-framing", "header"), ("--key-framing", "header"), ()):
        sent = tools.magicbyte("produce", topic, "--input", "records", *schemas, *more, lines=lines)
        assert (sent.code, sent.err) == (0, "")
    key, value = (
        (name, header_of(tools.registry, f"{topic}-{part}"))
        for part, name in (("key", "__key_schema_id"), ("value", "__value_schema_id"))
    )
    payload = compile_codec(USER).encode(ADA)
    found = [(message.key(), message.value(), message.headers()) for message in stored(topic)]
    assert found[:3] == [
        (b"\x02a", payload, [("own", b"1"), key, value]),
        (b"\x02b", None, [key]),
        (None, payload, [value]),
    ]
    assert [headers for _, _, headers in found[3:]] == [[("own", b"1"), key], [key], None, [("own", b"1")], None, None]
    assert {len(message) for _, message, _ in found[3:] if message is not None} == {len(payload) + wire.V0_SIZE}
    shown = tools.magicbyte("consume", topic, "--until-end")
    records = [json.loads(line) for line in shown.out.splitlines()]
    assert [(record["key"], record["value"]) for record in records] == [("a", ADA), ("b", None), (None, ADA)] * 3
    guid = str(UUID(bytes=value[1][1:]))
    assert [record.get("valueSchemaId") for record in records][:3] == [guid, None, guid]
    assert isinstance(records[6]["valueSchemaId"], int)
    # What consume writes is produced again with the frames of the new call.
    again = ("--input", "records", "--key-format", "schema", "--value-framing", "header")
    assert tools.magicbyte("produce", topic, *again, lines=shown.out.splitlines()[0] + "\n").code == 0
    assert stored(topic)[-1].headers() == [("own", b"1"), value]


def test_values_and_container_files_with_frames_in_headers(tools: Any, topic: str, stored: Any, tmp_path: Any):
    line = json.dumps(ADA) + "\n"
    options = ("--value-schema", USER, "--value-framing", "header")
    assert tools.magicbyte("produce", topic, *options, lines=line).code == 0
    assert tools.magicbyte("produce", topic, "--value-schema", USER, lines=line).code == 0
    path = str(tmp_path / "users.avro")
    assert tools.magicbyte("consume", topic, "--until-end", "--output-file", path).code == 0
    assert tools.magicbyte("produce", topic, "--input", path, "--value-framing", "header").code == 0
    named = [("__value_schema_id", header_of(tools.registry, f"{topic}-value"))]
    found = stored(topic)
    assert [message.headers() for message in found] == [named, None, named, named]
    payload = compile_codec(USER).encode(ADA)
    assert [message.value()[-len(payload) :] for message in found] == [payload] * 4


@pytest.mark.parametrize(
    "arguments",
    [
        ["--key-framing", "header"],
        ["--input", "records", "--key-framing", "header"],
        ["--input", "records", "--key-format", "string", "--key-framing", "prefix"],
        ["--key-schema-version", "1", "--key-framing", "header"],
        ["--value-framing", "footer"],
    ],
)
def test_framings_that_make_no_sense(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        produce.main(["topic", *arguments])
    assert ended.value.code == 2
    assert "key" in capsys.readouterr().err or "--value-framing" in arguments


def test_headers_of_a_line_beside_the_frame(tools: Any, topic: str, stored: Any):
    given = {"parse_headers": "true", "parse_key": "true", "key_schema": STRING, "value_schema": STRING}
    in_headers = {f"{part}_schema_id_serializer": HEADER_CLASS for part in ("key", "value")}
    line = 'a:1,__value_schema_id:old,__value_schema_id:older,b:2\t"k"\t"v"\n'
    assert tools.produce("avro", topic, lines=line, **given, **in_headers).code == 0
    guid = header_of(tools.registry, f"{topic}-key")
    assert stored(topic)[0].headers() == [
        ("a", b"1"),
        ("b", b"2"),
        ("__key_schema_id", guid),
        ("__value_schema_id", guid),
    ]
    # Before the payload, a frame would be hidden by the header.
    refused = tools.produce("avro", topic, lines=line, **given)
    assert refused.code == 1
    assert "readers would take the schema that the header __value_schema_id names: leave this header out" in refused.err
    assert "value.schema.id.serializer=HeaderSchemaIdSerializer" in refused.err
    # A null has no frame, and a key without a schema none either.
    plain = {"parse_headers": "true", "parse_key": "true", "value_schema": STRING, "null_marker": "NULL"}
    text = {"key_serializer": "org.apache.kafka.common.serialization.StringSerializer"}
    line = "__value_schema_id:kept,__key_schema_id:kept\tk\tNULL\n"
    assert tools.produce("avro", topic, lines=line, **plain, **text).code == 0
    assert stored(topic)[1].headers() == [("__value_schema_id", b"kept"), ("__key_schema_id", b"kept")]


def test_confluents_client_reads_and_is_read(tools: Any, topic: str, send: Any, stored: Any):
    client = ConfluentClient({"url": tools.registry})
    headers: list[Any] = [("own", b"1")]
    write = AvroSerializer(client, USER, conf={"schema.id.serializer": header_schema_id_serializer})
    send(topic, write(ADA, SerializationContext(topic, "value", headers)), headers=headers)
    line = json.dumps(ADA) + "\n"
    sent = tools.produce("avro", topic, lines=line, value_schema=USER, value_schema_id_serializer=HEADER_CLASS)
    assert (sent.code, sent.err) == (0, "")
    assert tools.produce("avro", topic, lines=line, value_schema=USER).code == 0
    shown = tools.consume("avro", topic, "--from-beginning", "--max-messages", "3", print_schema_ids="true")
    rows = [line.split("\t") for line in shown.out.splitlines()]
    assert [json.loads(text) for text, _ in rows] == [ADA] * 3
    guid = str(UUID(bytes=header_of(tools.registry, f"{topic}-value")[1:]))
    assert [schema for _, schema in rows[:2]] == [guid, guid]
    assert rows[2][1].isdigit()
    read = AvroDeserializer(client)
    for message in stored(topic):
        assert read(message.value(), SerializationContext(topic, "value", message.headers())) == ADA


def test_a_record_with_a_bad_header_is_kept_as_it_is(tools: Any, topic: str, send: Any, stored: Any):
    """Its payload begins like a prefix, whose four bytes are no id."""
    unknown = [("own", b"1"), ("__value_schema_id", wire.guid_bytes("00000000-0000-0000-0000-000000000001"))]
    send(topic, b"\x00\x18Ada Lovelace", headers=unknown)
    kept = tools.magicbyte("consume", topic, "--until-end", "--dlq-topic", f"{topic}-dead")
    assert (kept.code, kept.out) == (0, "")
    (letter,) = stored(f"{topic}-dead")
    assert letter.value() == b"\x00\x18Ada Lovelace"
    assert letter.headers()[:2] == unknown
    assert "__errors.schema.id" not in dict(letter.headers())
