"""The functions of rules beside those of CEL."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from compat.contracts.cel.declarations import field_variables
from compat.contracts.cel.errors import EvaluationFailed
from compat.contracts.cel.expression import compile_expression

LABEL = "a" * 63
URI, REFERENCE = "isUri", "isUriRef"


def result(text: str, value: Any = None) -> Any:
    return compile_expression(text, field_variables()).evaluate({"value": value})


@pytest.mark.parametrize(
    ("function", "accepted", "refused"),
    [
        (
            "isEmail",
            ["a@b.c", "a@b", "a.b+c@x-y.org", "a..b@c", f"a@{LABEL}.b"],
            [
                "",
                "a",
                "a@",
                "@b.c",
                "a b@c.d",
                "a@b@c",
                "Ada <a@b.c>",
                "a@-b.c",
                "a@b-.c",
                "a@b..c",
                "a@[1.2.3.4]",
                "a@b.c\n",
            ],
        ),
        (
            "isHostname",
            ["a", "example.com", "example.com.", "1.a", "a-b.c", f"{LABEL}.{LABEL}.{LABEL}.{LABEL[2:]}"],
            [
                "",
                ".",
                "-a.b",
                "a-.b",
                "a..b",
                "1.2.3.4",
                "a.1",
                "a.1.",
                "a_b.c",
                f"{LABEL}a.b",
                "ex\u00e4mple.com",
                "a\n",
                f"{LABEL}.{LABEL}.{LABEL}.{LABEL[1:]}",
            ],
        ),
        (
            "isIpv4",
            ["1.2.3.4", "255.255.255.255"],
            ["", "1.2.3", "256.1.1.1", "01.2.3.4", "::1", "1.2.3.4\n", "\u0661.2.3.4"],
        ),
        ("isIpv6", ["::1", "fe80::1%eth0", "::ffff:1.2.3.4"], ["", "1::2::3", "1.2.3.4", "::1%", "[::1]", "::g"]),
        (
            URI,
            [
                "https://a.b/c",
                "https://a.b",
                "mailto:a@b.c",
                "urn:isbn:1",
                "a:",
                "http://[::1]:80/a?b#c",
                "http://[v1.a]/",
                "http://[fe80::1%25eth0]/",
                "http://a/%41",
                "http://u:p@a:1",
                "file:///a",
            ],
            [
                "",
                "/a/b",
                "http://a b/c",
                "1a:b",
                "http://a/%zz",
                "http://[::1/",
                "http://[:::1]",
                "a:\u00e9",
                "a:b#c#d",
                "//a",
            ],
        ),
        (
            REFERENCE,
            ["", "/a/b", "a", "#f", "?q", "//a/b", "./1:b", "https://a.b/c"],
            ["1:b", "http://[::1/", "\u00e9", "a b"],
        ),
        (
            "isUuid",
            ["6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"],
            [
                "",
                "nope",
                "6ba7b8109dad11d180b400c04fd430c8",
                "{6ba7b810-9dad-11d1-80b4-00c04fd430c8}",
                "urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8",
                "6ba7b810-9dad-11d1-80b4-00c04fd430cg",
            ],
        ),
    ],
)
def test_formats(function: str, accepted: list[str], refused: list[str]) -> None:
    expression = compile_expression(f"value.{function}()", field_variables())
    assert [text for text in accepted if not expression.evaluate({"value": text})] == []
    assert [text for text in refused if expression.evaluate({"value": text})] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("decimal('-1.50')", "-1.50"),
        ("decimal('+.5e1')", "5"),
        ("decimal(3)", "3"),
        ("decimal(3u)", "3"),
        ("decimal(1.5)", "1.5"),
        ("decimal(decimal('2.0'))", "2.0"),
        ("decimal(b'\\001\\364', 2)", "5.00"),
        ("decimal(b'\\377', 1)", "-0.1"),
        ("decimal(b'', 2)", "0.00"),
        ("decimals.add(decimal('1.05'), decimal('1'))", "2.05"),
        ("decimals.sub(decimal('1'), decimal('1.5'))", "-0.5"),
        ("decimals.mul(decimal('1.5'), decimal('1.5'))", "2.25"),
        ("decimals.div(decimal(1), decimal(3))", "0.33333333333333333333333333333333333333"),
        ("decimals.div(decimal(2), decimal(3))", "0.66666666666666666666666666666666666667"),
        ("decimals.mod(decimal('-7.5'), decimal(2))", "-1.5"),
        ("decimals.mod(decimal('7.5'), decimal(-2))", "1.5"),
        ("decimals.sqrt(decimal(2))", "1.4142135623730950488016887242096980786"),
        ("decimals.neg(decimal('1.5'))", "-1.5"),
        ("decimals.abs(decimal('-1.5'))", "1.5"),
        ("decimals.greatest(decimal('1.5'), decimal(2))", "2"),
        ("decimals.least(decimal('1.5'), decimal(2))", "1.5"),
        ("decimals.round(decimal('2.345'), 2)", "2.35"),
        ("decimals.round(decimal('-2.5'))", "-3"),
        ("decimals.round(decimal('1234'), -2)", "1200"),
        ("decimals.trunc(decimal('-2.39'), 1)", "-2.3"),
        ("decimals.trunc(decimal('2.3'), 4)", "2.3"),
        ("decimals.trunc(decimal('2.9'))", "2"),
        ("decimals.floor(decimal('-2.1'))", "-3"),
        ("decimals.ceil(decimal('-2.9'))", "-2"),
    ],
)
def test_decimals(text: str, expected: str) -> None:
    assert format(result(text), "f") == expected
    assert result(f"string({text})") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("decimals.eq(value, decimal('1.500'))", True),
        ("decimals.lt(value, decimal(1))", False),
        ("decimals.le(value, decimal('1.5'))", True),
        ("decimals.gt(value, decimal(1))", True),
        ("decimals.ge(value, decimal('1.6'))", False),
        ("decimals.sign(value)", 1),
        ("decimals.sign(decimals.neg(value))", -1),
        ("decimals.sign(decimal(0))", 0),
        ("double(value)", 1.5),
        ("string(value)", "1.50"),
        ("string(2) + string(1.5) + string(true)", "21.5true"),
        ("double('1.5') + double(1)", 2.5),
    ],
)
def test_functions_from_decimals(text: str, expected: Any) -> None:
    assert result(text, Decimal("1.50")) == expected


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("decimal('1_0')", "no decimal"),
        ("decimal(' 1')", "no decimal"),
        ("decimal('NaN')", "no decimal"),
        ("decimal(1.0 / 0.0)", "no decimal"),
        ("decimal(true)", "from a bool"),
        ("decimal(null)", "from a NoneType"),
        ("decimal(b'a')", "bytes need a scale"),
        ("decimal('1e99999')", "too large an exponent"),
        ("decimal(b'a', 100000)", "too large"),
        ("decimals.round(decimal(1), 100000)", "too large"),
        ("decimals.mod(decimal(1), decimal(0))", "division by zero"),
        ("decimals.sqrt(decimal(-1))", "negative"),
        ("decimals.mul(decimal(value), decimal(value))", "too many digits"),
    ],
)
def test_a_decimal_function_fails_for_other_values(text: str, detail: str) -> None:
    with pytest.raises(EvaluationFailed, match=detail):
        result(text, "9" * 4_000)


AT = datetime(2020, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
MILLIS = 1_577_934_245_678


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("timestamp.of(value)", AT),
        ("timestamp.of('2020-01-02T04:04:05.678+01:00')", AT),
        ("timestamp.of(5)", datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)),
        (f"timestamp.of({MILLIS // 1000}, 'seconds')", AT.replace(microsecond=0)),
        (f"timestamp.of({MILLIS}, 'millis')", AT),
        (f"timestamp.of({MILLIS}000, 'micros')", AT),
        (f"timestamp.of({MILLIS}000000, 'nanos')", AT),
        ("timestamp.of(-1, 'millis')", datetime(1969, 12, 31, 23, 59, 59, 999000, tzinfo=UTC)),
        (f"timestamp({MILLIS}, 3)", AT),
        ("timestamp(5)", datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)),
        ("timestamp('2020-01-02T03:04:05.678Z') == value", True),
    ],
)
def test_timestamps(text: str, expected: Any) -> None:
    assert result(text, AT) == expected


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("timestamp.of(1, 'hours')", "the unit is seconds, millis, micros or nanos"),
        ("timestamp.of('yesterday')", "no timestamp"),
        ("timestamp.of(true)", "from a bool"),
        ("timestamp(1, 4)", "precision"),
        ("timestamp.of(9223372036854775807, 'seconds')", "year"),
    ],
)
def test_a_timestamp_function_fails_for_other_values(text: str, detail: str) -> None:
    with pytest.raises(EvaluationFailed, match=detail):
        result(text)
