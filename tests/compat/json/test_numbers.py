"""Numbers of JSON Schemas are printed as Java's BigDecimal prints them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat.json.json_text import InvalidJson, dumps, loads
from compat.json.numbers import plain, to_doubles
from compat.schema import Position

AS_BIG_DECIMAL = [
    ("1.50", "1.50"),
    ("100.00", "100.00"),
    ("0.00001", "0.00001"),
    ("123456789.0", "123456789.0"),
    ("12345678901234567890.5", "12345678901234567890.5"),
    ("1e100", "1E+100"),
    ("1E2", "1E+2"),
    ("1e400", "1E+400"),
    ("-0.0", "0.0"),
    ("-0", "0"),
    ("0.1e1", "1"),
    ("12.5e1", "125"),
    ("1.5e3", "1.5E+3"),
    ("0.0000001", "1E-7"),
    ("1.0e-5", "0.000010"),
    ("-1.5e-7", "-1.5E-7"),
    ("0e3", "0E+3"),
    ("-0e-9", "0E-9"),
    ("1e-1000", "1E-1000"),
    ("12345678901234567890123", "12345678901234567890123"),
]


@pytest.mark.parametrize(("text", "printed"), AS_BIG_DECIMAL)
def test_numbers_keep_their_digits(text: str, printed: str):
    assert dumps(loads(f"[{text}]", decimals=True)) == f"[{printed}]"


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("1e1001", "A number's exponent is not between -1000 and 1000"),
        ("10e1000", "A number's exponent is not between -1000 and 1000"),
        ("1e-1001", "A number's exponent is not between -1000 and 1000"),
        ("0e1001", "A number's exponent is not between -1000 and 1000"),
        ("1e99999999999999999999999", "A number's exponent is not between -1000 and 1000"),
        ("0." + "1" * 999, "A number is longer than 1000 characters"),
    ],
)
def test_the_parser_refuses_numbers_that_take_too_long(text: str, detail: str):
    with pytest.raises(InvalidJson) as refused:
        loads(f"[1.5, {text}]", decimals=True)
    assert (refused.value.detail, refused.value.position) == (detail, Position(1, 7))


def to_string(unscaled: int, scale: int) -> str:
    """`BigDecimal.toString` as its documentation describes it."""
    digits = str(abs(unscaled))
    adjusted = len(digits) - 1 - scale
    if scale >= 0 and adjusted >= -6:
        digits = digits.rjust(scale + 1, "0")
        text = f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits
    else:
        mantissa = f"{digits[0]}.{digits[1:]}" if len(digits) > 1 else digits
        text = f"{mantissa}E{adjusted:+}"
    return f"-{text}" if unscaled < 0 else text


WRITTEN = st.from_regex(r"\A-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][-+]?[0-9]{1,2})?\Z")


@settings(max_examples=500)
@given(WRITTEN)
def test_any_number_is_printed_as_java_documents_it(text: str):
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    assert dumps(loads(text, decimals=True)) == to_string(int(whole + fraction), len(fraction) - int(exponent or 0))


@settings(max_examples=500)
@given(WRITTEN, st.integers(0, 5))
def test_equal_numbers_have_one_plain_form(text: str, zeros: int):
    number = Decimal(text)
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    longer = Decimal((sign, (*digits, *(0,) * zeros), exponent - zeros))
    assert repr(plain(longer)) == repr(plain(number))
    assert plain(number) == number
    assert isinstance(plain(number), int) == (number == number.to_integral_value())


def test_doubles_instead_of_exact_numbers():
    value = loads('{"a":[0.10,{"b":-1e400}],"c":12345678901234567890}', decimals=True)
    assert to_doubles(value) == {"a": [0.1, {"b": -(10**400)}], "c": 12345678901234567890}
