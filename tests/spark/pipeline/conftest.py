"""A sink in memory, and pipeline files for topics of the tests' broker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spark_avro.pipeline import sinks
from tests.spark.pipeline.flights import ListSink


@pytest.fixture
def sink(monkeypatch: pytest.MonkeyPatch) -> ListSink:
    made = ListSink()
    monkeypatch.setattr(sinks, "open_sink", lambda _spec, _context: made)
    return made


@pytest.fixture
def pipeline_file(topics: Any, registry_url: str, tmp_path: Path) -> Callable[..., Path]:
    def write(topic: str, rest: str, sink: str | None = None) -> Path:
        file = tmp_path / "pipeline.yaml"
        file.write_text(
            f"""
version: 1
name: flights
kafka: {{bootstrap.servers: "{topics.servers}"}}
registry: {{url: "{registry_url}", patience: 1s}}
checkpoint: {tmp_path}/checkpoint
source: {{topics: [{topic}]}}
sink: {sink or f"{{files: {{path: {tmp_path}/out}}}}"}
{rest}
"""
        )
        return file

    return write
