"""The short form of tests/chaos/pipeline_killed.py: drivers killed with -9, and drivers that come back."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
SINKS = (
    *("parquet", "avro", "json", "delta", "delta-upsert", "iceberg", "iceberg-upsert"),
    *("sqlite", "postgresql", "postgresql-upsert", "postgresql-executors", "kafka"),
)
ZOMBIES = ("zombie-kafka", "zombie-sqlite", "zombie-postgresql")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("sink", [*SINKS, *ZOMBIES, "naive"])
def test_each_row_is_there_once_when_drivers_are_killed(sink: str) -> None:
    run = subprocess.run(
        [
            *(sys.executable, "-P", str(ROOT / "tests/chaos/pipeline_killed.py")),
            *("--kills", "2", "--rows", "20000", "--records", "2000", "--sink", sink),
        ],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert run.returncode == 0, run.stdout + run.stderr[-5000:]
    assert ("fails, as it must" if sink == "naive" else "equal to the file") in run.stdout
