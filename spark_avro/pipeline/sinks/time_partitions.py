"""The partitions of files: by parts of the event time, by columns, or by SQL."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.pipeline.file.sinks import FilesSink
from spark_avro.pipeline.ports import SinkRefused
from spark_avro.pipeline.sinks.columns import quoted

#: Partition -> Java's pattern of the time.
_TIME_PARTS = {"year": "yyyy", "month": "yyyy-MM", "dt": "yyyy-MM-dd", "hour": "HH", "minute": "mm"}

#: The partition of each row's batch, below all others.
BATCH = "batch"

#: The value of the first partition for late rows; the other partitions are NULL.
_LATE = "late"

#: How far in the future an event time may be.
_AHEAD = dt.timedelta(hours=1)

#: The years with folders: Java's `yyyy` counts those before 1 backwards, and 64 bits end in the year after the last.
_YEARS = "the years 1 to 294246"
_BEFORE, _END = "0000-01-01", "+294247-01-01"


@dataclass(frozen=True, slots=True)
class Partitions:
    """Partition columns, the reason why a row is rejected, and whether it is late.

    Attributes:
        columns: Partition name -> column, in the order of the folders.
        rejection: The reason as a column: NULL for rows that are written.
        late: A column of the placed rows that is not NULL in the folder of late rows; None if there is no such folder.
    """

    columns: dict[str, Column]
    rejection: Column | None
    late: Column | None = None


def plan_partitions(spec: FilesSink, rows: DataFrame, now: dt.datetime) -> Partitions:
    """The partitions of rows.

    Args:
        spec: The sink's settings.
        rows: The rows, with `_kafka`.
        now: The time by which rows count as late.

    Raises:
        SinkRefused: The event time is not a time, or a partition is neither a column nor SQL, or has a column's name.
    """
    uses_time = spec.late is not None or any(str(entry) in _TIME_PARTS for entry in spec.partition)
    columns = {}
    for entry in map(str, spec.partition):
        name, column = _partition(entry, spec, rows)
        if (name in rows.columns and entry != name) or (entry in _TIME_PARTS and name in rows.columns):
            raise SinkRefused(
                f"sink.files.partition: {entry}: the rows have a column {name} already;"
                f" name the partition otherwise, such as `date_format({spec.time}, '{_TIME_PARTS.get(name, 'HH')}')"
                f" as event_{name}`"
            )
        columns[name] = column
    if BATCH in rows.columns or BATCH in columns:
        raise SinkRefused(f"sink.files: a column {BATCH} is in the rows, and the batch's partition has that name")
    if not uses_time:
        return Partitions(columns, None)
    time, given = event_time(spec, rows), F.col(str(spec.time))
    missing = F.lit(f"no event time: {spec.time} is NULL")
    outside = F.concat(F.lit(f"no folder: {spec.time} is outside of {_YEARS}: "), given.cast("string"))
    rejection = F.when(given.isNull(), missing).when(time.isNull(), outside)
    if spec.late is None or spec.on_late == "keep":
        return Partitions(columns, rejection)
    is_late = (time < F.lit(now - spec.late)) | (time > F.lit(now + _AHEAD))
    if spec.on_late == "dead-letter":
        text = F.concat(F.lit(f"late: {spec.time} is "), time.cast("string"))
        return Partitions(columns, rejection.when(is_late, text))
    first = next(iter(columns), None)
    if first is None:
        raise SinkRefused("sink.files.late: late rows go to the first partition's folder `late`; give a partition")
    none = F.lit(None).cast("string")
    placed = {
        name: F.when(is_late, F.lit(_LATE) if name == first else none).otherwise(column.cast("string"))
        for name, column in columns.items()
    }
    return Partitions(placed, rejection, F.when(F.col(quoted(first)) == _LATE, 1))


def event_time(spec: FilesSink, rows: DataFrame) -> Column:
    """The event time of rows, as a timestamp; NULL if it is outside of the years with folders.

    Raises:
        SinkRefused: There is no such column, or it has another type.
    """
    try:
        kind = rows.select(F.col(str(spec.time)).alias("time")).schema["time"].dataType
    except AnalysisException as error:
        raise SinkRefused(f"sink.files.time: {spec.time}: {_first_line(error)}") from None
    if not isinstance(kind, spark.TimestampType | spark.TimestampNTZType | spark.DateType):
        raise SinkRefused(
            f"sink.files.time: {spec.time} is {kind.simpleString()}, not a timestamp or date; cast it in a step"
        )
    time = F.col(str(spec.time))
    if not isinstance(kind, spark.TimestampType):
        # A cast overflows close to the ends of the type.
        time = F.when(time.between(*(F.lit(day).cast("date").cast(kind) for day in (_BEFORE, _END))), time)
        time = time.cast("timestamp")
    start = F.lit("0001-01-01 00:00:00").cast("timestamp_ntz")
    # Spark works it out once: the year begins by the clocks of the sink's zone.
    first = F.convert_timezone(F.lit(spec.zone), F.current_timezone(), start).cast("timestamp")
    return F.when((time >= first) & (time < F.lit(_END).cast("timestamp")), time)


def _partition(entry: str, spec: FilesSink, rows: DataFrame) -> tuple[str, Column]:
    if entry in _TIME_PARTS:
        time = event_time(spec, rows)
        local = F.convert_timezone(None, F.lit(spec.zone), time.cast("timestamp_ntz")).cast("timestamp")
        return entry, F.date_format(local, _TIME_PARTS[entry])
    try:
        column = F.expr(entry)
        return rows.select(column).columns[0], column
    except (AnalysisException, ParseException) as error:
        raise SinkRefused(f"sink.files.partition: {entry}: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
