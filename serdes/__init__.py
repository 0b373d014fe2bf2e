"""Serializers and deserializers for the Confluent wire format, and the registry client.

Submodules and names are those of `confluent_kafka.schema_registry`: an application only changes the import. Names are
imported on first use, so that `import serdes.client.clients` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from serdes.avro import AsyncAvroDeserializer, AsyncAvroSerializer, AvroDeserializer, AvroSerializer
    from serdes.client.clients import AsyncRegistryClient, RegisteredSchema, RegistryClient
    from serdes.client.confluent import AsyncSchemaRegistryClient, SchemaRegistryClient, SchemaRegistryError
    from serdes.contracts import (
        ConfigCompatibilityLevel,
        Metadata,
        MetadataProperties,
        MetadataTags,
        Rule,
        RuleKind,
        RuleMode,
        RuleParams,
        RuleSet,
        ServerConfig,
    )
    from serdes.error import SerdesError
    from serdes.json_schema import AsyncJSONDeserializer, AsyncJSONSerializer, JSONDeserializer, JSONSerializer
    from serdes.message.subject import (
        record_subject_name_strategy,
        reference_subject_name_strategy,
        topic_record_subject_name_strategy,
        topic_subject_name_strategy,
    )
    from serdes.protobuf import (
        AsyncProtobufDeserializer,
        AsyncProtobufSerializer,
        ProtobufDeserializer,
        ProtobufSerializer,
    )
    from serdes.schema import Schema, SchemaReference
    from serdes.serialization import MessageField, SerializationContext, SerializationError

__all__ = [
    "AsyncAvroDeserializer",
    "AsyncAvroSerializer",
    "AsyncJSONDeserializer",
    "AsyncJSONSerializer",
    "AsyncProtobufDeserializer",
    "AsyncProtobufSerializer",
    "AsyncRegistryClient",
    "AsyncSchemaRegistryClient",
    "AvroDeserializer",
    "AvroSerializer",
    "ConfigCompatibilityLevel",
    "JSONDeserializer",
    "JSONSerializer",
    "MessageField",
    "Metadata",
    "MetadataProperties",
    "MetadataTags",
    "ProtobufDeserializer",
    "ProtobufSerializer",
    "RegisteredSchema",
    "RegistryClient",
    "Rule",
    "RuleKind",
    "RuleMode",
    "RuleParams",
    "RuleSet",
    "Schema",
    "SchemaReference",
    "SchemaRegistryClient",
    "SchemaRegistryError",
    "SerdesError",
    "SerializationContext",
    "SerializationError",
    "ServerConfig",
    "dual_schema_id_deserializer",
    "header_schema_id_serializer",
    "prefix_schema_id_deserializer",
    "prefix_schema_id_serializer",
    "record_subject_name_strategy",
    "reference_subject_name_strategy",
    "topic_record_subject_name_strategy",
    "topic_subject_name_strategy",
]

_MODULES = {
    "avro": "AsyncAvroDeserializer AsyncAvroSerializer AvroDeserializer AvroSerializer",
    "client.clients": "AsyncRegistryClient RegisteredSchema RegistryClient",
    "contracts": "ConfigCompatibilityLevel Metadata MetadataProperties MetadataTags Rule RuleKind RuleMode "
    "RuleParams RuleSet ServerConfig",
    "error": "SerdesError",
    "json_schema": "AsyncJSONDeserializer AsyncJSONSerializer JSONDeserializer JSONSerializer",
    "protobuf": "AsyncProtobufDeserializer AsyncProtobufSerializer ProtobufDeserializer ProtobufSerializer",
    "schema": "Schema SchemaReference",
    "client.confluent": "AsyncSchemaRegistryClient SchemaRegistryClient SchemaRegistryError",
    "serialization": "MessageField SerializationContext SerializationError",
    "message.subject": "record_subject_name_strategy reference_subject_name_strategy "
    "topic_record_subject_name_strategy topic_subject_name_strategy",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}

#: In confluent-kafka these are functions, used as values of settings; here they are names that the settings accept.
prefix_schema_id_serializer = "prefix"
header_schema_id_serializer = "header"
prefix_schema_id_deserializer = "prefix"
dual_schema_id_deserializer = "dual"


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value
