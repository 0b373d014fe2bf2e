"""Settings and options of Spark's writers with which files and JSON texts keep every value.

Spark's defaults change values: JSON has milliseconds, and Parquet has INT96 timestamps, which other readers count in
nanoseconds, so that the year 1 becomes 1754.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

#: Options of `to_json` and of JSON files: timestamps in microseconds.
JSON_TIMES: Mapping[str, str] = MappingProxyType(
    {
        "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
        "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
    }
)

#: Spark writes days and instants as they are, with no shift of those before the Gregorian calendar.
_EXACT = {
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.avro.datetimeRebaseModeInWrite": "CORRECTED",
}

#: The types that are no keys of a JSON object: Spark would write Java's text of the key.
_NO_KEYS = (spark.BinaryType, spark.StructType, spark.ArrayType, spark.MapType)
#: The problem of such a type, for errors.
NO_KEYS = "JSON has no keys that are bytes, structs or arrays, as a map in {kind} has; make texts of them in a step"


@contextmanager
def exact_files(session: SparkSession) -> Iterator[None]:
    """Write files whose dates and timestamps other programs read as they are; the session's own settings win."""
    changed = [name for name in _EXACT if session.conf.get(name, None) is None]
    for name in changed:
        session.conf.set(name, _EXACT[name])
    try:
        yield
    finally:
        for name in changed:
            session.conf.unset(name)


def json_text(column: Column, *, nulls: bool = False) -> Column:
    """A column as JSON texts with all digits of timestamps; `nulls` writes the fields that are NULL."""
    return F.to_json(column, {**JSON_TIMES, "ignoreNullFields": str(not nulls).lower()})


def has_json(kind: spark.DataType) -> bool:
    """Whether JSON can have the values of a type: an object's keys are texts, numbers or booleans."""
    match kind:
        case spark.MapType():
            return not isinstance(kind.keyType, _NO_KEYS) and has_json(kind.valueType)
        case spark.ArrayType():
            return has_json(kind.elementType)
        case spark.StructType():
            return all(has_json(field.dataType) for field in kind.fields)
    return True
