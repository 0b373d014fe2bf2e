"""Checks of expressions with the types of a schema."""

from __future__ import annotations

import json

import pytest

from compat.contracts.cel.checking import check_expression
from compat.contracts.cel.declarations import evaluated
from compat.contracts.cel.errors import ExpressionInvalid
from compat.contracts.cel.expression import compile_expression
from compat.contracts.cel.schema_types.types import schema_types
from compat.formats import parse
from compat.schema import AVRO, JSON, PROTOBUF, Dependency, SchemaText
from tests.compat.contracts.cel.rule_schemas import LINE, SCHEMAS, TYPES


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (AVRO, "message.id > 3.5 && message.id == 4.0 && message.id != null"),
        (AVRO, "message.nick == null || message.nick.size() > 2"),
        (AVRO, "message.at < now && message.local < message.at"),
        (AVRO, "message.day > 1 && message.hour > 1 && message.tick > 1"),
        (AVRO, "decimals.gt(message.price, decimal('1')) && message.price == decimal(1)"),
        (AVRO, "message.uuid.isUuid() && message.kind == 'A' && message.hash == b'ab'"),
        (AVRO, "message.boss == null || message.boss.boss.id > 3"),
        (AVRO, "message.lines.all(l, l.no > 0 && l.price > 1) && message.lines[0].price * 2.0 > 1.0"),
        (AVRO, "message.counts['a'] > 1 && message.counts.all(k, k.size() > 1)"),
        (AVRO, "message.grid[0][1] == 1 && message.grid.all(r, r.size() > 1)"),
        (AVRO, "message.notes == null || message.notes[0] == 'a'"),
        (AVRO, "message.any == 'x' || message.any == 3 || message.any.no > 3"),
        (AVRO, "message['first-name'] == 'x' && 'id' in message && message['id'] == 3"),
        (AVRO, "message.`first-name` == 'x' && message['in'] == 5 && size(message) > 3"),
        (AVRO, "message.exists(name, name == 'id') && message.boss == {'id': 1}"),
        (JSON, "message.id > 3.5 && message.pay > 1 && message.pay * 2.0 > 1.0"),
        (JSON, "message.kind == 'A' && message.mixed == 1 && message.one == 1"),
        (JSON, "message.nick == null && message.name == null && message.either == 3"),
        (JSON, "message.maybe == null || message.maybe.zip == 'x'"),
        (JSON, "message.address.zip == 'x' && message.both.zip + message.both.street == 'x'"),
        (JSON, "message.tags.all(t, t != 'x') && message.pair[1] == 3"),
        (JSON, "message.open.b == 3 && message.counts.a == 3 && has(message.sub.sub.id)"),
        (PROTOBUF, "message.id > 3.5 && message.count == 3 && message.kind == 1"),
        (PROTOBUF, "has(message.nick) && message.next.next.id == 1"),
        (PROTOBUF, "message.lines.all(l, l.no > 0) && message.counts['a'] > 1 && message.at < now"),
        (PROTOBUF, "message.price == decimal('1') && message.text == 'x' && message.raw == b'a'"),
    ],
)
def test_expressions_of_the_right_types_pass(kind: str, text: str) -> None:
    assert check_expression(text, TYPES[kind].rule()).result_type == "bool"


@pytest.mark.parametrize(
    ("kind", "text", "column", "detail"),
    [
        (AVRO, "message.idd == 1", 8, "undefined field 'idd' not found in struct 'Person'"),
        (AVRO, "has(message.idd)", 4, "undefined field 'idd' not found in struct 'Person'"),
        (AVRO, "message.boss.boss.idd", 18, "undefined field 'idd' not found in struct 'Person'"),
        (AVRO, "message.lines[0].noo", 17, "undefined field 'noo' not found in struct 'Line'"),
        (AVRO, "message.lines.all(l, l.noo > 1)", 23, "undefined field 'noo' not found in struct 'Line'"),
        (AVRO, "message.id == 'x'", 12, "'_==_' applied to '(wrapper(int), string)': message.id"),
        (AVRO, "true && message.name > 3", 22, "'_>_' applied to '(wrapper(string), int)': message.name"),
        (AVRO, "message.price > 1", 15, "'_>_' applied to '(confluent.type.Decimal, int)': message.price"),
        (AVRO, "message.at > 1", 12, "'_>_' applied to '(google.protobuf.Timestamp, int)': message.at"),
        (AVRO, "message.kind == 1", 14, "'_==_' applied to '(wrapper(string), int)': message.kind"),
        (AVRO, "message.counts.a == 'x'", 18, "'_==_' applied to '(wrapper(int), string)': message.counts.a"),
        (AVRO, "message.lines.all(l, l.no == 'x')", 27, "'(wrapper(int), string)': message.lines[].no"),
        (AVRO, "message.boss == 3", 14, "'_==_' applied to '(Person, int)': message.boss"),
        (AVRO, "message.id.isEmail()", 19, "'isEmail' applied to '(wrapper(int))': message.id"),
        (AVRO, "message.lines == {'a': 1}", 15, "'_==_' applied to '(list(Line), map(string, int))': message.lines"),
        (AVRO, "messag.id", 7, "undeclared reference to 'messag.id'"),
        (AVRO, "message['first-name'] == 'x' && message.id == 1 && nope", 52, "undeclared reference to 'nope'"),
        (JSON, "message.address.zipp == 'x'", 16, "undefined field 'zipp' not found in struct 'Address'"),
        (JSON, "message.both.zipp == 'x'", 13, "undefined field 'zipp' not found in struct 'both'"),
        (JSON, "message.sub.idd", 12, "undefined field 'idd' not found in struct"),
        (JSON, "message.kind == 1", 14, "'_==_' applied to '(wrapper(string), int)': message.kind"),
        (JSON, "message.tags.all(t, t == 1)", 23, "'_==_' applied to '(wrapper(string), int)': message.tags[]"),
        (PROTOBUF, "message.idd", 8, "undefined field 'idd' not found in struct 'a.b.Note'"),
        (PROTOBUF, "message.count == 'x'", 15, "'_==_' applied to '(uint, string)': message.count"),
        (PROTOBUF, "message.kind == 'A'", 14, "'_==_' applied to '(int, string)': message.kind"),
    ],
)
def test_a_mistake_is_refused_with_place_and_field(kind: str, text: str, column: int, detail: str) -> None:
    with pytest.raises(ExpressionInvalid) as invalid:
        check_expression(text, TYPES[kind].rule())
    assert (invalid.value.line, invalid.value.column) == (1, column)
    assert detail in invalid.value.detail


@pytest.mark.parametrize(
    ("kind", "full_name", "accepted", "refused"),
    [
        (AVRO, "a.b.Person.id", "value > 3 && message.name == 'x' && typeName == 'LONG'", "value == 'x'"),
        (AVRO, "a.b.Line.no", "message.price > 1 && 'PII' in tags && name == 'no'", "message.id == 3"),
        (AVRO, "a.b.Person.notes", "value.size() > 2 && fullName.startsWith('a')", "value > 3"),
        (AVRO, "a.b.Person.counts", "value > 3", "value == 'x'"),
        (AVRO, "a.b.Person.at", "value < now", "value > 3"),
        (AVRO, "a.b.Person.any", "value == 3 || value == 'x'", "valu == 3"),
        (AVRO, "unknown", "value == 3 && message.x == 1", "tags == 3"),
        (JSON, "$.address.zip", "value.size() > 2 && message.zip == value", "value > 3"),
        (JSON, "$.tags", "value.size() > 2", "value > 3"),
        (PROTOBUF, "a.b.Note.name", "value.size() > 2 && message.id > 1", "value > 3"),
        (PROTOBUF, "a.b.Note.counts", "value > 3", "value == 'x'"),
        (PROTOBUF, "a.b.Note.count", "value > -3", "value == 'x'"),
        (PROTOBUF, "a.b.Note.raw", "value == b'x'", "value == 'x'"),
        (PROTOBUF, "a.b.Note.at", "value < now", "value == 3"),
    ],
)
def test_field_rules_have_the_types_of_the_field(kind: str, full_name: str, accepted: str, refused: str) -> None:
    variables = TYPES[kind].field_rule(full_name)
    assert check_expression(accepted, variables).result_type == "bool"
    with pytest.raises(ExpressionInvalid):
        check_expression(refused, variables)


def test_unsigned_fields_are_int_unless_the_rule_asks_for_uint() -> None:
    schema = parse(SCHEMAS[PROTOBUF])
    signed = evaluated(schema_types(schema).field_rule("a.b.Note.count"))
    unsigned = evaluated(schema_types(schema, unsigned="uint").field_rule("a.b.Note.count"))
    assert compile_expression("value - 8", signed).evaluate({"value": 7}) == -1
    assert compile_expression("value + 1u", unsigned).evaluate({"value": 7}) == 8


def test_another_message_of_a_file_may_be_the_type() -> None:
    assert check_expression("message.flag", TYPES[PROTOBUF].rule("a.b.Other")).result_type == "bool"


def test_types_of_references_are_known() -> None:
    root = SchemaText(AVRO, json.dumps({"type": "record", "name": "R", "fields": [{"name": "line", "type": "Line"}]}))
    types = schema_types(root, (Dependency("Line", json.dumps(LINE)),))
    assert check_expression("message.line.no > 1", types.rule()).result_type == "bool"
    with pytest.raises(ExpressionInvalid, match="undefined field 'id'"):
        check_expression("message.line.id > 1", types.rule())


def test_names_that_differ_in_case_and_underscores_have_a_type_each() -> None:
    fields = [{"name": name, "type": {"type": "map", "values": "int"}} for name in ("a_b", "aB", "AB", "a__b")]
    types = schema_types(SchemaText(AVRO, json.dumps({"type": "record", "name": "list", "fields": fields})))
    check_expression("message.a_b.x == 1 && message.aB.x == 1 && message.AB.x == 1", types.rule())
