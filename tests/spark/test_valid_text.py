from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.valid_text import has_broken_text, has_half_pair, utf8_text

BROKEN = "cast(unhex({}) as string)"
#: The SQL of a value around a text.
PLACES = [
    "{}",
    "named_struct('a', 1, 't', {})",
    "named_struct('inner', named_struct('t', {}, 'b', unhex('FF')))",
    "array(null, '', {})",
    "array(null, named_struct('t', {}, 'b', unhex('FF')))",
    "map({}, 1)",
    "map('a', {})",
    "map('a', named_struct('b', unhex('FF'), 't', {}))",
    "map(unhex('FF'), array({}))",
    "array(array(''), null, array(null, {}))",
    "array(null, array(null, named_struct('b', unhex('FF'), 't', {})))",
    "array(map(unhex('FF'), array(named_struct('b', unhex('FF'), 't', {}))))",
]
#: The bytes of a text in hexadecimal, and whether they are UTF-8.
BYTES = [
    ("", True),
    ("00", True),
    ("EFBFBD", True),
    ("F09F9880", True),
    ("FF41", False),
    ("EDA080", False),
    ("C3", False),
]


@pytest.mark.parametrize(("stored", "is_valid"), BYTES)
def test_a_broken_text_is_found_in_each_place(spark: SparkSession, stored: str, is_valid: bool) -> None:
    text = BROKEN.format(f"'{stored}'")
    rows = spark.range(1).selectExpr(*(f"{place.format(text)} as v{n}" for n, place in enumerate(PLACES)))
    found = [has_broken_text(F.col(field.name), field.dataType) for field in rows.schema.fields]
    checked = rows.select(*(column for column in found if column is not None)).collect()[0]
    assert list(checked) == [not is_valid] * len(PLACES)


def test_halves_of_a_character_are_not_joined_and_bytes_are_no_text(spark: SparkSession) -> None:
    halves = [BROKEN.format("'C3'"), BROKEN.format("'A9'")]
    rows = spark.range(1).selectExpr(
        f"array({', '.join(halves)}) as v",
        f"array(array(named_struct('t', {halves[0]}, 'b', id, 'u', {halves[1]}))) as w",
    )
    checks = [has_broken_text(F.col(field.name), field.dataType) for field in rows.schema.fields]
    assert list(rows.select(*(check for check in checks if check is not None)).collect()[0]) == [True, True]
    for kind in ("unhex('FF')", "array(unhex('FF'))", "named_struct('b', map(1, unhex('FF')))"):
        field = spark.range(1).selectExpr(f"{kind} as v").schema.fields[0]
        assert has_broken_text(F.col("v"), field.dataType) is None
    texts = spark.range(1).select(utf8_text(F.lit(b"\xff")), utf8_text(F.lit(b"\xc3\xa9")), utf8_text(F.lit(None)))
    assert list(texts.collect()[0]) == [None, "\u00e9", None]


HIGH, LOW = r"\ud83d", r"\uDE00"
JSON_TEXTS = [
    ("", False),
    ("u", False),
    (HIGH, True),
    (LOW, True),
    (HIGH + LOW, False),
    (LOW + HIGH, True),
    (HIGH + HIGH + LOW, True),
    (HIGH + LOW + LOW, True),
    (f"{HIGH} {LOW}", True),
    (HIGH + LOW + HIGH + LOW, False),
    (rf"\{HIGH}", False),
    (rf"\\{HIGH}", True),
    (rf"\{HIGH}{LOW}", True),
    (rf"{HIGH}\{LOW}", True),
    (r"\u00e9\uD7ff\ue000", False),
    (r"\uDBFF\uDFFF", False),
    (r"\uDBFF\uE000", True),
]


def test_half_of_a_surrogate_pair_is_found(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(text,) for text, _ in JSON_TEXTS], "text string")
    assert [row[0] for row in rows.select(has_half_pair(F.col("text"))).collect()] == [
        expected for _, expected in JSON_TEXTS
    ]
    assert spark.range(1).select(has_half_pair(F.lit(None).cast("string"))).collect()[0][0] is None
