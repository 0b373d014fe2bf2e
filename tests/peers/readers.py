"""Confluent's own serializers and deserializers for Python: what was written before a move is read after it."""

from __future__ import annotations

from typing import Any

from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from tests.peers.made_registry import ORDER, ORDER_2, POINT

#: Records as they were written: format, value, bytes.
Written = list[tuple[str, str, Any, bytes]]
_ORDERS = ((ORDER, {"id": 1}), (ORDER_2, {"id": 2, "note": "x"}))


def _seen() -> Any:
    """The class of the message `made.Seen`."""
    file = descriptor_pb2.FileDescriptorProto(name="seen.proto", package="made", syntax="proto3")
    message = file.message_type.add(name="Seen")
    kinds = descriptor_pb2.FieldDescriptorProto
    message.field.add(name="who", number=1, type=kinds.TYPE_STRING, label=kinds.LABEL_OPTIONAL)
    message.field.add(name="at", number=2, type=kinds.TYPE_INT64, label=kinds.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("made.Seen"))


SEEN = _seen()


def _context(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE)


def write(url: str) -> Written:
    """Write records of all three types with the schemas of a registry; nothing is registered."""
    client = SchemaRegistryClient({"url": url})
    settings = {"auto.register.schemas": False}
    written: Written = []
    for text, value in _ORDERS:
        serializer = AvroSerializer(client, text, conf=settings)
        written.append(("AVRO", "orders", value, serializer(value, _context("orders"))))
    point = {"x": 3}
    written.append(("JSON", "points", point, JSONSerializer(POINT, client, conf=settings)(point, _context("points"))))
    seen = SEEN(who="me", at=4)
    latest = {**settings, "use.latest.version": True, "use.deprecated.format": False}
    written.append(("PROTOBUF", "seen", seen, ProtobufSerializer(SEEN, client, conf=latest)(seen, _context("seen"))))
    return written


def unread(url: str, written: Written) -> list[str]:
    """The messages that Confluent's deserializers do not read as they were written; empty if all is well."""
    client = SchemaRegistryClient({"url": url})
    readers = {
        "AVRO": AvroDeserializer(client),
        "JSON": JSONDeserializer(None, schema_registry_client=client),
        "PROTOBUF": ProtobufDeserializer(SEEN, {"use.deprecated.format": False}, client),
    }
    wrong = []
    for kind, topic, value, data in written:
        try:
            read = readers[kind](data, _context(topic))
        except Exception as error:  # noqa: BLE001 - whatever a reader meets is told
            wrong.append(f"{kind} of {topic}: {error}")
            continue
        if read != value:
            wrong.append(f"{kind} of {topic}: read {read!r}, written {value!r}")
    return wrong
