"""Numbers, sizes and conversions of CEL as columns: an overflow and a division by zero are failures, thus NULL."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.plan.rules.cel.terms import Term, scalar
from spark_avro.plan.rules.cel.times import added, taken
from spark_avro.plan.rules.cel.untranslatable import Untranslatable
from spark_avro.plan.rules.shapes import Entries, Items, Kind

_LEAST = -(2**63)


def add(one: Term, other: Term) -> Term:
    """`+` of numbers, texts, bytes, and times."""
    if one.kind == other.kind and one.kind in (Kind.STRING, Kind.BYTES):
        return scalar(F.concat(one.column, other.column), one.kind)
    return _numbers(one, other, F.try_add, lambda left, right: left + right) or added(one, other)


def subtract(one: Term, other: Term) -> Term:
    """`-` of numbers and times."""
    return _numbers(one, other, F.try_subtract, lambda left, right: left - right) or taken(one, other)


def multiply(one: Term, other: Term) -> Term:
    """`*` of numbers."""
    made = _numbers(one, other, F.try_multiply, lambda left, right: left * right)
    if made is None:
        raise Untranslatable("a product of these types")
    return made


def _numbers(
    one: Term, other: Term, longs: Callable[[Column, Column], Column], doubles: Callable[[Column, Column], Column]
) -> Term | None:
    """The result for two longs or two doubles; None for others."""
    if one.kind != other.kind or one.kind not in (Kind.INT, Kind.DOUBLE):
        return None
    return scalar((longs if one.kind is Kind.INT else doubles)(one.column, other.column), one.kind)


def divide(one: Term, other: Term) -> Term:
    """`/`: towards zero for longs."""
    if one.kind is Kind.DOUBLE and other.kind is Kind.DOUBLE and other.is_literal and other.value:
        return scalar(one.column / other.column, Kind.DOUBLE)
    return _whole(one, other, lambda left, right: F.call_function("div", left, right))


def remainder(one: Term, other: Term) -> Term:
    """`%`: with the sign of the dividend."""
    return _whole(one, other, lambda left, right: left % right)


def _whole(one: Term, other: Term, divided: Callable[[Column, Column], Column]) -> Term:
    left, right = one.expect(Kind.INT), other.expect(Kind.INT)
    overflows = (left == F.lit(_LEAST)) & (right == -1)
    return scalar(F.when(~overflows, divided(left, F.nullif(right, F.lit(0).cast("long")))), Kind.INT)


def negate(one: Term) -> Term:
    """The unary `-`."""
    if one.kind is Kind.DOUBLE:
        return scalar(F.negative(one.column), Kind.DOUBLE)
    return scalar(F.try_subtract(F.lit(0).cast("long"), one.expect(Kind.INT)), Kind.INT)


def size(one: Term) -> Term:
    """`size`: characters, bytes, items or entries."""
    if isinstance(one.shape, Items | Entries):
        counted = F.when(one.column.isNotNull(), F.size(one.column))
    else:
        text = one.expect(Kind.STRING, Kind.BYTES)
        counted = F.char_length(text) if one.kind is Kind.STRING else F.octet_length(text)
    return scalar(counted.cast("long"), Kind.INT)


def _same(kind: Kind, kinds: tuple[Kind, ...], cast: str | None = None) -> Callable[[Term], Term]:
    """A conversion that cannot fail."""

    def made(one: Term) -> Term:
        column = one.expect(*kinds)
        return scalar(column if cast is None else column.cast(cast), kind)

    return made


#: The operators and functions of numbers.
ARITHMETIC: Mapping[str, Callable[..., Term]] = {
    "_+_": add,
    "_-_": subtract,
    "_*_": multiply,
    "_/_": divide,
    "_%_": remainder,
    "-_": negate,
    "size": size,
    "int": _same(Kind.INT, (Kind.INT,)),
    "double": _same(Kind.DOUBLE, (Kind.INT, Kind.DOUBLE), "double"),
    "string": _same(Kind.STRING, (Kind.STRING, Kind.INT, Kind.BOOL), "string"),
    "bool": _same(Kind.BOOL, (Kind.BOOL,)),
    "dyn": lambda one: one,
}
