"""The short forms of the chaos programs for pipelines, tests/chaos/pipeline_*.py; `make test-chaos` runs them.

Each starts and kills drivers for minutes; `make test-rest` runs the first alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.structure.imported_modules import imported_by

ROOT = Path(__file__).parents[3]
#: Each group runs in one driver, and a kill hits all of its sinks; alone they run in `make chaos`.
GROUPS = (
    "parquet,delta-upsert,sqlite,kafka",
    "avro,iceberg,postgresql,postgresql-executors,kafka-by-key",
    "json,delta,iceberg-upsert,postgresql-upsert,kafka-executors",
)
ZOMBIES = ("zombie-kafka", "zombie-kafka-executors", "zombie-sqlite", "zombie-postgresql")


def output_of(program: str, *options: str) -> str:
    """Run a chaos program, and return what it prints; everything it tries must hold."""
    run = subprocess.run(
        [sys.executable, "-P", str(ROOT / "tests/chaos" / program), *options],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert run.returncode == 0, run.stdout + run.stderr[-5000:]
    return run.stdout


@pytest.mark.parametrize(
    "program", ["pipeline_killed.py", "pipeline_restored.py", "pipeline_sources.py", "pipeline_state.py"]
)
def test_a_checker_shares_no_code_with_pipelines(program: str) -> None:
    modules = imported_by(ROOT / "tests/chaos" / program)
    assert "confluent_kafka" in modules
    assert {name for name in modules if name.partition(".")[0] in ("spark_avro", "pyspark", "sqlalchemy")} == set()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_each_row_is_there_once_in_files_and_in_a_topic() -> None:
    output = output_of(
        "pipeline_killed.py", "--kills", "2", "--rows", "20000", "--records", "2000", "--sink", "avro,kafka"
    )
    assert output.count("equal to the file") == 2


@pytest.mark.chaos
@pytest.mark.timeout(900)
@pytest.mark.parametrize("group", [*GROUPS, *ZOMBIES, "naive"])
def test_each_row_is_there_once_when_drivers_are_killed(group: str) -> None:
    sinks = group.split(",")
    kills = str(max(2, len(sinks)))
    output = output_of("pipeline_killed.py", "--kills", kills, "--rows", "20000", "--records", "2000", "--sink", group)
    assert output.count("fails, as it must" if group == "naive" else "equal to the file") == len(sinks)


@pytest.mark.chaos
@pytest.mark.timeout(900)
def test_each_row_is_there_once_when_parts_are_restored_renamed_and_expired() -> None:
    lines = output_of("pipeline_restored.py", "--short").splitlines()
    assert [line.partition(" (")[0] for line in lines] == [
        "crash between two sinks: killed",
        "repeat, renamed, reordered, expired and vacuumed: 40 rows in each target",
        "crash before the marker: killed",
        "repeat: 120 rows in each target",
        "older copy: refused, 120 rows in each target",
        "topic made again: refused, 120 rows in each target",
    ]


@pytest.mark.chaos
@pytest.mark.timeout(900)
@pytest.mark.parametrize("fault", ["again", "partitions"])  # the others run in `make chaos`
def test_a_table_has_the_last_value_of_each_key_when_its_topic_changes(fault: str) -> None:
    assert output_of("pipeline_sources.py", "--rows", "40", "--fault", fault) == f"{fault}: holds\n"


@pytest.mark.chaos
@pytest.mark.timeout(900)
@pytest.mark.parametrize("part", ["batches", "hand-over"])
def test_windows_and_joined_rows_are_there_once_when_drivers_with_state_are_killed(part: str) -> None:
    output = output_of("pipeline_state.py", "--short", "--part", part)
    pipelines = ("windows", "joined") if part == "batches" else ("handed",)
    for name in pipelines:
        for checked in ("sqlite", "parquet", "dead letters"):
            assert f"{name}, {checked}: " in output
