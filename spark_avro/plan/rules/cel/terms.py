"""Columns with their types in CEL: what the parts of an expression become."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.plan.rules.cel.untranslatable import Untranslatable
from spark_avro.plan.rules.shapes import Choice, Field, Form, Kind, Record, Scalar, Shape

#: Stands for a value that is not known before the query runs.
UNKNOWN_VALUE: Any = object()

#: Microseconds.
DAY = 86_400_000_000
_SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Term:
    """A part of an expression.

    NULL means that CEL fails, unless null is a value: then `exists` tells a null from a failure.

    Attributes:
        column: The column: of a scalar in CEL's form (long, double, string, binary, boolean), else Spark's.
        shape: What it holds.
        exists: Only if null is a value: whether CEL does not fail, never NULL itself; None if it cannot fail.
        is_certain: Whether the column is never NULL.
        value: The value of a literal, else UNKNOWN_VALUE.
    """

    column: Column
    shape: Shape
    exists: Column | None = None
    is_certain: bool = False
    value: Any = UNKNOWN_VALUE

    @property
    def kind(self) -> Kind | None:
        """The type of a scalar."""
        return self.shape.kind if isinstance(self.shape, Scalar) else None

    @property
    def nullable(self) -> bool:
        """Whether null is a value."""
        return self.shape.nullable

    @property
    def is_literal(self) -> bool:
        """Whether the value is known."""
        return self.value is not UNKNOWN_VALUE

    @property
    def is_sound(self) -> Column | None:
        """Whether CEL does not fail, never NULL itself; None if it cannot fail."""
        if self.nullable:
            return self.exists
        return None if self.is_certain else self.column.isNotNull()

    def expect(self, *kinds: Kind) -> Column:
        """The column of a scalar of one of some types; NULL if it is null or fails.

        Raises:
            Untranslatable: It is of another type, for which the engine has the error.
        """
        if self.kind not in kinds:
            raise Untranslatable(f"a value of the type {self.kind or 'list, map or record'} here")
        return self.column


def scalar(column: Column, kind: Kind) -> Term:
    """A term of a scalar type whose NULLs are failures."""
    return Term(column, Scalar(kind, kind.upper()))


def literal(value: Any) -> Term:
    """The term of a literal.

    Raises:
        Untranslatable: It is of a type that columns do not have.
    """
    if value is None:
        return Term(F.lit(None), Scalar(Kind.NULL, "NULL", nullable=True), value=None)
    kind = _LITERALS.get(type(value))
    if kind is None:
        raise Untranslatable(f"a literal of the type {type(value).__name__}")
    column = F.lit(value).cast("long") if kind is Kind.INT else F.lit(value)
    return Term(column, Scalar(kind, kind.upper()), is_certain=True, value=value)


_LITERALS: dict[type, Kind] = {
    bool: Kind.BOOL,
    int: Kind.INT,
    float: Kind.DOUBLE,
    str: Kind.STRING,
    bytes: Kind.BYTES,
}


def of_column(column: Column, shape: Shape, *, exists: Column | None = None, is_certain: bool = False) -> Term:
    """The term of a column of a schema, in CEL's form.

    Args:
        column: The column as Spark has it.
        shape: Its shape.
        exists: As in Term; used only if null is a value.
        is_certain: Whether the column is never NULL, if null is no value.

    Raises:
        Untranslatable: Columns do not have such a value as CEL sees it.
    """
    if isinstance(shape, Choice):
        raise Untranslatable("a union of several types")
    if isinstance(shape, Scalar):
        form = _FORMS.get((shape.kind, shape.form))
        if form is None:
            raise Untranslatable(f"a value of the type {shape.type_name} ({shape.kind})")
        column = form(column)
    return Term(column, shape, exists if shape.nullable else None, is_certain and not shape.nullable)


def select(record: Term, name: str) -> Term:
    """The field of a record; it fails if the record is null or lacks the field.

    Raises:
        Untranslatable: The record has no such field, or it is no record.
    """
    field = field_of(record, name)
    if field.may_be_absent and field.shape.nullable:
        raise Untranslatable(f"the field {name}, which may be null or absent")
    exists = None if record.is_certain else record.column.isNotNull()
    is_certain = record.is_certain and not field.may_be_absent
    return of_column(record.column.getField(name), field.shape, exists=exists, is_certain=is_certain)


def field_of(record: Term, name: str) -> Field:
    """A field of a record.

    Raises:
        Untranslatable: The record has no such field, or it is no record.
    """
    if not isinstance(record.shape, Record) or name not in record.shape.by_name:
        raise Untranslatable(f"the field {name} of this value")
    return record.shape.by_name[name]


def _local_micros(column: Column) -> Column:
    """The microseconds from 1970 to a timestamp without a zone, whatever the session's zone is."""
    seconds = F.hour(column).cast("long") * 3600 + F.minute(column).cast("long") * 60
    within = (F.extract(F.lit("SECOND"), column) * F.lit(_SECOND)).cast("long")
    return F.unix_date(column.cast("date")).cast("long") * DAY + seconds * _SECOND + within


#: CEL type and Spark form -> the column in CEL's form.
_FORMS: dict[tuple[Kind, Form], Callable[[Column], Column]] = {
    (Kind.BOOL, Form.PLAIN): lambda column: column,
    (Kind.STRING, Form.PLAIN): lambda column: column,
    (Kind.BYTES, Form.PLAIN): lambda column: column,
    (Kind.INT, Form.PLAIN): lambda column: column.cast("long"),
    (Kind.INT, Form.WHOLE): lambda column: column,
    (Kind.DOUBLE, Form.PLAIN): lambda column: column.cast("double"),
    (Kind.NUMBER, Form.PLAIN): lambda column: column.cast("double"),
    (Kind.NULL, Form.PLAIN): lambda _: F.lit(None),
    (Kind.TIMESTAMP, Form.PLAIN): lambda column: column,
    (Kind.DURATION, Form.PLAIN): lambda column: column,
    (Kind.INT, Form.DATE): lambda column: F.unix_date(column).cast("long"),
    (Kind.TIMESTAMP, Form.INSTANT): F.unix_micros,
    (Kind.TIMESTAMP, Form.LOCAL): _local_micros,
}
