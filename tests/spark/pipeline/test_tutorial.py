"""The tutorials of docs/tutorial-pipelines.md, with their files and commands as they stand there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from magicbyte.cli.main import main
from serdes.client.clients import RegistryClient

PAGE = Path(__file__).parents[3] / "docs" / "tutorial-pipelines.md"


@dataclass(frozen=True)
class Tutorial:
    """A section of the page: its commands, and what runs one of them with the servers and topics of the test."""

    section: str
    commands: list[list[str]]
    run: Callable[[list[str]], int]


@pytest.fixture
def tutorial(
    topics: Any, registry: RegistryClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Tutorial]:
    """Write the files of a section, whose topics get names of their own, into a folder, and go there."""

    def make(title: str, *named: str) -> Tutorial:
        section = _section(title)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("BROKERS", topics.servers)
        monkeypatch.setenv("REGISTRY", registry.urls[0])
        names = {name: topics.create() for name in named}
        _write_files(section, names, tmp_path)
        run = lambda command: main(_with_servers(command, names, topics.servers, registry))  # noqa: E731 - short
        return Tutorial(section, _commands(section), run)

    return make


@pytest.mark.slow
def test_from_topic_to_lake(
    spark: SparkSession, tutorial: Callable[..., Tutorial], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made = tutorial("From topic to lake in ten minutes", "flights")
    assert [command[0] for command in made.commands] == ["up", "produce", "pipeline", "pipeline", "pipeline"]
    for command in made.commands[1:]:
        if command[1] == "run":
            capfd.readouterr()
        assert made.run(command) == 0, command
    expected = re.search(r"`run` prints\n\n```text\n(.+)\n", made.section)
    assert expected is not None
    assert capfd.readouterr().out.strip().endswith(expected[1])
    rows = spark.read.parquet(str(tmp_path / "lake" / "flights")).orderBy("id").collect()
    assert [(row.id, row.delay, row.late, str(row.dt), row.hour) for row in rows] == [
        (1, 2, False, "2026-01-01", 7),
        (3, 33, True, "2026-01-01", 9),
    ]


@pytest.mark.slow
def test_windows_and_joins(
    spark: SparkSession, tutorial: Callable[..., Tutorial], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made = tutorial("Windows and joins in ten minutes", "orders", "payments")
    assert [command[:2] for command in made.commands] == [
        ["produce", "orders"],
        ["produce", "payments"],
        ["pipeline", "run"],
        ["pipeline", "run"],
        ["pipeline", "status"],
    ]
    for command in made.commands:
        capfd.readouterr()
        assert made.run(command) == 0, command
    status = capfd.readouterr().out
    assert "watermark  2026-01-01T08:25:00.000Z" in status
    assert re.search(r"steps\[0\]\.join: newest row \S+  holds the watermark\n", status)
    sales, paid = (spark.read.parquet(str(tmp_path / "lake" / name)) for name in ("sales", "paid"))
    for page, rows in ((("window_start", "city", "orders", "amount"), sales), (("id", "ts", "paid_at"), paid)):
        found = [tuple(map(_text, row)) for row in rows.select(*page).orderBy(page[0]).collect()]
        assert found == _table(made.section, page) != []


@pytest.mark.slow
def test_a_stream_and_a_table(
    spark: SparkSession, tutorial: Callable[..., Tutorial], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made = tutorial("A stream and a table in ten minutes", "orders", "shops")
    assert [command[0] for command in made.commands] == ["produce", "produce", "pipeline", "pipeline"]
    for command in made.commands:
        capfd.readouterr()
        assert made.run(command) == 0, command
    status = capfd.readouterr().out
    assert "steps[0].join: 1 rows without a match" in status
    assert re.search(r"transformWithStateInPandasExec +2 ", status)
    page = ("id", "shop", "city")
    rows = spark.read.parquet(str(tmp_path / "lake" / "cities")).select(*page).orderBy("id")
    assert [tuple(map(_text, row)) for row in rows.collect()] == _table(made.section, page) != []


def _section(title: str) -> str:
    [section] = [part for part in PAGE.read_text(encoding="utf-8").split("\n## ") if part.startswith(f"{title}\n")]
    return section


def _write_files(section: str, topics: Mapping[str, str], folder: Path) -> None:
    """Write the files of a section; with other topics, since other tests have those of the page, and absolute paths,
    since the session has another working folder.
    """
    for name, content in re.findall(r"`(\S+)`[^`\n]*:\n\n```\w+\n(.*?)```", section, re.DOTALL):
        text = content.replace(" lake/", f" {folder}/lake/").replace("path: shops", f"path: {folder}/shops")
        for topic, own in topics.items():
            text = text.replace(f"topics: [{topic}]", f"topics: [{own}]")
        (folder / name).write_text(text)


def _commands(section: str) -> list[list[str]]:
    return [shlex.split(command) for command in re.findall(r"^magicbyte (.+)$", section, re.MULTILINE)]


def _with_servers(command: list[str], topics: Mapping[str, str], servers: str, registry: RegistryClient) -> list[str]:
    if command[0] != "produce":
        return command
    words = [topics.get(word, word) for word in command]
    return [*words, "--bootstrap-server", servers, "--schema-registry-url", registry.urls[0]]


def _table(section: str, columns: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The rows of the section's table that has these columns."""
    head = f"| {' | '.join(columns)} |\n"
    lines = section.partition(head)[2].partition("\n\n")[0].splitlines()[1:]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]


def _text(value: object) -> str:
    """A value as the page has it: times without the date, and nothing for NULL."""
    if value is None:
        return ""
    return f"{value:%H:%M}" if isinstance(value, datetime) else str(value)
