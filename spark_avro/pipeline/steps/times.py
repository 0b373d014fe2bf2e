"""The times that a join of streams needs in the rows that it writes without a match.

Such a row waits until the watermark has passed its time. If its time is NULL, Spark keeps it for ever. So the record
fails instead, in streams and in batches.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import StructType

from spark_avro.pipeline.file.field_path import quoted
from spark_avro.pipeline.file.steps import Join, Step
from spark_avro.pipeline.letters.failing import Case, failing
from spark_avro.pipeline.letters.rows import STEPS
from spark_avro.pipeline.ports import KEY, POSITION

#: `how` -> the sides all of whose rows are written.
KEEPS_THIS, KEEPS_STREAM = frozenset({"left", "full"}), frozenset({"right", "full"})


def needs_time(steps: Sequence[Step]) -> str:
    """Return the reason why each row of a pipeline needs a time; empty if none does."""
    for step in steps:
        if isinstance(step, Join) and step.stream is not None and step.how in KEEPS_THIS:
            return _reason(step, str(step.time))
    return ""


def with_time(time: Column, reason: str) -> Column:
    """A time; a row without one raises if there is a reason.

    This stands in a projection: Spark moves a filter that raises to rows that an earlier step leaves out.
    """
    return F.coalesce(time, F.raise_error(F.lit(reason))) if reason else time


def with_stream_times(decoded: DataFrame, steps: Sequence[Step], name: str) -> DataFrame:
    """Give the decoded records of a stream without a time an error, if a join writes all records of the stream.

    Args:
        decoded: The records.
        steps: The pipeline's steps.
        name: The stream's name.
    """
    joins = [step for step in steps if isinstance(step, Join) and step.stream == name and step.how in KEEPS_STREAM]
    if not joins:
        return decoded
    own = F.col(f"{POSITION}.schema_id")
    return failing(
        decoded,
        [
            Case(_stream_time(step, decoded).isNull(), F.lit(_reason(step, str(step.stream_time))), F.lit(STEPS), own)
            for step in joins
        ],
    )


def with_table_keys(decoded: DataFrame, steps: Sequence[Step], name: str) -> DataFrame:
    """Give the decoded records of a topic without a key an error, if a step joins the topic as a table.

    Args:
        decoded: The records.
        steps: The pipeline's steps.
        name: The name of the topic's stream.
    """
    joins = [step for step in steps if isinstance(step, Join) and step.topic == name]
    if not joins:
        return decoded
    reason = F.lit(f"{joins[0].origin.setting}: the record has no key, and the table has one value for each key")
    own = F.col(f"{POSITION}.schema_id")
    return failing(decoded, [Case(F.col(f"{POSITION}.key").isNull(), reason, F.lit(STEPS), own)])


def _reason(step: Join, time: str) -> str:
    return f"{step.origin.setting}: {time} is NULL, and how: {step.how} needs a time in each row that it writes"


def _stream_time(step: Join, decoded: DataFrame) -> Column:
    """The time of a record before its columns are taken out of `decoded`."""
    first, *rest = step.stream_time.parts
    if first == POSITION:
        parts = [first, *rest]
    elif first == KEY:
        parts = ["decoded_key", *rest]
    elif isinstance(decoded.schema["decoded"].dataType, StructType):
        parts = ["decoded", first, *rest]
    else:
        parts = ["decoded", *rest]
    return F.col(quoted(tuple(parts)))
