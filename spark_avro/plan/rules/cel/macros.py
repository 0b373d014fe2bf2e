"""The macros of CEL over the items of a list as columns.

`exists` and `all` absorb failures of items as `||` and `&&` do; the others fail if an item does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.plan.rules.cel.terms import Term, scalar
from spark_avro.plan.rules.cel.untranslatable import Untranslatable
from spark_avro.plan.rules.shapes import Items, Kind, Scalar

#: From an item's column to the term of condition or result; None if the macro has none.
Inner = Callable[[Column], Term] | None


def _test(condition: Inner) -> Callable[[Column], Column]:
    assert condition is not None
    return lambda column: condition(column).expect(Kind.BOOL)


def _exists(around: Term, condition: Inner, _: Inner) -> Term:
    return scalar(F.exists(around.column, _test(condition)), Kind.BOOL)


def _all(around: Term, condition: Inner, _: Inner) -> Term:
    return scalar(F.forall(around.column, _test(condition)), Kind.BOOL)


def _exists_one(around: Term, condition: Inner, _: Inner) -> Term:
    test = _test(condition)
    count = F.size(F.filter(around.column, test))
    return scalar(F.when(_none_fails(around, test), count == 1), Kind.BOOL)


def _filter(around: Term, condition: Inner, result: Inner) -> Term:
    test = _test(condition)
    kept = Term(F.when(_none_fails(around, test), F.filter(around.column, test)), around.shape)
    return kept if result is None else _map(kept, None, result)


def _map(around: Term, _: Inner, result: Inner) -> Term:
    if result is None:
        return around
    seen: list[Term] = []

    def made(column: Column) -> Column:
        seen.append(result(column))
        return seen[-1].column

    values = F.transform(around.column, made)
    shape = seen[-1].shape
    if not isinstance(shape, Scalar) or shape.nullable or shape.kind is Kind.NULL:
        raise Untranslatable("map() to values that are no scalars, or may be null")
    fails = F.exists(values, lambda value: value.isNull())
    return Term(F.when(~fails, values), Items(Scalar(shape.kind, shape.type_name)))


def _none_fails(around: Term, test: Callable[[Column], Column]) -> Column:
    """Whether the condition fails for no item; NULL if there is no list."""
    return ~F.exists(around.column, lambda column: test(column).isNull())


#: The macros by name: they take the list, the condition and the result.
MACROS: Mapping[str, Callable[[Term, Inner, Inner], Term]] = {
    "exists": _exists,
    "all": _all,
    "exists_one": _exists_one,
    "filter": _filter,
    "map": _map,
}
