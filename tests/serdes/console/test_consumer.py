from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from serdes.console.consume.tool import run
from serdes.console.outcome import carried_out
from tests.topics import create_topics

STRING = '"string"'


@pytest.fixture(scope="module")
def three(tools: Any) -> str:
    """A topic of three records with keys, headers and a tombstone; for reading only."""
    topic = f"three-{os.getpid()}"
    lines = 'h:1,i:x\tk1\t"a"\nNULL\tk2\tNULL\nh:3\tNULL\t"c"\n'
    given = {"parse_key": "true", "parse_headers": "true", "null_marker": "NULL", "value_schema": STRING}
    sent = tools.produce("avro", topic, lines=lines, key_serializer="StringSerializer", **given)
    assert sent.code == 0, sent.err
    return topic


ALL = {f"print_{name}": "true" for name in ("timestamp", "key", "partition", "offset", "headers")} | {
    "print_schema_ids": "true",
    "key_deserializer": "org.apache.kafka.common.serialization.StringDeserializer",
}


def test_all_columns(tools: Any, three: str):
    shown = tools.consume("avro", three, "--from-beginning", "--max-messages", "3", **ALL)
    assert shown.code == 0, shown.err
    rows = [line.split("\t") for line in shown.out.splitlines()]
    assert all(row[0].startswith("CreateTime:1") and row[0][11:].isdigit() for row in rows)
    schema_id = rows[0][-1]
    assert [row[1:] for row in rows] == [
        ["Partition:0", "Offset:0", "h:null,i:null", "k1", '"a"', schema_id],
        ["Partition:0", "Offset:1", "NO_HEADERS", "k2", "null", "null"],
        ["Partition:0", "Offset:2", "h:null", "null", '"c"', schema_id],
    ]


def test_separators_and_literals(tools: Any, three: str):
    separators = {"key_separator": "|", "line_separator": ";", "headers_separator": "&", "schema_id_separator": "#"}
    more = {"null_literal": "~", "headers_deserializer": "StringDeserializer"}
    shown = tools.consume("avro", three, "--from-beginning", "--max-messages", "3", **(ALL | separators | more))
    rows = [line.split("|")[3:] for line in shown.out.removesuffix(";").split(";")]
    schema_id = rows[0][-1].partition("#")[2]
    assert rows == [
        ["h:1&i:x", "k1", f'"a"#{schema_id}'],
        ["NO_HEADERS", "k2", "~#null"],
        ["h:3", "~", f'"c"#{schema_id}'],
    ]


def test_offsets_and_ends(tools: Any, three: str):
    partition = ("--partition", "0", "--timeout-ms", "300", "--quiet")
    assert tools.consume("avro", three, *partition, "--offset", "2").out == '"c"\n'
    assert tools.consume("avro", three, *partition, "--offset", "earliest", "--max-messages", "1").out == '"a"\n'
    empty = tools.consume("avro", three, *partition, "--fail-if-empty")
    assert (empty.code, empty.out) == (4, "")
    assert empty.err == "kafka-avro-console-consumer: there was no record\n"
    quiet = tools.consume("avro", three, *partition)
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    nowhere = tools.consume("avro", three, "--partition", "7")
    assert nowhere.code == 3
    assert f"topic {three} has no partition 7" in nowhere.err


def test_a_group_continues_at_its_offset(tools: Any, three: str):
    group = ("--group", f"g-{three}", "--from-beginning", "--max-messages")
    assert tools.consume("avro", three, *group, "1").out == '"a"\n'
    assert tools.consume("avro", three, *group, "2").out == 'null\n"c"\n'


def test_topics_by_pattern(tools: Any, three: str, topic: str, send: Any, stored: Any):
    prefix = stored(three)[0].value()[:5]
    for name in (b"x", b"y", b"z"):
        send(f"{topic}.{name.decode()}", prefix + b"\x02" + name)
    pattern = topic.replace("-", ".") + r"\.[xy]"
    shown = tools.consume("avro", None, "--include", pattern, "--from-beginning", "--timeout-ms", "500")
    assert sorted(shown.out.splitlines()) == ['"x"', '"y"']


BROKEN = {
    b"": "truncated message",
    b"\x00\x00": "truncated message: magic byte and schema id needs 5 bytes, the message has 2",
    b"plain": "unknown magic byte 112",
    b"\x00\x7f\xff\xff\xff\x00": "Schema 2147483647 not found",
}


def test_records_that_cannot_be_decoded(tools: Any, topic: str, send: Any, stored: Any):
    assert tools.produce("avro", topic, lines='"a"\n', value_schema=STRING).code == 0
    (good,) = stored(topic)
    truncated = good.value()[:-1]
    for value in (*BROKEN, truncated):
        send(topic, value, b"k", headers=[("h", b"1")])
    send(topic, good.value())

    failed = tools.consume("avro", topic, "--from-beginning")
    assert (failed.code, failed.out) == (1, '"a"\n')
    assert f"{topic}-0@1: value: truncated message" in failed.err

    skipped = tools.consume("avro", topic, "--from-beginning", "--skip-message-on-error", "--max-messages", "7")
    assert (skipped.code, skipped.out) == (0, '"a"\n"a"\n')
    told = skipped.err.splitlines()
    assert [said in line for said, line in zip(BROKEN.values(), told, strict=False)] == [True] * len(BROKEN)
    assert "bytes: 70 6c 61 69 6e" in told[2]
    assert "payload does not fit the schema" in told[4]
    assert told[-1] == "Processed a total of 7 messages"

    dead = f"{topic}-dead"
    kept = tools.consume("avro", topic, "--from-beginning", "--dlq-topic", dead, "--max-messages", "7", "--quiet")
    assert (kept.code, kept.out) == (0, '"a"\n"a"\n')
    letters = stored(dead)
    assert [letter.value() for letter in letters] == [*BROKEN, truncated]
    assert {letter.key() for letter in letters} == {b"k"}
    headers = dict(letters[2].headers())
    assert headers["h"] == b"1"
    assert headers["__connect.errors.topic"] == topic.encode()
    assert headers["__connect.errors.offset"] == b"3"
    assert headers["__connect.errors.stage"] == b"VALUE_CONVERTER"
    assert b"unknown magic byte 112" in headers["__connect.errors.exception.message"]


def test_a_closed_stdout_is_no_error(tools: Any, topic: str):
    lines = "".join(f'"{"x" * 1000}{number}"\n' for number in range(1000))
    assert tools.produce("avro", topic, lines=lines, value_schema=STRING).code == 0
    command = [
        str(Path(sys.executable).with_name("kafka-avro-console-consumer")),
        *("--bootstrap-server", tools.kafka, "--topic", topic, "--from-beginning", "--quiet"),
        *("--property", f"schema.registry.url={tools.registry}"),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'"xxx')
        process.stdout.close()
        assert process.wait(20) == 0
        assert process.stderr.read() == b""


@pytest.mark.slow
def test_a_poisoned_record_does_not_stop_the_tools(tools: Any, topic: str, stored: Any):
    links = {f"d{level}": {"oneOf": [{"$ref": f"#/definitions/d{level + 1}"}] * 2} for level in range(30)}
    schema = json.dumps(
        {"definitions": {**links, "d30": {"type": "integer"}}, "properties": {"amount": {"$ref": "#/definitions/d0"}}}
    )
    lines = '{"n":1}\n{"amount":"x"}\n{"n":2}\n'
    reason = "refused by oneOf (at #/definitions/d0/oneOf of the schema); validation was ended, as it took more than"
    made = tools.produce("json-schema", topic, "--on-error", "skip", lines=lines, value_schema=schema)
    assert f"line 2, column 11: value: $.amount: {reason}" in made.err
    assert [record.value()[5:] for record in stored(topic)] == [b'{"n":1}', b'{"n":2}']

    lax = {"value_schema": schema, "json_fail_invalid_schema": "false"}
    assert tools.produce("json-schema", topic, lines=lines, **lax).code == 0
    strict = {"json_fail_invalid_schema": "true"}
    dead = ["--from-beginning", "--dlq-topic", f"{topic}-dead", "--max-messages", "5"]
    kept = tools.consume("json-schema", topic, *dead, **strict)
    assert (kept.code, kept.out) == (0, '{"n":1}\n{"n":2}\n{"n":1}\n{"n":2}\n')
    assert f"{topic}-0@3: value: payload does not fit the schema: $.amount: {reason}" in kept.err
    assert [letter.value()[5:] for letter in stored(f"{topic}-dead")] == [b'{"amount":"x"}']


def test_a_full_disk_ends_the_consumer_without_committing(tools: Any, topic: str):
    lines = "".join(f'"{number}"\n' for number in range(3))
    assert tools.produce("avro", topic, lines=lines, value_schema=STRING).code == 0
    group = ["--from-beginning", "--group", f"{topic}-group", "--max-messages", "3"]
    command = [
        str(Path(sys.executable).with_name("kafka-avro-console-consumer")),
        *("--bootstrap-server", tools.kafka, "--topic", topic, "--quiet", *group),
        *("--property", f"schema.registry.url={tools.registry}"),
    ]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False, timeout=60)
    assert done.stderr == b"kafka-avro-console-consumer: stdout cannot be written: No space left on device\n"
    assert done.returncode == 3
    again = tools.consume("avro", topic, *group)
    assert (again.code, again.out) == (0, lines)


def test_the_id_in_a_header(tools: Any, topic: str):
    sent = tools.produce(
        "avro", topic, lines='"a"\n', value_schema=STRING, value_schema_id_serializer="HeaderSchemaIdSerializer"
    )
    assert (sent.code, sent.err) == (0, "")
    shown = tools.consume("avro", topic, "--from-beginning", "--max-messages", "1", print_schema_ids="true")
    text, guid = shown.out.rstrip().split("\t")
    assert text == '"a"'
    assert len(guid) == 36


def test_a_topic_of_several_partitions(tools: Any, topic: str):
    admin = AdminClient({"bootstrap.servers": tools.kafka})
    create_topics(admin, NewTopic(topic, 3, 1))
    lines = "".join(f'"{number}"\t"{number}"\n' for number in range(20))
    given = {"parse_key": "true", "key_schema": STRING, "value_schema": STRING}
    assert tools.produce("avro", topic, lines=lines, **given).code == 0
    shown = tools.consume("avro", topic, "--from-beginning", "--max-messages", "20", print_partition="true")
    rows = [line.split("\t") for line in shown.out.splitlines()]
    assert {row[0] for row in rows} == {"Partition:0", "Partition:1", "Partition:2"}
    assert sorted(int(row[1].strip('"')) for row in rows) == list(range(20))
    last = tools.magicbyte("consume", topic, "--last", "5", "--output", "values")
    assert sorted(int(line.strip('"')) for line in last.out.splitlines()) != []
    assert len(last.out.splitlines()) == 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "exactly one of --topic and --include is required"),
        (["--topic", "t", "--include", "t"], "exactly one of --topic and --include is required"),
        (["--topic", "t"], "the following arguments are required: --bootstrap-server"),
        (["--include", "t", "--partition", "0"], "--partition needs --topic"),
        (["--topic", "t", "--offset", "0"], "--offset needs --partition"),
        (["--topic", "t", "--partition", "0", "--offset", "-3"], "--offset"),
        (["--topic", "t", "--partition", "0", "--offset", "soon"], "must be earliest, latest or a number"),
        (["--topic", "t", "--partition", "0", "--offset", "1", "--from-beginning"], "exclude each other"),
        (["--topic", "t", "--partition", "0", "--group", "g"], "exclude each other"),
        (["--include", "["], "--include is no regular expression"),
        (["--topic", "t", "--group", "a", "--consumer-property", "group.id=b"], "names another group"),
        (["--topic", "t", "--group", " "], "must not be empty or begin with whitespace"),
        (["--topic", "t", "--consumer-property", "group.id="], "must not be empty or begin with whitespace"),
        (["--topic", "t", "--from-beginning", "--consumer-property", "auto.offset.reset=latest"], "contradicts"),
        (["--topic", "t", "--property", "print.key=perhaps"], "print.key: must be true or false"),
        (["--topic", "t", "--property", "key.deserializer=a.B"], "Java's classes cannot be loaded"),
        (["--topic", "t", "--formatter", "kafka.tools.LoggingMessageFormatter"], "Java's classes cannot be loaded"),
    ],
)
def test_wrong_calls_exit_with_2(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]):
    given = [*arguments, *(() if "bootstrap-server" in said else ("--bootstrap-server", "127.0.0.1:1"))]
    try:
        code = carried_out("c", lambda: run("c", "AVRO", given))
    except SystemExit as end:
        code = end.code
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert said in err


def test_a_broker_that_is_down_exits_with_3(tools: Any, topic: str):
    done = tools.run(
        "kafka-avro-console-consumer",
        *("--bootstrap-server", "127.0.0.1:1", "--topic", topic, "--consumer-property", "default.api.timeout.ms=500"),
    )
    assert (done.code, done.out) == (3, "")
    assert "the broker cannot be used" in done.err


def test_the_consumer_exits_with_3_if_the_registry_is_down_even_with_skipping(tools: Any, three: str):
    given = {"schema_registry_url": "http://127.0.0.1:1", "max_retries": "0"}
    done = tools.consume("avro", three, "--from-beginning", "--skip-message-on-error", **given)
    assert (done.code, done.out) == (3, "")
    assert "schema registry unavailable" in done.err


def test_the_consumer_reports_its_end_to_system_tests(tools: Any, three: str):
    given = (
        "--from-beginning",
        "--max-messages",
        "1",
        "--enable-systest-events",
        "--isolation-level",
        "read_committed",
    )
    assert tools.consume("avro", three, *given).out == '"a"\nshutdown_complete\n'
