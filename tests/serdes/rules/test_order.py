"""The order on writing and reading: rules on the datum, validation, the codec, rules on the payload, and the frame."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from serdes import (
    AvroDeserializer,
    AvroSerializer,
    JSONDeserializer,
    JSONSerializer,
    ProtobufDeserializer,
    ProtobufSerializer,
    SerializationContext,
)
from serdes.client.clients import RegistryClient
from serdes.error import DatumRefused, PayloadError, SerializationError
from serdes.rules.confluent import RuleContext, RuleExecutor, RuleRegistry
from serdes.rules.error import RuleFailed
from tests.serdes.rules.conftest import ADA, PERSON, Register

VALUE = SerializationContext("people", "value", [])


class Xor(RuleExecutor):
    """Adds a byte after the payload on writing and removes it on reading."""

    def __init__(self, name: str, mark: bytes, seen: list[Any] | None = None) -> None:
        self._name = name
        self._mark = mark
        self.seen = [] if seen is None else seen

    def type(self) -> str:
        return self._name

    def transform(self, ctx: RuleContext, message: Any) -> Any:
        self.seen.append((ctx.rule_mode.value, self._mark, bytes(message)))
        if ctx.rule_mode == "WRITE":
            return bytes(message) + self._mark
        assert message.endswith(self._mark), message
        return message[: -len(self._mark)]


def marking() -> tuple[RuleRegistry, list[Any]]:
    """A registry of rules with two executors on payloads, and what they have seen."""
    registry, seen = RuleRegistry(), []  # type: ignore[var-annotated]  # of the executors
    registry.register_executor(Xor("A", b"a", seen))
    registry.register_executor(Xor("B", b"b", seen))
    return registry, seen


ENCODING = [
    {"name": "first", "kind": "TRANSFORM", "mode": "WRITEREAD", "type": "A"},
    {"name": "second", "kind": "TRANSFORM", "mode": "WRITEREAD", "type": "B"},
]


@pytest.mark.parametrize("place", ["prefix", "header"])
def test_rules_on_the_payload_come_after_the_codec_and_are_reversed(
    client: RegistryClient, register: Register, place: str
):
    register(encodingRules=ENCODING)
    registry, seen = marking()
    plain = AvroSerializer(client, PERSON, conf={"execution.environment": "NONE"})(ADA, VALUE)
    assert plain is not None
    context = SerializationContext("people", "value", [])
    write = AvroSerializer(client, PERSON, conf={"schema.id.serializer": place}, rule_registry=registry)
    message = write(ADA, context)
    size = 5 if place == "prefix" else 0
    assert message == (plain + b"ab")[5 - size :]
    assert AvroDeserializer(client, rule_registry=registry)(message, context) == ADA
    assert [step[:2] for step in seen] == [("WRITE", b"a"), ("WRITE", b"b"), ("READ", b"b"), ("READ", b"a")]
    assert seen[0][2] == plain[5:]
    with pytest.raises(RuleFailed, match="Could not find rule executor of type B"):
        AvroDeserializer(client)(message, context)


PROTO = 'syntax = "proto3"; package acme; message First { string name = 1; } message Second { string name = 1; }'


@pytest.mark.parametrize("place", ["prefix", "header"])
@pytest.mark.parametrize("message_name", ["acme.First", "acme.Second"])
def test_message_indexes_stay_before_the_body(
    client: RegistryClient,
    register: Register,
    protobuf_classes: Callable[[dict[str, str]], Callable[[str], Any]],
    place: str,
    message_name: str,
):
    register(schema=PROTO, schema_type="PROTOBUF", encodingRules=ENCODING)
    registry, seen = marking()
    message_class = protobuf_classes({"acme.proto": PROTO})(message_name)
    conf = {"auto.register.schemas": False, "use.latest.version": True, "schema.id.serializer": place}
    context = SerializationContext("people", "value", [])
    write = ProtobufSerializer(message_class, client, conf=conf, rule_registry=registry)
    ada = message_class(name="ada")
    message = write(ada, context)
    assert message is not None
    assert seen[0][2] == ada.SerializeToString()
    indexes = b"\0" if message_name == "acme.First" else b"\2\2"
    assert message == (b"\0\0\0\0\1" + indexes if place == "prefix" else b"") + ada.SerializeToString() + b"ab"
    for given in (message_class, None):
        read = ProtobufDeserializer(given, schema_registry_client=client, rule_registry=registry)
        for _ in range(2):
            assert read(message, context).name == "ada"


def test_a_payload_that_rules_spoil_is_told_as_any_other(client: RegistryClient, register: Register):
    register(encodingRules=[{"name": "cut", "kind": "TRANSFORM", "mode": "READ", "type": "CUT"}])

    class Cut(Xor):
        def transform(self, ctx: RuleContext, message: Any) -> Any:  # noqa: ARG002  # the signature of all executors
            return message[:1]

    registry = RuleRegistry()
    registry.register_executor(Cut("CUT", b""))
    message = AvroSerializer(client, PERSON)(ADA, VALUE)
    with pytest.raises(PayloadError):
        AvroDeserializer(client, rule_registry=registry)(message, VALUE)


def test_tombstones_have_no_rules(client: RegistryClient, register: Register):
    register({"kind": "CONDITION", "mode": "WRITEREAD", "type": "NOSUCH"})
    assert AvroSerializer(client, PERSON)(None, VALUE) is None
    assert AvroDeserializer(client)(None, VALUE) is None


def test_to_dict_comes_first_and_from_dict_last(client: RegistryClient, register: Register):
    register({"kind": "TRANSFORM", "mode": "WRITEREAD", "type": "CEL_FIELD", "tags": ["PII"], "expr": "value + '!'"})
    write = AvroSerializer(client, PERSON, to_dict=lambda name, _: {**ADA, "name": name})
    read = AvroDeserializer(client, from_dict=lambda datum, _: datum["name"])
    for _ in range(2):
        assert read(write("eve", VALUE), VALUE) == "eve!!"


CODE = json.dumps(
    {
        "type": "object",
        "properties": {"code": {"type": "string", "maxLength": 3, "confluent:tags": ["CODE"]}},
        "required": ["code"],
    }
)
LONGER = {"kind": "TRANSFORM", "mode": "WRITE", "type": "CEL_FIELD", "tags": ["CODE"], "expr": "value + '!!!'"}
SHORTER = {
    "kind": "TRANSFORM",
    "mode": "READ",
    "type": "CEL_FIELD",
    "tags": ["CODE"],
    "expr": "value.replace('!', '')",
}


@pytest.mark.parametrize(
    ("before", "written", "read"),
    [
        # The value that applications see is validated.
        (None, True, True),
        (True, True, False),
        (False, False, True),
    ],
)
def test_json_is_validated_before_or_after_the_domain_rules(
    client: RegistryClient, register: Register, before: bool | None, *, written: bool, read: bool
):
    register(LONGER, SHORTER, schema=CODE, schema_type="JSON")
    conf = {} if before is None else {"json.validate.before.domain.rules": before}
    write = JSONSerializer(CODE, client, conf=conf)
    for _ in range(2):
        if written:
            assert write({"code": "abc"}, VALUE) == b'\0\0\0\0\1{"code":"abc!!!"}'
        else:
            with pytest.raises(DatumRefused):
                write({"code": "abc"}, VALUE)
        with pytest.raises(DatumRefused):
            write({"code": "abcd"}, VALUE)
    message = JSONSerializer(CODE, client)({"code": "abc"}, VALUE)
    deserialize = JSONDeserializer(schema_registry_client=client, conf=conf)
    for _ in range(2):
        if read:
            assert deserialize(message, VALUE) == {"code": "abc"}
        else:
            with pytest.raises(PayloadError):
                deserialize(message, VALUE)
    with pytest.raises(SerializationError):
        deserialize(b'\0\0\0\0\1{"code":"abcd!"}', VALUE)


def test_json_without_changes_is_validated_once(client: RegistryClient, register: Register):
    has_code = {"kind": "CONDITION", "mode": "WRITEREAD", "type": "CEL", "expr": "message.code != ''"}
    register(has_code, schema=CODE, schema_type="JSON")
    write = JSONSerializer(CODE, client)
    message = write({"code": "abc"}, VALUE)
    assert message == b'\0\0\0\0\1{"code":"abc"}'
    assert JSONDeserializer(schema_registry_client=client)(message, VALUE) == {"code": "abc"}
    with pytest.raises(RuleFailed):
        write({"code": ""}, VALUE)
    unvalidated = JSONSerializer(CODE, client, conf={"validate": False})
    assert unvalidated({"code": "abcdef"}, VALUE) == b'\0\0\0\0\1{"code":"abcdef"}'
