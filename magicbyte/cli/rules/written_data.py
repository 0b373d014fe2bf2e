"""The data of records as rules see them, without any rule carried out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from compat.schema import AVRO, JSON, PROTOBUF
from serdes.avro import AvroDeserializer
from serdes.client.clients import RegistryClient
from serdes.json_schema import JSONDeserializer
from serdes.protobuf import ProtobufDeserializer
from serdes.serialization import SerializationContext


class DataReader:
    """Decodes values to the data of the subject's latest version."""

    def __init__(self, client: RegistryClient, schema_type: str) -> None:
        conf = {"execution.environment": "NONE", "use.latest.version": True}
        make: Mapping[str, Callable[[], Any]] = {
            AVRO: lambda: AvroDeserializer(client, return_record_name=True, conf=conf),
            JSON: lambda: JSONDeserializer(None, schema_registry_client=client, conf={**conf, "validate": False}),
            PROTOBUF: lambda: ProtobufDeserializer(None, conf, schema_registry_client=client),
        }
        self._deserialize: Any = make[schema_type]()

    def datum(self, data: bytes, topic: str, headers: Any) -> Any:
        """The datum of a value.

        Raises:
            SerdesError: It cannot be decoded.
        """
        return self._deserialize(data, SerializationContext(topic, "value", headers))
