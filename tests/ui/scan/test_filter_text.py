"""The texts of filters as conditions."""

from __future__ import annotations

from decimal import Decimal

import pytest

from magicbyte.ui.messages.filter_text import (
    BadFilter,
    Condition,
    Contains,
    Field,
    HasHeader,
    HasSchema,
    read_filter,
)


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("", ()),
        ("  Late\tFlight ", (Contains("late"), Contains("flight"))),
        ('"Late flight"', (Contains("late flight"),)),
        (r'"a \"b\" c"', (Contains('a "b" c'),)),
        ("key:UA value:x text:y", (Contains("ua", "key"), Contains("x", "value"), Contains("y"))),
        ("http://host note:7", (Contains("http://host"), Contains("note:7"))),
        ("id:7", (HasSchema(7),)),
        ("header:trace", (HasHeader("trace"),)),
        ('header:Trace=Ab header:"a b"="C d"', (HasHeader("Trace", "ab"), HasHeader("a b", "c d"))),
        ("value.customer.id = 7", (Field("value", ("customer", "id"), "=", "7", Decimal(7)),)),
        ("value.id>=1.50", (Field("value", ("id",), ">=", "1.50", Decimal("1.50")),)),
        ('value."a.b".0.c != "7"', (Field("value", ("a.b", "0", "c"), "!=", "7", None, is_quoted=True),)),
        ("key = UA", (Field("key", (), "=", "UA"),)),
        ("value.at<2026-01-01T00:00:00Z", (Field("value", ("at",), "<", "2026-01-01T00:00:00Z"),)),
        ("value.name ~ e1 keyboard", (Field("value", ("name",), "~", "e1"),
                                      Contains("keyboard"))),
        ("value.n = NaN", (Field("value", ("n",), "=", "NaN"),)),
    ],
)  # fmt: skip
def test_read(text: str, conditions: tuple[Condition, ...]) -> None:
    assert read_filter(text) == conditions


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('a "b c', "it cannot be read from '\"b c' on: a quotation mark is not closed"),
        ("price = 5", "= needs a field before it and a value behind it, such as value.id = 7"),
        ("value.price >=", ">= needs a field before it and a value behind it, such as value.id >= 7"),
        ("id:seven", "id:seven must have a number between 0 and 2147483647"),
        ("id:2147483648", "id:2147483648 must have a number between 0 and 2147483647"),
        ("a " * 21, "it has 21 conditions; at most 20 are read"),
    ],
)
def test_refuse(text: str, problem: str) -> None:
    with pytest.raises(BadFilter) as raised:
        read_filter(text)
    assert str(raised.value) == problem
