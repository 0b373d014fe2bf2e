"""Validation rules that stand in schemas."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict

from compat.schema import Dependencies, Dependency, Reference, SchemaText
from serdes import SerializationContext
from serdes.avro import AvroSerializer
from serdes.client.clients import RegistryClient
from serdes.error import ConfigError, SchemaCompileError, SerializationError
from serdes.message.protobuf_schema import parse
from serdes.rules.context import Ruled
from serdes.rules.inline.inspection import inspection
from serdes.rules.inline.rule import ValidationRulesFailed


def rules(**expressions: str) -> dict[str, Any]:
    return {"confluent:rules": [{"name": name, "expr": text} for name, text in expressions.items()]}


def violations(
    schema_type: str, schema: Any, value: Any, *, fail_fast: bool = False, dependencies: Dependencies = ()
) -> list[str]:
    """The lines of the violations; empty if there are none."""
    references = tuple(Reference(other.name, other.name, 1) for other in dependencies)
    text = SchemaText(schema_type, schema if isinstance(schema, str) else json.dumps(schema), references)
    inspect = inspection(Ruled("the schema", text, dependencies=dependencies), fail_fast=fail_fast)
    assert inspect is not None
    try:
        inspect(value)
    except ValidationRulesFailed as error:
        return str(error).splitlines()
    return []


ADDRESS = {
    "type": "record",
    "name": "Address",
    "fields": [
        {
            "name": "zip",
            "type": "string",
            "confluent:rules": [{"doc": "five digits", "expr": "this.matches('^[0-9]{5}$')"}],
        }
    ],
}
PERSON = {
    "type": "record",
    "name": "Person",
    "namespace": "com.acme",
    **rules(order="this.a <= this.b"),
    "fields": [
        {"name": "a", "type": "int"},
        {"name": "b", "type": "int", **rules(positive="this > 0 ? '' : 'must be positive'")},
        {"name": "addr", "type": ["null", ADDRESS], "default": None},
        {"name": "tags", "type": {"type": "array", "items": "Address"}, "default": []},
        {"name": "scores", "type": {"type": "map", "values": "Address"}, "default": {}},
        {"name": "raw", "type": ["null", "bytes"], "default": None, **rules(short="size(this) < 3")},
        {
            "name": "at",
            "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}],
            "default": None,
            **rules(past="this < now"),
        },
    ],
}
WRONG = {
    "a": 3,
    "b": -2,
    "addr": {"zip": "x"},
    "tags": [{"zip": "12345"}, {"zip": "1"}],
    "scores": {"foo": {"zip": ""}},
    "raw": b"\x00\xff\x00",
    "at": datetime(2999, 1, 1, tzinfo=UTC),
}


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ({"a": 1, "b": 2}, []),
        ({"a": 1, "b": 2, "addr": None, "raw": None}, []),
        ({"a": 1, "b": 2, "addr": ("com.acme.Address", {"zip": "12345"})}, []),
        (None, []),
        (
            WRONG,
            [
                "Validation rule failed (7 violations):",
                "  - <root>: order: this.a <= this.b",
                "  - b: positive: must be positive",
                "  - addr.zip: unnamed: five digits",
                "  - tags[1].zip: unnamed: five digits",
                '  - scores["foo"].zip: unnamed: five digits',
                "  - raw: short: size(this) < 3",
                "  - at: past: this < now",
            ],
        ),
        (
            {"a": 1, "b": 2, "addr": ("com.acme.Address", {"zip": "x"})},
            ["Validation rule failed (1 violation):", "  - addr.zip: unnamed: five digits"],
        ),
        (
            {"a": "hunter2", "b": 2},
            [
                "Validation rule failed (1 violation):",
                "  - <root>: order: this.a <= this.b (caused by: No matching overloads found : _<=_(string, int64))",
            ],
        ),
    ],
)
def test_avro(value: Any, lines: list[str]) -> None:
    assert violations("AVRO", PERSON, value) == lines


def test_the_first_violation_may_end_the_check() -> None:
    first = ["Validation rule failed (1 violation):", "  - <root>: order: this.a <= this.b"]
    assert violations("AVRO", PERSON, WRONG, fail_fast=True) == first


def test_recursive_and_referenced_types() -> None:
    tree = {
        "type": "record",
        "name": "T",
        "fields": [
            {"name": "v", "type": "int", **rules(positive="this > 0")},
            {"name": "next", "type": ["null", "T"]},
            {"name": "kids", "type": {"type": "array", "items": "T"}},
        ],
    }
    value = {"v": 1, "next": {"v": 0, "next": None, "kids": [{"v": -1, "next": None, "kids": []}]}, "kids": []}
    lines = ["Validation rule failed (2 violations):", "  - next.v: positive: this > 0"]
    lines.append("  - next.kids[0].v: positive: this > 0")
    assert violations("AVRO", tree, value) == lines
    holder = {"type": "record", "name": "H", "fields": [{"name": "t", "type": "T"}]}
    lines = ["Validation rule failed (1 violation):", "  - t.v: positive: this > 0"]
    small = {"t": {"v": 0, "next": None, "kids": []}}
    assert violations("AVRO", holder, small, dependencies=(Dependency("T", json.dumps(tree)),)) == lines
    deep: dict[str, Any] = {"v": 1, "next": None, "kids": []}
    for _ in range(20_000):
        deep = {"v": 1, "next": deep, "kids": []}
    with pytest.raises(SerializationError, match="nested too deeply for the validation rules of the schema"):
        violations("AVRO", tree, deep)


JSON_SCHEMA = {
    "type": "object",
    **rules(one="this.a == 1"),
    "properties": {
        "a": {"type": "integer"},
        "addr": {
            "type": "object",
            **rules(has="has(this.zip)"),
            "properties": {"zip": {"type": "string", **rules(two="size(this) == 2")}},
        },
        "tags": {"type": "array", "items": {"type": "string", **rules(x="this != 'x'")}},
        "m": {"type": "object", "additionalProperties": {"type": "integer", **rules(positive="this > 0")}},
        "c": {"oneOf": [{"type": "string", **rules(s="size(this) > 1")}, {"type": "integer", **rules(i="this > 5")}]},
        "r": {"$ref": "#/definitions/R"},
        "both": {"allOf": [{"type": "integer", **rules(low="this > 0")}, rules(high="this < 9")]},
    },
    "definitions": {"R": {"type": "integer", **rules(r="this > 5")}},
}


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ({"a": 1, "addr": {"zip": "ab"}, "tags": [], "m": {"k": 1}, "c": "ab", "r": 6, "both": 5}, []),
        ({"a": 1, "addr": None}, []),
        (
            {"a": 2, "addr": {"zip": "abc"}, "tags": ["a", "x"], "m": {"foo": 0}, "c": "a", "r": 1, "both": 9},
            [
                "Validation rule failed (7 violations):",
                "  - $: one: this.a == 1",
                "  - $.addr.zip: two: size(this) == 2",
                "  - $.tags[1]: x: this != 'x'",
                '  - $.m["foo"]: positive: this > 0',
                "  - $.c: s: size(this) > 1",
                "  - $.r: r: this > 5",
                "  - $.both: high: this < 9",
            ],
        ),
        (
            {"a": 1, "c": 1, "addr": {}},
            ["Validation rule failed (2 violations):", "  - $.addr: has: has(this.zip)", "  - $.c: i: this > 5"],
        ),
    ],
)
def test_json(value: Any, lines: list[str]) -> None:
    assert violations("JSON", JSON_SCHEMA, value) == lines


PROTOBUF = """
syntax = "proto3";
package com.acme;
import "confluent/meta.proto";
import "google/protobuf/timestamp.proto";
message Address {
  option (confluent.message_meta) = { rules: [{ name: "m", expr: "this.zip != 'bad'" }] };
  string zip = 1 [(confluent.field_meta).rules = { name: "z", doc: "two", expr: "size(this) == 2" }];
}
message Person {
  int32 a = 1 [(confluent.field_meta) = {
    rules: [{ name: "low", expr: "this > 0" }, { expr: "this < 10 ? '' : 'too large'" }]
  }];
  Address addr = 2;
  repeated Address others = 3 [(confluent.field_meta).rules = { name: "all", expr: "this.all(x, x.zip != 'q')" }];
  map<string, Address> by = 4;
  repeated string tags = 5 [(confluent.field_meta).rules = { name: "t", expr: "this.all(x, x != '')" }];
  optional int32 o = 6 [(confluent.field_meta).rules = { name: "o", expr: "this > 0" }];
  google.protobuf.Timestamp at = 7 [(confluent.field_meta).rules = { name: "past", expr: "this < now" }];
}
"""


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ({"a": 1}, []),
        ({}, ["Validation rule failed (1 violation):", "  - a: low: this > 0"]),
        (
            {
                "a": 11, "addr": {"zip": "bad"}, "others": [{"zip": "ab"}, {"zip": "q"}], "by": {"k": {"zip": ""}},
                "tags": ["a", ""], "o": 0, "at": "2999-01-01T00:00:00Z",
            },
            [
                "Validation rule failed (9 violations):",
                "  - a: unnamed: too large",
                "  - addr: m: this.zip != 'bad'",
                "  - addr.zip: z: two",
                "  - others: all: this.all(x, x.zip != 'q')",
                "  - others[1].zip: z: two",
                '  - by["k"].zip: z: two',
                "  - tags: t: this.all(x, x != '')",
                "  - o: o: this > 0",
                "  - at: past: this < now",
            ],
        ),
    ],
)  # fmt: skip
def test_protobuf(value: Any, lines: list[str]) -> None:
    message = parse(SchemaText("PROTOBUF", PROTOBUF)).message_class("com.acme.Person")
    assert violations("PROTOBUF", PROTOBUF, ParseDict(value, message())) == lines


def test_expressions_see_the_names_of_the_registered_protobuf_schema(
    protobuf_classes: Callable[[dict[str, str]], Callable[[str], Any]],
) -> None:
    own = 'syntax = "proto3"; package com.acme; message Address { string code = 1; }'
    message = protobuf_classes({"address.proto": own})("com.acme.Address")
    lines = ["Validation rule failed (1 violation):", "  - zip: z: two"]
    assert violations("PROTOBUF", PROTOBUF, message(code="abc")) == lines


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (
            [{"name": "bad", "expr": "this +"}],
            "the validation rule 'bad' of R.a is invalid: this +: line 1",
        ),
        ([{"name": "bad", "expr": "1"}], "the validation rule 'bad' of R.a is of type int, expected bool or string: 1"),
        ([{"expr": "  "}], "the validation rule 'unnamed' of R.a has no expression: set expr (nothing runs sql)"),
        ([{"sql": "a > 1"}], "the validation rule 'unnamed' of R.a has no expression: set expr (nothing runs sql)"),
        ({"expr": "true"}, "confluent:rules of R.a must be a list of objects with name, doc, expr and sql"),
        (["true"], "confluent:rules of R.a must be a list of objects with name, doc, expr and sql"),
        ([{"expr": 5}], "confluent:rules of R.a has a rule whose expr is no text"),
        ([{"name": "n", "expr": "true", "doc": []}], "confluent:rules of R.a has a rule whose doc is no text"),
    ],
)
def test_a_rule_that_cannot_be_evaluated_stops_all_messages(value: Any, problem: str) -> None:
    schema = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int", "confluent:rules": value}]}
    with pytest.raises(SerializationError) as raised:
        violations("AVRO", schema, {"a": 1})
    assert str(raised.value).startswith(problem)


def test_a_result_that_is_neither_a_bool_nor_a_text_is_a_violation() -> None:
    schema = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int", **rules(odd="dyn(this)")}]}
    assert violations("AVRO", schema, {"a": 1})[1:] == [
        "  - a: odd: dyn(this) (caused by: the result is int, expected bool or string)"
    ]


@pytest.mark.parametrize(("kind", "text"), [("AVRO", "{"), ("JSON", '{"confluent:rules": '), ("PROTOBUF", "message {")])
def test_a_schema_that_cannot_be_parsed(kind: str, text: str) -> None:
    with pytest.raises(SchemaCompileError):
        violations(kind, text, {})


@pytest.mark.parametrize(("kind", "text"), [("AVRO", '"int"'), ("JSON", "{}"), ("PROTOBUF", "message M {}")])
def test_a_schema_without_rules_is_not_inspected(kind: str, text: str) -> None:
    assert inspection(Ruled("the schema", SchemaText(kind, text)), fail_fast=False) is None


@pytest.mark.parametrize(
    ("setting", "outcome"),
    [
        (None, b"\x02"),
        ("DISABLED", b"\x02"),
        ("BEFORE_DOMAIN_RULES", "Validation rule failed (1 violation):\n  - a: low: this > 9"),
        ("after_domain_rules", b"\x14"),
    ],
)
def test_a_serializer_validates_before_or_after_the_domain_rules(
    client: RegistryClient, setting: str | None, outcome: Any
) -> None:
    schema = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int", **rules(low="this > 9")}]}
    transform = {"name": "t", "kind": "TRANSFORM", "mode": "WRITE", "type": "CEL", "expr": "{'a': 10}"}
    disabled = setting in (None, "DISABLED")
    domain = {"domainRules": [{**transform, "expr": "message" if disabled else transform["expr"]}]}
    client.register("t-value", SchemaText("AVRO", json.dumps(schema)), rule_set=domain)
    conf = {"auto.register.schemas": False, "use.latest.version": True, "validation.rules.execution": setting}
    serialize = AvroSerializer(client, conf=conf)
    for _ in range(2):
        if isinstance(outcome, bytes):
            assert serialize({"a": 1}, SerializationContext("t", "value"))[5:] == outcome  # type: ignore[index]
        else:
            with pytest.raises(ValidationRulesFailed) as raised:
                serialize({"a": 1}, SerializationContext("t", "value"))
            assert str(raised.value) == outcome


def test_a_schema_without_other_rules_is_validated(client: RegistryClient) -> None:
    schema = json.dumps(PERSON)
    conf = {"validation.rules.execution": "AFTER_DOMAIN_RULES", "validation.rules.fail.fast": True}
    serialize = AvroSerializer(client, schema, conf=conf)
    with pytest.raises(ValidationRulesFailed) as raised:
        serialize(WRONG, SerializationContext("t", "value"))
    assert len(raised.value.violations) == 1
    with pytest.raises(ConfigError, match=r"validation\.rules\.execution"):
        AvroSerializer(client, schema, conf={"validation.rules.execution": "sometimes"})
