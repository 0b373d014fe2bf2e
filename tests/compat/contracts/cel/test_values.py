"""Values go into the engine and come back the same."""

from __future__ import annotations

import dataclasses
import math
from collections import OrderedDict
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat.contracts.cel.declarations import field_variables
from compat.contracts.cel.errors import EvaluationFailed
from compat.contracts.cel.expression import compile_expression

SAME = compile_expression("value == value", field_variables())
BACK = compile_expression("value", field_variables())
INSIDE = compile_expression("{'a': [value]}.a[0]", field_variables())
KIND = compile_expression("type(value) == int ? 'int' : type(value) == uint ? 'uint' : 'other'", field_variables())


class Color(Enum):
    RED = "red"


class Size(IntEnum):
    BIG = 3


class Text(str):
    __slots__ = ()


@dataclasses.dataclass
class Address:
    zip: str
    since: date


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (2**63 - 1, 2**63 - 1),
        (-(2**63), -(2**63)),
        (1.5, 1.5),
        (math.inf, math.inf),
        ("", ""),
        ("a\0b", "a\0b"),
        ("\0", "\0"),
        ("\u00e9\U0001f600", "\u00e9\U0001f600"),
        (Text("a\0"), "a\0"),
        (b"", b""),
        (b"\0\xff", b"\0\xff"),
        (b"a\0b", b"a\0b"),
        (bytearray(b"a\0"), b"a\0"),
        (memoryview(b"\0b"), b"\0b"),
        (datetime(2020, 1, 2, 3, 4, 5, 678901), datetime(2020, 1, 2, 3, 4, 5, 678901, UTC)),  # noqa: DTZ001 - naive
        (datetime(2020, 1, 1, 1, tzinfo=timezone(timedelta(hours=2))), datetime(2019, 12, 31, 23, tzinfo=UTC)),
        (datetime(1, 1, 1, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)),
        (datetime(9999, 12, 31, 23, 59, 59, 999999, UTC), datetime(9999, 12, 31, 23, 59, 59, 999999, UTC)),
        (timedelta(days=-1, microseconds=3), timedelta(days=-1, microseconds=3)),
        (date(1969, 12, 31), -1),
        (time(0, 0, 1, 5), 1_000_005),
        (Decimal("-12.50"), Decimal("-12.50")),
        (Decimal("1E+3"), Decimal("1E+3")),
        (Decimal(0), Decimal(0)),
        (UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        (Color.RED, "red"),
        (Size.BIG, 3),
        ((1, "a\0"), [1, "a\0"]),
        ({1}, [1]),
        (OrderedDict(a=(1, 2)), {"a": [1, 2]}),
        (MappingProxyType({"a": Decimal("1.5")}), {"a": Decimal("1.5")}),
        ({1: "a", 2: "b"}, {1: "a", 2: "b"}),
        (Address("8000", date(1970, 1, 2)), {"zip": "8000", "since": 1}),
        ([[None, {"a": b"\0"}]], [[None, {"a": b"\0"}]]),
    ],
)
def test_values_come_back(value: Any, expected: Any) -> None:
    assert SAME.evaluate({"value": value}) is True
    for expression in (BACK, INSIDE):
        found = expression.evaluate({"value": value})
        assert found == expected
        assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("value", "detail"),
    [
        (2**63, "an integer beyond 64 bits has no form in CEL"),
        ([{"a": -(2**63) - 1}], "an integer beyond 64 bits has no form in CEL"),
        ("\ud800", "a text with half of a surrogate pair has no form in CEL"),
        ({"\0": 1}, "a map key with a NUL character has no form in CEL"),
        ({1.5: 1}, "a map key of type float has no form in CEL"),
        ({None: 1}, "a map key of type NoneType has no form in CEL"),
        (Decimal("NaN"), "a decimal that is not finite has no form in CEL"),
        (timedelta.max, "Duration ..."),
        (object(), "a value of type object has no form in CEL"),
        (1j, "a value of type complex has no form in CEL"),
    ],
)
def test_values_without_a_form_fail_and_are_not_quoted(value: Any, detail: str) -> None:
    with pytest.raises(EvaluationFailed) as failed:
        BACK.evaluate({"value": value})
    assert str(failed.value) == detail


def test_an_int_is_never_taken_for_uint() -> None:
    assert [KIND.evaluate({"value": value}) for value in (0, 2**63 - 1, -1, 1.0)] == ["int", "int", "int", "other"]


def test_nan_is_not_equal_to_itself() -> None:
    assert SAME.evaluate({"value": math.nan}) is False


AVRO_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.binary()
    | st.decimals(allow_nan=False, allow_infinity=False, places=3)
    | st.datetimes(timezones=st.just(UTC)),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), inner, max_size=4)
    ),
    max_leaves=10,
)


@settings(max_examples=300, deadline=None)
@given(AVRO_VALUES)
def test_every_value_comes_back(value: Any) -> None:
    assert SAME.evaluate({"value": value}) is True
    assert BACK.evaluate({"value": value}) == value
    assert INSIDE.evaluate({"value": value}) == value
