"""A batch by one job: its records are decoded, counted and staged together, and then committed.

In stages, a batch is decoded and counted by a job of its own before a sink gets its rows. That way knows what to do
about broken records, new schema ids, rejected rows and faulty steps. If a batch has any of these, it is not committed,
and goes through the stages; so does the next batch, because such batches rarely come alone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql.types import StructType, TimestampType

from spark_avro.pipeline.batch.measures import NEWEST, passing_measures
from spark_avro.pipeline.batch.prepared import Opened, record_columns
from spark_avro.pipeline.letters.retry import may_pass
from spark_avro.pipeline.observed import Observed
from spark_avro.pipeline.ports import BatchIdentity, StagedBatch, StagingSink
from spark_avro.pipeline.steps.step import StepContext
from spark_avro.pipeline.steps.step_table import apply_steps, keeps_rows
from spark_avro.plan.parts import ColumnPlan
from spark_avro.streams.decoder import ALL, DEAD
from spark_avro.streams.following import patiently

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PassedBatch:
    """A batch that is staged whole.

    Attributes:
        staged: The staged rows: one for each record.
        read: The number of records.
        measured: The measures of the records.
        lost: How many records the broker deleted before they were read.
    """

    staged: StagedBatch
    read: int
    measured: Mapping[str, Any]
    lost: int


@dataclass(slots=True)
class OnePass:
    """Stages batches by one job each.

    Attributes:
        opened: The parts of the pipeline.
    """

    opened: Opened
    _is_likely: bool = field(default=True, init=False)
    _measures: tuple[ColumnPlan, Mapping[str, Column]] | None = field(default=None, init=False)

    def stage(
        self, records: DataFrame, batch: BatchIdentity, context: StepContext, note: Callable[[StructType], None]
    ) -> PassedBatch | None:
        """Stage a batch; None if it has to go through the stages.

        Args:
            records: The records of the source.
            batch: The batch.
            context: The resources of steps.
            note: Receives the columns of the rows before they are written.
        """
        sink = self._sink(batch)
        if sink is None:
            return None
        source = self.opened.source
        if source.replaced(batch.topic_ids):
            return None
        lost = source.lost(batch.ranges)
        self._refresh()
        decoded = self.opened.decoded(records)
        measures = self._measures_of_plan()
        observed = Observed(decoded, [column.alias(name) for name, column in measures.items()])
        rows = record_columns(observed.rows.where("error IS NULL"), source)
        rows = apply_steps(rows, self.opened.pipeline.steps, context)
        note(rows.schema)
        try:
            staged = sink.stage(rows, batch)
        except Exception as error:
            if not isinstance(error, PySparkException) and not may_pass(error):
                raise
            log.info(
                "batch %d is read again: %s",
                batch.number,
                str(error).partition("\n")[0],
                extra={"event": "batch_reread", "batch": batch.number},
            )
            self._is_likely = False
            return None
        measured = observed.result([*measures]) if staged.is_whole else None
        # Broken records, or records that a repeated task counted twice: the stages tell which.
        self._is_likely = measured is not None and not measured[DEAD] and measured[ALL] == staged.written
        # Compared again: now that all records are read, they are those of the topics with these ids.
        if measured is None or not self._is_likely or source.replaced(batch.topic_ids):
            return None
        newest = measured[NEWEST]
        event_time = None if newest is None else TimestampType().fromInternal(newest)
        return PassedBatch(staged, measured[ALL], {**measured, NEWEST: event_time}, lost)

    def noted(self, dead: int) -> None:
        """Learn from a batch that went through the stages: the next one may pass if no row failed."""
        self._is_likely = not dead

    def _sink(self, batch: BatchIdentity) -> StagingSink | None:
        """The sink; None if a batch of this pipeline cannot be staged by one job, or an earlier attempt began it."""
        opened = self.opened
        if batch.attempted or not self._is_likely or opened.gate is not None or not opened.source.plans:
            return None
        if len(opened.sinks) != 1 or len(opened.source.parts) != 1 or not keeps_rows(opened.pipeline.steps):
            return None
        [sink] = opened.sinks
        return sink if isinstance(sink, StagingSink) else None

    def _refresh(self) -> None:
        """Read the newest versions of the schemas."""
        source, registry = self.opened.source, self.opened.pipeline.registry
        for plans in source.plans.values():
            ask = plans.refresh if source.refreshes else partial(getattr, plans, "plan")
            if registry is None:
                ask()
            else:
                patiently(ask, registry.patience)

    def _measures_of_plan(self) -> Mapping[str, Column]:
        """The measures, made again when the plan changes."""
        [part] = self.opened.source.parts
        plan = part.plans["value"].plan
        if self._measures is None or self._measures[0] != plan:
            self._measures = (plan, passing_measures([part]))
        return self._measures[1]
