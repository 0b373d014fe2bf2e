"""One JSON form of Avro's logical types in `magicbyte produce` and `consume`, and in the console tools."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest


def logical(kind: str, logical_type: str, /, **members: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": logical_type, **members}


FIELDS = {
    "price": logical("bytes", "decimal", precision=12, scale=2),
    "rate": logical("fixed", "decimal", precision=4, scale=4, name="Rate", size=3),
    "maybe": ["null", logical("bytes", "decimal", precision=20, scale=0)],
    "day": logical("int", "date"),
    "at": logical("long", "timestamp-millis"),
    "local": logical("long", "local-timestamp-micros"),
    "time": logical("int", "time-millis"),
    "id": logical("string", "uuid"),
    "wait": logical("fixed", "duration", name="Wait", size=12),
}
SCHEMA = json.dumps(
    {"type": "record", "name": "Sale", "fields": [{"name": name, "type": kind} for name, kind in FIELDS.items()]}
)
UUID = "12345678-1234-1234-1234-123456789012"
TEXTS = {
    "price": "12.50",
    "rate": "-0.1234",
    "maybe": {"bytes": "12345678901234567890"},
    "day": "2026-11-23",
    "at": "2026-11-23T20:00:00.001Z",
    "local": "2026-11-23T20:00:00.000001",
    "time": "20:00:00.001",
    "id": UUID,
    "wait": {"months": 0, "days": 0, "milliseconds": 0},
}
STORED = {
    "price": "\x04\xe2",
    "rate": "\xff\xfb\x2e",
    "maybe": {"bytes": "\0\xabT\xa9\x8c\xeb\x1f\n\xd2"},
    "day": 20780,
    "at": 1795464000001,
    "local": 1795464000000001,
    "time": 72000001,
    "id": UUID,
    "wait": "\0" * 12,
}
BYTES = (
    b"\x04\x04\xe2"
    b"\xff\xfb\x2e"
    b"\x02\x12\x00\xabT\xa9\x8c\xeb\x1f\n\xd2"
)  # fmt: skip

Stored = Callable[[str], list[Any]]


def line(value: dict[str, Any]) -> str:
    return json.dumps(value) + "\n"


def test_the_console_tools_write_and_read_texts(tools: Any, topic: str, stored: Stored):
    assert tools.produce("avro", topic, lines=line(TEXTS), value_schema=SCHEMA).code == 0
    assert stored(topic)[0].value()[5 : 5 + len(BYTES)] == BYTES
    shown = tools.consume("avro", topic, "--from-beginning", "--max-messages", "1")
    assert json.loads(shown.out) == TEXTS
    shown = tools.consume("avro", topic, "--from-beginning", "--max-messages", "1", avro_logical_types="stored")
    assert json.loads(shown.out) == STORED


def test_the_console_tools_write_the_stored_form_if_the_property_says_so(tools: Any, topic: str, stored: Stored):
    done = tools.produce("avro", topic, lines=line(STORED), value_schema=SCHEMA, avro_logical_types="stored")
    assert done.code == 0
    assert stored(topic)[0].value()[5 : 5 + len(BYTES)] == BYTES


def test_the_commands_write_and_read_texts(tools: Any, topic: str, stored: Stored):
    plain = {**TEXTS, "maybe": TEXTS["maybe"]["bytes"]}
    numbers = line(plain).replace('"12.50"', "12.50").replace('"12345678901234567890"', "12345678901234567890")
    assert tools.magicbyte("produce", topic, "--value-schema", SCHEMA, lines=line(plain) + numbers).code == 0
    assert {message.value()[5 : 5 + len(BYTES)] for message in stored(topic)} == {BYTES}
    values = ("--until-end", "--output", "values")
    assert [json.loads(text) for text in tools.magicbyte("consume", topic, *values).out.splitlines()] == [plain] * 2
    as_stored = tools.magicbyte("consume", topic, *values, "--property", "avro.logical.types=stored").out
    assert json.loads(as_stored.splitlines()[0]) == {**STORED, "maybe": STORED["maybe"]["bytes"]}


def test_a_property_with_another_value_is_refused(tools: Any, topic: str):
    done = tools.magicbyte("produce", topic, "--value-schema", SCHEMA, "--property", "avro.logical.types=raw")
    assert done.code != 0
    assert "avro.logical.types must be text or stored, not raw" in done.err.replace(":", "")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ('"12.505"', "3 decimals exceed the scale 2"),
        ("12.505", "3 decimals exceed the scale 2"),
        ("10000000000", "13 digits exceed the precision 12, 2 of them behind the point"),
        ('"\\u0004\\u00e2"', "with avro.logical.types=stored, as the text of its bytes"),
        ("0.100000000000000000001", "21 decimals exceed the scale 2"),
        ("1e-400", "400 decimals exceed the scale 2"),
        ("1" * 4301, "a number of more than 4300 digits"),
        ("true", "does not fit bytes (decimal)"),
    ],
)
def test_a_decimal_that_does_not_fit_is_refused(tools: Any, topic: str, value: str, reason: str):
    schema = json.dumps({"type": "record", "name": "R", "fields": [{"name": "price", "type": FIELDS["price"]}]})
    lines = f'{{"price": {value}}}\n'
    done = tools.magicbyte("produce", topic, "--value-schema", schema, "--dry-run", lines=lines)
    assert done.code == 1
    assert reason in done.err
