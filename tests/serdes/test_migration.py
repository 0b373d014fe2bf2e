"""One script, run with confluent-kafka and with its imports swapped for ours, against one registry."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from magicbyte.testing import running_registry

SCRIPT = '''
import sys
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient
from confluent_kafka.schema_registry import record_subject_name_strategy, topic_record_subject_name_strategy
from confluent_kafka.schema_registry import ConfigCompatibilityLevel, Metadata, MetadataProperties, ServerConfig
from confluent_kafka.schema_registry import Rule, RuleKind, RuleMode, RuleSet
from confluent_kafka.schema_registry import header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.rpc import error_details_pb2

USER = """{"type": "record", "name": "User", "namespace": "acme",
  "fields": [{"name": "name", "type": "string"}, {"name": "age", "type": ["null", "int"], "default": null}]}"""
JSON_USER = """{"$schema": "http://json-schema.org/draft-07/schema#", "title": "User", "type": "object",
  "properties": {"name": {"type": "string"}}, "required": ["name"]}"""


class User:
    def __init__(self, name):
        self.name = name


client = SchemaRegistryClient({"url": sys.argv[1], "max.retries": 1})
value = SerializationContext("users", MessageField.VALUE)
key = SerializationContext("users", MessageField.KEY)

serialize = AvroSerializer(client, USER, lambda user, ctx: {"name": user.name})
message = serialize(User("ada"), value)
print(message, serialize(None, value))
deserialize = AvroDeserializer(client, USER, lambda user, ctx: User(user["name"]))
print(deserialize(message, value).name)
print(AvroDeserializer(client)(message, value))
print(AvroSerializer(client, '"string"')("k", key))

for strategy in (record_subject_name_strategy, topic_record_subject_name_strategy):
    print(AvroSerializer(client, USER, conf={"subject.name.strategy": strategy})({"name": "x"}, value))
print(AvroSerializer(client, Schema(USER, "AVRO"), conf={"normalize.schemas": True})({"name": "y", "age": 3}, value))
print(AvroSerializer(client, conf={"auto.register.schemas": False, "use.latest.version": True})({"name": "z"}, value))
print(AvroSerializer(client, USER, conf={"auto.register.schemas": False})({"name": "z"}, value))
print(AvroSerializer(client, conf={"use.schema.id": 1})({"name": "i"}, value))
headers = []
print(AvroSerializer(client, USER, conf={"schema.id.serializer": header_schema_id_serializer})(
    {"name": "hhhhhh"}, SerializationContext("users", MessageField.VALUE, headers)), headers)
print(AvroDeserializer(client)(b"\\x0chhhhhh\\x00", SerializationContext("users", MessageField.VALUE, headers)))

client.register_schema("city", Schema('{"type": "record", "name": "City", "fields": []}', "AVRO"))
town = Schema('{"type": "record", "name": "Town", "fields": [{"name": "city", "type": "City"}]}', "AVRO",
              [SchemaReference("City", "city", 1)])
print(AvroSerializer(client, town)({"city": {}}, SerializationContext("towns", MessageField.VALUE)))

people = SerializationContext("people", MessageField.VALUE)
message = JSONSerializer(JSON_USER, client, lambda user, ctx: {"name": user.name})(User("ada"), people)
print(message[:5], JSONDeserializer(JSON_USER, lambda user, ctx: user["name"])(message, people))
print(JSONDeserializer(None, None, client)(message, people))

errors = SerializationContext("errors", MessageField.VALUE)
for found in (
    error_details_pb2.RetryInfo(),
    error_details_pb2.ErrorInfo(reason="r", metadata={"a": "b"}),
    error_details_pb2.BadRequest.FieldViolation(field="f"),
):
    message = ProtobufSerializer(type(found), client, {"use.deprecated.format": False})(found, errors)
    print(message, ProtobufDeserializer(type(found), {"use.deprecated.format": False})(message, errors) == found)

registered = client.get_latest_version("users-value")
print(registered.schema_id, registered.version, registered.subject, registered.schema.schema_str)
print(client.get_schema(1).schema_str, client.get_versions("users-value"), client.get_subjects("users"))
print(client.lookup_schema("users-value", Schema(USER, "AVRO")).version)
print(client.test_compatibility("users-value", Schema('"int"', "AVRO")))
print(client.set_compatibility("users-value", "FULL"), client.get_compatibility("users-value"))
blue = Metadata(None, MetadataProperties({"team": "blue"}), None)
rule = Rule("adult", "of age", RuleKind.CONDITION, RuleMode.UPGRADE, "CEL", None, None, "message.age > 17", None, None,
            False)
client.register_schema("contracts", Schema(USER, "AVRO", [], blue, RuleSet([rule], None)))
held = client.get_latest_version("contracts").schema
print(held.metadata.properties.properties, held.rule_set.migration_rules[0].expr)
print(held.rule_set.to_dict()["migrationRules"])
print(client.get_latest_with_metadata("contracts", {"team": "blue"}).version)
client.set_config("contracts", ServerConfig(compatibility=ConfigCompatibilityLevel.FULL_TRANSITIVE))
print(client.get_config("contracts").compatibility_level.value)
print(client.register_schema("people-value", Schema(JSON_USER, "JSON")) > 0)
for refused in (
    lambda: client.get_version("users-value", 9),
    lambda: client.get_latest_version("nobody"),
    lambda: client.register_schema("users-value", Schema('"int"', "AVRO")),
):
    try:
        refused()
    except SchemaRegistryError as error:
        print(error.http_status_code, error.error_code, error.error_message)
for wrong in (
    lambda: AvroSerializer(client, USER, conf={"nope": 1}),
    lambda: AvroSerializer(client, USER, conf={"auto.register.schemas": True, "use.latest.version": True}),
    lambda: SchemaRegistryClient({"url": sys.argv[1], "nope": 1}),
    lambda: SchemaRegistryClient({}),
    lambda: AvroSerializer(client, USER)({"nome": "x"}, value),
):
    try:
        wrong()
    except ValueError:
        print("ValueError")
'''
SWAP = ("confluent_kafka.schema_registry", "serdes")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running_registry() as registry:
        yield registry.url


def output(script: str, url: str) -> list[str]:
    run = subprocess.run([sys.executable, "-c", script, url], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def test_swapping_the_import_is_the_migration(url: str):
    theirs = output(SCRIPT, url)
    ours = output(SCRIPT.replace(*SWAP), url)
    assert len(theirs) >= 32
    assert ours == theirs


def test_the_context_may_be_ours_too(url: str):
    swapped = SCRIPT.replace(*SWAP).replace("confluent_kafka.serialization", "serdes.serialization")
    assert "confluent_kafka" not in swapped
    assert output(swapped, url) == output(SCRIPT, url)
