"""The step mask: replaces values by NULL, a hash, their last characters, another value, or what a regex makes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from decimal import Decimal, InvalidOperation

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    IntegerType,
    IntegralType,
    LongType,
    MapType,
    NumericType,
    ShortType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from spark_avro.pipeline.file.field_path import FieldPath
from spark_avro.pipeline.file.place import error_at
from spark_avro.pipeline.file.steps import Mask
from spark_avro.pipeline.steps.fields_at import Change, change, type_at
from spark_avro.pipeline.steps.step import StepContext

_BLOCK = 64
_FIXED = "fixed:"
_BITS: dict[type[DataType], int] = {ByteType: 8, ShortType: 16, IntegerType: 32, LongType: 64}


def mask(rows: DataFrame, step: Mask, _context: StepContext) -> DataFrame:
    """Fields whose values are hidden; NULL stays NULL."""
    for path, how in step.fields.items():
        kind = type_at(path, rows.schema)
        if how is None:
            rows = change(rows, path, lambda _, field_kind: F.lit(None).cast(field_kind))
            continue
        if how == "zero" or how.startswith(_FIXED):
            rows = change(rows, path, _instead(path, kind, how))
            continue
        hidden = _hiding(how)
        if not isinstance(kind, StringType) and (not isinstance(kind, BinaryType) or "sha256" not in how):
            raise _unfit(path, kind, how)
        rows = change(rows, path, _by(hidden))
    return rows


def _instead(path: FieldPath, kind: DataType, how: str) -> Change:
    """A change to another value of the field's type, the same for all values; NULL stays NULL.

    Raises:
        PipelineError: the type has no such value.
    """
    value = zero_of(kind) if how == "zero" else _fixed(kind, how.removeprefix(_FIXED))
    if value is None:
        of = "zero is for texts, numbers, truth values, dates, timestamps, arrays and maps"
        words = of if how == "zero" else "fixed is for texts, and for numbers if its text is one of the type"
        raise error_at(path.place, path.setting, f"{path} is {kind.simpleString()}; {words}, so use null")
    return lambda column, _: F.when(column.isNotNull(), value)


def zero_of(kind: DataType) -> Column | None:
    """The value that stands for none of its type: an empty text, 0, false, 1970; None if the type has no such value."""
    if isinstance(kind, StringType):
        return F.lit("")
    if isinstance(kind, BooleanType):
        return F.lit(False)
    if isinstance(kind, NumericType):
        return F.lit(0).cast(kind)
    if isinstance(kind, DateType | TimestampType | TimestampNTZType):
        epoch = F.timestamp_seconds(F.lit(0))
        return epoch if isinstance(kind, TimestampType) else F.lit("1970-01-01").cast(kind)
    if isinstance(kind, ArrayType):
        return F.array().cast(kind)
    return F.create_map().cast(kind) if isinstance(kind, MapType) else None


def _fixed(kind: DataType, text: str) -> Column | None:
    """A text as a value of a type; None if it is not one."""
    if isinstance(kind, StringType):
        return F.lit(text)
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if isinstance(kind, IntegralType):
        bits = _BITS[type(kind)]
        fits = number == number.to_integral_value() and -(2 ** (bits - 1)) <= number < 2 ** (bits - 1)
    else:
        fits = isinstance(kind, NumericType)
    return F.lit(text).cast(kind) if fits and number.is_finite() else None


def _by(hidden: Callable[[Column], Column]) -> Change:
    return lambda column, _kind: hidden(column)


def _hiding(how: str) -> Callable[[Column], Column]:
    if how == "sha256":
        return lambda column: F.sha2(column.cast("binary"), 256)
    if how.startswith("hmac:"):
        return _hmac(how.removeprefix("hmac:").encode())
    if how.startswith("keep-last-"):
        count = int(how.removeprefix("keep-last-"))
        return lambda column: _last(column, count)
    pattern, replacement = _regex(how)
    return lambda column: F.regexp_replace(column, pattern, replacement)


def _hmac(key: bytes) -> Callable[[Column], Column]:
    """HMAC with SHA-256 by the JVM's hash: hash(outer key, hash(inner key, text))."""
    whole = (hashlib.sha256(key).digest() if len(key) > _BLOCK else key).ljust(_BLOCK, b"\0")
    inner, outer = (F.lit(bytearray(byte ^ pad for byte in whole)) for pad in (0x36, 0x5C))

    def hidden(column: Column) -> Column:
        first = F.unhex(F.sha2(F.concat(inner, column.cast("binary")), 256))
        return F.sha2(F.concat(outer, first), 256)

    return hidden


def _last(column: Column, count: int) -> Column:
    covered = F.greatest(F.length(column) - F.lit(count), F.lit(0))
    covered = F.when(F.length(column) <= count, F.length(column)).otherwise(covered)
    return F.concat(F.repeat(F.lit("*"), covered), F.substring(column, covered + 1, F.lit(count)))


def _regex(how: str) -> tuple[str, str]:
    """The parts of `/REGEX/REPLACEMENT`; a slash in the regular expression is written with a backslash."""
    end = next(at for at in range(1, len(how)) if how[at] == "/" and how[at - 1] != "\\")
    return how[1:end].replace("\\/", "/"), how[end + 1 :]


def _unfit(path: FieldPath, kind: DataType, how: str) -> Exception:
    shown = how.partition(":")[0]
    return error_at(path.place, path.setting, f"{path} is {kind.simpleString()}; {shown} is for texts, so use null")
