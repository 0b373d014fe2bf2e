from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from compat.schema import Reference, SchemaText
from serdes.client.asgi import AsgiTransport
from serdes.client.clients import RegistryClient
from serdes.error import (
    ConfigError,
    DatumMismatch,
    IncompatibleReader,
    InvalidMessageIndexes,
    PayloadError,
    SchemaNotFound,
    SerializationError,
    SubjectNotFound,
    TruncatedMessage,
    WrongMagic,
    WrongSchemaType,
)
from serdes.protobuf import ProtobufDeserializer, ProtobufSerializer
from serdes.serialization import SerializationContext

VALUE = SerializationContext("users", "value")
FILES = {
    "meta/common.proto": 'syntax = "proto3"; package meta; message Id { int32 n = 1; }',
    "meta/deep.proto": 'syntax = "proto3"; package meta; import "meta/common.proto"; message Deep { Id id = 1; }',
    "user.proto": """
        syntax = "proto3";
        package acme;
        import "meta/common.proto";
        import "meta/deep.proto";
        import "google/protobuf/timestamp.proto";
        message First { string a = 1; }
        message User {
          map<string, int32> marks = 4;
          message Address { string city = 1; }
          string name = 1;
          meta.Id id = 2;
          google.protobuf.Timestamp at = 3;
          meta.Deep deep = 5;
        }
        """,
    "old.proto": 'syntax = "proto2"; package acme; message Old { required int32 n = 1; }',
}
Classes = Callable[[str], Any]


@pytest.fixture(scope="session")
def classes(protobuf_classes: Callable[[dict[str, str]], Classes]) -> Classes:
    return protobuf_classes(FILES)


def test_protobuf_round_trip(client: RegistryClient, classes: Classes):
    first = classes("acme.First")
    serialize = ProtobufSerializer(first, client)
    for deserialize in (
        ProtobufDeserializer(first),
        ProtobufDeserializer(first, {}, client),
        ProtobufDeserializer(None, None, client),
    ):
        for _ in range(2):
            message = serialize(first(a="x"), VALUE)
            assert message is not None
            assert message[5:] == b"\x00\x0a\x01x"
            assert deserialize(message, VALUE).a == "x"
    assert serialize(None, VALUE) is None


def test_imports_are_registered_as_references(client: RegistryClient, classes: Classes):
    user, address = classes("acme.User"), classes("acme.User.Address")
    message = ProtobufSerializer(user, client)(user(name="a"), VALUE)
    assert message is not None
    assert message[5:] == b"\x02\x02\x0a\x01a"
    held = client.version("users-value")
    assert held.schema.references == (
        Reference("meta/common.proto", "meta/common.proto", 1),
        Reference("meta/deep.proto", "meta/deep.proto", 1),
    )
    assert client.version("meta/deep.proto").schema.references == (
        Reference("meta/common.proto", "meta/common.proto", 1),
    )
    nested = ProtobufSerializer(address, client)(address(city="c"), SerializationContext("addresses", "value"))
    assert nested is not None
    # In a descriptor the entries of a map are a message like others: Address is the second one inside User.
    assert nested[5:] == b"\x04\x02\x02\x0a\x01c"
    deserialize = ProtobufDeserializer(None, None, client)
    assert deserialize(nested, VALUE).city == "c"
    whole = user(name="a", id={"n": 3}, at={"seconds": 1}, marks={"m": 2}, deep={"id": {"n": 4}})
    found = deserialize(ProtobufSerializer(user, client)(whole, VALUE), VALUE)
    assert found.SerializeToString() == whole.SerializeToString()


def test_known_types_are_registered_if_asked_for(client: RegistryClient, classes: Classes):
    user = classes("acme.User")
    conf = {"skip.known.types": False, "reference.subject.name.strategy": "QualifiedReferenceSubjectNameStrategy"}
    message = ProtobufSerializer(user, client, conf)(user(name="a"), VALUE)
    assert [reference.subject for reference in client.version("users-value").schema.references] == [
        "meta.common",
        "meta.deep",
        "google.protobuf.timestamp",
    ]
    assert ProtobufDeserializer(None, None, client)(message, VALUE).name == "a"


def test_references_are_only_looked_up_if_asked_for(client: RegistryClient, classes: Classes):
    user = classes("acme.User")
    with pytest.raises((SubjectNotFound, SchemaNotFound)):
        ProtobufSerializer(user, client, {"reference.lookup.only": True})(user(name="a"), VALUE)
    ProtobufSerializer(user, client)(user(name="a"), VALUE)
    client.clear_caches()
    assert ProtobufSerializer(user, client, {"reference.lookup.only": True})(user(name="a"), VALUE)
    assert ProtobufSerializer(user, client, {"auto.register.schemas": False})(user(name="a"), VALUE)


def test_the_old_form_of_indexes(client: RegistryClient, classes: Classes):
    user = classes("acme.User")
    message = ProtobufSerializer(user, client, {"use.deprecated.format": True})(user(name="a"), VALUE)
    assert message is not None
    assert message[5:] == b"\x01\x01\x0a\x01a"
    assert ProtobufDeserializer(user, {"use.deprecated.format": True})(message, VALUE).name == "a"


def test_header_mode(client: RegistryClient, classes: Classes):
    user = classes("acme.User")
    ctx = SerializationContext("users", "value", [])
    assert ProtobufSerializer(user, client, {"schema.id.serializer": "header"})(user(name="a"), ctx) == b"\x0a\x01a"
    ((name, value),) = ctx.headers
    assert (name, value[:1], value[17:]) == ("__value_schema_id", b"\x01", b"\x02\x02")
    # Indexes that the header lacks are not read from the payload, and bytes after them are no part of it.
    read = ProtobufDeserializer(user, schema_registry_client=client)
    for rest in (b"\x02\x02", b"\x02\x02\x0a"):
        named = SerializationContext("users", "value", [(name, value[:17] + rest)])
        assert read(b"\x0a\x01a", named).name == "a"
    with pytest.raises(TruncatedMessage):
        read(b"\x02\x02\x0a\x01a", SerializationContext("users", "value", [(name, value[:17])]))
    assert ProtobufDeserializer(None, None, client)(b"\x0a\x01a", ctx).name == "a"
    assert ProtobufDeserializer(user)(b"\x0a\x01a", ctx).name == "a"


def test_messages_without_a_frame(client: RegistryClient):
    client.register("users-value", SchemaText("PROTOBUF", USER2))
    conf = {"schema.id.deserializer": "config", "use.schema.id": 1}
    assert ProtobufDeserializer(None, conf, client)(b"\x0a\x01a", VALUE).name == "a"


USER2 = 'syntax = "proto3"; package acme; message User { string name = 1; } message First { string a = 1; }'


def test_use_latest_version(client: RegistryClient, classes: Classes):
    first = classes("acme.First")
    client.register("users-value", SchemaText("PROTOBUF", USER2))
    lax = {"use.latest.version": True, "latest.compatibility.strict": False}
    message = ProtobufSerializer(first, client, lax)(first(a="x"), VALUE)
    # First is the second message there.
    assert message == b"\x00\x00\x00\x00\x01\x02\x02\x0a\x01x"
    with pytest.raises(IncompatibleReader):
        ProtobufSerializer(first, client, {"use.latest.version": True})(first(a="x"), VALUE)
    old = classes("acme.Old")
    with pytest.raises(SerializationError, match=r"has no message acme\.Old"):
        ProtobufSerializer(old, client, lax)(old(n=1), VALUE)


def test_a_message_that_does_not_fit(client: RegistryClient, classes: Classes):
    first, old = classes("acme.First"), classes("acme.Old")
    serialize = ProtobufSerializer(first, client)
    for _ in range(2):
        for wrong, found in ((old(n=1), "acme.Old"), ("text", "str")):
            with pytest.raises(DatumMismatch) as raised:
                serialize(wrong, VALUE)
            assert raised.value == DatumMismatch("$", found, "acme.First")
        assert serialize(first(a="x"), VALUE)
    with pytest.raises(DatumMismatch, match="all it requires"):
        ProtobufSerializer(old, client)(old(), SerializationContext("olds", "value"))


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (b"", TruncatedMessage),
        (b"\x00\x00\x00", TruncatedMessage),
        (b"\x07\x00\x00\x00\x01\x00", WrongMagic),
        (b"\x00\x00\x00\x00\x09\x00", SchemaNotFound),
        (b"\x00\x00\x00\x00\x01", TruncatedMessage),
        (b"\x00\x00\x00\x00\x01\x02", TruncatedMessage),
        (b"\x00\x00\x00\x00\x01\xfe\xff\xff\xff\x0f", TruncatedMessage),
        (b"\x00\x00\x00\x00\x01\x02\x04", InvalidMessageIndexes),
        (b"\x00\x00\x00\x00\x01\x00\x0a\x05x", PayloadError),
        (b"\x00\x00\x00\x00\x01\x00\x0a\xff\xff\xff\xff\x07x", PayloadError),
    ],
)
def test_bytes_that_are_no_message(client: RegistryClient, message: bytes, error: type[Exception]):
    client.register("users-value", SchemaText("PROTOBUF", USER2))
    with pytest.raises(error):
        ProtobufDeserializer(None, None, client)(message, VALUE)


def test_an_id_of_another_type(client: RegistryClient, classes: Classes):
    client.register("users-value", SchemaText("AVRO", '"string"'))
    with pytest.raises(WrongSchemaType):
        ProtobufDeserializer(classes("acme.First"), None, client)(b"\x00\x00\x00\x00\x01\x00", VALUE)


def test_arguments_that_are_refused(client: RegistryClient, classes: Classes):
    with pytest.raises(ConfigError, match="must be a class of messages"):
        ProtobufSerializer("acme.First", client)
    with pytest.raises(TypeError, match=r"must be a serdes\.RegistryClient"):
        ProtobufSerializer(classes("acme.First"), "http://localhost:8081")  # type: ignore[arg-type]


def test_neither_class_nor_client():
    with pytest.raises(ConfigError):
        ProtobufDeserializer()


NEGATIVE = {"signs.proto": 'syntax = "proto3"; message Signed { enum Sign { PLUS = 0; MINUS = -1; } Sign sign = 1; }'}


def test_a_normalized_enum_with_a_negative_value_is_decoded(
    client: RegistryClient, protobuf_classes: Callable[[dict[str, str]], Classes]
):
    signed = protobuf_classes(NEGATIVE)("Signed")
    message = ProtobufSerializer(signed, client, {"normalize.schemas": True})(signed(sign=-1), VALUE)
    assert message is not None
    assert ProtobufDeserializer(None, None, client)(message, VALUE).sign == -1


def test_a_stored_enum_that_begins_with_a_negative_value_is_decoded(client: RegistryClient, transport: AsgiTransport):
    transport.handle_request(httpx.Request("PUT", "http://registry/mode", json={"mode": "IMPORT"}))
    stored = 'syntax = "proto3"; message Signed { .Signed.Sign sign = 1; enum Sign { MINUS = -1; PLUS = 0; } }'
    client.register("users-value", SchemaText("PROTOBUF", stored), schema_id=5, version=1)
    decoded = ProtobufDeserializer(None, None, client)(b"\0\0\0\0\5\0\x08" + b"\xff" * 9 + b"\x01", VALUE)
    assert decoded.sign == -1
