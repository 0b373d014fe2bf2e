"""Evaluations leave the counts of references as they were, which the engine alone does not."""

from __future__ import annotations

import gc
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest

from compat.contracts.cel.data.references import noted, releasing
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
    before = sys.getrefcount(None)
    for _ in range(MANY):
        expression.evaluate({"value": value})
    # Others may add some; a reference that is lost with each evaluation would abort the process in the end.
    assert sys.getrefcount(None) >= before - 100


@pytest.mark.parametrize(
    "text",
    [
        "[value].all(x, x.isEmail())",
        "[value].all(x, x.isEmail() && x.isUri())",
        "[value, value].map(x, timestamp.of(x))",
        "[[value]].map(x, decimal(x))",
        "[1, 2].map(x, decimals.add(decimal(x), decimal('1.5')))",
        "[1, 2].map(x, string(decimals.mul(decimal(x), decimal(1e300))))",
    ],
)
def test_calls_of_functions_leave_nothing_behind(text: str) -> None:
    program = f"""
import gc
from compat.contracts.cel.declarations import field_variables
from compat.contracts.cel.errors import EvaluationFailed
from compat.contracts.cel.expression import compile_expression

def size():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

expression = compile_expression({text!r}, field_variables())

def run(count):
    for _ in range(count):
        try:
            expression.evaluate({{"value": "x" * 20_000}})
        except EvaluationFailed:
            pass

run(200)
before = size()
run(1_000)
print(size() - before)
"""
    done = subprocess.run([sys.executable, "-P", "-c", program], check=True, capture_output=True, text=True)
    # A thousand texts of 20,000 characters would be 20 MB.
    assert int(done.stdout) < 4_000_000


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


def test_a_reference_that_the_engine_released_is_not_released_again() -> None:
    kept: list[Any] = []

    def compute(value: Any) -> Any:
        kept.append(value)
        return [value]

    call = releasing(noted(compute))
    for at in range(200):
        assert call(f"text {at}") == [f"text {at}"]
    gc.collect()
    assert kept == [f"text {at}" for at in range(200)]
