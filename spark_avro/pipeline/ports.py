"""The seams of a pipeline: what the runner gives to a sink, to the dead letters and to the checks, and gets back.

Rows between the parts have the record's columns and a struct `_kafka` of topic, partition, offset, timestamp, headers,
key and schema_id. Steps keep it; a sink drops or keeps it. For sources other than Kafka its fields may be NULL.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from spark_avro.pipeline.file.pipeline import Pipeline

#: The column of the record's position.
KAFKA = "_kafka"
#: The column of the record's key, made by the step `key` or by `source.key`.
KEY = "_key"
#: The column of the record's headers, made by the step `headers`: an array of structs of key and value.
HEADERS = "_headers"
#: The column with the names of the checks that a row fails.
FAILED = "_failed"
#: The columns of dead letters, in this order.
LETTER_COLUMNS = (
    "key",
    "value",
    "headers",
    "topic",
    "partition",
    "offset",
    "timestamp",
    "stage",
    "reason",
    "schema_id",
)


@dataclass(frozen=True, slots=True, order=True)
class SourceRange:
    """The offsets of a partition that a batch has; `end` is exclusive."""

    topic: str
    partition: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class BatchIdentity:
    """A batch: repeated after a crash, it has the same identity, the same source offsets and the same rows.

    Attributes:
        pipeline: The pipeline's name.
        query_id: The id of the streaming query, which lives in the checkpoint; `bf-..` for a backfill.
        number: Spark's number of the batch, from 0 in each checkpoint.
        ranges: The source offsets; empty for sources other than Kafka.
    """

    pipeline: str
    query_id: str
    number: int
    ranges: tuple[SourceRange, ...] = ()

    def __str__(self) -> str:
        return f"{self.query_id}-{self.number}"


class Delivery(enum.Enum):
    """How often a row is in the target after crashes and restarts."""

    EXACTLY_ONCE = "exactly once"
    AT_LEAST_ONCE = "at least once"


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What a sink guarantees.

    Attributes:
        delivery: How often a row is there.
        reason: Why, in one sentence for `explain`.
        test: The test that shows it, as path::name.
    """

    delivery: Delivery
    reason: str
    test: str


@dataclass(frozen=True, slots=True)
class SinkResult:
    """What a sink did with a batch.

    Attributes:
        written: The rows that are in the target now because of this batch, as the target counts them: the runner
            stops if they and the rejected ones are not all the rows that the sink got.
        rejected: Rows that the target refused, with a column `reason`; None if there are none. They become dead
            letters of stage TASK_PUT.
        repeated: Whether the target had the batch already, and nothing was written; `written` is then the rows that
            it had from before.
        dead: The number of rejected rows.
    """

    written: int
    rejected: DataFrame | None = None
    repeated: bool = False
    dead: int = 0


@dataclass(frozen=True, slots=True)
class SinkContext:
    """What a sink is made with besides its section of the file.

    Attributes:
        pipeline: The whole file: name, kafka, registry, checkpoint, evolve, errors.
        spark: The session; a batch's rows have a session of their own, `rows.sparkSession`.
        adopt: Whether the marker of another query may be taken over (`run --adopt`).
    """

    pipeline: Pipeline
    spark: SparkSession
    adopt: bool = False


class Sink(Protocol):
    """A target."""

    guarantee: Guarantee

    def prepare(self, schema: StructType) -> tuple[str, ...]:
        """Check the target before the first batch, without writing.

        Args:
            schema: The columns of the rows that `write` will get, `_kafka` included.

        Returns:
            The DDL that the sink would issue, such as CREATE TABLE or ALTER TABLE.

        Raises:
            PipelineError: the target or a setting does not fit.
        """

    def write(self, rows: DataFrame, batch: BatchIdentity) -> SinkResult:
        """Write a batch; a repeated batch has the same effect as one."""

    def close(self) -> None:
        """Release connections."""


class DeadLetters(Protocol):
    """Where records go that cannot be processed."""

    def write(self, letters: DataFrame, batch: BatchIdentity) -> int:
        """Write letters (LETTER_COLUMNS; a missing column is NULL) and return their number."""

    def close(self) -> None:
        """Release connections."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the checks say about a batch.

    Attributes:
        passed: Rows that go to the sink, those of `warn` included.
        dropped: Rows of `drop`.
        dead: Rows of `dead-letter`.
        failed: Rows that failed by check name.
        stop: Why the batch must not be written (`else: fail`); None to go on.
        finding: Why the run ends with exit code 100 after the batch is written (`at-most`); None to go on.
    """

    passed: int
    dropped: int = 0
    dead: int = 0
    failed: Mapping[str, int] = field(default_factory=dict)
    stop: str | None = None
    finding: str | None = None


class QualityGate(Protocol):
    """The checks of a pipeline. The runner caches the tagged rows and computes all measures in one aggregate."""

    def tag(self, rows: DataFrame) -> DataFrame:
        """Add FAILED: an array of the names of the checks that a row fails, empty if it passes."""

    def measures(self) -> Mapping[str, Column]:
        """The aggregates over tagged rows, by name."""

    def judge(self, measured: Mapping[str, Any], batch: BatchIdentity) -> Verdict:
        """The verdict on a batch's measures."""

    def passed(self, tagged: DataFrame) -> DataFrame:
        """The rows for the sink, without FAILED unless a check of `warn` is to be kept."""

    def dead(self, tagged: DataFrame) -> DataFrame:
        """The rows for the dead letters, with FAILED."""
