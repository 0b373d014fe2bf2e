"""Calls of functions that Python computes before the engine runs."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from compat.contracts.cel.declarations import untyped
from compat.contracts.cel.errors import EvaluationFailed
from compat.contracts.cel.expression import compile_expression

MESSAGE = {
    "mail": "a@b.c",
    "price": Decimal("1.50"),
    "no": 7,
    "nul": "a\0b",
    "address": {"mail": "x"},
    "l": ["a@b.c", "x"],
}


def result(text: str) -> Any:
    return compile_expression(text, untyped()).evaluate({"message": MESSAGE})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("message.mail.isEmail()", True),
        ("message.address.mail.isEmail()", False),
        ("message['mail'].isEmail() && message.no == 7", True),
        ("has(message.nope) && message.nope.isEmail()", False),
        ("message.no == 7 || message.nope.isEmail()", True),
        ("message.no.isEmail() || true", True),
        ("message.nul.isEmail()", False),
        ("!message.mail.isUuid()", True),
        ("message.l.map(m, m.isEmail())", [True, False]),
        ("message.l.exists(message, message.isEmail())", True),
        ("message.l.all(m, message.mail.isEmail())", True),
        ("decimals.gt(message.price, decimal('1'))", True),
        ("decimals.gt(decimals.add(message.price, decimal(message.no)), decimal('8.4'))", True),
        ("decimals.add(message.price, decimal(1))", Decimal("2.50")),
        ("[decimals.add(message.price, decimal(1)), message.no]", [Decimal("2.50"), 7]),
        ("message.price == decimal('1.5') ? message.no : 0", 7),
        ("message.price != decimal('1.5')", False),
        ("decimal(message.mail + '1') == message.price || true", True),
        ("(message.mail + '1').isEmail()", True),
        ("timestamp.of(message.no).getSeconds()", 7),
    ],
)
def test_islands_evaluate_as_in_the_engine(text: str, expected: Any) -> None:
    assert result(text) == expected


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("message.nope.isEmail()", 'Key not found in map : "nope"'),
        ("message.nope.isEmail() && true", 'Key not found in map : "nope"'),
        ("message.mail.x.isEmail()", "No matching overloads found : select"),
        ("message.no.isEmail()", "No matching overloads found : isEmail"),
        ("message.no.isEmail() || message.no == 8", "No matching overloads found : isEmail"),
        ("decimal(message.mail) == message.price", "decimal: the text or number is no decimal"),
        ("true && decimals.div(message.price, decimal(0)) == message.price", "decimals.div: division by zero"),
        ("decimal(message.mail) == message.price || message.no / 0 == 1", "decimal: the text or number is no decimal"),
    ],
)
def test_a_failure_of_an_island_fails_the_expression(text: str, detail: str) -> None:
    with pytest.raises(EvaluationFailed) as failed:
        result(text)
    assert str(failed.value) == detail


def test_reads_and_tree_are_those_of_the_text() -> None:
    expression = compile_expression("message.mail.isEmail() && message.no > 1", untyped())
    assert expression.reads == {"message": (("mail",), ("no",))}
    assert "isEmail" in str(expression.tree().expr)
