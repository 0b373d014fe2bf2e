"""Expressions of CEL on the same records twice: by the engine, and by the columns that they are translated to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from compat.contracts.cel.declarations import untyped
from compat.contracts.cel.errors import EvaluationFailed
from compat.contracts.cel.expression import compile_expression
from spark_avro.plan.rules.avro_shapes import avro_shape
from spark_avro.plan.rules.cel.nodes import read_nodes
from spark_avro.plan.rules.cel.terms import Term, of_column
from spark_avro.plan.rules.cel.translating import translate
from spark_avro.plan.types import spark_type

#: Stands for an evaluation that fails.
FAILS = "fails"

_NULL = {"type": "null"}
_INNER = {
    "type": "record",
    "name": "Inner",
    "fields": [
        {"name": "x", "type": {"type": "long"}},
        {"name": "y", "type": [_NULL, {"type": "string"}]},
    ],
}

#: A field of each type that columns know.
TREE: Any = {
    "type": "record",
    "name": "Row",
    "fields": [
        {"name": "i", "type": {"type": "int"}},
        {"name": "l", "type": {"type": "long"}},
        {"name": "n", "type": [_NULL, {"type": "long"}]},
        {"name": "d", "type": {"type": "double"}},
        {"name": "s", "type": {"type": "string"}},
        {"name": "ns", "type": [_NULL, {"type": "string"}]},
        {"name": "b", "type": {"type": "boolean"}},
        {"name": "a", "type": {"type": "array", "items": {"type": "long"}}},
        {"name": "an", "type": {"type": "array", "items": [_NULL, {"type": "string"}]}},
        {"name": "m", "type": {"type": "map", "values": {"type": "string"}}},
        {"name": "r", "type": [_NULL, _INNER]},
        {"name": "t", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "by", "type": {"type": "bytes"}},
    ],
}
_SHAPE = avro_shape(TREE, {})

#: Records with ordinary, empty and extreme values.
ROWS: Sequence[dict[str, Any]] = [
    {
        "i": 1,
        "l": 2,
        "n": None,
        "d": 1.5,
        "s": "abc",
        "ns": None,
        "b": True,
        "a": [1, 2, 3],
        "an": ["x", None],
        "m": {"k": "v"},
        "r": None,
        "t": datetime(2024, 2, 29, 23, 59, 59, 123456, tzinfo=UTC),
        "by": b"ab",
    },
    {
        "i": -7,
        "l": 2**63 - 1,
        "n": 3,
        "d": float("nan"),
        "s": "",
        "ns": "z",
        "b": False,
        "a": [],
        "an": [],
        "m": {},
        "r": {"x": 5, "y": None},
        "t": datetime(1969, 12, 31, 0, 0, 1, tzinfo=UTC),
        "by": b"",
    },
    {
        "i": 0,
        "l": -(2**63),
        "n": 0,
        "d": -0.0,
        "s": "a\nb é😀",
        "ns": "",
        "b": True,
        "a": [0, -1],
        "an": [None],
        "m": {"a": "b"},
        "r": {"x": -1, "y": "q"},
        "t": datetime(9999, 1, 1, tzinfo=UTC),
        "by": b"\xff\x01",
    },
]


def term_of(text: str, message: Column) -> Term:
    """The term of an expression on a message.

    Raises:
        Untranslatable: It has none.
    """
    nodes = read_nodes(compile_expression(text, untyped()).tree().expr)
    return translate(nodes, {"message": lambda: of_column(message, _SHAPE, is_certain=True)})


def by_columns(spark: SparkSession, texts: Sequence[str], rows: Sequence[dict[str, Any]] = ROWS) -> list[list[Any]]:
    """The results of expressions by row, from one query."""
    data = spark.createDataFrame(list(rows), spark_type(TREE)).coalesce(1).select(F.struct("*").alias("message"))
    columns = []
    for number, text in enumerate(texts):
        term = term_of(text, F.col("message"))
        is_sound = F.lit(True) if term.is_sound is None else term.is_sound
        columns.append(F.to_json(F.struct(term.column.alias("v"), is_sound.alias("ok"))).alias(f"c{number}"))
    collected = data.select(*columns).collect()
    results = [[json.loads(text) for text in row] for row in collected]
    return [[result.get("v") if result["ok"] else FAILS for result in row] for row in results]


def by_engine(text: str, row: dict[str, Any]) -> Any:
    """The result of an expression on a record, in the form of `by_columns`."""
    try:
        result = compile_expression(text, untyped()).evaluate({"message": row})
    except EvaluationFailed:
        return FAILS
    return result
