"""Data are converted for CEL by the types of their schema."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any
from uuid import UUID

import pytest

from compat.contracts.cel.declarations import evaluated
from compat.contracts.cel.errors import EvaluationFailed
from compat.contracts.cel.expression import compile_expression
from compat.contracts.cel.schema_types.types import schema_types
from compat.formats import parse
from compat.schema import AVRO, PROTOBUF
from tests.compat.contracts.cel.rule_schemas import SCHEMAS, TYPES


def test_data_are_converted_by_the_schema() -> None:
    variables = evaluated(TYPES[AVRO].rule())
    at = datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)
    boss = {"-type": "a.b.Person", "id": 2, "pay": 3, "any": {"no": 1, "price": 2}}
    message = {
        "id": 1,
        "pay": 2,
        "price": b"\x01\xf4",
        "at": 1_577_934_245_000,
        "local": datetime(2020, 1, 2, 3, 4, 5),  # noqa: DTZ001 - it is local
        "day": date(1970, 1, 11),
        "hour": time(1, 0, 0, 5000),
        "tick": time(0, 0, 1, 7),
        "uuid": UUID(int=5),
        "nick": ("string", "x"),
        "any": ("a.b.Line", {"no": 1, "price": 2}),
        "boss": boss,
        "lines": ({"no": 1, "price": 3},),
    }

    def result(text: str) -> Any:
        return compile_expression(text, variables).evaluate({"message": message})

    assert result("message.pay / 4.0") == 0.5
    assert result("string(message.price)") == "5.00"
    assert result("[message.at, message.local]") == [at, at]
    assert result("[message.day, message.hour, message.tick]") == [10, 3_600_005, 1_000_007]
    assert result("message.uuid.endsWith('0005') && message.nick == 'x'") is True
    assert result("message.any.price / 4.0") == 0.5
    assert result("message.boss.any.price") == 2.0
    assert result("message.lines[0].price / 2.0") == 1.5
    assert result("message['first-name']") == "Ada"
    assert result("message.raw") == b"\xff"
    assert result("message.notes == null && has(message.boss) && !has(message.kind)") is True
    whole = result("message")
    assert (whole["boss"]["pay"], "-type" in whole["boss"], whole["in"]) == (3.0, False, 5)
    assert message["any"] == ("a.b.Line", {"no": 1, "price": 2})


def test_a_timestamp_out_of_range_fails() -> None:
    expression = compile_expression("message.at < now", evaluated(TYPES[AVRO].rule()))
    with pytest.raises(EvaluationFailed, match="beyond the years 1 to 9999"):
        expression.evaluate({"message": {"at": 10**30}, "now": datetime(2020, 1, 1, tzinfo=UTC)})


def test_protobuf_messages_are_themselves() -> None:
    schema = parse(SCHEMAS[PROTOBUF])
    assert schema.schema_type == PROTOBUF
    note = schema.message_class()  # type: ignore[attr-defined]
    variables = evaluated(schema_types(schema).rule())
    message = note(id=3, name="a\0b", count=7, lines=[note.Line(no=4)], counts={"x\0": 2}, raw=b"\0\1")
    message.price.value, message.price.scale = b"\x0f", 1
    message.at.seconds = 5

    def result(text: str) -> Any:
        return compile_expression(text, variables).evaluate({"message": message})

    assert result("message") == message
    assert result("message.lines[0]") == note.Line(no=4)
    assert result("[message.id, message.name, message.raw, message.counts]") == [3, "a\0b", b"\0\1", {"x\0": 2}]
    assert result("[has(message.nick), has(message.next), has(message.at), has(message.id)]") == [
        False,
        False,
        True,
        True,
    ]
    assert result("message.count + 1u == 8u && message.kind == 0 && message.next.next.id == 0") is True
    assert result("message.price == decimal('1.50') && string(message.price) == '1.5'") is True
    assert result("a.b.Note{id: message.id + 1}") == note(id=4)
    assert (dict(message.counts), len(message.lines)) == ({"x\0": 2}, 1)
