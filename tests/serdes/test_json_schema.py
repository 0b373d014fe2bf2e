from __future__ import annotations

from typing import Any

import pytest

from compat.schema import Dependency, Reference, SchemaText
from serdes.client.clients import RegistryClient
from serdes.error import (
    ConfigError,
    DatumMismatch,
    DatumRefused,
    IncompatibleReader,
    PayloadError,
    SchemaCompileError,
    SchemaNotFound,
    TruncatedMessage,
    WrongMagic,
    WrongSchemaType,
)
from serdes.json_schema import JSONDeserializer, JSONSerializer, title
from serdes.schema import Schema
from serdes.serialization import SerializationContext
from serdes.validation.refusal import ValueRefused
from serdes.validation.validator import JsonValidator

USER = (
    '{"$schema":"http://json-schema.org/draft-07/schema#","title":"User","type":"object",'
    '"properties":{"name":{"type":"string"},"tags":{"type":"array","items":{"type":"integer"}}},"required":["name"]}'
)
VALUE = SerializationContext("users", "value")


def test_json_schema_round_trip(client: RegistryClient, app: Any):
    serialize = JSONSerializer(USER, client)
    deserialize = JSONDeserializer(None, None, client)
    for _ in range(2):
        message = serialize({"name": "é", "tags": [1]}, VALUE)
        assert message == b'\x00\x00\x00\x00\x01{"name":"\xc3\xa9","tags":[1]}'
        assert deserialize(message, VALUE) == {"name": "é", "tags": [1]}
    assert client.version("users-value").schema.schema_type == "JSON"
    assert serialize(None, VALUE) is None
    assert deserialize(None, VALUE) is None


def test_to_dict_and_from_dict(client: RegistryClient):
    message = JSONSerializer(USER, client, lambda name, ctx: {"name": name + ctx.topic})("ada", VALUE)
    assert message == b'\x00\x00\x00\x00\x01{"name":"adausers"}'
    assert JSONDeserializer(USER, lambda user, _: user["name"])(message, VALUE) == "adausers"


def test_other_json_libraries(client: RegistryClient):
    serialize = JSONSerializer(USER, client, json_encode=lambda datum: f"{datum}".replace("'", '"'))
    message = serialize({"name": "ada"}, VALUE)
    assert message == b'\x00\x00\x00\x00\x01{"name": "ada"}'
    assert JSONDeserializer(USER, json_decode=str.upper, conf={"validate": False})(message, VALUE) == '{"NAME": "ADA"}'


def test_integers_have_no_bounds(client: RegistryClient):
    message = JSONSerializer('{"type":"integer"}', client)(2**70, VALUE)
    assert message == b"\x00\x00\x00\x00\x011180591620717411303424"


@pytest.mark.parametrize(
    ("datum", "error"),
    [
        ({}, DatumRefused("$", "dict", '"name" is a required property')),
        ({"name": 1}, DatumRefused("$.name", "int", '1 is not of type "string"')),
        ({"name": "a", "tags": [1, "x"]}, DatumRefused("$.tags[1]", "str", '"x" is not of type "integer"')),
        (
            {"name": "a", "at": [object()]},
            DatumMismatch("$.at[0]", "object", "what JSON can hold"),
        ),
        (
            {"name": "a", "m": {1: 2}},
            DatumMismatch("$.m.1", "int", "what JSON can hold"),
        ),
    ],
)
def test_a_datum_of_a_wrong_type(client: RegistryClient, datum: Any, error: DatumMismatch):
    with pytest.raises(DatumMismatch) as raised:
        JSONSerializer(USER, client)(datum, VALUE)
    assert raised.value == error


def test_a_datum_without_an_end(client: RegistryClient):
    endless: list[Any] = []
    endless.append(endless)
    for validate in (True, False):
        with pytest.raises(DatumMismatch):
            JSONSerializer("true", client, conf={"validate": validate})(endless, VALUE)


def test_validation_off(client: RegistryClient):
    serialize = JSONSerializer(USER, client, conf={"json.fail.invalid.schema": False})
    message = serialize({"name": 1}, VALUE)
    assert message == b'\x00\x00\x00\x00\x01{"name":1}'
    assert JSONDeserializer(None, None, client, {"validate": "false"})(message, VALUE) == {"name": 1}
    with pytest.raises(PayloadError) as raised:
        JSONDeserializer(None, None, client)(message, VALUE)
    assert raised.value == PayloadError('$.name: 1 is not of type "string"')


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (b"\x00\x00", TruncatedMessage),
        (b"{}", WrongMagic),
        (b"\x00\x00\x00\x00\x09{}", SchemaNotFound),
        (b"\x00\x00\x00\x00\x01", PayloadError),
        (b'\x00\x00\x00\x00\x01{"name":', PayloadError),
        (b'\x00\x00\x00\x00\x01{"name":"\xff"}', PayloadError),
        (b'\x00\x00\x00\x00\x01{"name":"a"}{', PayloadError),
        (b"\x00\x00\x00\x00\x01" + b"[" * 100_000, PayloadError),
    ],
)
def test_a_message_that_is_none(client: RegistryClient, message: bytes, error: type[Exception]):
    client.register("users-value", SchemaText("JSON", USER))
    with pytest.raises(error):
        JSONDeserializer(None, None, client)(message, VALUE)


def test_an_id_of_another_type(client: RegistryClient):
    client.register("users-value", SchemaText("AVRO", '"string"'))
    with pytest.raises(WrongSchemaType):
        JSONDeserializer(None, None, client)(b'\x00\x00\x00\x00\x01"a"', VALUE)


def test_references(client: RegistryClient):
    client.register("item", SchemaText("JSON", '{"type":"integer"}'))
    text = '{"type":"array","items":{"$ref":"item.json"}}'
    schema = Schema(text, "JSON", [Reference("item.json", "item", 1)])
    serialize = JSONSerializer(schema, client)
    message = serialize([1], VALUE)
    assert JSONDeserializer(None, None, client)(message, VALUE) == [1]
    with pytest.raises(DatumMismatch) as raised:
        serialize(["a"], VALUE)
    assert raised.value.path == "$[0]"


def test_the_schema_to_use_must_read_the_own(client: RegistryClient):
    closed = '{"type":"object","properties":{"name":{"type":"string"}},"additionalProperties":false}'
    client.register("users-value", SchemaText("JSON", closed))
    with pytest.raises(IncompatibleReader):
        JSONSerializer(USER, client, conf={"use.latest.version": True})({"name": "a"}, VALUE)
    lax = {"use.latest.version": True, "latest.compatibility.strict": False}
    assert JSONSerializer(USER, client, conf=lax)({"name": "a"}, VALUE) == b'\x00\x00\x00\x00\x01{"name":"a"}'


ITEM = '{"type":"integer"}'


@pytest.mark.parametrize(
    ("text", "dependencies"),
    [
        ('{"$ref":"item.json"}', [("item.json", ITEM)]),
        ('{"$ref":"./item.json"}', [("item.json", ITEM)]),
        ('{"$id":"http://a/b/c.json","allOf":[{"$ref":"item.json"}]}', [("item.json", ITEM)]),
        ('{"$id":"http://a/b/c.json","allOf":[{"$ref":"item.json"}]}', [("http://a/b/item.json", ITEM)]),
        ('{"$ref":"http://a/item.json"}', [("x", '{"$id":"http://a/item.json","type":"integer"}')]),
        ('{"$ref":"a.json"}', [("b.json", ITEM), ("a.json", '{"allOf":[{"$ref":"b.json"}]}')]),
        ('{"$ref":"a.json#/definitions/n"}', [("a.json", '{"definitions":{"n":{"type":"integer"}}}')]),
        ('{"$schema":"https://json-schema.org/draft/2020-12/schema","prefixItems":[{}],"type":"integer"}', []),
        ('{"$schema":"http://example.com/own","type":"integer"}', []),
    ],
)
def test_validators(text: str, dependencies: list[tuple[str, str]]):
    validator = JsonValidator(text, tuple(Dependency(*dependency) for dependency in dependencies))
    validator.check(1)
    with pytest.raises(ValueRefused, match=r'^\$: "a" is not of type "integer"$'):
        validator.check("a")


@pytest.mark.parametrize(("dialect", "accepts"), [("draft_7", True), ("draft_2020_12", False), ("draft_4", True)])
def test_the_dialect_of_schemas_that_name_none(client: RegistryClient, dialect: str, *, accepts: bool):
    serialize = JSONSerializer(
        '{"prefixItems":[{"type":"string"}]}', client, conf={"json.schema.spec.version": dialect}
    )
    if accepts:
        assert serialize([1], VALUE) == b"\x00\x00\x00\x00\x01[1]"
    else:
        with pytest.raises(DatumMismatch):
            serialize([1], VALUE)


@pytest.mark.parametrize(
    "schema",
    [
        "{",
        "[]",
        '{"type":"nope"}',
        '{"$ref":"nope.json"}',
        '{"$ref":"http://127.0.0.1:1/x.json"}',
        '{"$ref":"#/definitions/x"}',
    ],
)
def test_a_schema_that_cannot_be_compiled(client: RegistryClient, schema: str):
    with pytest.raises(SchemaCompileError):
        JSONDeserializer(schema)
    with pytest.raises(SchemaCompileError) as raised:
        JSONSerializer(schema, client)
    assert raised.value.schema_type == "JSON"
    assert raised.value.detail


def test_neither_schema_nor_client():
    with pytest.raises(ConfigError):
        JSONDeserializer()


@pytest.mark.parametrize(("text", "name"), [(USER, "User"), ("{}", None), ("true", None)])
def test_title(text: str, name: str | None):
    assert title(SchemaText("JSON", text)) == name
