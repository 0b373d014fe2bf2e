"""Comparisons and logic of CEL as columns.

Equality never fails for values of different types: they differ. Kleene's AND and OR absorb NULL as CEL's absorb errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.plan.rules.cel.terms import Term, literal, of_column, scalar
from spark_avro.plan.rules.cel.untranslatable import Untranslatable
from spark_avro.plan.rules.shapes import Entries, Items, Kind

_NUMBERS = frozenset({Kind.INT, Kind.DOUBLE, Kind.NUMBER})
_DOUBLES = frozenset({Kind.DOUBLE, Kind.NUMBER})
#: Types whose columns Spark orders as CEL orders the values: texts and bytes byte by byte, and false before true.
_ORDERED = frozenset({Kind.BOOL, Kind.STRING, Kind.BYTES, Kind.TIMESTAMP, Kind.DURATION})
Compare = Callable[[Column, Column], Column]


def equal(one: Term, other: Term) -> Term:
    """`==`: NULL if a side fails."""
    if one.nullable or other.nullable:
        same = _both(one, other, lambda column: column.isNull())
        if _comparable(one, other):
            both = _both(one, other, lambda column: column.isNotNull())
            same = F.when(both, _compared(one, other, lambda left, right: left == right)).otherwise(same)
        return _guarded(one, other, same)
    if not _comparable(one, other):
        return _guarded(one, other, F.lit(False))
    return scalar(_compared(one, other, lambda left, right: left == right), Kind.BOOL)


def unequal(one: Term, other: Term) -> Term:
    """`!=`."""
    return scalar(~equal(one, other).column, Kind.BOOL)


def _both(one: Term, other: Term, test: Callable[[Column], Column]) -> Column:
    return test(one.column) & test(other.column)


def _guarded(one: Term, other: Term, result: Column) -> Term:
    """The result, or NULL if a side fails."""
    sound = [column for column in (one.is_sound, other.is_sound) if column is not None]
    guarded = F.when(reduce(lambda left, right: left & right, sound), result) if sound else result
    return scalar(guarded, Kind.BOOL)


def _comparable(one: Term, other: Term) -> bool:
    """Whether values of the two types can be equal.

    Raises:
        Untranslatable: Only the engine knows.
    """
    if Kind.NULL in (one.kind, other.kind):
        return False
    if None in (one.kind, other.kind):
        raise Untranslatable("an equality of lists, maps or records")
    if Kind.OPAQUE in (one.kind, other.kind):
        raise Untranslatable("an equality of values whose type columns do not know")
    return one.kind == other.kind or {one.kind, other.kind} <= _NUMBERS


def _ordered(compare: Compare) -> Callable[[Term, Term], Term]:
    def made(one: Term, other: Term) -> Term:
        kinds = {one.kind, other.kind}
        if not (kinds <= _NUMBERS or (len(kinds) == 1 and kinds <= _ORDERED)):
            raise Untranslatable("an order of values of these types")
        return scalar(_compared(one, other, compare), Kind.BOOL)

    return made


def _compared(one: Term, other: Term, compare: Compare) -> Column:
    """A comparison of values of one type, or of numbers: CEL's NaN is in no order, and Spark's is the greatest."""
    if _DOUBLES.isdisjoint((one.kind, other.kind)):
        return compare(one.column, other.column)
    left, right = _double(one), _double(other)
    result = compare(left, right)
    for term, column in ((one, one.column), (other, other.column)):
        if term.kind is Kind.DOUBLE and not term.is_literal:
            differs = F.when(left.isNotNull() & right.isNotNull(), F.lit(False))
            result = F.when(F.isnan(column), differs).otherwise(result)
    return result


def _double(term: Term) -> Column:
    """A number as a double, as CEL compares a long with one: the nearest, beyond 2**53."""
    return term.column if term.kind in _DOUBLES else term.column.cast("double")


def conjunction(one: Term, other: Term) -> Term:
    """`&&`."""
    return scalar(one.expect(Kind.BOOL) & other.expect(Kind.BOOL), Kind.BOOL)


def disjunction(one: Term, other: Term) -> Term:
    """`||`."""
    return scalar(one.expect(Kind.BOOL) | other.expect(Kind.BOOL), Kind.BOOL)


def negation(one: Term) -> Term:
    """`!`."""
    return scalar(~one.expect(Kind.BOOL), Kind.BOOL)


def conditional(condition: Term, one: Term, other: Term) -> Term:
    """`condition ? one : other`."""
    test = condition.expect(Kind.BOOL)
    if Kind.NULL in (one.kind, other.kind) and one.kind != other.kind:
        raise Untranslatable("a condition with null as a result")
    if one.kind is None or one.kind != other.kind:
        raise Untranslatable("a condition with results of different types")
    if one.nullable or other.nullable:
        raise Untranslatable("a condition with results that may be null")
    return scalar(F.when(test, one.column).when(~test, other.column), one.kind)


def contains(one: Term, holder: Term) -> Term:
    """`in`: an item of a list, or a key of a map."""
    if isinstance(holder.shape, Entries):
        return scalar(F.map_contains_key(holder.column, one.expect(Kind.STRING)), Kind.BOOL)
    if not isinstance(holder.shape, Items):
        raise Untranslatable("`in` for this value")
    if holder.is_literal:
        found = [equal(one, literal(item)).column for item in holder.value]
        return scalar(reduce(lambda left, right: left | right, found, F.lit(False)), Kind.BOOL)
    item = holder.shape.item
    sound = one.is_sound

    def is_same(column: Column) -> Column:
        return equal(of_column(column, item, is_certain=True), one).column

    found = F.exists(holder.column, is_same)
    return scalar(found if sound is None else F.when(sound, found), Kind.BOOL)


#: The operators of these kinds, by the names of their functions.
COMPARING: Mapping[str, Callable[..., Term]] = {
    "_==_": equal,
    "_!=_": unequal,
    "_<_": _ordered(lambda left, right: left < right),
    "_<=_": _ordered(lambda left, right: left <= right),
    "_>_": _ordered(lambda left, right: left > right),
    "_>=_": _ordered(lambda left, right: left >= right),
    "_&&_": conjunction,
    "_||_": disjunction,
    "!_": negation,
    "_?_:_": conditional,
    "@in": contains,
}
