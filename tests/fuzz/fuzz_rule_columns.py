"""Fuzzing of CEL in columns: random expressions on random records, by the engine and by the columns of Spark.

Run `python tests/fuzz/fuzz_rule_columns.py --seconds 600 --seed 1` with `PYTHONPATH=.`; a failure prints its seed.
"""

from __future__ import annotations

import argparse
import random
import struct
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

import spark_avro
from compat.contracts.cel.errors import ExpressionInvalid
from spark_avro.plan.rules.cel.untranslatable import Untranslatable
from tests.spark.rules.engine import by_columns, by_engine, term_of
from tests.spark.rules.random_expressions import random_expression

#: The expressions and records of a round, which is one query.
EXPRESSIONS, RECORDS = 60, 12

_LONGS = (0, 1, -1, 3, 2**31 - 1, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63))
_TEXTS = ("", "a", "abc", "z", "é😀", "a\nb", "A" * 50, "\u2028", "\0")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def random_record(source: random.Random) -> dict[str, Any]:
    """A record with ordinary and extreme values."""

    def long() -> int:
        return source.choice(_LONGS) if source.random() < 0.5 else source.randint(-10, 10)

    def double() -> float:
        value: float = struct.unpack(">d", source.randbytes(8))[0]
        return source.choice((0.0, -0.0, 1.0, 1.5, float("nan"), float("inf"), float("-inf"), 2.0**63, value))

    def text() -> str:
        return source.choice(_TEXTS)

    def or_none(value: Any) -> Any:
        return None if source.random() < 0.4 else value

    return {
        "i": source.choice((0, 1, -7, 2**31 - 1, -(2**31))),
        "l": long(),
        "n": or_none(long()),
        "d": double(),
        "s": text(),
        "ns": or_none(text()),
        "b": source.random() < 0.5,
        "a": [long() for _ in range(source.randint(0, 3))],
        "an": [or_none(text()) for _ in range(source.randint(0, 3))],
        "m": {source.choice("kab"): text() for _ in range(source.randint(0, 2))},
        "r": or_none({"x": long(), "y": or_none(text())}),
        "t": _EPOCH + timedelta(microseconds=source.randint(-(10**15), 10**17)),
        "by": source.randbytes(source.randint(0, 3)),
    }


def check_round(spark: SparkSession, seed: int) -> int:
    """One round; how many expressions had columns."""
    source = random.Random(seed)
    records = [random_record(source) for _ in range(RECORDS)]
    texts = []
    for _ in range(EXPRESSIONS):
        text = random_expression(source, source.randint(1, 4))
        try:
            term_of(text, F.col("message"))
        except (Untranslatable, ExpressionInvalid):
            continue
        texts.append(text)
    found = by_columns(spark, texts, records)
    for record, results in zip(records, found, strict=True):
        for text, result in zip(texts, results, strict=True):
            expected = by_engine(text, record)
            assert result == expected, (text, record, result, expected)
    return len(texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    spark = spark_avro.session("fuzz", master="local[2]", settings={"spark.log.level": "OFF"})
    end, seed, compared = time.monotonic() + arguments.seconds, arguments.seed, 0
    while time.monotonic() < end:
        try:
            compared += check_round(spark, seed)
        except BaseException:
            print("failed: seed", seed)
            raise
        seed += 1
    print(seed - arguments.seed, "rounds,", compared, "expressions")
    spark.stop()


if __name__ == "__main__":
    main()
