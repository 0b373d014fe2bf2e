"""Migrations: messages of one version of a subject are read as another, by the rules of the versions between."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from compat.schema import SchemaText
from serdes import SerializationContext
from serdes.avro import AsyncAvroDeserializer, AvroDeserializer
from serdes.client.asgi import AsgiTransport
from serdes.client.clients import AsyncRegistryClient, RegistryClient
from serdes.codec import compile_codec
from serdes.error import SchemaNotFound, SerializationError
from serdes.json_schema import JSONDeserializer
from serdes.message import wire
from serdes.protobuf import ProtobufDeserializer
from serdes.rules.error import RuleConditionError, RuleFailed

CONTEXT = SerializationContext("w", "value")
SUBJECT = "w-value"


def record(*fields: dict[str, Any]) -> str:
    return json.dumps({"type": "record", "name": "W", "namespace": "com.acme", "fields": list(fields)})


def renamed(mode: str, old: str, new: str, name: str | None = None) -> dict[str, Any]:
    expression = f"$merge([$sift($, function($v, $k) {{$k != '{old}'}}), {{'{new}': $.'{old}'}}])"
    return {
        "name": name or f"{mode.lower()}-{old}-{new}",
        "kind": "TRANSFORM",
        "mode": mode,
        "type": "JSONATA",
        "expr": expression,
    }


class Subject:
    """Versions of a subject, each with the metadata `v` of its number, and with its migration rules alone."""

    def __init__(self, client: RegistryClient, schema_type: str = "AVRO") -> None:
        self.client = client
        self.type = schema_type
        client.put_config({"compatibility": "NONE"})
        self.ids: dict[int, int] = {}

    def add(self, schema: str, *rules: dict[str, Any]) -> None:
        number = len(self.ids) + 1
        registered = self.client.register(
            SUBJECT,
            SchemaText(self.type, schema),
            metadata={"properties": {"v": str(number)}},
            rule_set={"migrationRules": list(rules)},
        )
        self.ids[number] = registered.id

    def frame(self, number: int, payload: bytes) -> bytes:
        return wire.prefix(self.ids[number]) + payload

    def avro(self, number: int, value: Any) -> bytes:
        text = self.client.version(SUBJECT, number, deleted=True).schema.text
        return self.frame(number, compile_codec(text).encode(value))


FIELDS = {1: "size", 2: "height", 3: "length"}


@pytest.fixture
def three(client: RegistryClient) -> Subject:
    subject = Subject(client)
    subject.add(record({"name": "size", "type": "int"}))
    subject.add(
        record({"name": "height", "type": "int"}),
        renamed("UPGRADE", "size", "height", "up"),
        renamed("DOWNGRADE", "height", "size", "down"),
    )
    subject.add(
        record({"name": "length", "type": "int"}),
        renamed("UPGRADE", "height", "length", "up"),
        renamed("DOWNGRADE", "length", "height", "down"),
    )
    return subject


@pytest.mark.parametrize("written", [1, 2, 3])
@pytest.mark.parametrize("read", [1, 2, 3])
def test_three_versions_in_nine_directions(three: Subject, written: int, read: int) -> None:
    frame = three.avro(written, {FIELDS[written]: 5})
    deserialize = AvroDeserializer(three.client, conf={"use.latest.with.metadata": {"v": str(read)}})
    for _ in range(2):
        assert deserialize(frame, CONTEXT) == {FIELDS[read]: 5}


def test_the_latest_version_is_read_by_an_asynchronous_deserializer(three: Subject, transport: AsgiTransport) -> None:
    frame = three.avro(1, {"size": 5})

    async def read() -> list[Any]:
        async with AsyncRegistryClient("http://registry", transport=transport) as client:
            deserialize = AsyncAvroDeserializer(client, conf={"use.latest.version": True})
            return [await deserialize(frame, CONTEXT) for _ in range(2)]

    assert asyncio.run(read()) == [{"length": 5}, {"length": 5}]


def test_a_deleted_version_counts_and_a_hole_is_skipped(three: Subject) -> None:
    three.client.delete_version(SUBJECT, 2)
    latest = {"use.latest.version": True}
    frame = three.avro(1, {"size": 5})
    assert AvroDeserializer(three.client, conf=latest)(frame, CONTEXT) == {"length": 5}
    three.client.delete_version(SUBJECT, 2, permanent=True)
    with pytest.raises(RuleFailed, match=r"version 3 failed: .*\$\.size: int does not fit no value"):
        AvroDeserializer(three.client, conf=latest)(frame, CONTEXT)


def test_a_migration_finds_a_deleted_version_of_the_writer(three: Subject) -> None:
    frame = three.avro(1, {"size": 5})
    three.client.delete_version(SUBJECT, 1)
    assert AvroDeserializer(three.client, conf={"use.latest.version": True})(frame, CONTEXT) == {"length": 5}


def test_without_rules_on_the_way_avro_resolves(client: RegistryClient) -> None:
    subject = Subject(client)
    subject.add(record({"name": "size", "type": "int"}), renamed("DOWNGRADE", "size", "gone"))
    subject.add(record({"name": "size", "type": "long"}, {"name": "unit", "type": "string", "default": "cm"}))
    frame = subject.avro(1, {"size": 5})
    assert AvroDeserializer(client, conf={"use.latest.version": True})(frame, CONTEXT) == {"size": 5, "unit": "cm"}


@pytest.mark.parametrize("form", ["plain", "tagged"])
def test_both_forms_of_avro(client: RegistryClient, form: str) -> None:
    """Unions and bytes go in and come out; absent fields get their defaults."""
    value = {"plain": "$.size", "tagged": "size.int"}[form]
    rule = {
        "name": "up",
        "kind": "TRANSFORM",
        "mode": "UPGRADE",
        "type": "JSONATA",
        "expr": f"{{'height': {value}, 'raw': raw, 'note': note, 'at': at}}",
        "params": {"magicbyte.migration.avro.json": form},
    }
    shared = [
        {"name": "raw", "type": "bytes"},
        {"name": "note", "type": ["null", "string"]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ]
    subject = Subject(client)
    subject.add(record({"name": "size", "type": ["null", "int"]}, *shared))
    subject.add(
        record({"name": "height", "type": "int"}, *shared, {"name": "unit", "type": "string", "default": "cm"}), rule
    )
    deserialize = AvroDeserializer(client, conf={"use.latest.version": True})
    datum = {"size": 5, "raw": b"\x00\xff", "note": "n", "at": 1_577_836_800_123}
    read = deserialize(subject.avro(1, datum), CONTEXT)
    moment = datetime(2020, 1, 1, 0, 0, 0, 123_000, tzinfo=UTC)
    assert read == {"height": 5, "raw": b"\x00\xff", "note": "n", "at": moment, "unit": "cm"}
    with pytest.raises(RuleFailed) as raised:
        deserialize(subject.avro(1, {**datum, "size": None}), CONTEXT)
    assert "version 2 of subject w-value: $.height:" in str(raised.value)


def test_a_setting_chooses_the_form_and_rules_may_not_differ(client: RegistryClient) -> None:
    rule = {"kind": "TRANSFORM", "mode": "UPGRADE", "type": "JSONATA", "expr": "{'a': a.int}"}
    schema = record({"name": "a", "type": ["null", "int"]})
    subject = Subject(client)
    subject.add(schema)
    subject.add(schema.replace('"W"', '"W", "doc": "2"'), {**rule, "name": "r", "expr": "{'a': {'int': a.int + 1}}"})
    frame = subject.avro(1, {"a": 1})
    latest = {"use.latest.version": True}
    conf = {**latest, "rule.executors._JSONATA_.param.magicbyte.migration.avro.json": "tagged"}
    assert AvroDeserializer(client, conf=conf)(frame, CONTEXT) == {"a": 2}
    wrong = {**latest, "rule.executors._JSONATA_.param.magicbyte.migration.avro.json": "other"}
    with pytest.raises(SerializationError, match=r"rule 'r' of version 2 of .* has .*'other'; use plain or tagged"):
        AvroDeserializer(client, conf=wrong)(frame, CONTEXT)
    params = {"magicbyte.migration.avro.json": "tagged"}
    subject.add(schema.replace('"W"', '"W", "doc": "3"'), {**rule, "name": "t", "params": params})
    with pytest.raises(SerializationError, match="to the same form for all rules of a migration"):
        AvroDeserializer(client, conf=latest)(frame, CONTEXT)


def test_rules_of_one_step_are_carried_out_in_order_and_down_in_reverse(client: RegistryClient) -> None:
    def append(name: str, mode: str) -> dict[str, Any]:
        return {"name": name, "kind": "TRANSFORM", "mode": mode, "type": "JSONATA", "expr": f"{{'s': s & '{name}'}}"}

    subject = Subject(client)
    subject.add(record({"name": "s", "type": "string"}))
    subject.add(
        record({"name": "s", "type": "string", "doc": "2"}),
        append("a", "UPGRADE"), append("b", "UPDOWN"), append("c", "DOWNGRADE"),
    )  # fmt: skip
    up = AvroDeserializer(client, conf={"use.latest.version": True})
    down = AvroDeserializer(client, conf={"use.latest.with.metadata": {"v": "1"}})
    assert up(subject.avro(1, {"s": ""}), CONTEXT) == {"s": "ab"}
    assert down(subject.avro(2, {"s": ""}), CONTEXT) == {"s": "cb"}
    assert dict(up.rule_counts) == {(SUBJECT, "a", "passed"): 1, (SUBJECT, "b", "passed"): 1}


def test_rules_on_fields_cannot_migrate(client: RegistryClient) -> None:
    rule = {"name": "f", "kind": "TRANSFORM", "mode": "UPGRADE", "type": "CEL_FIELD", "expr": "value"}
    subject = Subject(client)
    subject.add(record({"name": "a", "type": "int"}))
    subject.add(record({"name": "a", "type": "long"}), rule)
    with pytest.raises(RuleFailed, match="rules of type CEL_FIELD cannot be migration rules"):
        AvroDeserializer(client, conf={"use.latest.version": True})(subject.avro(1, {"a": 1}), CONTEXT)


def test_rules_of_cel_migrate_too(client: RegistryClient) -> None:
    condition = {"name": "c", "kind": "CONDITION", "mode": "UPDOWN", "type": "CEL", "expr": "message.size > 9"}
    change = {"name": "t", "kind": "TRANSFORM", "mode": "UPGRADE", "type": "CEL", "expr": "{'height': message.size}"}
    subject = Subject(client)
    subject.add(record({"name": "size", "type": "int"}))
    subject.add(record({"name": "height", "type": "int"}), condition, change)
    deserialize = AvroDeserializer(client, conf={"use.latest.version": True})
    assert deserialize(subject.avro(1, {"size": 10}), CONTEXT) == {"height": 10}
    with pytest.raises(RuleFailed, match=r"rule 'c' \(CEL, UPGRADE\) of subject w-value version 2 failed") as raised:
        deserialize(subject.avro(1, {"size": 5}), CONTEXT)
    assert isinstance(raised.value.__cause__, RuleConditionError)


CEL = {"name": "up", "kind": "TRANSFORM", "mode": "UPGRADE", "type": "CEL", "expr": "{'y': {'com.acme.Q': message.x}}"}


@pytest.mark.parametrize("rule", [renamed("UPGRADE", "x", "y"), CEL])
def test_the_branch_of_a_record_in_a_union_is_kept(client: RegistryClient, rule: dict[str, Any]) -> None:
    branches = [{"type": "record", "name": name, "fields": [{"name": "v", "type": "int"}]} for name in ("P", "Q")]
    subject = Subject(client)
    subject.add(record({"name": "x", "type": branches}))
    subject.add(record({"name": "y", "type": branches}), rule)
    frame = subject.avro(1, {"x": ("com.acme.Q", {"v": 1})})
    latest = {"use.latest.version": True}
    assert AvroDeserializer(client, conf=latest)(frame, CONTEXT) == {"y": {"v": 1}}
    named = AvroDeserializer(client, return_record_name=True, conf=latest)
    assert named(frame, CONTEXT) == {"y": ("com.acme.Q", {"v": 1})}


def test_a_record_that_fits_two_branches_is_refused(client: RegistryClient) -> None:
    branches = [{"type": "record", "name": name, "fields": [{"name": "v", "type": "int"}]} for name in ("P", "Q")]
    subject = Subject(client)
    subject.add(record({"name": "x", "type": branches}))
    subject.add(record({"name": "y", "type": branches}), {**CEL, "expr": "{'y': message.x}"})
    frame = subject.avro(1, {"x": ("com.acme.Q", {"v": 1})})
    with pytest.raises(RuleFailed, match=r"it fits com\.acme\.P and com\.acme\.Q: tag it with the branch's name"):
        AvroDeserializer(client, conf={"use.latest.version": True})(frame, CONTEXT)


def test_a_schema_that_is_no_version_of_the_subject(client: RegistryClient) -> None:
    """Without migration rules Avro resolves it, as before; with some, nobody knows which to carry out."""
    other = client.register("other-value", SchemaText("AVRO", record({"name": "a", "type": "int"})))
    subject = Subject(client)
    subject.add(record({"name": "a", "type": "long"}))
    frame = wire.prefix(other.id) + b"\x02"
    assert AvroDeserializer(client, conf={"use.latest.version": True})(frame, CONTEXT) == {"a": 1}
    subject.add(record({"name": "b", "type": "long"}), renamed("UPGRADE", "a", "b"))
    client.clear_latest_caches()
    with pytest.raises(SchemaNotFound, match="has migration rules, but the message's schema is none of its versions"):
        AvroDeserializer(client, conf={"use.latest.version": True})(frame, CONTEXT)


@pytest.mark.parametrize(
    "conf",
    [
        {"execution.environment": "none"},
        {"rule.executors.up.disabled": True},
        {"rule.executors._JSONATA_.disabled": True},
    ],
)
def test_a_disabled_step_is_passed_over(client: RegistryClient, conf: dict[str, Any]) -> None:
    subject = Subject(client)
    subject.add(record({"name": "a", "type": "int"}))
    subject.add(
        record({"name": "a", "type": "int"}, {"name": "b", "type": "int", "default": 3}),
        renamed("UPGRADE", "a", "b", "up"),
    )
    deserialize = AvroDeserializer(client, conf={"use.latest.version": True, **conf})
    assert deserialize(subject.avro(1, {"a": 1}), CONTEXT) == {"a": 1, "b": 3}


def test_a_failing_migration_that_may_pass_leaves_the_datum(client: RegistryClient) -> None:
    broken = {"name": "up", "kind": "TRANSFORM", "mode": "UPGRADE", "type": "JSONATA", "expr": "$error('no')"}
    subject = Subject(client)
    subject.add(record({"name": "a", "type": "int"}))
    subject.add(record({"name": "a", "type": "long"}), {**broken, "onFailure": "NONE"})
    deserialize = AvroDeserializer(client, conf={"use.latest.version": True})
    assert deserialize(subject.avro(1, {"a": 1}), CONTEXT) == {"a": 1}
    assert dict(deserialize.rule_counts) == {(SUBJECT, "up", "ignored"): 1}


def test_json_is_migrated_and_validated_by_the_readers_schema(client: RegistryClient) -> None:
    def schema(name: str) -> str:
        closed = {"type": "object", "properties": {name: {"type": "integer"}}, "additionalProperties": False}
        return json.dumps({"title": "W", **closed})

    subject = Subject(client, "JSON")
    subject.add(schema("size"))
    subject.add(schema("height"), renamed("UPGRADE", "size", "height"))
    deserialize = JSONDeserializer(None, schema_registry_client=client, conf={"use.latest.version": True})
    assert deserialize(subject.frame(1, b'{"size": 5}'), CONTEXT) == {"height": 5}
    with pytest.raises(SerializationError, match="payload does not fit the schema"):
        deserialize(subject.frame(1, b'{"size": "five"}'), CONTEXT)
    before = JSONDeserializer(
        None,
        schema_registry_client=client,
        conf={"use.latest.version": True, "json.validate.before.domain.rules": True},
    )
    assert before(subject.frame(1, b'{"size": 5}'), CONTEXT) == {"height": 5}
    with pytest.raises(SerializationError, match="payload does not fit the schema"):
        before(subject.frame(1, b'{"size": "five"}'), CONTEXT)


def test_the_error_about_a_value_without_a_json_form_names_the_rule(client: RegistryClient) -> None:
    subject = Subject(client, "JSON")
    subject.add('{"title": "W", "type": "object"}')
    subject.add('{"title": "X", "type": "object"}', {**CEL, "expr": "{'t': timestamp('2026-01-01T00:00:00Z')}"})
    deserialize = JSONDeserializer(None, schema_registry_client=client, conf={"use.latest.version": True})
    with pytest.raises(RuleFailed, match=r"rule 'up' .* does not fit .*: the result has a value of type datetime"):
        deserialize(subject.frame(1, b"{}"), CONTEXT)


def test_protobuf_is_migrated_in_its_json_form(
    client: RegistryClient, protobuf_classes: Callable[[dict[str, str]], Callable[[str], Any]]
) -> None:
    def schema(fields: str) -> str:
        return f'syntax = "proto3"; package com.acme; message W {{ {fields} }}'

    old, new = schema("int64 the_size = 1; string s = 2;"), schema("int64 height = 3; string s = 2;")
    subject = Subject(client, "PROTOBUF")
    subject.add(old)
    subject.add(new, renamed("UPGRADE", "theSize", "height"))
    payload = protobuf_classes({"w.proto": old})("com.acme.W")(the_size=2**60, s="x").SerializeToString()
    frame = subject.frame(1, b"\0" + payload)
    latest = {"use.latest.version": True}
    read = ProtobufDeserializer(None, conf=latest, schema_registry_client=client)(frame, CONTEXT)
    assert (read.height, read.s) == (2**60, "x")
    own = protobuf_classes({"w2.proto": new})("com.acme.W")
    assert ProtobufDeserializer(own, conf=latest, schema_registry_client=client)(frame, CONTEXT) == own(
        height=2**60, s="x"
    )
    subject.add(schema("int64 height = 3; bool s = 2;"))
    client.clear_latest_caches()
    with pytest.raises(RuleFailed, match=r"the result is not the JSON form of com\.acme\.W"):
        ProtobufDeserializer(None, conf=latest, schema_registry_client=client)(frame, CONTEXT)
