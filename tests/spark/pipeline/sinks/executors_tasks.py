"""Writers on executors that are stopped in the middle of a batch, or whose tasks run more than once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.ports import BatchIdentity
from spark_avro.pipeline.sinks.collected import collected
from spark_avro.pipeline.sinks.kafka.division import WRITER
from spark_avro.pipeline.sinks.kafka.executors import ExecutorsTarget
from spark_avro.pipeline.sinks.kafka.query_records import StageRecord
from spark_avro.pipeline.sinks.kafka.writing import Writing
from spark_avro.pipeline.sinks.marker import marker_of


class Crash(Exception):
    """The driver ends."""


def crash_after(monkeypatch: pytest.MonkeyPatch, writers: int, *, has_letters: bool | None = None) -> None:
    """Let the next batch end when so many writers have committed.

    Args:
        monkeypatch: Replaces the function that runs the writers.
        writers: How many writers commit.
        has_letters: Only in the run in which records are stored (True) or not stored (False); None for the first run.
    """
    run, pending = ExecutorsTarget._run, ExecutorsTarget._pending

    def first(target: Any, query: Any, parts: DataFrame, batch: BatchIdentity, **how: bool) -> None:
        if has_letters is not None and how["has_letters"] is not has_letters:
            run(target, query, parts, batch, **how)
            return
        monkeypatch.setattr(ExecutorsTarget, "_run", run)
        if writers:
            some = pending(target, query, batch)[:writers]
            monkeypatch.setattr(ExecutorsTarget, "_pending", lambda *_: some)
            run(target, query, parts, batch, **how)
            monkeypatch.setattr(ExecutorsTarget, "_pending", pending)
        raise Crash

    monkeypatch.setattr(ExecutorsTarget, "_run", first)


def first_task(
    sink: Any, rows: DataFrame, batch: BatchIdentity, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], dict[str, Any]]:
    """The task of the first writer of a batch, to be run in this process; the batch is not written otherwise."""
    taken: list[tuple[Writing, list[pa.RecordBatch]]] = []

    def take(target: Any, query: Any, parts: DataFrame, batch: BatchIdentity, *, has_letters: bool) -> None:
        writer = query.writers[0]
        tasks = {writer.number: (writer, marker_of(batch, writer.marker, written=0))}
        properties, owner = target._topic.properties, query.started.owner
        noted = (StageRecord.key(batch, target._topic.sink), query.noted)
        writing = Writing(target._topic.name, query.limits, batch, properties, owner, noted, tasks, has_letters)
        taken.append((writing, collected(parts.where(F.col(WRITER) == writer.number)).to_batches()))
        raise Crash

    monkeypatch.setattr(ExecutorsTarget, "_run", take)
    with pytest.raises(Crash):
        sink.write(rows, batch)
    monkeypatch.undo()

    def run() -> dict[str, Any]:
        writing, batches = taken[0]
        [row] = next(writing(iter(batches))).to_pylist()
        return dict(row)

    return run
