"""Functions of texts as columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.plan.rules.cel.patterns import java_pattern
from spark_avro.plan.rules.cel.terms import Term, scalar
from spark_avro.plan.rules.cel.untranslatable import Untranslatable
from spark_avro.plan.rules.shapes import Kind


def _test(test: Callable[[Column, Column], Column]) -> Callable[[Term, Term], Term]:
    def made(one: Term, other: Term) -> Term:
        return scalar(test(one.expect(Kind.STRING), other.expect(Kind.STRING)), Kind.BOOL)

    return made


def matches(one: Term, pattern: Term) -> Term:
    """`matches`: whether a part of the text has the pattern."""
    if not isinstance(pattern.value, str):
        raise Untranslatable("matches() with a pattern that is no literal")
    found = F.rlike(one.expect(Kind.STRING), F.lit(java_pattern(pattern.value)))
    return scalar(found, Kind.BOOL)


#: The functions of texts.
TEXTS: Mapping[str, Callable[..., Term]] = {
    "startsWith": _test(F.startswith),
    "endsWith": _test(F.endswith),
    "contains": _test(F.contains),
    "matches": matches,
}
