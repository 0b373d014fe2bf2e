from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from serdes.console.outcome import carried_out
from serdes.console.produce.tool import run

STRING = '"string"'
RECORD = '{"type":"record","name":"r","fields":[{"name":"f","type":["null","string"]},{"name":"b","type":"bytes"}]}'


def parts(messages: list[Any]) -> list[tuple[Any, Any, Any]]:
    return [(message.headers(), message.key(), message.value() and message.value()[5:]) for message in messages]


def test_headers_key_and_null(tools: Any, topic: str, stored: Any):
    lines = 'a:1,b:2\tk1\t"x"\nNULL\tk2\tNULL\na:NULL\tNULL\t"y"\n'
    sent = tools.produce(
        "avro",
        topic,
        lines=lines,
        parse_key="true",
        parse_headers="true",
        null_marker="NULL",
        key_serializer="org.apache.kafka.common.serialization.StringSerializer",
        value_schema=STRING,
    )
    assert (sent.code, sent.err) == (0, "")
    assert parts(stored(topic)) == [
        ([("a", b"1"), ("b", b"2")], b"k1", b"\x02x"),
        (None, b"k2", None),
        ([("a", None)], None, b"\x02y"),
    ]


@pytest.mark.parametrize(
    ("serializer", "key"),
    [("LongSerializer", b"\0\0\0\0\0\0\0\x07"), ("IntegerSerializer", b"\0\0\0\x07"), ("ShortSerializer", b"\0\x07")],
)
def test_key_serializers(tools: Any, topic: str, stored: Any, serializer: str, key: bytes):
    name = f"org.apache.kafka.common.serialization.{serializer}"
    given = {"parse_key": "true", "key_separator": "|", "key_serializer": name, "value_schema": STRING}
    assert tools.produce("avro", topic, lines='7|"x"', **given).code == 0
    assert parts(stored(topic)) == [(None, key, b"\x02x")]


def test_a_schema_of_bytes_is_written_raw(tools: Any, topic: str, stored: Any):
    assert tools.produce("avro", topic, lines='"\\u0000\\u00ff"\n', value_schema='"bytes"').code == 0
    assert parts(stored(topic)) == [(None, None, b"\x00\xff")]
    assert tools.consume("avro", topic, "--from-beginning", "--max-messages", "1").out == '"\\u0000ÿ"\n'


BAD = [
    ('{"f": "x", "b": ""}', "line 1, column 7: value: $.f: str does not fit one of null, string"),
    ('{"f": {"string": 1}, "b": ""}', "line 1, column 7: value: $.f: int does not fit string"),
    ('{"f": null}', "line 1, column 1: value: $.b: nothing does not fit bytes"),
    ('{"f": null, "b": "\\u0100"}', "line 1, column 18: value: $.b: "),
    ('{"f": null, "b": "", "c": 1}', "line 1, column 27: value: $.c: "),
    ('{"f": null,}', "line 1, column 11: value: it is not JSON: trailing comma is not allowed"),
    ("", "line 1, column 1: value: it is not JSON: "),
]


def test_bad_lines_name_line_column_and_path(tools: Any, topic: str):
    lines = "\n".join(line for line, _ in BAD) + "\n"
    done = tools.produce("avro", topic, "--dry-run", lines=lines, value_schema=RECORD)
    assert (done.code, done.out) == (1, "")
    told = done.err.splitlines()
    assert len(told) == len(BAD) + 1
    for number, ((_, expected), line) in enumerate(zip(BAD, told, strict=False), 1):
        assert expected.replace("line 1", f"line {number}") in line
    assert told[-1] == "kafka-avro-console-producer: 7 of 7 lines are bad"


def test_a_bad_line_ends_the_run_after_those_before_it(tools: Any, topic: str, stored: Any):
    done = tools.produce("avro", topic, lines=b'"a"\n"\xff"\n"c"\n', value_schema=STRING)
    assert done.code == 1
    assert "line 2, column 2: it is no UTF-8 text" in done.err
    assert parts(stored(topic)) == [(None, None, b"\x02a")]


def test_bad_lines_are_skipped_or_kept(tools: Any, topic: str, stored: Any):
    done = tools.produce("avro", topic, "--on-error", "skip", "--sync", lines='"a"\n1\r\n"c"', value_schema=STRING)
    assert done.code == 0
    assert "line 2, column 1: value: $: int does not fit string" in done.err
    assert "1 of 3 lines are bad" in done.err
    dead = f"{topic}-dead"
    kept = tools.produce("avro", topic, "--on-error", "dlq", "--dlq-topic", dead, lines="x\n", value_schema=STRING)
    assert kept.code == 0
    (letter,) = stored(dead)
    assert letter.value() == b"x"
    headers = dict(letter.headers())
    assert headers["__connect.errors.topic"] == topic.encode()
    assert headers["__connect.errors.offset"] == b"1"
    assert headers["__connect.errors.exception.message"].startswith(b"line 1, column 1: value: it is not JSON")
    assert [value for _, _, value in parts(stored(topic))] == [b"\x02a", b"\x02c"]


def test_missing_separators(tools: Any, topic: str):
    given = {"parse_key": "true", "key_schema": STRING, "value_schema": STRING}
    done = tools.produce("avro", topic, "--dry-run", lines='"a"\n', **given)
    assert done.code == 1
    assert "line 1, column 1: no key separator '\\t' found" in done.err
    assert tools.produce("avro", topic, "--dry-run", lines='"a"\n', ignore_error="true", **given).code == 0


def test_new_names_and_files(tools: Any, topic: str, tmp_path: Path, stored: Any):
    schema, reader, client = (tmp_path / name for name in ("schema.avsc", "reader.properties", "client.properties"))
    schema.write_text(STRING)
    reader.write_text(f"schema.registry.url={tools.registry}\nparse.key=true\nvalue.schema.file={schema}\n")
    client.write_text("client.id=someone\nlinger.ms=1\n")
    done = tools.run(
        "kafka-avro-console-producer",
        *("--bootstrap-server", tools.kafka, "--topic", topic, "--reader-config", str(reader)),
        *("--reader-property", "parse.key=false", "--command-config", str(client)),
        *("--command-property", "linger.ms=0", "--compression-codec", "--request-required-acks", "1"),
        *("--batch-size", "1000", "--max-partition-memory-bytes", "2000", "--message-send-max-retries", "2"),
        *("--retry-backoff-ms", "50", "--timeout", "1", "--request-timeout-ms", "1000", "--max-block-ms", "9000"),
        *("--metadata-expiry-ms", "9000", "--max-memory-bytes", "1000000", "--socket-buffer-size", "9000"),
        *("--line-reader", "io.confluent.kafka.formatter.AvroMessageReader"),
        lines='"a"\n',
    )
    assert (done.code, done.out, done.err) == (0, "", "")
    assert parts(stored(topic)) == [(None, None, b"\x02a")]


@pytest.mark.parametrize(
    ("kind", "schema", "line", "payload"),
    [
        ("avro", STRING, '"a"', b"\x02a"),
        ("json-schema", '{"type": "string"}', '"a"', b'"a"'),
        ("protobuf", 'syntax = "proto3"; message M { string a = 1; }', '{"a": "a"}', b"\x00\x0a\x01a"),
    ],
)
def test_a_file_may_have_the_schema(
    *, tools: Any, topic: str, tmp_path: Path, stored: Any, kind: str, schema: str, line: str, payload: bytes
):
    file = tmp_path / "reader.properties"
    more = 'value.metadata={"properties": {"owner": "me"}}\nvalue.refs=[]\n'
    file.write_text(f"schema.registry.url={tools.registry}\nvalue.schema={schema}\n{more}")
    arguments = ("--bootstrap-server", tools.kafka, "--topic", topic, "--reader-config", str(file))
    done = tools.run(f"kafka-{kind}-console-producer", *arguments, lines=f"{line}\n")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert parts(stored(topic)) == [(None, None, payload)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the following arguments are required: --topic"),
        (["--topic", "t"], "the following arguments are required: --bootstrap-server"),
        (["--topic", "t", "--broker-list", "b", "--property", "x"], "--property: must be name=value, not 'x'"),
        (["--topic", "t", "--broker-list", "b", "--nothing"], "unrecognized arguments: --nothing"),
        (["--topic", "t", "--broker-list", "b", "--on-error", "dlq"], "need each other"),
        (["--topic", "t", "--broker-list", "b", "--batch-size", "-1"], "invalid number value: '-1'"),
        (["--topic", "t", "--broker-list", "b", "--line-reader", "a.B"], "Java's classes cannot be loaded"),
        (["--topic", "t", "--broker-list", "b", "--property", "parse.key=maybe"], "parse.key: must be true or false"),
        (["--topic", "t", "--broker-list", "b", "--property", "null.marker=\t"], "null.marker: must differ"),
        (["--topic", "t", "--broker-list", "b", "--reader-config", "/none"], "/none cannot be read"),
        (["--topic", "t", "--broker-list", "b"], "value.schema: is needed"),
        (
            ["--topic", "t", "--broker-list", "b", "--property", 'value.schema="int"', "--property", "max.retires=1"],
            "max.retires: is no setting of Serializer",
        ),
    ],
)
def test_wrong_calls_exit_with_2(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]):
    try:
        code = carried_out("p", lambda: run("p", "AVRO", ["--dry-run", *arguments]))
    except SystemExit as end:
        code = end.code
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("\nparse.headers=maybe\n", "p: FILE:2: parse.headers: must be true or false, not 'maybe'\n"),
        ("key.separator=:\nnull.marker=:\n", "p: FILE:2: null.marker: must differ from key.separator\n"),
        (
            "\nvalue.schema.file=/none\n",
            "p: FILE:2: value.schema.file: /none cannot be read: No such file or directory\n",
        ),
        (
            'value.schema="int"\nuse.latest.verson=1\n',
            "p: FILE:2: use.latest.verson: is no setting of Serializer; did you mean use.latest.version?\n",
        ),
        ("value.schema=x\nmax.retries=x\n", "p: FILE:2: max.retries: must be an integer, not 'x'\n"),
    ],
)
def test_an_error_names_the_line_of_the_property(
    tmp_path: Path, file: str, said: str, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "reader.properties"
    path.write_text(file)
    arguments = ["--dry-run", "--topic", "t", "--broker-list", "b", "--reader-config", str(path)]
    assert carried_out("p", lambda: run("p", "AVRO", arguments)) == 2
    assert capsys.readouterr().err == said.replace("FILE:", f"{path}:")


def test_an_undeliverable_record_exits_with_3(tools: Any, topic: str):
    done = tools.run(
        "kafka-avro-console-producer",
        *("--bootstrap-server", "127.0.0.1:1", "--topic", topic, "--max-block-ms", "800"),
        *("--property", f"schema.registry.url={tools.registry}", "--property", "value.schema=" + STRING),
        lines='"a"\n"b"\n',
    )
    assert (done.code, done.out) == (3, "")
    assert "records were not delivered" in done.err
    assert "127.0.0.1:1" in done.err


def test_a_registry_that_is_down_exits_with_3(tools: Any, topic: str):
    given = {"schema_registry_url": "http://127.0.0.1:1", "max_retries": "0"}
    done = tools.produce("avro", topic, lines='"a"\n', value_schema=STRING, **given)
    assert (done.code, done.out) == (3, "")
    assert "schema registry unavailable" in done.err


def test_a_schema_that_is_none(tools: Any, topic: str):
    done = tools.produce("avro", topic, lines='"a"\n', value_schema='{"type":"strin"}')
    assert (done.code, done.out) == (1, "")
    assert "42201" in done.err or "cannot be compiled" in done.err


def test_a_dry_run_does_not_pass_over_rules_either(tools: Any, topic: str):
    rules = '{"domainRules":[{"name":"encryptF","kind":"TRANSFORM","mode":"WRITEREAD","type":"ENCRYPT"}]}'
    given = {"value_schema": RECORD, "value_rule_set": rules}
    done = tools.produce("avro", topic, "--dry-run", lines='{"f": {"string": "a"}, "b": ""}\n', **given)
    assert done.code != 0
    assert "encryptF" in done.err


@pytest.mark.parametrize(
    ("form", "old", "new", "shown"),
    [
        (
            "avro",
            '{"type":"record","name":"r","fields":[{"name":"a","type":"string"}]}',
            '{"type":"record","name":"r","fields":[{"name":"a","type":"int"}]}',
            "TYPE_MISMATCH at /fields/0/type: The new schema has INT where the old schema has STRING. Example: ",
        ),
        (
            "json-schema",
            '{"type":"object","properties":{"a":{"type":"string"}}}',
            '{"type":"object","properties":{"a":{"type":"integer"}}}',
            "TYPE_CHANGED at #/properties/a: ",
        ),
        (
            "protobuf",
            'syntax = "proto3"; message M { string a = 1; }',
            'syntax = "proto3"; message M { int32 a = 1; }',
            "FIELD_SCALAR_KIND_CHANGED at #/M/1: ",
        ),
    ],
)
def test_a_refused_schema_is_shown_a_datum_that_breaks(
    tools: Any, topic: str, form: str, old: str, new: str, shown: str
):
    lines = '{"a": "x"}\n'
    assert tools.produce(form, topic, lines=lines, value_schema=old).code == 0
    refused = tools.produce(form, topic, lines="", value_schema=new)
    assert refused.code == 1
    assert "(HTTP status code 409, SR code 409)" in refused.err
    told = [line for line in refused.err.splitlines() if line.startswith("kafka-")]
    explained = told[1:]
    assert explained[0].startswith(f"kafka-{form}-console-producer: {shown}")
    assert "Example: " in explained[0]
    assert "Fix: " in explained[0]
    ours = tools.magicbyte("produce", topic, "--value-schema", new)
    assert ours.err.replace("magicbyte produce", f"kafka-{form}-console-producer") == refused.err
