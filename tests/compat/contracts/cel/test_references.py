"""Evaluations leave the counts of references as they were, which the engine alone does not."""

from __future__ import annotations

import gc
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest

from compat.contracts.cel.declarations import field_variables
from compat.contracts.cel.expression import compile_expression

#: Evaluations; None has some thousands of references.
MANY = 3_000


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("value", None),
        ("[value, {'a': value}]", None),
        ("value", {"a": None, "b": [None, None]}),
        ("[value].map(x, decimals.equal(x, x))", None),
        ("[value].map(x, decimals.equal([x, {'a': x}], x))", None),
    ],
)
def test_nulls_take_no_references_to_none(text: str, value: Any) -> None:
    expression = compile_expression(text, field_variables())
    expression.evaluate({"value": value})
    # What earlier tests left in cycles has references to None, too.
    gc.collect()
    gc.disable()
    try:
        before = sys.getrefcount(None)
        for _ in range(MANY):
            expression.evaluate({"value": value})
        # Others may add some; a reference that is lost with each evaluation would abort the process in the end.
        assert sys.getrefcount(None) >= before - 100
    finally:
        gc.enable()


def test_threads_call_functions_at_the_same_time() -> None:
    expression = compile_expression(
        "value.map(x, string(decimals.add(decimal(x), decimal('0.50'))))", field_variables()
    )

    def run(number: int) -> None:
        for at in range(100):
            values = [number * 1_000 + at, at, "1.25"]
            expected = [str(Decimal(value) + Decimal("0.50")) for value in values]
            assert expression.evaluate({"value": values}) == expected

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(run, range(8)))
    gc.collect()
