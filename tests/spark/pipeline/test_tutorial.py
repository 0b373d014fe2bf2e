"""The page 'from topic to lake in ten minutes', with its files and commands as they stand there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from magicbyte.cli.main import main
from serdes.client.clients import RegistryClient

PAGE = Path(__file__).parents[3] / "docs" / "pipelines.md"


@pytest.mark.slow
def test_from_topic_to_lake(
    spark: SparkSession,
    topics: Any,
    registry: RegistryClient,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    section = PAGE.read_text(encoding="utf-8").split("\n## ")[1]
    assert section.startswith("From topic to lake in ten minutes")
    topic = topics.create()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BROKERS", topics.servers)
    monkeypatch.setenv("REGISTRY", registry.urls[0])
    for name, content in re.findall(r"`(\S+)`:\n\n```\w+\n(.*?)```", section, re.DOTALL):
        # Other tests have a topic of the page's name, and the session has another working folder.
        Path(name).write_text(
            content.replace("topics: [flights]", f"topics: [{topic}]").replace(" lake/", f" {tmp_path}/lake/")
        )
    commands = re.findall(r"^    magicbyte (.+)$", section, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["up", "produce", "pipeline", "pipeline", "pipeline"]
    servers = ["--bootstrap-server", topics.servers, "--schema-registry-url", registry.urls[0]]
    for command in commands[1:]:
        words = shlex.split(command)
        if words[0] == "produce":
            words = [topic if word == "flights" else word for word in words] + servers
        if words[1] == "run":
            capfd.readouterr()
        assert main(words) == 0, command
    expected = re.search(r"`run` prints\n\n    (.+)\n", section)
    assert expected is not None
    assert capfd.readouterr().out.strip().endswith(expected[1])
    rows = spark.read.parquet(str(tmp_path / "lake" / "flights")).orderBy("id").collect()
    assert [(row.id, row.delay, row.late, str(row.dt), row.hour) for row in rows] == [
        (1, 2, False, "2026-01-01", 7),
        (3, 33, True, "2026-01-01", 9),
    ]
