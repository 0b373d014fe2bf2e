from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from spark_avro.pipeline.file.sinks import DeltaSink, IcebergSink
from spark_avro.pipeline.ports import SinkContext, SinkRefused
from spark_avro.pipeline.sinks import open_sink


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", ["lake_tables.py", "lake_values.py", "lake_upserts.py"])
def test_delta_and_iceberg_tables(name: str) -> None:
    """In a process of their own: the extensions are those of a session from its start."""
    file = Path(__file__).with_name(name)
    run = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", file, "-q", "-p", "no:cacheprovider"],
        capture_output=True,
        text=True,
        check=False,
        cwd=file.parents[4],
    )
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-2000:]
    assert " passed" in run.stdout


def test_a_session_without_the_format_is_refused_by_name(context: Callable[..., SinkContext]) -> None:
    with pytest.raises(SinkRefused, match=r"the session has no Delta; start it with session\(formats=\['delta'\]\)"):
        open_sink(DeltaSink(path="/tmp/t"), context())
    with pytest.raises(SinkRefused, match=r"the session has no Iceberg; start it with session\(formats=\['iceberg'\]"):
        open_sink(IcebergSink(table="lake.db.t"), context())
