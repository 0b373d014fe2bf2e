"""The interfaces of a pipeline: what the runner passes to sinks and checks, and what they return.

Rows between the parts have the record's columns and a struct `_kafka` of topic, partition, offset, timestamp, headers,
key, schema_id and schema_version. Steps keep it; a sink drops or keeps it. For sources other than Kafka its fields may
be NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from magicbyte.kit.failure import Failure

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql import types as spark

    from spark_avro.registry import Registry

#: The struct column with a row's position; its fields are in `sources/position.py`.
POSITION = "_kafka"
#: The column of the record's key, made by the step `key` or by `source.key`.
KEY = "_key"
#: The column of the record's headers, made by the step `headers`: an array of structs of key and value.
HEADERS = "_headers"
#: The column of a row's time, with the watermark; from the first step that remembers rows to the last step.
EVENT_TIME = "_event_time"
#: The end of the name of a join's rows without a match in Spark's progress.
UNMATCHED = "without a match"
#: The column with the reason in the rows that a sink rejects.
REASON = "_error"
#: The column with the names of the checks that a row fails.
FAILED = "_failed"


class SinkRefused(Failure):
    """The target cannot take the rows; the text names the target and what to do."""


class ForeignCheckpoint(SinkRefused):
    """The target's marker was written by another query: the checkpoint was lost, or belongs to another pipeline."""


class Fenced(SinkRefused):
    """Another driver of the same pipeline has taken over."""


class Delivery(StrEnum):
    """The number of times that a row is in the target after crashes and restarts."""

    EXACTLY_ONCE = "exactly once"
    AT_LEAST_ONCE = "at least once"


@dataclass(frozen=True, slots=True)
class Guarantee:
    """A sink's delivery guarantee.

    Attributes:
        delivery: The guarantee.
        reason: Why it holds.
        lost_checkpoint: What happens if the checkpoint is lost or belongs to another query.
        test: The test that shows it.
    """

    delivery: Delivery
    reason: str
    lost_checkpoint: str
    test: str


@dataclass(frozen=True, slots=True)
class SourceRange:
    """The offsets of one partition in a batch; `end` is exclusive."""

    topic: str
    partition: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class BatchIdentity:
    """The identity of a batch; a batch that is repeated after a crash has the same identity.

    Attributes:
        pipeline: The pipeline's name.
        query_id: Spark's id of the streaming query, which is in the checkpoint.
        number: Spark's number of the batch in the query.
        ranges: The source offsets of the batch; empty for sources without offsets.
        topic_ids: The broker's ids of the source's topics; empty if the broker has none (Kafka before 2.8).
        former_topic_ids: The ids that topics had before they were deleted and made again, if the query then went on
            from the beginning of the new topics: offsets below an earlier batch's are right for them.
        input_id: The identity of the batch's input, if the source has no offsets: a digest of its files, or an id that
            the run log gave it; empty for other sources.
        table_ranges: The source offsets of topics that steps join as tables. They are no part of a target's marker: a
            query with new state reads such topics again.
        attempted: Whether the batch was planned before this run, so that an earlier attempt may have written it.
    """

    pipeline: str
    query_id: str
    number: int
    ranges: tuple[SourceRange, ...] = ()
    topic_ids: Mapping[str, str] = field(default_factory=dict, hash=False)
    former_topic_ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False, compare=False)
    input_id: str = ""
    table_ranges: tuple[SourceRange, ...] = field(default=(), compare=False)
    attempted: bool = field(default=False, compare=False)

    @property
    def all_ranges(self) -> tuple[SourceRange, ...]:
        """The source offsets with those of tables."""
        return (*self.ranges, *self.table_ranges)

    def __str__(self) -> str:
        return f"{self.query_id}-{self.number}"


@dataclass(frozen=True, slots=True)
class SinkResult:
    """The result of writing a batch.

    Attributes:
        written: The number of rows in the target; for a repeated batch, those that the earlier attempt wrote.
        repeated: Whether an earlier attempt had written the batch, so that nothing was written now.
        late: How many of the rows are in the folder of late rows.
        refused: How many rows the target refused; they are dead letters. A sink sets it for a repeated batch, with the
            rows of the earlier attempt; the runner counts the others.
    """

    written: int
    repeated: bool = False
    late: int = 0
    refused: int = 0


#: Receives the rows that a target refuses, with POSITION and REASON.
Reject = Callable[["DataFrame"], None]


@dataclass(frozen=True, slots=True)
class SinkContext:
    """The parts that all sinks share.

    Attributes:
        spark: The session.
        pipeline: The pipeline's name.
        columns: What happens to new columns: added to the target, ignored, or an error.
        kafka: The Kafka client's properties by Java's names.
        registry: The schema registry.
        adopt: Whether a target that another query has written to is taken over, and offsets that no batch of a target
            has are left out.
        checkpoint: The pipeline's checkpoint, below which a sink may have a folder of its own.
        of_one_record: Whether each row is made of one record of the source and of tables, and of no other record.
    """

    spark: SparkSession
    pipeline: str
    columns: Literal["add", "ignore", "fail"] = "add"
    kafka: Mapping[str, str] = field(default_factory=dict, repr=False)
    registry: Registry | None = field(default=None, repr=False)
    adopt: bool = False
    checkpoint: str = ""
    of_one_record: bool = False


class Sink(Protocol):
    """A target of a pipeline's rows."""

    guarantee: Guarantee

    def prepare(self, schema: spark.StructType) -> tuple[str, ...]:
        """Check the target before the first batch, without writing to it.

        Args:
            schema: The schema of the rows that will be written.

        Returns:
            The statements that the sink would issue for the first batch.

        Raises:
            SinkRefused: The target cannot take such rows, or cannot be reached.
        """

    def write(self, rows: DataFrame, batch: BatchIdentity, *, reject: Reject) -> SinkResult:
        """Write a batch, or skip it if an earlier attempt has written it.

        Args:
            rows: The rows.
            batch: The batch.
            reject: Receives the rows that the target refuses, before the sink commits; if it raises, nothing is
                written. After the commit they would be lost in a crash: a repeated batch is not written again.

        Raises:
            SinkRefused: The target cannot take the rows.
        """

    def close(self) -> None:
        """Close connections."""


class StagedBatch(Protocol):
    """A batch that a target has, and that no reader sees before its commit."""

    @property
    def written(self) -> int:
        """The number of rows."""

    @property
    def is_whole(self) -> bool:
        """Whether these are all rows of the batch, and no earlier attempt has written it."""

    def commit(self, *, reject: Reject) -> SinkResult:
        """Show the batch to readers; `reject` is that of `Sink.write`. If it is not called, the batch is discarded."""


@runtime_checkable
class StagingSink(Sink, Protocol):
    """A sink that reads all rows by one job, and commits them later."""

    def stage(self, rows: DataFrame, batch: BatchIdentity) -> StagedBatch:
        """Write a batch without a commit; the next attempt discards what an earlier one left.

        Raises:
            SinkRefused: The target cannot take the rows.
        """


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of the checks on a batch.

    Attributes:
        passed: Rows that go to the sink, including those of `warn`.
        dropped: Rows of `drop`.
        dead: Rows of `dead-letter`.
        failed: The number of failed rows by check name.
        stop: Why the batch must not be written (`else: fail`); None to continue.
        finding: Why the run ends with exit code 100 after the batch is written (`at-most`); None to continue.
    """

    passed: int
    dropped: int = 0
    dead: int = 0
    failed: Mapping[str, int] = field(default_factory=dict)
    stop: str | None = None
    finding: str | None = None
