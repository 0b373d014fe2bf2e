from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from google.rpc.error_details_pb2 import ErrorInfo

from serdes import (
    AsyncAvroDeserializer,
    AsyncAvroSerializer,
    AsyncJSONDeserializer,
    AsyncJSONSerializer,
    AsyncProtobufDeserializer,
    AsyncProtobufSerializer,
    AsyncSchemaRegistryClient,
    AvroSerializer,
    Schema,
    SchemaRegistryClient,
    SchemaRegistryError,
    SerializationContext,
)
from serdes.error import DatumMismatch, TruncatedMessage

VALUE = SerializationContext("t", "value")


@pytest.fixture
def client(transport: Any) -> Iterator[AsyncSchemaRegistryClient]:
    return AsyncSchemaRegistryClient({"url": "http://registry", "max.retries": 0}, transport=transport)


def avro(client: Any) -> tuple[Any, Any, Any]:
    return AsyncAvroSerializer(client, '"string"'), AsyncAvroDeserializer(client), "a"


def json_schema(client: Any) -> tuple[Any, Any, Any]:
    return AsyncJSONSerializer('{"type":"object"}', client), AsyncJSONDeserializer(None, None, client), {"a": 1}


def json_schema_without_client(client: Any) -> tuple[Any, Any, Any]:
    return AsyncJSONSerializer("{}", client), AsyncJSONDeserializer("{}"), {"a": 1}


def protobuf(client: Any) -> tuple[Any, Any, Any]:
    return AsyncProtobufSerializer(ErrorInfo, client), AsyncProtobufDeserializer(ErrorInfo, {}, client), ErrorInfo()


@pytest.mark.parametrize("of", [avro, json_schema, json_schema_without_client, protobuf])
def test_there_and_back(client: AsyncSchemaRegistryClient, app: Any, of: Callable[[Any], tuple[Any, Any, Any]]):
    async def session() -> None:
        made, read, datum = of(client)
        serialize, deserialize = await made, await read
        assert await serialize(None, VALUE) is None
        assert await deserialize(None, VALUE) is None
        messages = await asyncio.gather(*(serialize(datum, VALUE) for _ in range(3)))
        asked = len(app.requests)
        assert await serialize(datum, VALUE) == messages[0]
        assert len(app.requests) == asked
        assert await deserialize(messages[0], VALUE) == datum
        with pytest.raises(TruncatedMessage):
            await deserialize(b"\x00", VALUE)
        with pytest.raises(DatumMismatch):
            await serialize({1, 2}, VALUE)

    asyncio.run(session())


def test_the_client_by_confluents_names(client: AsyncSchemaRegistryClient):
    async def session() -> None:
        assert await client.register_schema("s", Schema('"int"')) == 1
        assert (await client.get_latest_version("s")).schema.schema_str == '"int"'
        assert await client.get_subjects() == ["s"]
        with pytest.raises(SchemaRegistryError):
            await client.get_latest_version("nobody")
        await client.close()

    asyncio.run(session())


def test_each_serializer_takes_its_own_kind_of_client(client: AsyncSchemaRegistryClient):
    with pytest.raises(TypeError, match=r"must be a serdes\.RegistryClient"):
        AvroSerializer(client, '"int"')
    with pytest.raises(TypeError, match=r"must be a serdes\.AsyncRegistryClient"):
        AsyncAvroSerializer(SchemaRegistryClient({"url": "http://registry"}), '"int"')
