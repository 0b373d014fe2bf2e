from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from compat.schema import Reference, SchemaText
from serdes.avro import AvroDeserializer, AvroSerializer, record_name
from serdes.client.clients import AsyncRegistryClient, RegistryClient, Retry
from serdes.error import (
    ConfigError,
    DatumMismatch,
    IncompatibleReader,
    PayloadError,
    RegistryUnavailable,
    SchemaCompileError,
    SchemaNotFound,
    SerializationError,
    SubjectNotFound,
    TruncatedMessage,
    WrongMagic,
    WrongSchemaType,
)
from serdes.message import wire
from serdes.rules.error import RuleFailed
from serdes.schema import Schema
from serdes.serialization import MessageField, SerializationContext

USER = '{"type":"record","name":"User","namespace":"com.acme","fields":[{"name":"name","type":"string"}]}'
USER2 = (
    '{"type":"record","name":"User","namespace":"com.acme","fields":[{"name":"name","type":"string"},'
    '{"name":"age","type":"int","default":7}]}'
)
VALUE = SerializationContext("users", MessageField.VALUE)
KEY = SerializationContext("users", MessageField.KEY)


def test_first_message_to_the_byte(client: RegistryClient, app: Any):
    serialize = AvroSerializer(client, USER)
    assert serialize({"name": "ada"}, VALUE) == b"\x00\x00\x00\x00\x01\x06ada"
    assert client.version("users-value").schema.text == USER
    asked = len(app.requests)
    assert serialize({"name": "bob"}, VALUE) == b"\x00\x00\x00\x00\x01\x06bob"
    assert len(app.requests) == asked


def test_avro_round_trip(client: RegistryClient):
    message = AvroSerializer(client, USER)({"name": "ada"}, VALUE)
    deserialize = AvroDeserializer(client)
    for data in (message, bytearray(message), memoryview(message)):
        assert deserialize(data, VALUE) == {"name": "ada"}
    assert deserialize(message) == {"name": "ada"}


def test_null_stays_null(client: RegistryClient, app: Any):
    assert AvroSerializer(client, USER)(None, VALUE) is None
    assert AvroDeserializer(client)(None, VALUE) is None
    assert app.requests == []


@pytest.mark.parametrize(
    ("schema", "datum", "payload"),
    [
        ('"bytes"', b"\x01\x02", b"\x01\x02"),
        ('{"type":"bytes"}', b"", b""),
        ('"string"', "a", b"\x02a"),
        ('"long"', -1, b"\x01"),
        ('"null"', None, None),
        ('["null","string"]', "a", b"\x02\x02a"),
        ('{"type":"array","items":"int"}', [1, 2], b"\x04\x02\x04\x00"),
        ('{"type":"int","logicalType":"date"}', dt.date(1970, 1, 2), b"\x02"),
    ],
)
def test_schemas_that_are_no_records(client: RegistryClient, schema: str, datum: Any, payload: bytes | None):
    message = AvroSerializer(client, schema)(datum, VALUE)
    assert message == (None if payload is None else wire.prefix(1) + payload)
    assert AvroDeserializer(client)(message, VALUE) == datum


def test_to_dict_and_from_dict(client: RegistryClient):
    contexts = []

    def to_dict(name: str, ctx: Any) -> dict[str, str]:
        contexts.append(ctx)
        return {"name": name}

    serialize = AvroSerializer(client, USER, to_dict)
    deserialize = AvroDeserializer(client, None, lambda user, ctx: user["name"] + ctx.topic)
    for _ in range(2):
        message = serialize("ada", VALUE)
        assert message == b"\x00\x00\x00\x00\x01\x06ada"
        assert deserialize(message, VALUE) == "adausers"
    assert contexts == [VALUE, VALUE]


def test_a_reader_schema(client: RegistryClient):
    message = AvroSerializer(client, USER)({"name": "ada"}, VALUE)
    assert AvroDeserializer(client, USER2)(message, VALUE) == {"name": "ada", "age": 7}


def test_the_latest_version_as_the_readers(client: RegistryClient):
    message = AvroSerializer(client, USER)({"name": "ada"}, VALUE)
    client.register("users-value", SchemaText("AVRO", USER2))
    assert AvroDeserializer(client, conf={"use.latest.version": True})(message, VALUE) == {"name": "ada", "age": 7}


def test_return_record_name(client: RegistryClient):
    union = f'{{"type":"record","name":"R","fields":[{{"name":"u","type":["null",{USER}]}}]}}'
    message = AvroSerializer(client, union)({"u": {"name": "ada"}}, VALUE)
    assert AvroDeserializer(client, return_record_name=True)(message, VALUE) == {
        "u": ("com.acme.User", {"name": "ada"})
    }


ADDRESS = '{"type":"record","name":"Address","fields":[{"name":"city","type":"string"}]}'
PERSON = (
    '{"type":"record","name":"Person","fields":[{"name":"home","type":"Address"},{"name":"work","type":"Address"}]}'
)


def test_references(client: RegistryClient):
    client.register("address", SchemaText("AVRO", ADDRESS))
    schema = Schema(PERSON, "AVRO", [Reference("Address", "address", 1)])
    datum = {"home": {"city": "a"}, "work": {"city": "b"}}
    message = AvroSerializer(client, schema)(datum, VALUE)
    assert message is not None
    assert message[5:] == b"\x02a\x02b"
    assert AvroDeserializer(client)(message, VALUE) == datum
    assert AvroDeserializer(client, schema)(message, VALUE) == datum


def test_writer_and_reader_refer_to_different_versions_of_a_name(client: RegistryClient):
    client.register("address", SchemaText("AVRO", ADDRESS))
    client.register("address", SchemaText("AVRO", ADDRESS.replace("]", ',{"name":"zip","type":"int","default":9}]')))
    first, second = (Schema(PERSON, "AVRO", [Reference("Address", "address", version)]) for version in (1, 2))
    message = AvroSerializer(client, first)({"home": {"city": "a"}, "work": {"city": "b"}}, VALUE)
    whole = {"home": {"city": "a", "zip": 9}, "work": {"city": "b", "zip": 9}}
    assert AvroDeserializer(client, second)(message, VALUE) == whole
    message = AvroSerializer(client, second)(whole, VALUE)
    assert AvroDeserializer(client, first)(message, VALUE) == {"home": {"city": "a"}, "work": {"city": "b"}}


def test_manual_registration(client: RegistryClient):
    """auto.register.schemas=false: only what somebody registered is written."""
    serialize = AvroSerializer(client, USER, conf={"auto.register.schemas": False})
    with pytest.raises(SubjectNotFound):
        serialize({"name": "ada"}, VALUE)
    assert client.register("users-value", SchemaText("AVRO", USER)).id == 1
    assert serialize({"name": "ada"}, VALUE) == b"\x00\x00\x00\x00\x01\x06ada"
    with pytest.raises(SchemaNotFound):
        AvroSerializer(client, USER2, conf={"auto.register.schemas": "false"})({"name": "ada", "age": 1}, VALUE)
    assert client.versions("users-value") == [1]


@pytest.mark.parametrize("schema", [None, USER])
def test_use_latest_version(client: RegistryClient, schema: str | None):
    client.register("users-value", SchemaText("AVRO", USER))
    client.register("users-value", SchemaText("AVRO", USER2))
    serialize = AvroSerializer(client, schema, conf={"auto.register.schemas": False, "use.latest.version": True})
    assert serialize({"name": "ada"}, VALUE) == b"\x00\x00\x00\x00\x02\x06ada\x0e"


def test_latest_is_asked_again_after_its_time(client: RegistryClient):
    client.register("users-value", SchemaText("AVRO", USER))
    for_ever = AvroSerializer(client, conf={"use.latest.version": True, "latest.cache.ttl.sec": -1})
    for_now = AvroSerializer(client, conf={"use.latest.version": True, "latest.cache.ttl.sec": 0})
    for serialize in (for_ever, for_now):
        assert serialize({"name": "ada"}, VALUE) == b"\x00\x00\x00\x00\x01\x06ada"
    client.register("users-value", SchemaText("AVRO", USER2))
    assert for_ever({"name": "ada"}, VALUE) == b"\x00\x00\x00\x00\x01\x06ada"
    assert for_now({"name": "ada"}, VALUE) == b"\x00\x00\x00\x00\x02\x06ada\x0e"


def test_use_schema_id_and_guid(client: RegistryClient):
    client.register("users-value", SchemaText("AVRO", USER))
    held = client.register("users-value", SchemaText("AVRO", USER2))
    expected = b"\x00\x00\x00\x00\x02\x06ada\x0e"
    assert AvroSerializer(client, conf={"use.schema.id": 2})({"name": "ada"}, VALUE) == expected
    assert AvroSerializer(client, conf={"use.schema.id": "2"})({"name": "ada"}, VALUE) == expected
    assert AvroSerializer(client, conf={"use.schema.guid": held.guid})({"name": "ada"}, VALUE) == expected
    with pytest.raises(SchemaNotFound):
        AvroSerializer(client, conf={"use.schema.id": 9})({"name": "ada"}, VALUE)


def test_use_latest_with_metadata(client: RegistryClient):
    client.register("users-value", SchemaText("AVRO", USER2), metadata={"properties": {"team": "blue"}})
    client.register("users-value", SchemaText("AVRO", USER), metadata={"properties": {"team": "red"}})
    serialize = AvroSerializer(client, conf={"use.latest.with.metadata": {"team": "blue"}})
    assert serialize({"name": "ada"}, VALUE) == b"\x00\x00\x00\x00\x01\x06ada\x0e"


STRICT = '{"type":"record","name":"User","namespace":"com.acme","fields":[{"name":"age","type":"int"}]}'


@pytest.mark.parametrize(
    ("conf", "switch"),
    [
        ({"use.latest.version": True}, "latest.compatibility.strict"),
        ({"use.schema.id": 1}, "id.compatibility.strict"),
    ],
)
def test_the_schema_to_use_must_read_the_own(client: RegistryClient, conf: dict[str, Any], switch: str):
    client.register("users-value", SchemaText("AVRO", STRICT))
    with pytest.raises(IncompatibleReader) as raised:
        AvroSerializer(client, USER, conf=conf)({"name": "ada"}, VALUE)
    assert raised.value.setting == switch
    assert f'; for example {{"name":""}}: The reader refuses it. set {switch}=false' in str(raised.value)
    serialize = AvroSerializer(client, USER, conf={**conf, switch: False})
    assert serialize({"name": "ada", "age": 1}, VALUE) == b"\x00\x00\x00\x00\x01\x02"


def test_header_mode(client: RegistryClient):
    headers: list[tuple[str, bytes]] = [("a", b"b")]
    ctx = SerializationContext("users", MessageField.VALUE, headers)
    serialize = AvroSerializer(client, USER, conf={"schema.id.serializer": "HeaderSchemaIdSerializer"})
    assert serialize({"name": "ada"}, ctx) == b"\x06ada"
    guid = client.version("users-value").guid
    assert guid is not None
    assert headers == [("a", b"b"), ("__value_schema_id", wire.guid_bytes(guid))]
    assert AvroDeserializer(client)(b"\x06ada", ctx) == {"name": "ada"}
    assert AvroDeserializer(client)(wire.guid_bytes(guid) + b"\x06ada", VALUE) == {"name": "ada"}
    with pytest.raises(SerializationError, match="needs a list of headers"):
        serialize({"name": "ada"}, VALUE)
    with pytest.raises(SerializationError):
        AvroDeserializer(client, conf={"schema.id.deserializer": "prefix"})(b"\x06ada", ctx)


def test_header_mode_of_the_key_only(client: RegistryClient):
    serialize = AvroSerializer(client, '"string"', conf={"key.schema.id.serializer": "header"})
    headers: dict[str, bytes] = {}
    assert serialize("a", SerializationContext("users", "key", headers)) == b"\x02a"
    assert list(headers) == ["__key_schema_id"]
    assert serialize("a", VALUE) == b"\x00\x00\x00\x00\x01\x02a"


def test_a_message_with_other_headers_has_its_frame_before_the_payload(client: RegistryClient):
    message = AvroSerializer(client, USER)({"name": "ada"}, VALUE)
    deserialize = AvroDeserializer(client)
    ctx = SerializationContext("users", MessageField.VALUE, [("trace", b"1")])
    for _ in range(2):
        assert deserialize(message, ctx) == {"name": "ada"}


def test_messages_without_a_frame(client: RegistryClient):
    held = client.register("users-value", SchemaText("AVRO", USER))
    for name in ({"use.schema.id": 1}, {"use.schema.guid": held.guid}):
        deserialize = AvroDeserializer(client, conf={"schema.id.deserializer": "ConfigSchemaIdDeserializer", **name})
        for _ in range(2):
            assert deserialize(b"\x06ada", VALUE) == {"name": "ada"}
    for conf in ({"use.schema.id": 1}, {"schema.id.deserializer": "config"}):
        with pytest.raises(ConfigError):
            AvroDeserializer(client, conf=conf)


def test_normalize_and_tags_and_format_are_asked_for(client: RegistryClient):
    conf = {"normalize.schemas": True, "propagate.schema.tags": True, "schema.format": "resolved"}
    seen: list[Any] = []
    register = client.endpoints.register

    def spy(*args: Any, **kwargs: Any) -> Any:
        seen.append(kwargs)
        return register(*args, **kwargs)

    client.endpoints.register = spy  # type: ignore[method-assign]
    AvroSerializer(client, USER, conf=conf)({"name": "ada"}, VALUE)
    assert seen[0]["normalize"] is True
    assert seen[0]["propagate_schema_tags"] is True
    assert seen[0]["format"] == "resolved"


def test_validate_strict(client: RegistryClient):
    strict = AvroSerializer(client, USER2, conf={"validate.strict": True})
    lax = AvroSerializer(client, USER2, conf={"validate.strict.allow.default": True})
    assert lax({"name": "ada"}, VALUE) == b"\x00\x00\x00\x00\x01\x06ada\x0e"
    missing, unknown = r"\$.age is nothing, expected int \(the field is missing\)", r"\$.x is int, .*an unknown field"
    for serialize, datum, text in (
        (strict, {"name": "ada"}, missing),
        (strict, {"name": "ada", "age": 7, "x": 1}, unknown),
        (lax, {"name": "ada", "x": 1}, unknown),
    ):
        with pytest.raises(DatumMismatch, match=text):
            serialize(datum, VALUE)


@pytest.mark.parametrize("setting", ["validate.strict", "validate.strict.allow.default"])
def test_strict_bytes_have_no_length_either(client: RegistryClient, setting: str):
    message = AvroSerializer(client, '"bytes"', conf={setting: True})(b"ab", VALUE)
    assert message == b"\x00\x00\x00\x00\x01ab"
    assert AvroDeserializer(client)(message, VALUE) == b"ab"


def test_a_schema_with_a_comment(client: RegistryClient):
    schema = '{"type": "record", "name": "C", /* one field */ "fields": [{"name": "x", "type": "int"}]}'
    message = AvroSerializer(client, schema, conf={"subject.name.strategy": "RecordNameStrategy"})({"x": 1}, VALUE)
    assert message == b"\x00\x00\x00\x00\x01\x02"
    assert client.version("C").schema.text == '{"type":"record","name":"C","fields":[{"name":"x","type":"int"}]}'


@pytest.mark.parametrize(
    ("datum", "path", "value_type"),
    [({"name": 1}, "$.name", "int"), ({}, "$.name", "nothing"), ("ada", "$", "str")],
)
def test_a_datum_of_a_wrong_type(client: RegistryClient, datum: Any, path: str, value_type: str):
    serialize = AvroSerializer(client, USER)
    for _ in range(2):
        with pytest.raises(DatumMismatch) as raised:
            serialize(datum, VALUE)
        assert (raised.value.path, raised.value.value_type) == (path, value_type)
        assert raised.value.expected


def test_a_text_for_a_schema_of_bytes(client: RegistryClient):
    with pytest.raises(DatumMismatch) as raised:
        AvroSerializer(client, '"bytes"')("text", VALUE)
    assert raised.value == DatumMismatch("$", "str", "bytes")


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (b"", TruncatedMessage),
        (b"\x00\x00\x00\x01", TruncatedMessage),
        (b"\x02\x00\x00\x00\x01\x06ada", WrongMagic),
        (b"\x00\x00\x00\x00\x09\x06ada", SchemaNotFound),
        (b"\x00\x00\x00\x00\x01\x06ad", PayloadError),
        (b"\x00\x00\x00\x00\x01", PayloadError),
        (b"\x00\x00\x00\x00\x01\x06adax", PayloadError),
        (b"\x00\x00\x00\x00\x01\x05ada", PayloadError),
        (b"\x00\x00\x00\x00\x01\xfe\xff\xff\xff\xff\xff\xff\xff\x7fada", PayloadError),
        (b"\x00\x00\x00\x00\x01\x06\xff\xff\xff", PayloadError),
    ],
)
def test_a_message_that_is_none(client: RegistryClient, message: bytes, error: type[Exception]):
    client.register("users-value", SchemaText("AVRO", USER))
    deserialize = AvroDeserializer(client)
    assert deserialize(b"\x00\x00\x00\x00\x01\x06ada", VALUE) == {"name": "ada"}
    for _ in range(2):
        with pytest.raises(error):
            deserialize(message, VALUE)


def test_an_id_of_another_type(client: RegistryClient):
    client.register("users-value", SchemaText("JSON", "{}"))
    with pytest.raises(WrongSchemaType) as raised:
        AvroDeserializer(client)(b"\x00\x00\x00\x00\x01{}", VALUE)
    assert raised.value == WrongSchemaType("the schema of id 1", "JSON", "AVRO")


@pytest.mark.parametrize(
    "schema", ["{", '{"type":"recrod"}', '{"type":"record","name":"R","fields":[{"name":"a","type":"X"}]}']
)
def test_a_schema_that_cannot_be_compiled(client: RegistryClient, schema: str):
    with pytest.raises(SchemaCompileError) as raised:
        AvroSerializer(client, schema)
    assert raised.value.schema_type == "AVRO"
    with pytest.raises(SchemaCompileError):
        AvroDeserializer(client, schema)


def test_the_subject_of_a_record_is_no_hindrance(client: RegistryClient):
    conf = {"subject.name.strategy": "RecordNameStrategy"}
    message = AvroSerializer(client, USER, conf=conf)({"name": "ada"}, VALUE)
    assert client.subjects() == ["com.acme.User"]
    client.clear_caches()
    assert AvroDeserializer(client)(message, VALUE) == {"name": "ada"}
    client.register("com.acme.User", SchemaText("AVRO", USER2))
    latest = AvroDeserializer(client, conf={**conf, "use.latest.version": True})
    assert latest(message, VALUE) == {"name": "ada", "age": 7}


def test_the_cache_of_schemas_is_bounded(client: RegistryClient, app: Any):
    serialize = AvroSerializer(client, USER, conf={"max.schemas.per.subject": 2, "subject.name.strategy": "RECORD"})
    for topic in ("a", "b", "c", "a"):
        assert serialize({"name": "ada"}, SerializationContext(topic, MessageField.VALUE))
    assert len(serialize._chosen) <= 2
    assert len(app.requests) == 1


def test_threads_share_a_serializer(client: RegistryClient):
    serialize, deserialize = AvroSerializer(client, USER), AvroDeserializer(client)

    def there_and_back(number: int) -> bool:
        ctx = SerializationContext(f"users{number % 3}", MessageField.VALUE)
        return bool(deserialize(serialize({"name": str(number)}, ctx), ctx) == {"name": str(number)})

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(there_and_back, range(200)))
    assert client.subjects() == ["users0-value", "users1-value", "users2-value"]


def test_encryption_is_not_passed_over(client: RegistryClient):
    params = {"encrypt.kek.name": "kek", "encrypt.kms.type": "local-kms", "encrypt.kms.key.id": "key"}
    rule = {"name": "secret", "kind": "TRANSFORM", "mode": "WRITEREAD", "type": "ENCRYPT", "tags": ["PII"]}
    rule_set = {"domainRules": [{**rule, "params": params}]}
    client.register("users-value", SchemaText("AVRO", USER), rule_set=rule_set)
    error = r"rule 'secret' \(ENCRYPT, (WRITE|READ)\) of subject users-value .*encryption is not supported"
    with pytest.raises(RuleFailed, match=error):
        AvroSerializer(client, conf={"use.latest.version": True})({"name": "ada"}, VALUE)
    with pytest.raises(RuleFailed, match=error):
        AvroDeserializer(client)(b"\x00\x00\x00\x00\x01\x06ada", VALUE)


def test_a_registry_that_is_down():
    with RegistryClient("http://127.0.0.1:1", retry=Retry(1, wait=0)) as client:
        with pytest.raises(RegistryUnavailable):
            AvroSerializer(client, USER)({"name": "ada"}, VALUE)
        with pytest.raises(RegistryUnavailable):
            AvroDeserializer(client)(b"\x00\x00\x00\x00\x01\x06ada", VALUE)


@pytest.mark.parametrize(
    ("conf", "problem"),
    [
        (
            {"auto.register.schema": True},
            "auto.register.schema: is no setting of AvroSerializer; did you mean auto.register.schemas?",
        ),
        (
            {"subject.name.strategey": "TOPIC"},
            "subject.name.strategey: is no setting of AvroSerializer; did you mean subject.name.strategy?",
        ),
        ({"auto.register.schemas": "maybe"}, "auto.register.schemas: must be true or false, not 'maybe'"),
        ({"use.schema.guid": "x"}, "use.schema.guid: must be a guid, not 'x'"),
        ({"use.schema.id": "x"}, "use.schema.id: must be an integer, not 'x'"),
        ({"schema.id.serializer": "tail"}, "schema.id.serializer: must be prefix or header, not 'tail'"),
        (
            {"schema.id.serializer": "heder"},
            "schema.id.serializer: must be prefix or header, not 'heder'; did you mean",
        ),
        ({"schema.format": 5}, "schema.format: must be a text, not 5"),
        (
            {"normalize.schemas": "x", "use.schema.id": "y"},
            "normalize.schemas: must be true or false, not 'x'; use.sch",
        ),
        ({"subject.name.strategy": "Nope"}, "subject.name.strategy: must be a function or one of"),
        (
            {"auto.register.schemas": True, "use.latest.version": True},
            "auto.register.schemas: cannot be true with use.latest.version, which names a schema; remove one",
        ),
        ({"use.latest.with.metadata": 3}, "use.latest.with.metadata: must be a mapping"),
    ],
)
def test_settings_that_are_refused(client: RegistryClient, conf: dict[str, Any], problem: str):
    with pytest.raises(ConfigError) as raised:
        AvroSerializer(client, USER, conf=conf)
    assert str(raised.value).startswith(problem)


@pytest.mark.parametrize(
    ("conf", "problem"),
    [
        (
            {"use.schema.id": 7},
            "use.schema.id: has no effect unless schema.id.deserializer is config; set it, or remove use.schema.id",
        ),
        (
            {"use.schema.guid": "89791762-2336-4186-9674-299b90a802e2"},
            "use.schema.guid: has no effect unless schema.id.deserializer is config; set it, or remove use.schema.guid",
        ),
        (
            {"value.schema.id.deserializer": "config"},
            "value.schema.id.deserializer: config takes the schema from a setting;"
            " set use.schema.id or use.schema.guid",
        ),
    ],
)
def test_settings_of_deserializers_that_need_another(client: RegistryClient, conf: dict[str, Any], problem: str):
    with pytest.raises(ConfigError) as raised:
        AvroDeserializer(client, conf=conf)
    assert str(raised.value) == problem


def test_arguments_that_are_refused(client: RegistryClient):
    with pytest.raises(TypeError, match=r"must be a serdes\.RegistryClient or of a kind of it, not builtins\.str"):
        AvroSerializer("http://localhost:8081", USER)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"not serdes\.client\.clients\.AsyncRegistryClient"):
        AvroDeserializer(AsyncRegistryClient("http://localhost:8081"))  # type: ignore[arg-type]
    for arguments, name in (((3,), "schema_str"), ((USER, {"auto.register.schemas": False}), "to_dict")):
        with pytest.raises(ConfigError) as raised:
            AvroSerializer(client, *arguments)
        assert raised.value.name == name
    with pytest.raises(TypeError, match="a message is bytes, not str"):
        AvroDeserializer(client)("text", VALUE)  # type: ignore[arg-type]


def test_no_schema_and_no_setting_that_names_one(client: RegistryClient):
    with pytest.raises(ConfigError, match="schema_str"):
        AvroSerializer(client)({"name": "ada"}, VALUE)


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        (USER, "com.acme.User"),
        ('{"type":"record","name":"a.b.C","fields":[]}', "a.b.C"),
        ('{"type":"enum","name":"E","symbols":[]}', "E"),
        ('"string"', None),
        ('["null","string"]', None),
        ('{"type":"array","items":"int"}', None),
    ],
)
def test_record_name(schema: str, name: str | None):
    assert record_name(SchemaText("AVRO", schema)) == name
