"""Kafka's protocol: requests built from plain values, sent over aiokafka's connections as kio's entities."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from functools import cache
from typing import Any, get_args

from kio.index import load_request_schema, load_response_schema
from kio.schema.index import api_key_map, schema_name_map
from kio.serial import entity_reader, entity_writer

from rest_proxy.errors import KAFKA_BAD_REQUEST

_KEYS = {name: key for key, name in api_key_map.items()}
#: Kind of request -> its newest version to use. Later versions name topics by id, which deleted topics do not have.
_NEWEST = {"offset_fetch": 9, "offset_commit": 9}
#: Kafka's type of a field -> its value if neither the caller nor the protocol gives one.
_ZERO = {
    "string": "",
    "bytes": b"",
    "bool": False,
    "uuid": None,
    "timedelta_i32": timedelta(),
    "timedelta_i64": timedelta(),
    "float64": 0.0,
}


class ApiRequest:
    """A request of one kind, without a version yet; a connection prepares it for its broker."""

    def __init__(self, name: str, values: Mapping[str, Any], optional: Collection[str] = ()) -> None:
        """Describe a request.

        Args:
            name: The request's kind by kio's name, such as `create_topics`.
            values: The fields by kio's names; lists of mappings are arrays of structures.
            optional: Fields to leave out in versions that have none of that name.
        """
        self._name = name
        self._values = values
        self._optional = optional

    def prepare(self, versions: Mapping[int, tuple[int, int]]) -> PreparedRequest:
        """Build the request in the newest version that the broker and kio both have.

        Args:
            versions: The broker's oldest and newest version of each kind of request.

        Raises:
            ApiError: KAFKA_BAD_REQUEST: the broker is too old for the request or for one of its values.
        """
        key = _KEYS[self._name]
        oldest, newest = versions.get(key, (0, -1))
        newest = min(newest, _NEWEST.get(self._name, newest))
        common = [version for version in schema_name_map[self._name] if oldest <= version <= newest]
        if not common:
            raise KAFKA_BAD_REQUEST(detail=f"The brokers do not support the request {self._name}.")
        version = max(common)
        names = _fields(load_request_schema(key, version))
        values = {name: value for name, value in self._values.items() if name in names or name not in self._optional}
        return PreparedRequest(key, version, values)


class PreparedRequest:
    """A request in one version, in the form that aiokafka's connections send."""

    def __init__(self, key: int, version: int, values: Mapping[str, Any]) -> None:
        """Build the entity. Raises as `ApiRequest.prepare`."""
        self._type: Any = load_request_schema(key, version)
        self._entity = _build(self._type, values)
        self.RESPONSE_TYPE = _Response(load_response_schema(key, version))

    def build_request_header(self, correlation_id: int, client_id: str) -> _Encodable:
        """Return the header."""
        header = self._type.__header_schema__
        values = {
            "request_api_key": self._type.__api_key__,
            "request_api_version": self._type.__version__,
            "correlation_id": correlation_id,
            "client_id": client_id,
        }
        return _Encodable(header, _build(header, values))

    def encode(self) -> bytes:
        """Return the request's bytes."""
        return _Encodable(self._type, self._entity).encode()

    def parse_response_header(self, buffer: io.BytesIO) -> Any:
        """Read the header of the response."""
        header, size = entity_reader(self.RESPONSE_TYPE.entity_type.__header_schema__)(buffer.getvalue(), 0)
        buffer.seek(size)
        return header


class _Encodable:
    def __init__(self, entity_type: Any, entity: Any) -> None:
        self._type = entity_type
        self._entity = entity

    def encode(self) -> bytes:
        buffer = io.BytesIO()
        entity_writer(self._type)(buffer, self._entity)
        return buffer.getvalue()


class _Response:
    def __init__(self, entity_type: Any) -> None:
        self.entity_type = entity_type

    def decode(self, buffer: io.BytesIO) -> Any:
        entity, _ = entity_reader(self.entity_type)(buffer.getvalue(), buffer.tell())
        return entity


def _build(entity_type: Any, values: Mapping[str, Any]) -> Any:
    """Build an entity; an empty value without a field in the entity's version is left out.

    Raises:
        ApiError: KAFKA_BAD_REQUEST: the version has no field for a value that is not empty.
    """
    fields = _fields(entity_type)
    for name, value in values.items():
        if name not in fields and value:
            raise KAFKA_BAD_REQUEST(detail=f"The brokers are too old for {name} in {entity_type.__name__}.")
    arguments: dict[str, Any] = {}
    for name, (nested, zero) in fields.items():
        if name not in values:
            if zero is not dataclasses.MISSING:
                arguments[name] = zero
        else:
            arguments[name] = _convert(nested, values[name])
    return entity_type(**arguments)


def _convert(nested: Any, value: Any) -> Any:
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return tuple(_convert(nested, item) for item in value)
    return _build(nested, value) if nested is not None and value is not None else value


@cache
def _fields(entity_type: Any) -> dict[str, tuple[Any, Any]]:
    """The fields of an entity: the type of nested entities, and the value if none is given and the type has none."""
    return {
        field.name: (_nested(field.type), _zero(field) if field.default is dataclasses.MISSING else dataclasses.MISSING)
        for field in dataclasses.fields(entity_type)
    }


def _nested(field_type: Any) -> Any:
    """The entity in a type such as `Entity`, `tuple[Entity, ...]` or `Entity | None`; None if there is none."""
    if dataclasses.is_dataclass(field_type):
        return field_type
    return next(filter(None, map(_nested, get_args(field_type))), None)


def _zero(field: dataclasses.Field[Any]) -> Any:
    kinds = get_args(field.type)
    if type(None) in kinds:
        return None
    if kinds:
        return ()
    return _ZERO.get(field.metadata.get("kafka_type", ""), 0)
