"""Sessions of a whole user: all three formats, manual registration, schemas that evolve and that do not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from compat.schema import SchemaText
from serdes.client.clients import RegistryClient

KEY = '{"type":"string"}'
FIRST = '{"type":"record","name":"myrecord","fields":[{"name":"f1","type":"string"}]}'
SECOND = (
    '{"type":"record","name":"myrecord","fields":'
    '[{"name":"f1","type":"string"},{"name":"f2","type":"int","default":0}]}'
)
THIRD = '{"type":"record","name":"myrecord","fields":[{"name":"f1","type":"int"}]}'

#: As it would be typed, with this run's addresses.
PRODUCE = (
    "kafka-avro-console-producer --broker-list {kafka} --topic {topic} --property schema.registry.url={registry} "
    "--property parse.key=true --property key.schema='{key}' --property value.schema='{value}'"
)
CONSUME = (
    "kafka-avro-console-consumer --bootstrap-server {kafka} --topic {topic} "
    "--property schema.registry.url={registry} --from-beginning --property print.key=true --max-messages 2"
)


def shell(tools: Any, text: str, lines: str = "", **words: str) -> subprocess.CompletedProcess[str]:
    command = text.format(kafka=tools.kafka, registry=tools.registry, **words)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["/bin/sh", "-c", command],
        input=lines,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path},
    )


def test_two_versions_and_an_incompatible_third(tools: Any, topic: str):
    first = shell(tools, PRODUCE, '"key1"\t{"f1": "value1"}\n', topic=topic, key=KEY, value=FIRST)
    assert (first.returncode, first.stdout, first.stderr) == (0, "", "")
    second = shell(tools, PRODUCE, '"key2"\t{"f1": "value2", "f2": 2}\n', topic=topic, key=KEY, value=SECOND)
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")

    both = shell(tools, CONSUME, topic=topic)
    assert both.stdout == '"key1"\t{"f1":"value1"}\n"key2"\t{"f1":"value2","f2":2}\n'
    assert (both.returncode, both.stderr) == (0, "Processed a total of 2 messages\n")

    third = shell(tools, PRODUCE, '"key3"\t{"f1": 3}\n', topic=topic, key=KEY, value=THIRD)
    assert (third.returncode, third.stdout) == (1, "")
    assert "incompatible with an earlier schema" in third.stderr
    assert "reader type: INT not compatible with writer type: STRING" in third.stderr
    assert "Traceback" not in third.stderr


def test_schemas_registered_by_hand(tools: Any, topic: str):
    by_hand = {"auto_register_schemas": "false", "value_schema": FIRST}
    refused = tools.produce("avro", topic, lines='{"f1": "a"}\n', **by_hand)
    assert refused.code == 1
    assert refused.err.startswith(f"kafka-avro-console-producer: Subject '{topic}-value' not found.")
    assert "40401" in refused.err

    with RegistryClient(tools.registry) as client:
        known = client.register(f"{topic}-value", SchemaText("AVRO", FIRST))
        assert tools.produce("avro", topic, lines='{"f1": "a"}\n', **by_hand).code == 0
        other = tools.produce("avro", topic, lines='{"f1": "a"}\n', auto_register="false", value_schema=SECOND)
        assert other.code == 1
        assert "40403" in other.err
        assert client.versions(f"{topic}-value") == [1]

    latest = {"auto_register_schemas": "false", "use_latest_version": "true"}
    assert tools.produce("avro", topic, lines='{"f1": "b"}\n', **latest).code == 0
    assert tools.produce("avro", topic, lines='{"f1": "c"}\n', value_schema_id=str(known.id)).code == 0
    shown = tools.consume("avro", topic, "--from-beginning", "--max-messages", "3", print_schema_ids="true")
    assert shown.out == "".join(f'{{"f1":"{value}"}}\t{known.id}\n' for value in "abc")


def test_json_schema(tools: Any, topic: str):
    schema = '{"type":"object","properties":{"f1":{"type":"string"},"n":{"type":"integer"}},"required":["f1"]}'
    sent = tools.produce("json-schema", topic, lines='{"f1": "é", "n": 123456789012345678901}\n', value_schema=schema)
    assert (sent.code, sent.out, sent.err) == (0, "", "")
    bad = tools.produce("json-schema", topic, lines='{"f1": "a"}\n{"n": 1, "f1": 7}\n', value_schema=schema)
    assert bad.code == 1
    assert bad.err == 'kafka-json-schema-console-producer: line 2, column 16: value: $.f1: 7 is not of type "string"\n'
    shown = tools.consume("json-schema", topic, "--from-beginning", "--max-messages", "2", "--quiet")
    assert shown.out == '{"f1":"é","n":123456789012345678901}\n{"f1":"a"}\n'
    assert shown.err == ""


PROTO = """syntax = "proto3"; package shop;
message Order { string f1 = 1; int64 some_number = 2; repeated Line lines = 3; message Line { int32 n = 1; } }
message Other { bool yes = 1; }
"""


def test_protobuf(tools: Any, topic: str, stored: Any):
    sent = tools.produce(
        "protobuf", topic, lines='{"f1": "a", "someNumber": 5, "lines": [{"n": 1}]}\n', value_schema=PROTO
    )
    assert (sent.code, sent.out, sent.err) == (0, "", "")
    other = {"value_schema": PROTO, "value_schema_full_name": "shop.Other"}
    assert tools.produce("protobuf", topic, lines='{"yes": true}\n{}\n', **other).code == 0
    assert [message.value()[5:] for message in stored(topic)] == [
        b"\x00\x0a\x01a\x10\x05\x1a\x02\x08\x01",
        b"\x02\x02\x08\x01",
        b"\x02\x02",
    ]
    shown = tools.consume("protobuf", topic, "--from-beginning", "--max-messages", "3")
    assert shown.out == '{"f1":"a","someNumber":"5","lines":[{"n":1}]}\n{"yes":true}\n{"yes":false}\n'
    shown = tools.consume("protobuf", topic, "--from-beginning", "--max-messages", "1", preserve_json_field_name="true")
    assert shown.out == '{"f1":"a","some_number":"5","lines":[{"n":1}]}\n'


MISFITS = {
    '{"f1": "a", "lines": [{"n": "x"}]}': "column 22: value: $.lines.n: ",
    '{"f1": "a", "nothing": 1}': "column 24: value: $.nothing: ",
    '{"f1": "a"': "column 11: value: it is not JSON: ",
    "[]": "column 1: value: $: expected an object of message shop.Order",
}


def test_protobuf_lines_that_do_not_fit(tools: Any, topic: str):
    bad = tools.produce("protobuf", topic, "--dry-run", lines="\n".join(MISFITS), value_schema=PROTO)
    assert bad.code == 1
    told = bad.err.splitlines()
    for number, said in enumerate(MISFITS.values(), 1):
        assert f"line {number}, {said}" in told[number - 1]


def test_references(tools: Any, topic: str):
    inner = '{"type":"record","name":"inner","namespace":"x","fields":[{"name":"n","type":"int"}]}'
    outer = '{"type":"record","name":"outer","fields":[{"name":"i","type":"x.inner"}]}'
    with RegistryClient(tools.registry) as client:
        client.register(f"{topic}-inner", SchemaText("AVRO", inner))
    references = f'[{{"name":"x.inner","subject":"{topic}-inner","version":1}}]'
    sent = tools.produce("avro", topic, lines='{"i": {"n": 4}}\n', value_schema=outer, value_refs=references)
    assert (sent.code, sent.err) == (0, "")
    assert tools.consume("avro", topic, "--from-beginning", "--max-messages", "1").out == '{"i":{"n":4}}\n'
