"""A slim install: its commands, and its errors for a missing extra."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from magicbyte.cli.main import COMMANDS, main
from magicbyte.kit import extras
from magicbyte.kit.extras import MODULES, install_line
from magicbyte.testing import running_registry

ROOT = Path(__file__).parents[2]

Run = Callable[..., subprocess.CompletedProcess[str]]
MAGICBYTE = ("-m", "magicbyte.cli.main")
CONSOLE = ("-c", "import sys; from serdes.console import main; sys.exit(getattr(main, sys.argv.pop(1))())")


def missing(run: subprocess.CompletedProcess[str]) -> tuple[str, str]:
    """The user and the extras of the one line that names what is missing."""
    line = re.fullmatch(
        r"(?:magicbyte|kafka-avro-console-producer): (?P<user>.+) needs the extras? (?P<extras>.+) \(no module \w+\);"
        r" install with: (?:pip|\S+ -m pip|uv pip) install (?:--python \S+ )?"
        r"'magicbyte\[(?P<list>[a-z0-9,]+)\] @ file:///\S+'\n",
        run.stderr,
    )
    assert line is not None, run.stderr
    assert re.findall(r"`(\w+)`", line["extras"]) == line["list"].split(",")
    return line["user"], line["list"]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(run_slim: Run, name: str):
    done = run_slim(*MAGICBYTE, name, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: magicbyte {name}")


@pytest.mark.parametrize(
    ("arguments", "extras"),
    [
        (["up"], "server"),
        (["up", "--no-such-option"], "server"),
        (["broker"], "server"),
        (["registry", "--storage", "memory:"], "server"),
        (["rest-proxy"], "server"),
        (["demo"], "server,spark,demo"),
    ],
)
def test_a_command_names_the_extra_that_it_needs(run_slim: Run, arguments: list[str], extras: str):
    done = run_slim(*MAGICBYTE, *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert missing(done) == (f"`magicbyte {arguments[0]}`", extras)


def test_a_check_needs_no_extra(run_slim: Run, tmp_path: Path):
    (tmp_path / "a.avsc").write_text('{"type": "record", "name": "A", "fields": []}')
    (tmp_path / "b.proto").write_text('syntax = "proto3"; message A {}')
    (tmp_path / "c.schema.json").write_text('{"$schema": "http://json-schema.org/draft-07/schema#", "type": "x"}')
    done = run_slim(*MAGICBYTE, "check", "--against", "none")
    assert (done.returncode, done.stderr) == (100, "")
    assert done.stdout.startswith('c.schema.json:1:56: INVALID_SCHEMA (c): unknown type: "x"')
    assert done.stdout.endswith("\n2 schemas checked, 1 finding\n")


@pytest.mark.parametrize("tool", ["producer", "consumer"])
@pytest.mark.parametrize("schema_type", ["avro", "json-schema", "protobuf"])
def test_the_console_tools_need_no_extra(run_slim: Run, schema_type: str, tool: str):
    done = run_slim(*CONSOLE, f"{schema_type.replace('-', '_')}_{tool}", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"kafka-{schema_type}-console-{tool}" in done.stdout


@pytest.mark.parametrize("command", [["topics", "list"], ["groups", "reset", "g", "--topic", "t", "--to-latest"]])
def test_the_topics_and_groups_commands_need_no_extra(run_slim: Run, command: list[str]):
    limit = ("--command-property", "default.api.timeout.ms=500")
    done = run_slim(*MAGICBYTE, *command, "--bootstrap-servers", "127.0.0.1:1", *limit)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"magicbyte {command[0]}: the broker cannot be used: 127.0.0.1:1/bootstrap: ")


ROUND_TRIP = """
import sys
from google.protobuf.wrappers_pb2 import StringValue
from serdes import avro, json_schema, protobuf
from serdes.client.confluent import SchemaRegistryClient
from serdes.serialization import MessageField, SerializationContext

client = SchemaRegistryClient({"url": sys.argv[1]})
at = SerializationContext(sys.argv[2], MessageField.VALUE)
match sys.argv[2]:
    case "avro":
        data = avro.AvroSerializer(client, '"string"')("a", at)
        print(avro.AvroDeserializer(client)(data, at))
    case "json":
        data = json_schema.JSONSerializer('{"type": "string"}', client)("a", at)
        print(json_schema.JSONDeserializer(None, schema_registry_client=client)(data, at))
    case "protobuf":
        data = protobuf.ProtobufSerializer(StringValue, client, {"use.deprecated.format": False})
        data = data(StringValue(value="a"), at)
        print(protobuf.ProtobufDeserializer(StringValue, {"use.deprecated.format": False})(data, at).value)
"""


@pytest.fixture(scope="module")
def registry_url() -> Iterator[str]:
    with running_registry() as server:
        yield server.url


@pytest.mark.parametrize("schema_type", ["avro", "json", "protobuf"])
def test_serializers_need_no_extra(run_slim: Run, registry_url: str, schema_type: str):
    done = run_slim("-c", ROUND_TRIP, registry_url, schema_type)
    assert (done.returncode, done.stdout, done.stderr) == (0, "a\n", "")


@pytest.mark.parametrize(
    ("lines", "user", "extra"),
    [
        (["from spark_avro import from_confluent_avro"], "spark_avro", "spark"),
        (
            ["from serdes.client.clients import RegistryClient", "RegistryClient('mock://a').subjects()"],
            "a mock:// registry",
            "server",
        ),
    ],
)
def test_a_library_names_the_extra_that_it_needs(run_slim: Run, lines: list[str], user: str, extra: str):
    code = ["import sys", "try:", *(f"    {line}" for line in lines)]
    code += ["except ImportError as error:", "    print('magicbyte:', error, file=sys.stderr)"]
    assert missing(run_slim("-c", "\n".join(code))) == (user, extra)


def test_a_console_tool_on_a_mock_registry_names_the_extra(run_slim: Run):
    flags = ["--topic", "t", "--bootstrap-server", "127.0.0.1:1", "--property", "schema.registry.url=mock://a"]
    done = run_slim(*CONSOLE, "avro_producer", *flags, "--property", 'value.schema="int"')
    assert done.returncode == 2
    assert missing(done) == ("a mock:// registry", "server")


def test_jars_that_are_not_cached_need_the_server(run_slim: Run, tmp_path: Path):
    done = run_slim("-m", "magicbyte.platform.jars", "fetch", "broker-4.3.1", MAGICBYTE_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 1
    assert missing(done) == ("fetching the jars for Kafka 4.3.1", "server")


def test_the_pytest_fixtures_name_the_extra(run_slim: Run, tmp_path: Path):
    # pytest itself is the project's own, not ours.
    settings = tmp_path / "settings.json"
    settings.write_text('{"listeners": "http://127.0.0.1:1"}')
    done = run_slim("-m", "magicbyte.testing.renewed", "rest_proxy", str(settings))
    assert done.returncode == 1
    assert missing(done) == ("the fixture of the rest proxy", "server")


def test_postgresql_is_an_extra_of_its_own(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setitem(MODULES, "postgresql", ("no_such_driver",))
    assert main(["registry", "--storage", "postgresql://127.0.0.1:1/x", "--listen", "127.0.0.1:1"]) == 1
    assert capsys.readouterr().err.startswith(
        "magicbyte: the storage postgresql: needs the extra `postgresql` (no module no_such_driver); install with: "
    )


def test_the_suggested_command_is_that_of_the_installer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    files = {"direct_url.json": "", "INSTALLER": "pip\n"}
    monkeypatch.setattr(extras, "_metadata", lambda file: files[file])
    wanted = f"'magicbyte[server]=={version('magicbyte')}'"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert install_line(["server"]) == f"{sys.executable} -m pip install {wanted}"
    pip = tmp_path / "pip"
    pip.touch(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert install_line(["server"]) == f"pip install {wanted}"
    files["INSTALLER"] = "uv"
    assert install_line(["server"]) == f"uv pip install --python {tmp_path}/python {wanted}"
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    (tmp_path / "uv-receipt.toml").touch()
    assert install_line(["server"]) == f"uv tool install {wanted}"


@pytest.mark.parametrize(
    ("origin", "requirement"),
    [
        ("", f"magicbyte[all]=={version('magicbyte')}"),
        ('{"url": "file:///w/m.whl", "archive_info": {}}', "magicbyte[all] @ file:///w/m.whl"),
        ('{"url": "file:///w", "dir_info": {"editable": true}}', "magicbyte[all] @ file:///w"),
        (
            '{"url": "https://h/m.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}}',
            "magicbyte[all] @ git+https://h/m.git@c0ffee",
        ),
    ],
)
def test_the_line_to_type_names_where_this_magicbyte_came_from(
    monkeypatch: pytest.MonkeyPatch, origin: str, requirement: str
):
    monkeypatch.setattr(extras, "_metadata", {"direct_url.json": origin, "INSTALLER": "pip"}.__getitem__)
    assert f"'{requirement}'" in install_line(["all"])


def make_uv(folder: Path, cache: Path) -> Path:
    """A `uv` that knows its cache, and prints what else it is asked for."""
    folder.mkdir()
    uv = folder / "uv"
    uv.write_text(f'#!/bin/sh\nif [ "$1 $2" = "cache dir" ]; then echo "{cache}"; else printf "%s|" "$@"; fi\n')
    uv.chmod(0o755)
    return uv


def test_uvx_runs_the_command_again_with_the_extra(run_slim: Run, slim_python: Path, tmp_path: Path):
    uv = make_uv(tmp_path / "bin", slim_python.parents[2])
    done = run_slim(*MAGICBYTE, "up", "--ephemeral", UV=str(uv))
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    asked = f"tool|run|--python|{python}|--from|magicbyte[server] @ {ROOT.as_uri()}|magicbyte|up|--ephemeral|"
    assert (done.returncode, done.stdout) == (0, asked)
    line = f"uvx --from 'magicbyte[server] @ {ROOT.as_uri()}' magicbyte up --ephemeral"
    assert done.stderr == f"magicbyte: fetching the missing extras: {line}\n"


@pytest.mark.parametrize(("cache", "added"), [("elsewhere", ""), ("here", "server")])
def test_uv_is_asked_once_and_only_for_an_environment_of_its_cache(
    run_slim: Run, slim_python: Path, tmp_path: Path, cache: str, added: str
):
    uv = make_uv(tmp_path / "bin", slim_python.parents[2] if cache == "here" else tmp_path)
    done = run_slim(*MAGICBYTE, "up", UV=str(uv), MAGICBYTE_UVX_EXTRAS=added)
    assert done.returncode == 1
    assert missing(done) == ("`magicbyte up`", "server")
