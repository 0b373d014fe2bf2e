"""Avro JSON for people: decimals with their digits, dates and times in ISO-8601, and back."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from serdes.codec import DecodeError, EncodeError, compile_codec
from serdes.codec.readable import readable_decoder, readable_encoder
from serdes.json_bytes import WrittenFloat, has_long_numbers, loads_written


def logical(kind: str, logical_type: str, /, **members: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": logical_type, **members}


DECIMAL = logical("bytes", "decimal", precision=30, scale=4)
DURATION = logical("fixed", "duration", name="D", size=12)


def encode(schema: Any, text: str) -> bytes:
    value = json.loads(text, parse_float=WrittenFloat)
    return readable_encoder(compile_codec(json.dumps(schema)), plain_unions=True, defaults=False)(value)


def decode(schema: Any, message: bytes, *, plain_unions: bool = True) -> str:
    return readable_decoder(compile_codec(json.dumps(schema)), plain_unions=plain_unions)(message, 0).decode()


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (DECIMAL, '"-12345678901234567890123456.7890"'),
        (DECIMAL, '"0.0000"'),
        (logical("bytes", "decimal", precision=4), '"1234"'),
        (logical("fixed", "decimal", precision=5, scale=5, name="F", size=3), '"-0.00001"'),
        (logical("int", "date"), '"2024-02-29"'),
        (logical("int", "time-millis"), '"23:59:59.999"'),
        (logical("long", "time-micros"), '"00:00:00.000001"'),
        (logical("long", "timestamp-millis"), '"1969-12-31T23:59:59.999Z"'),
        (logical("long", "timestamp-micros"), '"2013-01-01T05:00:00.000001Z"'),
        (logical("long", "local-timestamp-millis"), '"2013-01-01T05:00:00.001"'),
        (logical("long", "timestamp-millis"), "9223372036854775807"),
        (logical("string", "uuid"), '"f81d4fae-7dec-11d0-a765-00a0c91e6bf6"'),
        (["null", DECIMAL], "null"),
        (DURATION, '{"months":1,"days":2,"milliseconds":4294967295}'),
        (["null", "int", DURATION], '{"months":0,"days":0,"milliseconds":0}'),
        (["null", "int", DECIMAL], '"1.0000"'),
    ],
)
def test_a_value_survives(schema: Any, text: str) -> None:
    assert decode(schema, encode(schema, text)) == text


def test_numbers_and_tags() -> None:
    assert decode(DECIMAL, encode(DECIMAL, "123456789012345678901.25")) == '"123456789012345678901.2500"'
    assert decode(DECIMAL, encode(DECIMAL, "7")) == '"7.0000"'
    instant = logical("long", "timestamp-millis")
    assert decode(instant, encode(instant, '"2013-01-01T06:00:00+01:00"')) == '"2013-01-01T05:00:00.000Z"'
    assert decode(["null", DECIMAL], encode(["null", DECIMAL], '"1.5"'), plain_unions=False) == '{"bytes":"1.5000"}'


NUMBERS = st.from_regex(r"-?(0|[1-9][0-9]{0,19})(\.[0-9]{1,19})?([eE][-+]?[0-9]{1,2})?", fullmatch=True)


@given(text=NUMBERS)
@example("9007199254740993e0")
@example("-9007199254740993E-2")
@example("0.1234567890123456")
@example("1e-99")
def test_a_number_keeps_all_its_digits(text: str) -> None:
    schema = logical("bytes", "decimal", precision=300, scale=120)
    encode_value = readable_encoder(compile_codec(json.dumps(schema)), plain_unions=True, defaults=False)
    exact = msgspec.json.Decoder(float_hook=WrittenFloat).decode
    from_bytes = (exact if has_long_numbers(text.encode()) else msgspec.json.decode)(text)
    for value in (loads_written(text), from_bytes):
        assert Decimal(json.loads(decode(schema, encode_value(value)))) == Decimal(text)


@pytest.mark.parametrize(
    ("text", "may_have"),
    [
        ("1234567890123456", False),
        ("12345678901234567", True),
        ("-1.23456789012345", False),
        ("-1.234567890123456", True),
        ("1234567890123456e1", True),
        ("123456789012345E2", True),
        ("6.00000000001E+17", True),
        ("[-1e5]", True),
        ("1.5e-7", False),
        ('{"id":"550e8400-e29b-41d4-a716-446655440000"}', False),
        ('"1e5"', False),
        ("1.23456789012345E1", True),
        ("1e-99", False),
        ("1e-100", True),
        ("1E-100", True),
        ('"e-100 123 456 789 123 456 the-end"', False),
    ],
)
def test_texts_with_long_numbers(text: str, may_have: bool) -> None:
    assert has_long_numbers(text.encode()) is may_have


@given(text=NUMBERS)
@example("9007199254740993.0")
@example("12345678901234567e0")
@example("12345678901234567.5")
@example("9223372036854775808.0")
@example("6.00000000001E+17")
@example("123456789012345E2")
def test_a_long_is_the_number_that_was_written(text: str) -> None:
    codec = compile_codec('{"type":"record","name":"R","fields":[{"name":"n","type":"long"}]}')
    number, value = Decimal(text), {"n": loads_written(text)}
    for encode_value in (codec.json_to_avro, readable_encoder(codec, plain_unions=True, defaults=False)):
        if number == int(number) and -(2**63) <= number < 2**63:
            assert codec.decode(encode_value(value))["n"] == number
        else:
            with pytest.raises(EncodeError):
                encode_value(value)


def test_a_duration_has_its_three_parts_and_may_be_written_as_bytes() -> None:
    parts = '{"months":1,"days":2,"milliseconds":770}'
    stored = bytes.fromhex("010000000200000002030000")
    assert decode(DURATION, stored) == parts
    assert encode(DURATION, parts) == stored
    assert encode(DURATION, json.dumps(stored.decode("latin-1"))) == stored
    # Twelve bytes without the logical type are no duration.
    plain = {"type": "fixed", "name": "D", "size": 12}
    assert decode([plain, DECIMAL], b"\0" + stored) == json.dumps(stored.decode("latin-1"))


def test_a_decimal_beyond_its_precision_keeps_its_digits() -> None:
    assert decode(logical("bytes", "decimal", precision=2), b"\x06\x01\xe2\x40") == '"123456"'
    digits = decode(logical("bytes", "decimal", precision=9, scale=1), b"\xf4\x1b" + b"\x7f" * 1786)
    assert len(digits) == 4304


@pytest.mark.parametrize("schema", [DECIMAL, ["null", DECIMAL]])
def test_a_decimal_with_too_many_bytes_is_refused(schema: Any) -> None:
    data = (b"" if schema is DECIMAL else b"\x02") + b"\xf6\x1b" + b"\x7f" * 1787
    with pytest.raises(DecodeError, match="a decimal of 1787 bytes; the limit is 1786 bytes, which have 4300 digits"):
        decode(schema, data)
    with pytest.raises(DecodeError, match="a decimal of 1787 bytes; the limit is 1786 bytes, which have 4300 digits"):
        compile_codec(json.dumps(schema)).decode(data)


def test_a_decimal_of_4300_digits_is_written_and_read() -> None:
    schema = logical("bytes", "decimal", precision=5000)
    digits = "9" * 4300
    stored = encode(schema, f'"{digits}"')
    assert decode(schema, stored) == f'"{digits}"'
    codec = compile_codec(json.dumps(schema))
    assert codec.decode(stored) == Decimal(digits)
    assert codec.encode(Decimal(digits)) == stored
    # The longest bytes that are read, whatever their digits.
    assert codec.decode(b"\xf4\x1b" + b"\x7f" * 1786) == int.from_bytes(b"\x7f" * 1786)


def test_a_decimal_beyond_its_precision_is_read_as_it_is() -> None:
    schema = logical("bytes", "decimal", precision=2, scale=1)
    assert compile_codec(json.dumps(schema)).decode(b"\x06\x01\xe2\x40") == Decimal("12345.6")


NO_DECIMAL = (
    'a decimal is written with its digits, such as "12.50"; with avro.logical.types=stored, as the text of its bytes'
)


@pytest.mark.parametrize(
    ("schema", "text", "detail"),
    [
        (DECIMAL, '"x"', NO_DECIMAL),
        (DECIMAL, '"\\u0004\\u00e2"', NO_DECIMAL),
        (DECIMAL, '""', NO_DECIMAL),
        (DECIMAL, '" 1"', NO_DECIMAL),
        (DECIMAL, '"1_0"', NO_DECIMAL),
        (DECIMAL, '"NaN"', NO_DECIMAL),
        (DECIMAL, "1e400", "405 digits exceed the precision 30, 4 of them behind the point"),
        (DECIMAL, '"12345678901234567890123456789"',
         "33 digits exceed the precision 30, 4 of them behind the point"),
        (DECIMAL, '"%s"' % ("1" * 5000), "5000 characters exceed the limit of 4300 digits"),
        (logical("bytes", "decimal", precision=5000), '"%s"' % ("1" * 4301),
         "4301 digits exceed the limit of 4300 digits"),
        (logical("bytes", "decimal", precision=5000), '"1e9999999999999999999"',
         "its exponent exceeds the limit of 4300 digits"),
        (logical("long", "timestamp-micros"), '"2013-01-01T05:00:00.1234567Z"',
         "it is more precise than a microsecond"),
        (DECIMAL, '"1.23456"', "5 decimals exceed the scale 4"),
        (DECIMAL, "true", ""),
        (logical("int", "date"), '"2024-02-30"', "it is no date in ISO-8601: day is out of range for month"),
        (logical("long", "timestamp-millis"), '"2013-01-01T05:00:00"',
         "timestamp-millis is written with a zone, such as Z"),
        (logical("long", "timestamp-millis"), '"2013-01-01T05:00:00.0001Z"', "it is more precise than a millisecond"),
        (logical("long", "local-timestamp-micros"), '"2013-01-01T05:00:00Z"',
         "local-timestamp-micros is written without a zone, such as Z"),
        (DURATION, '{"months":1}', "a duration has months, days and milliseconds"),
        (DURATION, '{"months":1,"days":-1,"milliseconds":0}',
         "the parts of a duration are whole numbers from 0 to 4294967295"),
        (DURATION, '{"months":1,"days":0,"milliseconds":4294967296}',
         "the parts of a duration are whole numbers from 0 to 4294967295"),
        (DURATION, '{"months":true,"days":0,"milliseconds":0}',
         "the parts of a duration are whole numbers from 0 to 4294967295"),
    ],
)  # fmt: skip
def test_a_text_without_a_valid_value(schema: Any, text: str, detail: str) -> None:
    with pytest.raises(EncodeError) as caught:
        encode(schema, text)
    assert caught.value.detail == detail
