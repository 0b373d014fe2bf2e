"""The batches of a query whose steps remember rows: when its plan is made, and when it has to be made anew.

A plan knows the schemas of the moment when it was made. A record with a newer schema, a record that makes a step fail,
and a table that is old need another plan. The query then ends before the batch is committed, or between two batches,
and a new one goes on from the same checkpoint. No person has to act. Spark repeats a batch that was not committed.
"""

from __future__ import annotations

import logging
import re
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pyspark
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from magicbyte.kit.failure import Failure
from spark_avro.pipeline.batch.counts import BatchCounts
from spark_avro.pipeline.batch.prepared import Opened, record_columns
from spark_avro.pipeline.batch.refusals import SchemaRefused
from spark_avro.pipeline.batch.runner import BatchRunner
from spark_avro.pipeline.batch.stream import QueryOutdated, StreamQuery
from spark_avro.pipeline.batch.writer import BatchStopped
from spark_avro.pipeline.letters.isolate import STEP_ERRORS, Fault, find_faults
from spark_avro.pipeline.letters.rows import PLACE
from spark_avro.pipeline.ports import POSITION, BatchIdentity
from spark_avro.pipeline.sources.checkpoint import Checkpoint
from spark_avro.pipeline.sources.topic_ids import TopicReplaced
from spark_avro.pipeline.state.faults import FaultLog
from spark_avro.pipeline.state.fixed_columns import KeptColumns
from spark_avro.pipeline.state.materialised_batch import StateBatch
from spark_avro.pipeline.state.operators import (
    WAY_OUT,
    StateRecord,
    check_state,
    described,
    digest_of_steps,
    operators_of,
)
from spark_avro.pipeline.state.plan import StreamPlan
from spark_avro.pipeline.state.progress import StateProgress
from spark_avro.pipeline.state.refused import reads_of, with_position
from spark_avro.pipeline.state.settings import PARTITIONS, PROVIDER, state_settings
from spark_avro.pipeline.steps.step_table import are_local, before_state
from spark_avro.plan.parts import ColumnPlan
from spark_avro.streams.followers import SchemaName
from spark_avro.streams.following import patiently


class StateLost(Failure):
    """Spark cannot read its state: the folder is gone or damaged."""


log = logging.getLogger(__name__)

#: Spark's errors for state that it cannot read; 3.5 has no error classes for them, only the classes of its stack.
_STATE_LOST = re.compile(
    r"CANNOT_LOAD_STATE_STORE|CANNOT_READ_(STREAMING_STATE|DELTA|SNAPSHOT)_FILE"
    r"|(?s:(does not exist|FileNotFound).*(StateStoreChangelogReader|RocksDBFileManager|HDFSBackedStateStoreProvider))"
)

#: Seconds until an id that the registry lacks is asked for again; the most new plans in a minute because of new ids.
_ASK_AGAIN, _MINUTE, _MOST_PLANS = 60.0, 60.0, 3


@dataclass(slots=True)
class StateBatches:
    """The batches of a query with state.

    Attributes:
        runner: Runs materialised batches.
        checkpoint: The checkpoint.
        on_progress: Receives the state after each batch.
    """

    runner: BatchRunner
    checkpoint: Checkpoint
    on_progress: Callable[[StateProgress], None] | None = None
    can_rewind: bool = False
    _plan: StreamPlan | None = None
    _plans: tuple[ColumnPlan, ...] = ()
    _asked: dict[SchemaName, float] = field(default_factory=dict)
    _planned_anew: deque[float] = field(default_factory=deque)
    _progress: StateProgress | None = None
    _noted: int = -1
    _leaves_out: bool = False

    @property
    def _opened(self) -> Opened:
        return self.runner.opened

    def query(self, records: DataFrame) -> StreamQuery:
        """The plan with all steps.

        Raises:
            PipelineError: the checkpoint's state does not fit, or Spark has no streaming operator for a step.
        """
        opened, checkpoint = self._opened, self.checkpoint
        self._noted = -1
        operators, steps = operators_of(opened.pipeline), digest_of_steps(opened.pipeline)
        # Without a planned batch there is no state, whatever an earlier start noted.
        record = StateRecord.read(checkpoint.query) if checkpoint.has_batches() else None
        planned = checkpoint.last_planned()
        if record is not None or not checkpoint.is_fresh():
            check_state(record, operators, checkpoint.folder.path)
        opened.tables.refresh()
        self._plans = self._current_plans()
        numbers = {operator.place: str(number) for number, operator in enumerate(operators)}
        kept = KeptColumns(numbers)
        if record is not None:
            kept = KeptColumns(numbers, record.columns, same_steps=record.steps == steps)
        repeats = planned if planned != checkpoint.last_committed() else None
        left_out = FaultLog(checkpoint.folder).of(repeats)
        self._leaves_out = bool(left_out.unknown)
        self._plan = StreamPlan(opened, kept, left_out)
        rows = self._plan.frame(records)
        checkpoint.align_sources(reads_of(rows))
        settings = state_settings(opened.spark, opened.pipeline.spark)
        if record is None:
            columns, partitions = kept.now, int(settings[PARTITIONS])
            record = StateRecord(
                described(operators), steps, columns, settings[PROVIDER], partitions, pyspark.__version__
            )
            record.write(checkpoint.query)
        elif record.steps != steps:
            replace(record, steps=steps).write(checkpoint.query)
        return StreamQuery(rows, self._plan.output_mode, settings)

    def run(self, rows: DataFrame, batch: BatchIdentity) -> BatchCounts:
        """Materialise the rows of a batch, and write them.

        Raises:
            QueryOutdated: a record has a schema that the plan lacks, or makes a step fail.
            TopicReplaced: a topic was deleted and made again; the state has rows of the former one.
            Failure: as `BatchRunner.run`.
        """
        started = time.monotonic()
        if gone := self._opened.source.replaced(batch.topic_ids):
            raise TopicReplaced(
                f"deleted and made again since the checkpoint was written: {', '.join(gone)}. The state has rows of the"
                " former topic, and this batch cannot be repeated without its records. Begin with a new checkpoint"
            )
        try:
            whole = StateBatch.materialised(self._opened, rows, batch)
        except STEP_ERRORS as error:
            if _STATE_LOST.search(str(error)):
                reason = str(error).split("\n", 1)[0]
                raise StateLost(
                    f"the state in {self.checkpoint.query.path}/state cannot be read: {reason}. {WAY_OUT}"
                ) from error
            faults = self._faults(error, batch)
            FaultLog(self.checkpoint.folder).note(batch.number, faults)
            log.warning(
                "batch %d is repeated without %d records that make a step fail",
                batch.number,
                len(faults),
                extra={"event": "batch_repeated", "batch": batch.number, "left_out": len(faults)},
            )
            raise QueryOutdated from None
        try:
            self._look_up(whole.decoded.unknown)

            def note() -> None:
                if whole.unknown:
                    FaultLog(self.checkpoint.folder).note_unknown(batch.number, whole.unknown)

            return self.runner.run_materialised(whole, started, note)
        except SchemaRefused:
            # An id may have become known since it was asked for.
            if self._read_plans():
                raise QueryOutdated from None
            raise
        finally:
            whole.close()

    def are_outdated(self) -> bool:
        """Whether a table is old, or the registry has schemas that the plan lacks or leaves out."""
        if self._leaves_out or self._opened.tables.are_old():
            return True
        if self._opened.source.refreshes:
            for plans in self._opened.source.plans.values():
                plans.refresh()
        return self._current_plans() != self._plans

    def note(self, query: Any) -> None:
        """Keep the state after the last batches in the checkpoint."""
        last = query.lastProgress
        if last is None or last["batchId"] <= self._noted:
            return
        # Several batches may have ended since the last look.
        progresses = [last] if last["batchId"] == self._noted + 1 else query.recentProgress
        state = self._progress or StateProgress.read(self.checkpoint.folder) or StateProgress(-1)
        for progress in progresses:
            number = self.checkpoint.number(progress["batchId"])
            if progress["batchId"] > self._noted and number > state.batch:
                state = state.after(number, progress)
                if self.on_progress is not None:
                    self.on_progress(state)
        self._noted = last["batchId"]
        if state != self._progress:
            self._progress = state
            state.write(self.checkpoint.folder)

    def _current_plans(self) -> tuple[ColumnPlan, ...]:
        return tuple(plans.plan for plans in self._opened.source.plans.values())

    def _read_plans(self, unknown: Collection[SchemaName] = ()) -> bool:
        """Ask the registry for its schemas, and for guids that are in none; whether the plan lacks some.

        Raises:
            RegistryUnavailable: it does not answer.
        """
        registry = self._opened.pipeline.registry
        if registry is None or not self._opened.source.refreshes:
            return False
        for plans in self._opened.source.plans.values():
            patiently(plans.read, registry.patience)
            patiently(partial(plans.find, unknown), registry.patience)
        return self._current_plans() != self._plans

    def _look_up(self, unknown: Collection[SchemaName]) -> None:
        """Ask the registry for ids and guids that the plan lacks.

        Raises:
            QueryOutdated: it has some of them.
            BatchStopped: it had others a moment ago, again and again.
            RegistryUnavailable: it does not answer.
        """
        now = time.monotonic()
        ask = [name for name in unknown if now - self._asked.get(name, -_ASK_AGAIN) >= _ASK_AGAIN]
        if not ask:
            return
        self._asked |= dict.fromkeys(ask, now)
        if not self._read_plans(ask):
            return
        while self._planned_anew and now - self._planned_anew[0] > _MINUTE:
            self._planned_anew.popleft()
        if len(self._planned_anew) < _MOST_PLANS:
            self._planned_anew.append(now)
            # They are known in the next plan.
            for name in ask:
                del self._asked[name]
            log.info(
                "new schema ids: %s; the query starts again",
                ", ".join(sorted(map(str, unknown))),
                extra={"event": "schema_ids_new"},
            )
            raise QueryOutdated
        if self._opened.pipeline.errors.tolerance == "none":
            ids = ", ".join(sorted(map(str, unknown)))
            raise BatchStopped(f"more than {_MOST_PLANS} new plans in a minute because of new schema ids, now {ids}")

    def _faults(self, error: Exception, batch: BatchIdentity) -> Sequence[Fault]:
        """The records that make a step before the first stateful one fail.

        Raises:
            Exception: the error of Spark's, if no record is at fault, or errors are not tolerated.
        """
        opened = self._opened
        tolerated = opened.letters is not None and opened.pipeline.errors.tolerance == "all"
        before = before_state(opened.pipeline.steps)
        if isinstance(error, AnalysisException) or not tolerated or not are_local(before) or not batch.ranges:
            raise with_position(error, opened.pipeline.steps) from None
        known = FaultLog(self.checkpoint.folder).of(batch.number).faults
        decoded = opened.decoded(opened.source.batch(batch.ranges))
        good = decoded.where(F.col("error").isNull()).select("*", *(f"{POSITION}.{name}" for name in PLACE)).persist()

        plan = self._plan
        assert plan is not None

        def steps(part: DataFrame) -> DataFrame:
            return plan.into_state(record_columns(part.drop(*PLACE), opened.source))

        try:
            faults = find_faults(good, steps, batch.ranges)
        finally:
            good.unpersist()
        if not faults or {*faults} <= {*known}:
            raise with_position(error, opened.pipeline.steps) from None
        return faults
