"""The commands of README, the quick start and the tutorial of pipelines as they stand there, in fresh environments."""

from __future__ import annotations

import re
import shlex
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.blocks import blocks
from tests.docs.page_run import PageRun, Servers
from tests.install.fresh import ROOT, UV, distributions, run, up

pytestmark = [pytest.mark.slow_install, pytest.mark.timeout(1800)]

README = (ROOT / "README.md").read_text(encoding="utf-8")
PIPELINES = (ROOT / "docs" / "tutorial-pipelines.md").read_text(encoding="utf-8")
#: The extra of each line of PySpark -> the version that it brings. PySpark 3.5 runs on Python up to 3.11.
LINES = {"spark35": "3.5.7", "spark40": "4.0.0", "spark41": "4.1.1", "spark": "4.1.1"}
#: The ports of the documents.
PORTS = (9092, 8081, 8082)


def commands(text: str, title: str) -> list[str]:
    """The commands of the blocks of a section, without their comments."""
    section = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```sh\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    lines = (line.partition("  #")[0].strip() for block in blocks for line in block.splitlines())
    return [line for line in lines if re.match(r"(pip|uv|uvx|magicbyte) ", line)]


def from_wheel(line: str, wheel: Path) -> list[str]:
    """The words of a documented command, with the wheel in place of the version on PyPI."""
    found = [re.fullmatch(r"magicbyte(\[\w+])?", word) for word in shlex.split(line)]
    return [
        word if match is None else f"magicbyte{match[1] or ''} @ {wheel.as_uri()}"
        for word, match in zip(shlex.split(line), found, strict=True)
    ]


def test_the_installation_in_the_readme(wheel: Path, tmp_path: Path) -> None:
    lines = commands(README, "Install")
    assert [line.split()[0] for line in lines] == ["pip", "pip", "pip", "pip", "uv", "uvx"]
    assert f"`dist/{wheel.name}`" in README
    for number, line in enumerate(lines[:4]):
        folder = tmp_path / str(number)
        run(sys.executable, "-m", "venv", folder)
        run(*from_wheel(line, wheel), binaries=folder / "bin")
        assert {"magicbyte", "fastavro"} <= distributions(folder / "bin")
        assert "usage: magicbyte" in run(folder / "bin" / "magicbyte", "--help")
    tools = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    run(UV, *from_wheel(lines[4], wheel)[1:], **tools)
    assert "usage: magicbyte" in run(tmp_path / "bin" / "magicbyte", "--help")
    with up(UV, "tool", "run", "--from", wheel, "magicbyte"):
        assert lines[5] == "uvx magicbyte up --ephemeral"


def test_the_quick_start(install: Callable[[str], Path], tmp_path: Path) -> None:
    binaries = install("server")
    with up(binaries / "magicbyte") as (registry, lines):
        addresses = dict(re.findall(r"^(broker|REST proxy) +(\S+)", "\n".join(lines), re.MULTILINE))
        servers = Servers(addresses["broker"], registry, addresses["REST proxy"])
        run_of_page = PageRun(servers, tmp_path, binaries / "python")
        for block in blocks("docs/quickstart.md"):
            if block.is_run_here or block.file:
                run_of_page.run(block)


@pytest.mark.parametrize("extra", LINES)
def test_pandas_on_spark_and_the_tables_of_lakes(install: Callable[[str], Path], extra: str, tmp_path: Path) -> None:
    binaries = install(extra)
    version = run(binaries / "python", "-c", "import pyspark; print(pyspark.__version__)")
    assert version.strip() == LINES[extra]
    code = (
        "import spark_avro\n"
        "session = spark_avro.session('lakes', master='local[1]', formats=['delta', 'iceberg'], settings={\n"
        # PySpark 4.0 refuses pandas on Spark in ANSI mode.
        "    'spark.sql.ansi.enabled': 'false', 'spark.sql.catalog.lake': 'org.apache.iceberg.spark.SparkCatalog',\n"
        "    'spark.sql.catalog.lake.type': 'hadoop', 'spark.sql.catalog.lake.warehouse': 'warehouse'})\n"
        "import pyspark.pandas as pandas_on_spark\n"
        "print('sum', pandas_on_spark.range(4)['id'].sum())\n"
        "session.range(3).write.format('delta').save('delta')\n"
        "session.range(5).writeTo('lake.db.t').create()\n"
        "print('delta', session.read.format('delta').load('delta').count())\n"
        "print('iceberg', session.table('lake.db.t').count())"
    )
    printed = run(binaries / "python", "-c", code, folder=tmp_path)
    assert "sum 6\n" in printed
    assert "delta 3\niceberg 5\n" in printed


@pytest.mark.parametrize("extra", ["spark35", "spark40", "spark41"])
def test_the_first_tutorial_of_pipelines(install: Callable[[str], Path], extra: str, tmp_path: Path) -> None:
    for port in PORTS:
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", port)), f"something listens on {port}, which the tutorial uses"
    title = "From topic to lake in ten minutes"
    section = PIPELINES.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    for name, text in re.findall(r"`(\S+\.\w+)`:\n\n```\w+\n(.+?)```", section, re.DOTALL):
        (tmp_path / name).write_text(text)
    lines = commands(PIPELINES, title)
    assert lines[0] == "pip install 'magicbyte[server,spark]'"
    assert lines[1] == "magicbyte up"
    binaries = install(f"server,{extra}")
    with up(binaries / "magicbyte", ports=PORTS):
        for line in lines[2:]:
            printed = run(*shlex.split(line), folder=tmp_path, binaries=binaries)
    assert "flights-to-lake: 1 batches, 3 read, 2 written, 0 dead, 1 dropped\n" in printed
    assert (tmp_path / "lake" / "flights" / "dt=2026-01-01" / "hour=07").is_dir()
