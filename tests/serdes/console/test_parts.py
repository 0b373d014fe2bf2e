"""Lines, places in JSON, what is imported, and the registry's client."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from importlib.metadata import entry_points
from json import JSONDecodeError
from pathlib import Path

import pytest

from serdes.console.produce.lines import BadLine, Line, LineFormat, Part
from serdes.error import ConfigError
from serdes.json_bytes import loads
from serdes.text.json_position import offset_of


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        (LineFormat(), "a\tb", Line([], Part(None, 1), Part("a\tb", 1))),
        (LineFormat(parse_key=True), "a\tb\tc", Line([], Part("a", 1), Part("b\tc", 3))),
        (LineFormat(parse_key=True, key_separator="::"), "a::b", Line([], Part("a", 1), Part("b", 4))),
        (LineFormat(parse_key=True, ignore_error=True), "ab", Line([], Part(None, 1), Part("ab", 1))),
        (LineFormat(parse_key=True, null_marker="~"), "~\t~", Line([], Part(None, 1), Part(None, 3))),
        (LineFormat(parse_headers=True), "a:1\tv", Line([("a", b"1")], Part(None, 1), Part("v", 5))),
        (
            LineFormat(parse_headers=True),
            "a:1:2,b:\tv",
            Line([("a", b"1:2"), ("b", b"")], Part(None, 1), Part("v", 10)),
        ),
        (
            LineFormat(parse_headers=True, headers_separator=r"[,;]", headers_key_separator="="),
            "a=1;b=2\tv",
            Line([("a", b"1"), ("b", b"2")], Part(None, 1), Part("v", 9)),
        ),
        (LineFormat(parse_headers=True, ignore_error=True), "v", Line([], Part(None, 1), Part("v", 1))),
        (LineFormat(parse_headers=True, ignore_error=True), "a\tv", Line([("a", None)], Part(None, 1), Part("v", 3))),
    ],
)
def test_lines_are_split(form: LineFormat, text: str, expected: Line):
    assert form.split(text, 1) == expected


@pytest.mark.parametrize(
    ("form", "text", "column", "problem"),
    [
        (LineFormat(parse_key=True), "ab", 1, "no key separator '\\t' found"),
        (LineFormat(parse_headers=True), "ab", 1, "no headers delimiter '\\t' found"),
        (LineFormat(parse_headers=True), "a\tb", 1, "no header key separator ':' found in 'a'"),
        (LineFormat(parse_headers=True, parse_key=True), "a:1\tb", 5, "no key separator '\\t' found"),
        (
            LineFormat(parse_headers=True, null_marker="~"),
            "~:1\tb",
            1,
            "a header's key cannot be the null marker: '~:1'",
        ),
    ],
)
def test_lines_that_cannot_be_split(form: LineFormat, text: str, column: int, problem: str):
    with pytest.raises(BadLine) as raised:
        form.split(text, 4)
    assert raised.value == BadLine(4, column, problem)


@pytest.mark.parametrize(
    "arguments",
    [
        {"key_separator": ""},
        {"parse_headers": True, "headers_separator": ":"},
        {"headers_separator": "["},
        {"null_marker": ","},
        {"null_marker": "\t"},
    ],
)
def test_invalid_separators(arguments: dict[str, object]):
    with pytest.raises(ConfigError):
        LineFormat(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "path", "found"),
    [
        ('{"a": 1}', "$", "{"),
        ('{"a": 1}', "$.a", "1"),
        (' { "a" : [ 1 , {"b":2} ] , "c" : 3 }', "$.a[1].b", "2"),
        ('{"a": [1, {"b": 2}], "c": 3}', "$.c", "3"),
        ('{"a": {"x.y": {"b": 5}}}', "$.a.b", "5"),
        ('{"a": {"rec": {"b": 5, "c": 6}}}', "$.a.c", "6"),
        ('{"m": {"k\'1": 7}}', '$.m["k\'1"]', "7"),
        ('{"a": {"b": 1}}', "$.a.zz", "{"),
        ('{"a": [1]}', "$.a[5]", "["),
        ("3", "$.a", "3"),
    ],
)
def test_where_a_path_leads(text: str, path: str, found: str):
    assert text[offset_of(text, path)] == found


HEAVY = {
    "pydantic",
    "fastapi",
    "starlette",
    "sqlalchemy",
    "pyspark",
    "httpx",
    "uvicorn",
    "fastavro",
    "jsonschema",
    "yaml",
}
RUNS = {
    "kafka-avro-console-producer": ("avro_producer", {"google", "jsonschema_rs", "compat.protobuf"}),
    "kafka-avro-console-consumer": ("avro_consumer", {"google", "jsonschema_rs", "compat.protobuf"}),
}


@pytest.mark.parametrize("program", RUNS)
def test_a_run_imports_only_the_modules_that_the_run_needs(program: str):
    entry, others = RUNS[program]
    flags = [
        "--topic",
        "t",
        "--bootstrap-server",
        "127.0.0.1:1",
        "--property",
        "schema.registry.url=http://127.0.0.1:1",
    ]
    flags += ["--property", "max.retries=0", "--command-property", "default.api.timeout.ms=100"]
    flags += ["--property", 'value.schema="int"'] if "producer" in program else []
    code = (
        f"import sys; sys.argv = {[program, *flags]!r}\n"
        f"from serdes.console.main import {entry}\n"
        f"code = {entry}()\n"
        "print(code, *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL
    )
    exit_code, *loaded = done.stdout.split()
    assert exit_code == "3", done.stderr
    assert not {name.partition(".")[0] for name in loaded} & HEAVY
    assert not set(loaded) & others


@pytest.mark.parametrize("form", ["avro", "json-schema", "protobuf"])
@pytest.mark.parametrize("kind", ["producer", "consumer"])
def test_commands_and_their_versions(
    form: str, kind: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    program = f"kafka-{form}-console-{kind}"
    assert Path(sys.executable).with_name(program).exists()
    (entry,) = entry_points(group="console_scripts", name=program)
    monkeypatch.setattr(sys, "argv", [program, "--version"])
    with pytest.raises(SystemExit) as end:
        entry.load()()
    out, err = capsys.readouterr()
    assert (end.value.code, err) == (0, "")
    assert out.startswith(f"{program} 0.")


@pytest.mark.parametrize("kind", ["producer", "consumer"])
def test_help_names_every_flag(kind: str, capsys: pytest.CaptureFixture[str]):
    parser = import_module(f"serdes.console.{kind.removesuffix('r')}.tool").parser(kind)
    parser.print_help()
    text = capsys.readouterr().out
    flags = {
        "producer": "--broker-list --sync --compression-codec --batch-size --max-partition-memory-bytes "
        "--message-send-max-retries --retry-backoff-ms --timeout --request-required-acks --request-timeout-ms "
        "--metadata-expiry-ms --max-block-ms --max-memory-bytes --socket-buffer-size --line-reader "
        "--property --reader-property --reader-config --producer-property --producer.config",
        "consumer": "--include --partition --offset --from-beginning --max-messages --timeout-ms "
        "--skip-message-on-error --isolation-level --group --key-deserializer --value-deserializer --formatter "
        "--enable-systest-events --property --formatter-property --formatter-config --consumer-property "
        "--consumer.config",
    }
    common = "--bootstrap-server --topic --command-property --command-config --help --version"
    assert [flag for flag in f"{flags[kind]} {common}".split() if flag not in text] == []


def test_a_long_number_s_text_has_the_same_fault_for_every_interpreter():
    with pytest.raises(JSONDecodeError) as caught:
        loads("[1234567890123456789,\n]")
    assert (caught.value.msg, caught.value.pos) == ("Expecting value", 22)
    assert loads("[1234567890123456789012345]") == [1234567890123456789012345]
