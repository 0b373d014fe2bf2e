"""Results of CEL in the type of the field that they are for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.plan.rules.cel.terms import Term
from spark_avro.plan.rules.cel.untranslatable import Untranslatable
from spark_avro.plan.rules.shapes import Form, Kind, Scalar

_INT = 2**31
#: The days of the years 1 to 9999, by their numbers from 1970 on.
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_LARGEST_FLOAT = 3.4028235677973366e38


def narrowed(term: Term, shape: Scalar) -> Column:
    """The column of a result as the value of a leaf; NULL if it fails or does not fit.

    Raises:
        Untranslatable: The result may be null, or is of another type.
    """
    if term.nullable:
        raise Untranslatable("a result that may be null")
    make = _NARROWED.get((shape.type_name, shape.form, term.kind))
    if make is None:
        raise Untranslatable(f"a result of the type {term.kind} for a field of the type {shape.type_name}")
    return make(term.column)


def _same(column: Column) -> Column:
    return column


def _as_int(column: Column) -> Column:
    return F.when(column.between(-_INT, _INT - 1), column).cast("int")


def _as_date(column: Column) -> Column:
    return F.date_from_unix_date(F.when(column.between(_FIRST_DAY, _LAST_DAY), column).cast("int"))


def _as_float(column: Column) -> Column:
    is_infinite = F.abs(column) == float("inf")
    return F.when((F.abs(column) <= _LARGEST_FLOAT) | is_infinite | F.isnan(column), column).cast("float")


#: Type name and form of a leaf, and type of the result -> the leaf's column from the result's.
_NARROWED: Mapping[tuple[str, Form, Kind | None], Callable[[Column], Column]] = {
    ("STRING", Form.PLAIN, Kind.STRING): _same,
    ("BYTES", Form.PLAIN, Kind.BYTES): _same,
    ("BOOLEAN", Form.PLAIN, Kind.BOOL): _same,
    ("LONG", Form.PLAIN, Kind.INT): _same,
    ("INT", Form.PLAIN, Kind.INT): _as_int,
    ("INT", Form.WHOLE, Kind.INT): _same,
    ("DOUBLE", Form.PLAIN, Kind.DOUBLE): _same,
    ("DOUBLE", Form.PLAIN, Kind.INT): lambda column: column.cast("double"),
    ("FLOAT", Form.PLAIN, Kind.DOUBLE): _as_float,
    ("FLOAT", Form.PLAIN, Kind.INT): lambda column: column.cast("float"),
    ("INT", Form.DATE, Kind.INT): _as_date,
    ("LONG", Form.INSTANT, Kind.TIMESTAMP): F.timestamp_micros,
}
