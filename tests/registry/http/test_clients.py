"""Clients of others against a running registry: Confluent's for Python, and the requests that Kafka Connect sends."""

from __future__ import annotations

import io
import json
import socket
import uuid
from collections.abc import Iterator
from typing import Any

import fastavro
import pytest
from confluent_kafka.schema_registry import (
    ConfigCompatibilityLevel,
    Metadata,
    MetadataProperties,
    Rule,
    RuleKind,
    RuleMode,
    RuleSet,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    header_schema_id_serializer,
)
from confluent_kafka.schema_registry import ServerConfig as ClientConfig
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.common.serde import SubjectNameStrategyType
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext, SerializationError
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from magicbyte.testing.servers import running_registry

USER = '{"type":"record","name":"User","fields":[{"name":"name","type":"string"},{"name":"age","type":"int"}]}'
USER_2 = USER.replace('"int"}', '"int"},{"name":"mail","type":["null","string"],"default":null}')


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running_registry("memory:") as server:
        yield server.url


@pytest.fixture
def client(url: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": url}) as made:
        yield made


def test_the_client_registers_reads_and_deletes(client: SchemaRegistryClient) -> None:
    schema = Schema(USER, "AVRO")
    schema_id = client.register_schema("users", schema)
    assert client.get_schema(schema_id).schema_str == USER
    found = client.lookup_schema("users", schema)
    assert (found.subject, found.version, found.schema_id) == ("users", 1, schema_id)
    assert client.test_compatibility("users", Schema(USER_2, "AVRO"))
    second = client.register_schema_full_response("users", Schema(USER_2, "AVRO"))
    assert client.get_schema_by_guid(second.guid).schema_str == USER_2
    assert client.get_latest_version("users").version == 2
    assert client.get_version("users", 1).schema.schema_str == USER
    assert client.get_versions("users") == [1, 2]
    assert "users" in client.get_subjects()
    assert client.delete_version("users", 1) == 1
    assert client.delete_subject("users") == [2]
    assert client.delete_subject("users", permanent=True) == [1, 2]


def test_the_clients_errors_are_the_servers(client: SchemaRegistryClient) -> None:
    for ask, status, code in (
        (lambda: client.get_latest_version("none"), 404, 40401),
        (lambda: client.get_schema(999), 404, 40403),
        (lambda: client.register_schema("bad", Schema("{", "AVRO")), 422, 42201),
        (lambda: client.set_compatibility("bad", "SOME"), 422, 42203),
    ):
        with pytest.raises(SchemaRegistryError) as raised:
            ask()
        assert (raised.value.http_status_code, raised.value.error_code) == (status, code)


def test_the_client_sets_levels_and_configs(client: SchemaRegistryClient) -> None:
    assert client.set_compatibility("levels", "FULL")["compatibility"] == "FULL"
    assert client.get_compatibility("levels") == "FULL"
    client.set_config("levels", ClientConfig(ConfigCompatibilityLevel.NONE, compatibility_group="major"))
    config = client.get_config("levels")
    assert (config.compatibility_level, config.compatibility_group) == ("NONE", "major")


def test_the_client_takes_metadata_and_rules(client: SchemaRegistryClient) -> None:
    rule = Rule(
        "adult", None, RuleKind.CONDITION, RuleMode.WRITE, "CEL", None, None, "message.age > 17", None, None, False
    )
    metadata = Metadata(None, MetadataProperties({"owner": "sales"}), None)
    client.register_schema("ruled", Schema(USER, "AVRO", [], metadata, RuleSet(None, [rule], None)))
    found = client.get_latest_with_metadata("ruled", {"owner": "sales"})
    assert found.version == 1
    assert [domain_rule.name for domain_rule in found.schema.rule_set.domain_rules] == ["adult"]


def value_of(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE)


@pytest.mark.parametrize("normalize", [False, True])
def test_clients_round_trip_avro(client: SchemaRegistryClient, normalize: bool) -> None:
    topic = f"avro-{normalize}"
    write = AvroSerializer(client, USER, conf={"normalize.schemas": normalize})
    message = write({"name": "Ada", "age": 36}, value_of(topic))
    assert message[5:] == b"\x06Ada\x48"
    assert AvroDeserializer(client)(message, value_of(topic)) == {"name": "Ada", "age": 36}
    read = AvroDeserializer(client, USER_2)
    assert read(message, value_of(topic)) == {"name": "Ada", "age": 36, "mail": None}


def test_avro_with_a_reference(client: SchemaRegistryClient) -> None:
    client.register_schema("user", Schema(USER, "AVRO"))
    text = '{"type":"record","name":"Order","fields":[{"name":"buyer","type":"User"}]}'
    schema = Schema(text, "AVRO", [SchemaReference("User", "user", 1)])
    order = {"buyer": {"name": "Ada", "age": 36}}
    message = AvroSerializer(client, schema)(order, value_of("orders"))
    assert message is not None
    assert AvroDeserializer(client)(message, value_of("orders")) == order


def test_clients_round_trip_json(client: SchemaRegistryClient) -> None:
    text = '{"type":"object","title":"User","properties":{"name":{"type":"string"},"age":{"type":"integer"}}}'
    message = JSONSerializer(text, client)({"name": "Ada", "age": 36}, value_of("json"))
    assert message is not None
    assert json.loads(message[5:]) == {"name": "Ada", "age": 36}
    assert JSONDeserializer(text, schema_registry_client=client)(message, value_of("json")) == {
        "name": "Ada",
        "age": 36,
    }


def protobuf_class() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="clients_user.proto", syntax="proto3", package="clients")
    message = file.message_type.add(name="User")
    for number, (name, kind) in enumerate((("name", 9), ("age", 5)), 1):
        message.field.add(name=name, number=number, type=kind, label=1)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("clients.User"))


def test_clients_round_trip_protobuf(client: SchemaRegistryClient) -> None:
    user = protobuf_class()
    write = ProtobufSerializer(user, client, {"use.deprecated.format": False})
    message = write(user(name="Ada", age=36), value_of("proto"))
    assert message is not None
    assert message[5:] == b"\x00\x0a\x03Ada\x10\x24"
    read = ProtobufDeserializer(user, {"use.deprecated.format": False}, client)
    assert read(message, value_of("proto")) == user(name="Ada", age=36)
    assert client.get_latest_version("proto-value").schema.schema_str == (
        'syntax = "proto3";\npackage clients;\n\nmessage User {\n  string name = 1;\n  int32 age = 2;\n}\n'
    )


def test_protobuf_with_an_import_is_registered_file_by_file(client: SchemaRegistryClient) -> None:
    pool = descriptor_pool.DescriptorPool()
    city = descriptor_pb2.FileDescriptorProto(name="clients_city.proto", syntax="proto3", package="clients")
    city.message_type.add(name="City").field.add(name="name", number=1, type=9, label=1)
    home = descriptor_pb2.FileDescriptorProto(
        name="clients_home.proto", syntax="proto3", package="clients", dependency=["clients_city.proto"]
    )
    home.message_type.add(name="Home").field.add(name="city", number=1, type=11, label=1, type_name=".clients.City")
    pool.Add(city)
    pool.Add(home)
    message_class: Any = message_factory.GetMessageClass(pool.FindMessageTypeByName("clients.Home"))
    written = message_class()
    written.city.name = "Rome"
    message = ProtobufSerializer(message_class, client, {"use.deprecated.format": False})(written, value_of("homes"))
    assert client.get_latest_version("homes-value").schema.references == [
        SchemaReference("clients_city.proto", "clients_city.proto", 1)
    ]
    read = ProtobufDeserializer(message_class, {"use.deprecated.format": False}, client)
    assert message is not None
    assert read(message, value_of("homes")) == written


def test_json_with_a_reference(client: SchemaRegistryClient) -> None:
    client.register_schema("city.json", Schema('{"type":"object","properties":{"name":{"type":"string"}}}', "JSON"))
    text = '{"title":"Home","type":"object","properties":{"city":{"$ref":"city.json"}}}'
    schema = Schema(text, "JSON", [SchemaReference("city.json", "city.json", 1)])
    message = JSONSerializer(schema, client)({"city": {"name": "Rome"}}, value_of("home"))
    assert message is not None
    read = JSONDeserializer(None, schema_registry_client=client)
    assert read(message, value_of("home")) == {"city": {"name": "Rome"}}
    with pytest.raises(SerializationError):
        JSONSerializer(schema, client)({"city": {"name": 7}}, value_of("home"))


def test_ids_in_headers_are_guids(client: SchemaRegistryClient) -> None:
    write = AvroSerializer(client, USER, conf={"schema.id.serializer": header_schema_id_serializer})
    there = SerializationContext("headers", MessageField.VALUE, [])
    payload = write({"name": "Augusta", "age": 36}, there)
    assert payload == b"\x0eAugusta\x48"
    ((name, header),) = there.headers
    guid = client.get_latest_version("headers-value").guid
    assert (name, header) == ("__value_schema_id", b"\x01" + uuid.UUID(guid).bytes)
    assert AvroDeserializer(client)(payload, there) == {"name": "Augusta", "age": 36}


def test_serializers_take_the_latest_version_or_the_one_with_metadata(client: SchemaRegistryClient) -> None:
    metadata = Metadata(None, MetadataProperties({"major": "1"}), None)
    client.register_schema("latest-value", Schema(USER, "AVRO", [], metadata, None))
    client.register_schema("latest-value", Schema(USER_2, "AVRO", [], Metadata(None, MetadataProperties({}), None)))
    ids = [client.get_version("latest-value", number).schema_id for number in (1, 2)]
    for conf, expected in (
        ({"use.latest.version": True}, ids[1]),
        ({"use.latest.with.metadata": {"major": "1"}}, ids[0]),
    ):
        write = AvroSerializer(client, conf={"auto.register.schemas": False, **conf})
        message = write({"name": "Ada", "age": 36, "mail": None}, value_of("latest"))
        assert int.from_bytes(message[1:5], "big") == expected


def test_the_client_falls_back_where_nothing_is_associated(client: SchemaRegistryClient) -> None:
    with pytest.raises(SchemaRegistryError) as raised:
        client.get_associations_by_resource_name("topic", "-", "topic", ["value"])
    assert (raised.value.http_status_code, raised.value.error_code) == (404, 404)
    conf = {"subject.name.strategy.type": SubjectNameStrategyType.ASSOCIATED}
    assert AvroSerializer(client, USER, conf=conf)({"name": "Ada", "age": 36}, value_of("fallback"))
    assert client.get_versions("fallback-value") == [1]


def test_a_url_may_name_a_context(url: str, client: SchemaRegistryClient) -> None:
    with SchemaRegistryClient({"url": f"{url}/contexts/.mine"}) as mine:
        message = AvroSerializer(mine, USER)({"name": "Ada", "age": 36}, value_of("there"))
        assert AvroDeserializer(mine)(message, value_of("there")) == {"name": "Ada", "age": 36}
        assert mine.get_subjects() == [":.mine:there-value"]
    assert "there-value" not in client.get_subjects()
    assert client.get_latest_version(":.mine:there-value").version == 1


# What Connect's AvroConverter has the Java client send, header by header.
_JAVA_ACCEPT = "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2"
_CONNECT_SCHEMA = (
    '{"type":"record","name":"ConnectDefault","namespace":"io.confluent.connect.avro","fields":['
    '{"name":"id","type":"int"},'
    '{"name":"small","type":{"type":"int","connect.type":"int8"}},'
    '{"name":"note","type":["null","string"],"default":null},'
    '{"name":"at","type":{"type":"long","connect.version":1,'
    '"connect.name":"org.apache.kafka.connect.data.Timestamp","logicalType":"timestamp-millis"}},'
    '{"name":"price","type":{"type":"bytes","scale":2,"precision":64,"connect.version":1,'
    '"connect.parameters":{"scale":"2"},"connect.name":"org.apache.kafka.connect.data.Decimal",'
    '"logicalType":"decimal"}}],"connect.name":"io.confluent.connect.avro.ConnectDefault"}'
)


def as_java_sends(url: str, method: str, path: str, body: bytes = b"", status: str = "200 OK") -> dict[str, Any]:
    host = url.removeprefix("http://")
    head = [
        f"{method} {path} HTTP/1.1",
        "Content-Type: application/vnd.schemaregistry.v1+json",
        "User-Agent: Java/17.0.9",
        f"Host: {host}",
        f"Accept: {_JAVA_ACCEPT}",
        "Connection: close",
        *([f"Content-Length: {len(body)}"] if body else []),
    ]
    name, _, port = host.partition(":")
    with socket.create_connection((name, int(port)), 10) as connection:
        connection.sendall("\r\n".join([*head, "", ""]).encode() + body)
        answered = b"".join(iter(lambda: connection.recv(65536), b""))
    top, _, content = answered.partition(b"\r\n\r\n")
    assert top.startswith(f"HTTP/1.1 {status}".encode())
    assert b"content-type: application/vnd.schemaregistry.v1+json" in top.lower()
    found: dict[str, Any] = json.loads(content)
    return found


def test_the_registry_supports_the_requests_of_connects_avro_converter(url: str) -> None:
    # The subject of a topic is asked for first; without associations it is the topic's name and what the schema is of.
    asked = "/associations/resources/-/connect?resourceType=topic&associationType=value&offset=0&limit=-1"
    assert as_java_sends(url, "GET", asked, status="404 Not Found")["error_code"] == 404
    body = json.dumps({"schema": _CONNECT_SCHEMA}, separators=(",", ":")).encode()
    registered = as_java_sends(url, "POST", "/subjects/connect-value/versions?normalize=false", body)
    assert registered["schema"] == _CONNECT_SCHEMA
    schema_id = registered["id"]
    # id 7, small -1, note "hi", at 1 ms, price 1.23
    message = b"\x00" + schema_id.to_bytes(4, "big") + b"\x0e\x01\x02\x04hi\x02\x02\x7b"
    fetched = as_java_sends(url, "GET", f"/schemas/ids/{schema_id}?fetchMaxId=false&subject=connect-value")
    assert fetched["schema"] == _CONNECT_SCHEMA
    looked_up = as_java_sends(url, "POST", "/subjects/connect-value?normalize=false&deleted=false", body)
    assert (looked_up["version"], looked_up["id"]) == (1, schema_id)
    plain = _CONNECT_SCHEMA.replace(',"logicalType":"timestamp-millis"', "").replace(',"logicalType":"decimal"', "")
    record = fastavro.schemaless_reader(io.BytesIO(message[5:]), json.loads(plain), None)
    assert record == {"id": 7, "small": -1, "note": "hi", "at": 1, "price": b"\x7b"}
