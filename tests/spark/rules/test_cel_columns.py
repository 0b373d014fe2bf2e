"""Expressions of CEL as columns compute what the engine does; what they cannot is left to the engine."""

from __future__ import annotations

import random

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.plan.rules.cel.patterns import java_pattern
from spark_avro.plan.rules.cel.untranslatable import Untranslatable
from tests.spark.rules.engine import FAILS, ROWS, by_columns, by_engine, term_of
from tests.spark.rules.random_expressions import random_expression

#: An expression, and its results for the three rows.
RESULTS = [
    ("message.i > 0", [True, False, False]),
    ("message.n == null", [True, False, False]),
    ("message.n > 2", [FAILS, True, False]),
    ("message.n == 3.0", [False, True, False]),
    ("message.ns == message.s", [False, False, False]),
    ("message.d < 2", [True, False, True]),
    ("message.d == message.d", [True, False, True]),
    ("message.l + 1 > 0", [True, FAILS, False]),
    ("message.i / message.i", [1, 1, FAILS]),
    ("-7 % 4 == message.i", [False, False, False]),
    ("-message.l < 0", [True, True, FAILS]),
    ("message.b && message.n > 0", [FAILS, False, False]),
    ("message.b || message.n > 0", [True, True, True]),
    ('message.s.matches("c$")', [True, False, False]),
    ('message.s.matches("a.b")', [False, False, False]),
    ("size(message.s)", [3, 0, 6]),
    ("message.by.size()", [2, 0, 2]),
    ("message.a[0] == 1", [True, FAILS, False]),
    ("message.a.exists_one(x, x > 1)", [False, False, False]),
    ("message.a.map(x, x * 2).exists(y, y == 4)", [True, False, False]),
    ("message.an.exists(x, size(x) == 1)", [True, False, FAILS]),
    ("message.an.all(x, x != null)", [False, True, False]),
    ("message.an[0] == null", [False, FAILS, True]),
    ('message.m.k == "v"', [True, FAILS, FAILS]),
    ('"k" in message.m', [True, False, False]),
    ("message.r.y == null", [FAILS, True, False]),
    ("has(message.r.y)", [FAILS, True, True]),
    ("message.r != null && message.r.x > 0", [False, True, False]),
    ('message.i > 0 ? message.s : "no"', ["abc", "no", "no"]),
    ("message.t.getFullYear()", [2024, 1969, 9999]),
    ("message.t.getDayOfWeek()", [4, 3, 5]),
    ("message.t.getHours()", [23, 0, 0]),
    ("message.t.getMilliseconds()", [123, 0, 0]),
    ('message.t - timestamp("2000-01-01T00:00:00Z") > duration("24h")', [True, False, FAILS]),
    ('message.s in ["abc", ""]', [True, True, False]),
    ('message.i == "x"', [False, False, False]),
]


def test_columns_and_the_engine_compute_the_same_values(spark: SparkSession) -> None:
    texts = [text for text, _ in RESULTS]
    by_row = by_columns(spark, texts)
    columns = {text: [row[number] for row in by_row] for number, text in enumerate(texts)}
    assert columns == dict(RESULTS)
    assert {text: [by_engine(text, row) for row in ROWS] for text in texts} == dict(RESULTS)


def test_random_expressions(spark: SparkSession) -> None:
    source = random.Random(20)
    texts = [random_expression(source) for _ in range(60)]
    known = []
    for text in texts:
        try:
            term_of(text, F.col("message"))
        except Untranslatable:
            continue
        known.append(text)
    assert len(known) > 20
    expected = [[by_engine(text, row) for text in known] for row in ROWS]
    assert by_columns(spark, known) == expected


@pytest.mark.parametrize(
    "text",
    [
        "message.s.lowerAscii() == 'abc'",
        "message.s.isEmail()",
        "int(message.s) == 1",
        "string(message.d) == '1'",
        "message.d / 0.0 > 1.0",
        "message.i == 1u",
        "message.i + 1.0 > 0.0",
        "message.t.getHours('Europe/Berlin') == 1",
        "message.a == [1, 2]",
        "message.unknown == 1",
        "size(message) == 1",
        "message.s.matches(message.ns)",
        "message.s.matches('(a+)+$')",
        "message.s.matches('(?i)a')",
        "{'a': 1}['a'] == 1",
    ],
)
def test_columns_cannot_compute_these_expressions(spark: SparkSession, text: str) -> None:
    with pytest.raises(Untranslatable):
        term_of(text, F.col("message"))


@pytest.mark.parametrize(
    ("pattern", "java"),
    [
        ("^a.c$", r"^a[^\n]c\z"),
        (r"^\d{2}-\w+@x\.de$", r"^[0-9]{2}\-[0-9A-Za-z_]+\@x\.de\z"),
        ("(ab)+|c", "(ab)+|c"),
    ],
)
def test_patterns_in_javas_form(pattern: str, java: str) -> None:
    assert java_pattern(pattern) == java


@pytest.mark.parametrize(
    "pattern", ["(a+)+", "(a|b)*", "a**", "a*+", "*a", "a*b*c*d*", "(", "a)", "[[:alpha:]]", r"\s", r"\bx", "[z-a]"]
)
def test_patterns_that_java_reads_differently_or_slowly(pattern: str) -> None:
    with pytest.raises(Untranslatable):
        java_pattern(pattern)
