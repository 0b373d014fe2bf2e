"""Finds the records that make a step raise: it halves the batch's offsets until each faulty record is alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from magicbyte.kit.failure import Failure
from spark_avro.pipeline.letters.rows import PLACE
from spark_avro.pipeline.ports import SourceRange

#: The most jobs that a search may take; each halves a range of offsets.
MOST_JOBS = 200
_FAILURES = "topic string, partition int, offset bigint, schema_id bigint, stage string, reason string"

#: The errors of a step with a record: PySpark 3.5 does not know the classes of some, such as that of `raise_error`.
STEP_ERRORS = (PySparkException, Py4JJavaError)

Steps = Callable[[DataFrame], DataFrame]


class TooManyFaults(Failure):
    """Too many records make the steps raise to search for each of them."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A record that makes the steps raise, and the error."""

    topic: str
    partition: int
    offset: int
    reason: str


def find_faults(
    records: DataFrame, steps: Steps, ranges: Sequence[SourceRange], most_jobs: int = MOST_JOBS
) -> list[Fault]:
    """The records of a batch that make the steps raise.

    Args:
        records: The records, with topic, partition and offset; cached, as they are read many times.
        steps: The steps, which look at each record by itself.
        ranges: The offsets of the batch.
        most_jobs: The most Spark jobs to run.

    Raises:
        TooManyFaults: the search would take more jobs.
        PySparkException: the steps raise although no single record is at fault, or they do not fit the columns.
    """
    faults: list[Fault] = []
    jobs = 0
    waiting = [(part, error) for part in ranges if (error := _error(records, steps, part)) is not None]
    while waiting:
        part, error = waiting.pop()
        if part.end - part.start == 1:
            faults.append(Fault(part.topic, part.partition, part.start, _reason(error)))
            continue
        jobs += 2
        if jobs > most_jobs:
            raise TooManyFaults(f"more than {len(faults)} records make the steps fail, for example: {_reason(error)}")
        middle = (part.start + part.end) // 2
        halves = (replace(part, end=middle), replace(part, start=middle))
        broken = [(half, error) for half in halves if (error := _error(records, steps, half)) is not None]
        if not broken:
            # The records fail only together, for instance because a sum overflows.
            raise error
        waiting += broken
    return faults


def without(records: DataFrame, faults: Sequence[Fault]) -> DataFrame:
    """The records without the faulty ones."""
    return records if not faults else records.where(~is_one_of(faults, {name: F.col(name) for name in PLACE}))


def failures(records: DataFrame, faults: Sequence[Fault]) -> DataFrame:
    """The faults as rows for `spark_avro.pipeline.letters.rows.letters`."""
    rows = [(fault.topic, fault.partition, fault.offset, None, "TRANSFORMATION", fault.reason) for fault in faults]
    return records.sparkSession.createDataFrame(rows, _FAILURES)


def _error(records: DataFrame, steps: Steps, part: SourceRange) -> Exception | None:
    chosen = records.where(
        (F.col("topic") == part.topic)
        & (F.col("partition") == part.partition)
        & F.col("offset").between(part.start, part.end - 1)
    )
    try:
        steps(chosen).write.format("noop").mode("overwrite").save()
    except AnalysisException:
        raise
    except STEP_ERRORS as error:
        failure: Exception = error
        return failure
    return None


def is_one_of(faults: Sequence[Fault], place: Mapping[str, Column]) -> Column:
    """Whether a record is one of the faulty ones.

    Args:
        faults: The faulty records; at least one.
        place: The columns of a record's topic, partition and offset, by name.
    """
    places = [F.struct(*(F.lit(getattr(fault, name)).alias(name) for name in PLACE)) for fault in faults]
    types = {"topic": "string", "partition": "int", "offset": "bigint"}
    own = F.struct(*(place[name].cast(kind).alias(name) for name, kind in types.items()))
    return reduce(Column.__or__, (own == fault for fault in places))


def _reason(error: Exception) -> str:
    """The error's text without the Java stack trace."""
    text = str(error).strip()
    return text.partition("\nJVM stacktrace")[0].partition("\n\tat ")[0][:2000]
