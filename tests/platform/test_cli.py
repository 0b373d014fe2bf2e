from __future__ import annotations

import importlib
import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from magicbyte.cli.main import COMMANDS, main

MAGICBYTE = [sys.executable, "-P", "-m", "magicbyte.cli.main"]


def run(
    *arguments: str, environment: dict[str, str] | None = None, folder: Path | None = None, safe_path: bool = True
) -> subprocess.CompletedProcess[str]:
    command = MAGICBYTE if safe_path else [word for word in MAGICBYTE if word != "-P"]
    return subprocess.run(
        [*command, *arguments],
        capture_output=True,
        text=True,
        env=os.environ | (environment or {}),
        cwd=folder,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["help"], []])
def test_help_lists_every_command(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert out.startswith("usage: magicbyte COMMAND [OPTION ...]\n")
    for name, command in COMMANDS.items():
        assert f"  {name} " in out
        assert command.help in out


def test_help_costs_little_more_than_python_itself() -> None:
    def seconds(command: list[str]) -> float:
        """The least CPU time of several runs: what else the machine does then weighs nothing."""
        times = []
        for _ in range(7):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return min(times)

    extra = seconds([*MAGICBYTE, "--help"]) - seconds([sys.executable, "-c", "pass"])
    assert extra < 0.1


def test_help_imports_no_command_and_no_library() -> None:
    code = "import sys; from magicbyte.cli.main import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(result.stderr.split())
    assert not loaded & {"argparse", "pydantic", "confluent_kafka", "fastapi", "uvicorn", "httpx", "asyncio"}
    assert {name for name in loaded if name.startswith("magicbyte.")} == {
        "magicbyte.cli",
        "magicbyte.cli.main",
        "magicbyte.kit",
        "magicbyte.kit.extras",
        "magicbyte.kit.failure",
        "magicbyte.kit.inert",
        "magicbyte.kit.standard_output",
    }


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("magicbyte 0.")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("regsitry", "did you mean 'registry'?"),
        ("xyz", "`magicbyte --help` lists them"),
        ("--verbose", "`magicbyte --help` lists them"),
    ],
)
def test_the_error_for_an_unknown_command_names_the_nearest_one(
    name: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", f"magicbyte: there is no command {name!r}; {hint}\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_module_and_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    module = importlib.import_module(COMMANDS[name].module)
    with pytest.raises(SystemExit) as ended:
        module.main(["--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: magicbyte {name}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["registry"],
            (
                "say where the schemas are to be kept: --storage sqlite:///FILE, --storage postgresql://USER@HOST/DATABASE,"
                " --bootstrap-servers HOST:PORT for Kafka, or --storage memory: to lose them at the end"
            ),
        ),
        (["registry", "--storage", "kafka:"], "--storage kafka: needs --bootstrap-servers HOST:PORT"),
        (
            ["registry", "--config", "/nowhere/file"],
            "--config /nowhere/file cannot be read: No such file or directory",
        ),
        (["rest-proxy"], "say which Kafka cluster it is for: --bootstrap-servers HOST:PORT"),
    ],
)
def test_one_line_names_the_missing_part(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", f"magicbyte: {message}\n")


def test_a_setting_that_cannot_be_is_named(tmp_path: Path) -> None:
    result = run("registry", "--storage", "floppy:", "--listen", "127.0.0.1:1")
    assert result.returncode == 1
    assert "floppy:" in result.stderr
    assert len(result.stderr.splitlines()) == 1


REGISTRY = ("registry", "--storage", "memory:", "--listen", "127.0.0.1:1")
REST_PROXY = ("rest-proxy", "--bootstrap-servers", "127.0.0.1:1")
UI = ("ui", "--schema-registry-url", "http://127.0.0.1:1")


@pytest.mark.parametrize(
    ("arguments", "variables", "file", "error"),
    [
        (
            REGISTRY,
            {},
            "# a comment\n\nschema.cache.size = \\\n  -5\nmode.mutability=maybe\n",
            "FILE:3: schema.cache.size: must be a whole number of at least 0, not '-5'\n"
            "FILE:5: mode.mutability: must be true or false, not 'maybe'\n",
        ),
        # A later definition of the same file counts, and the environment counts before the file.
        (
            REGISTRY,
            {},
            "schema.cache.size=1\nschema.cache.size=x\n",
            "schema.cache.size: FILE:2 repeats the property of FILE:1, whose value is not used\n"
            "magicbyte: FILE:2: schema.cache.size: must be a whole number of at least 0, not 'x'\n",
        ),
        (
            REGISTRY,
            {"SCHEMA_REGISTRY_SCHEMA_CACHE_SIZE": "y"},
            "schema.cache.size=x\n",
            "SCHEMA_REGISTRY_SCHEMA_CACHE_SIZE: schema.cache.size: must be a whole number of at least 0, not 'y'\n",
        ),
        (
            (*REGISTRY, "--workers", "0"),
            {},
            "magicbyte.workers=1\n",
            "magicbyte.workers: must be a whole number of at least 1, not '0'\n",
        ),
        # A check of several properties, and one of the properties that are refused.
        (
            REGISTRY,
            {},
            "magicbyte.ui.name=x\nssl.client.authentication=REQUIRED\n",
            "FILE:2: ssl.client.authentication: no listener is https://, so no client could be asked\n",
        ),
        (
            REGISTRY,
            {},
            "authentication.method=BASIC\n",
            "magicbyte.users.file: BASIC needs users; make a file with `magicbyte user add`\n",
        ),
        (
            REST_PROXY,
            {},
            "peers=http://a:1\npeers.self=http://b:1\n",
            "FILE:2: peers.self: http://b:1 is not among peers (http://a:1)\n",
        ),
        # An older name, a placeholder, and properties of Kafka's clients.
        (
            REGISTRY,
            {},
            "\navro.compatibility.level=FULLL\n",
            "FILE:2: property avro.compatibility.level is called schema.compatibility.level now\n"
            "magicbyte: FILE:2: schema.compatibility.level: must be NONE or BACKWARD or BACKWARD_TRANSITIVE or FORWARD"
            " or FORWARD_TRANSITIVE or FULL or FULL_TRANSITIVE, not 'FULLL'; did you mean FULL?\n",
        ),
        (
            REGISTRY,
            {},
            "\nmagicbyte.ui.name=${env:NO_SUCH}\n",
            "FILE:2: magicbyte.ui.name: ${env:NO_SUCH} cannot be resolved: the variable is not set\n",
        ),
        (
            ("registry", "--bootstrap-servers", "127.0.0.1:1", "--listen", "127.0.0.1:1"),
            {},
            "\nkafkastore.ssl.keystore.location=/none\n",
            "FILE:2: kafkastore.ssl.keystore.location: /none cannot be read: No such file or directory\n",
        ),
        (
            REST_PROXY,
            {},
            "\nclient.ssl.keystore.location=/none\n",
            "FILE:2: client.ssl.keystore.location: /none cannot be read: No such file or directory\n",
        ),
        (
            REST_PROXY,
            {"KAFKA_REST_PRODUCER_NO_SUCH": "1"},
            "",
            'KAFKA_REST_PRODUCER_NO_SUCH: producer.no.such: No such configuration property: "no.such"\n',
        ),
        # The page's own properties, and those of the registry's client.
        (
            UI,
            {},
            "max.retries=1\nmagicbyte.ui.messages.cpu.ms=0\nmagicbyte.ui.color=red\n",
            "FILE:2: magicbyte.ui.messages.cpu.ms: must be a whole number of milliseconds, at least 1, not '0'\n"
            "FILE:3: magicbyte.ui.color: not a color; write it as #ae231c (was 'red')\n",
        ),
        (
            UI,
            {},
            "\nmax.retires=1\n",
            "FILE:2: max.retires: is not a setting of the registry client; did you mean max.retries?\n",
        ),
        (
            UI,
            {"MAGICBYTE_SCHEMA_REGISTRY_MAX_RETRIES": "many"},
            "schema.registry.max.retries=none\n",
            "MAGICBYTE_SCHEMA_REGISTRY_MAX_RETRIES: max.retries: must be an integer, not 'many'\n",
        ),
        (
            UI,
            {},
            "\nbasic.auth.user.info=${file:/none:app}\n",
            "FILE:2: basic.auth.user.info: ${file:/none:app} cannot be resolved: No such file or directory\n",
        ),
        ((*UI, "--property", "max.retries=x"), {}, "max.retries=1\n", "max.retries: must be an integer, not 'x'\n"),
    ],
)
def test_an_error_names_the_place_of_the_property(
    tmp_path: Path, arguments: Sequence[str], variables: dict[str, str], file: str, error: str
) -> None:
    path = tmp_path / "server.properties"
    path.write_text(file, encoding="utf-8")
    result = run(*arguments, "--config", str(path), environment=variables)
    assert (result.returncode, result.stdout) == (1, "")
    lines = (error if "magicbyte: " in error else f"magicbyte: {error}").replace("FILE:", f"{path}:")
    # Warnings are log lines, which are JSON here because stderr is no terminal.
    told = [json.loads(line)["msg"] + "\n" if line.startswith("{") else line for line in result.stderr.splitlines(True)]
    assert "".join(told) == lines


def test_the_temporary_file_of_a_worker_is_no_place(tmp_path: Path) -> None:
    path = tmp_path / "resolved.properties"
    path.write_text("schema.cache.size=x\n", encoding="utf-8")
    result = run(*REGISTRY, "--resolved-config", str(path))
    assert result.stderr == "magicbyte: schema.cache.size: must be a whole number of at least 0, not 'x'\n"


@pytest.mark.parametrize(
    ("arguments", "file", "code", "error"),
    [
        (
            ("acl", "list", "--config"),
            "schema.registry.url=http://127.0.0.1:1\nschema.registry.max.retires=1\n",
            1,
            "magicbyte: FILE:2: max.retires: is not a setting of the registry client; did you mean max.retries?\n",
        ),
        (
            ("register", "--schema-registry-url", "http://127.0.0.1:1", "--config"),
            "\nretries.wait.ms=soon\n",
            1,
            "magicbyte: FILE:2: retries.wait.ms: must be a number, not 'soon'\n",
        ),
        (
            ("consume", "t", "--bootstrap-server", "127.0.0.1:1", "--config"),
            "\nbasic.auth.user.info=nobody\n",
            2,
            "magicbyte consume: FILE:2: basic.auth.user.info: must be user:password\n",
        ),
        (
            ("consume", "t", "--bootstrap-server", "127.0.0.1:1", "--config"),
            "\navro.logical.types=both\n",
            2,
            "magicbyte consume: FILE:2: avro.logical.types: must be text or stored, not both\n",
        ),
        (
            ("ids", "t", "--bootstrap-server", "127.0.0.1:1", "--command-config"),
            "\ndefault.api.timeout.ms=soon\n",
            2,
            "magicbyte ids: FILE:2: default.api.timeout.ms: must be a number, not 'soon'\n",
        ),
        (
            ("produce", "t", "--bootstrap-server", "127.0.0.1:1", "--command-config"),
            "\nssl.keystore.location=/none\n",
            2,
            "magicbyte produce: FILE:2: ssl.keystore.location: /none cannot be read: No such file or directory\n",
        ),
    ],
)
def test_an_error_names_the_place_of_a_clients_setting(
    tmp_path: Path, arguments: Sequence[str], file: str, code: int, error: str
) -> None:
    path = tmp_path / "client.properties"
    path.write_text(file, encoding="utf-8")
    result = run(*arguments, str(path), folder=tmp_path)
    assert (result.returncode, result.stdout) == (code, "")
    assert result.stderr == error.replace("FILE:", f"{path}:")


def make_stranger(folder: Path, name: str) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text("raise SystemExit('the stranger was run')\n")
    return folder


@pytest.mark.parametrize(
    ("package", "arguments"),
    [
        ("registry", ["registry", "--storage", "memory:"]),
        ("rest_proxy", ["rest-proxy", "--bootstrap-servers", "127.0.0.1:1"]),
    ],
)
def test_a_package_of_the_users_that_is_in_the_way_is_named_and_not_run(
    tmp_path: Path, package: str, arguments: list[str]
) -> None:
    folder = make_stranger(tmp_path / "theirs", package)
    result = run(*arguments, environment={"PYTHONPATH": str(folder)})
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith(
        f"magicbyte: Python finds {package!r} at {folder / package}, which is not Magicbyte's"
    )
    assert result.stderr.endswith("rename it, or take its folder out of PYTHONPATH\n")


def test_a_registry_folder_where_the_user_stands_is_not_in_the_way(tmp_path: Path) -> None:
    make_stranger(tmp_path, "registry")
    result = run("registry", "--storage", "floppy:", folder=tmp_path)
    assert "the stranger" not in result.stderr
    assert "Python finds" not in result.stderr
    assert "floppy:" in result.stderr
