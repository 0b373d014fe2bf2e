"""The rows of a batch after the steps and checks, with the records that make a step raise found one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.batch.prepared import Opened, passed, record_columns, tagged
from spark_avro.pipeline.letters.isolate import Fault, find_faults, without
from spark_avro.pipeline.letters.rows import PLACE
from spark_avro.pipeline.ports import POSITION, BatchIdentity, Verdict
from spark_avro.pipeline.steps.step import StepContext
from spark_avro.pipeline.steps.step_table import are_local, keeps_rows
from spark_avro.streams.following import DecodedBatch

#: The measure of the rows; those of the checks have other names.
_ROWS = "transformed_rows_"


@dataclass(frozen=True, slots=True)
class TransformedBatch:
    """The rows of a batch after the steps and checks.

    Attributes:
        tagged: The rows with the checks that they fail; the same as `passed` without checks.
        passed: The rows for the sinks.
        count: The number of rows after the steps, before the checks.
        verdict: The verdict of the checks; None if there are none.
        faults: The records that make a step raise.
    """

    tagged: DataFrame
    passed: DataFrame
    count: int
    verdict: Verdict | None = None
    faults: Sequence[Fault] = field(default_factory=tuple)

    @property
    def passed_count(self) -> int:
        """The number of rows for the sinks."""
        return self.count if self.verdict is None else self.verdict.passed


class Transforming(Protocol):
    """Rows on their way through the steps and checks."""

    @property
    def decoded(self) -> DecodedBatch:
        """The records of the batch that could not be decoded, and the counts."""

    @property
    def remembers(self) -> bool:
        """Whether the steps remember rows between batches."""

    def rows(self, faults: Sequence[Fault] = ()) -> TransformedBatch:
        """The rows after the steps and checks."""

    def faults(self, error: PySparkException) -> Sequence[Fault]:
        """The records that make a step raise.

        Raises:
            PySparkException: the error, if no record is at fault, or errors are not tolerated.
        """


class MaterialisedBatch(Transforming, Protocol):
    """A batch whose rows have passed the steps in Spark's own plan."""

    @property
    def batch(self) -> BatchIdentity:
        """Its identity."""

    def originals(self) -> DataFrame:
        """The records of the batch, as the source had them."""


@dataclass(frozen=True, slots=True)
class Transform:
    """Carries a decoded batch through the steps and checks.

    Attributes:
        opened: The parts of the pipeline.
        context: The resources that steps may use.
        decoded: The batch.
        batch: Its identity.
    """

    opened: Opened
    context: StepContext
    decoded: DecodedBatch
    batch: BatchIdentity
    remembers: bool = False

    def rows(self, faults: Sequence[Fault] = ()) -> TransformedBatch:
        """The rows; persisted and counted if steps or checks may leave rows out.

        Raises:
            PySparkException: a step raises, and no record was found at fault.
        """
        apply = tagged(self.opened, self.context)
        good = without(self._records(), faults).drop(*PLACE) if faults else self._good()
        rows = apply(record_columns(good, self.opened.source))
        decoded_count = self.decoded.counts.decoded - len(faults)
        if self.opened.gate is None and keeps_rows(self.opened.pipeline.steps):
            return TransformedBatch(rows, rows, decoded_count, faults=faults)
        rows = rows.persist()
        try:
            return self._counted(rows, faults)
        except PySparkException as error:
            rows.unpersist()
            if faults:
                raise
            return self.rows(self.faults(error))

    def faults(self, error: PySparkException) -> Sequence[Fault]:
        """The records that make a step raise.

        Raises:
            PySparkException: the error, if no record is at fault, or errors are not tolerated.
        """
        tolerated = self.opened.letters is not None and self.opened.pipeline.errors.tolerance == "all"
        can_be_found = are_local(self.opened.pipeline.steps) and bool(self.batch.ranges)
        if isinstance(error, AnalysisException) or not tolerated or not can_be_found:
            raise error
        apply = tagged(self.opened, self.context)

        def steps(part: DataFrame) -> DataFrame:
            return apply(record_columns(part.drop(*PLACE), self.opened.source))

        faults = find_faults(self._records(), steps, self.batch.ranges)
        if not faults:
            raise error
        return faults

    def _counted(self, rows: DataFrame, faults: Sequence[Fault]) -> TransformedBatch:
        gate = self.opened.gate
        measures = {_ROWS: F.count(F.lit(1))} | (dict(gate.measures()) if gate else {})
        measured = rows.agg(*(column.alias(name) for name, column in measures.items())).collect()[0].asDict()
        verdict = gate.judge(measured, self.batch) if gate else None
        return TransformedBatch(rows, passed(self.opened, rows), int(measured[_ROWS]), verdict, faults)

    def _good(self) -> DataFrame:
        rows = self.decoded.rows
        return rows.where("error IS NULL") if "error" in rows.columns else rows

    def _records(self) -> DataFrame:
        """The sound records with topic, partition and offset as columns of their own."""
        return self._good().select("*", *(f"{POSITION}.{name}" for name in PLACE))
