"""A batch of a plan with state: materialised once, and then divided into rows, failed records and new keys.

Each action on the result of an operator with state runs the operator again, and an action that reads a part of it
leaves partitions of the state without a version. So the batch is kept and counted as a whole before anything else
reads it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import StructType

from spark_avro.pipeline.batch.measures import NEWEST, UNREADABLE_ROWS
from spark_avro.pipeline.batch.prepared import Opened, passed
from spark_avro.pipeline.batch.transform import TransformedBatch
from spark_avro.pipeline.file.policies import Check
from spark_avro.pipeline.file.source import KafkaSource
from spark_avro.pipeline.file.steps import Aggregate, Window
from spark_avro.pipeline.letters.isolate import STEP_ERRORS, Fault
from spark_avro.pipeline.ports import POSITION, BatchIdentity
from spark_avro.pipeline.state.faults import UnknownId
from spark_avro.pipeline.state.plan import UNDECODED
from spark_avro.pipeline.state.refused import with_position
from spark_avro.pipeline.state.unique import column_of
from spark_avro.plan.reasons import UNREADABLE, is_unknown, unknown_guid
from spark_avro.streams.dead_letters import Counts
from spark_avro.streams.following import DecodedBatch

#: The partition of a group's position: no partition of Kafka has this number.
NO_PARTITION = -1
#: The bits of a group's offset below the batch's number, so that a later batch is newer: Spark's partition, the row.
_PARTITION_BITS, _ROW_BITS = 10, 22
#: The most unknown ids and guids of one batch that are looked up.
_LOOKED_UP = 1000
_ROWS, _DEAD, _UNKNOWN = "rows_", "dead_", "unknown_"


@dataclass(frozen=True, slots=True)
class StateBatch:
    """A materialised batch.

    Attributes:
        opened: The parts of the pipeline.
        whole: All rows of the plan, persisted; see `StreamPlan.frame`.
        decoded: The failed records, and the counts.
        count: The number of rows after the steps.
        batch: Its identity.
        unknown: The schema ids and guids that the plan lacks.
    """

    opened: Opened
    whole: DataFrame
    decoded: DecodedBatch
    count: int
    batch: BatchIdentity
    unknown: Collection[UnknownId] = ()
    remembers: bool = True

    @staticmethod
    def materialised(opened: Opened, frame: DataFrame, batch: BatchIdentity) -> StateBatch:
        """The batch, with all its rows kept by Spark; `close` forgets them.

        Raises:
            PySparkException: a step fails.
        """
        checks = opened.pipeline.quality
        rows = _with_group_positions(frame, opened, batch).persist()
        is_row = _is_row(rows, checks)
        measures: dict[str, Column] = {
            _ROWS: F.count_if(is_row),
            NEWEST: F.max(F.when(is_row, F.col(f"{POSITION}.timestamp"))),
        }
        if UNDECODED in rows.columns:
            reason = F.col(f"{UNDECODED}.error.reason")
            place = F.struct(
                F.col(f"{POSITION}.topic").alias("topic"),
                F.coalesce(F.col(f"{UNDECODED}.error_column") == "key", F.lit(False)).alias("is_key"),
                F.coalesce(F.col(f"{UNDECODED}.error.id"), F.lit(-1)).alias("schema_id"),
                F.coalesce(unknown_guid(reason), F.lit("")).alias("guid"),
            )
            ids = F.collect_set(F.when(is_unknown(reason), place))
            measures |= {
                _DEAD: F.count(UNDECODED),
                _UNKNOWN: F.slice(ids, 1, _LOOKED_UP),
                UNREADABLE_ROWS: F.count_if(reason.startswith(UNREADABLE)),
            }
        try:
            found = rows.agg(*(column.alias(name) for name, column in measures.items())).collect()[0].asDict()
        except BaseException:
            rows.unpersist()
            raise
        dead = int(found.get(_DEAD, 0))
        # Offsets tell what was read; of a source without them, only what came out of the steps is known.
        has_offsets = isinstance(opened.pipeline.source, KafkaSource)
        read = sum(part.end - part.start for part in batch.all_ranges) if has_offsets else int(found[_ROWS]) + dead
        failed = rows.limit(0)
        if UNDECODED in rows.columns:
            failed = rows.where(F.col(UNDECODED).isNotNull()).select(POSITION, f"{UNDECODED}.*")
        unknown = frozenset(UnknownId(**row.asDict()) for row in found.get(_UNKNOWN, ()))
        decoded = DecodedBatch(
            failed,
            Counts(read, read - dead, dead),
            frozenset(item.name for item in unknown),
            {UNREADABLE_ROWS: 0, **found},
        )
        return StateBatch(opened, rows, decoded, int(found[_ROWS]), batch, unknown)

    def rows(self, faults: Sequence[Fault] = ()) -> TransformedBatch:
        """The rows with the checks that they fail, and the verdict on them.

        Raises:
            StepFailed: a check fails with an error, instead of a verdict.
        """
        del faults
        gate = self.opened.gate
        checks = self.opened.pipeline.quality
        rows = self.whole.where(_is_row(self.whole, checks)).drop(UNDECODED, *_key_columns(self.whole, checks))
        if gate is None:
            return TransformedBatch(rows, rows, self.count)
        keys = {
            number: self.whole.where(F.col(column_of(number)).isNotNull()).select(F.col(column_of(number)).alias("key"))
            for number in range(len(checks))
            if column_of(number) in self.whole.columns
        }
        tagged = gate.tag(rows, keys).persist()
        try:
            measures = [column.alias(name) for name, column in gate.measures().items()]
            verdict = gate.judge(tagged.agg(*measures).collect()[0].asDict(), self.batch)
        except BaseException as error:
            tagged.unpersist()
            if isinstance(error, STEP_ERRORS):
                raise with_position(error, checks) from None
            raise
        return TransformedBatch(tagged, passed(self.opened, tagged), self.count, verdict)

    def faults(self, error: PySparkException) -> Sequence[Fault]:
        """No records: all steps were run when the batch was materialised.

        Raises:
            PySparkException: always.
        """
        raise error

    def originals(self) -> DataFrame:
        """The records of the batch, for dead letters; a group has its key as JSON in place of a record's key."""
        records = (
            self.opened.source.batch(self.batch.all_ranges) if self.batch.all_ranges else self.opened.source.empty()
        )
        groups = [step.group for step in self.opened.pipeline.steps if isinstance(step, Window | Aggregate)]
        if not groups or "key" not in records.columns:
            return records
        rows = self.whole.where(F.col(f"{POSITION}.partition") == NO_PARTITION)
        kept = [name for name in rows.columns if not name.startswith("_")]
        values = {
            "key": F.to_json(F.struct(*(F.col(f"`{name}`") for name in kept))).cast("binary"),
            **{name: F.col(f"{POSITION}.{name}") for name in ("topic", "partition", "offset", "timestamp")},
        }
        kinds: StructType = records.schema
        return records.unionByName(
            rows.select(
                *(values.get(item.name, F.lit(None)).cast(item.dataType).alias(item.name) for item in kinds.fields)
            )
        )

    def close(self) -> None:
        """Forget the rows."""
        self.whole.unpersist()


def _is_row(rows: DataFrame, checks: Sequence[Check]) -> Column:
    marks = [name for name in (UNDECODED, *_key_columns(rows, checks)) if name in rows.columns]
    condition = F.lit(True)
    for name in marks:
        condition &= F.col(name).isNull()
    return condition


def _key_columns(rows: DataFrame, checks: Sequence[Check]) -> list[str]:
    return [name for name in map(column_of, range(len(checks))) if name in rows.columns]


def _with_group_positions(rows: DataFrame, opened: Opened, batch: BatchIdentity) -> DataFrame:
    """The rows, of which those without a record's position get one: the batch's number, and a number in the batch."""
    kind: Any = rows.schema[POSITION].dataType
    row = F.monotonically_increasing_id().bitwiseAND(F.lit((1 << _ROW_BITS) - 1))
    place = F.pmod(F.spark_partition_id(), F.lit(1 << _PARTITION_BITS)).cast("bigint") * (1 << _ROW_BITS)
    number = F.lit(batch.number << (_PARTITION_BITS + _ROW_BITS)).cast("bigint") + place + row
    values = {"topic": F.lit(opened.pipeline.name), "partition": F.lit(NO_PARTITION), "offset": number}
    made = F.struct(
        *(values.get(name, F.col(f"{POSITION}.{name}")).cast(kind[name].dataType).alias(name) for name in kind.names)
    )
    is_group = _is_row(rows, opened.pipeline.quality) & F.col(f"{POSITION}.topic").isNull()
    return rows.withColumn(POSITION, F.when(is_group, made).otherwise(F.col(POSITION)))
