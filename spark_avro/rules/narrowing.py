"""Results of CEL in the type of the field that they are for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.rules.cel.terms import Term
from spark_avro.rules.cel.untranslatable import Untranslatable
from spark_avro.rules.shapes import Form, Kind, Scalar

_INT = 2**31


def narrowed(term: Term, shape: Scalar) -> Column:
    """The column of a result as the value of a leaf; NULL if it fails or does not fit.

    Raises:
        Untranslatable: The result may be null, or is of another type.
    """
    if term.nullable:
        raise Untranslatable("a result that may be null")
    make = _NARROWED.get((shape.type_name, shape.form))
    if make is None or term.kind is not shape.kind:
        raise Untranslatable(f"a result of the type {term.kind} for a field of the type {shape.type_name}")
    return make(term.column)


def _same(column: Column) -> Column:
    return column


def _as_int(column: Column) -> Column:
    return F.when(column.between(-_INT, _INT - 1), column).cast("int")


#: Type name and form of a leaf -> its column from one in CEL's form.
_NARROWED: Mapping[tuple[str, Form], Callable[[Column], Column]] = {
    ("STRING", Form.PLAIN): _same,
    ("BYTES", Form.PLAIN): _same,
    ("BOOLEAN", Form.PLAIN): _same,
    ("LONG", Form.PLAIN): _same,
    ("DOUBLE", Form.PLAIN): _same,
    ("INT", Form.PLAIN): _as_int,
    ("INT", Form.DATE): lambda column: F.date_from_unix_date(_as_int(column)),
    ("LONG", Form.INSTANT): F.timestamp_micros,
}
