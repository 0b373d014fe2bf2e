"""Example messages of Protobuf schemas, in proto3's JSON mapping: all fields once, the first member of each oneof."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson
from google.protobuf.descriptor import FieldDescriptor

from compat.schema import Dependencies, InvalidSchema, SchemaText
from magicbyte.ui.messages.request import Target
from serdes.message.protobuf_schema import parse

_DEEPEST = 8
_MOST_FIELDS = 5_000
#: Messages of the standard library whose JSON is no object of their fields.
_WELL_KNOWN: Mapping[str, Any] = {
    "google.protobuf.Timestamp": "2024-02-29T12:30:00Z",
    "google.protobuf.Duration": "1.500s",
    "google.protobuf.FieldMask": "",
    "google.protobuf.Empty": {},
    "google.protobuf.Struct": {"key": "text"},
    "google.protobuf.Value": "text",
    "google.protobuf.ListValue": ["text"],
    "google.protobuf.BoolValue": True,
    "google.protobuf.StringValue": "text",
    "google.protobuf.BytesValue": "AQ==",
    "google.protobuf.Int32Value": 1,
    "google.protobuf.UInt32Value": 1,
    "google.protobuf.Int64Value": "1",
    "google.protobuf.UInt64Value": "1",
    "google.protobuf.FloatValue": 1.5,
    "google.protobuf.DoubleValue": 1.5,
}
_SCALARS: Mapping[int, Any] = {
    FieldDescriptor.CPPTYPE_INT32: 1,
    FieldDescriptor.CPPTYPE_UINT32: 1,
    FieldDescriptor.CPPTYPE_INT64: "1",
    FieldDescriptor.CPPTYPE_UINT64: "1",
    FieldDescriptor.CPPTYPE_FLOAT: 1.5,
    FieldDescriptor.CPPTYPE_DOUBLE: 1.5,
    FieldDescriptor.CPPTYPE_BOOL: True,
    FieldDescriptor.CPPTYPE_STRING: "text",
}
#: Keys of maps are texts in JSON.
_KEYS: Mapping[int, str] = {FieldDescriptor.CPPTYPE_BOOL: "true", FieldDescriptor.CPPTYPE_STRING: "key"}


class _Left:
    """The number of fields that may still be made."""

    def __init__(self) -> None:
        self.fields = _MOST_FIELDS


def candidates(
    schema: SchemaText,
    dependencies: Dependencies,
    request: Target,
    unions: str,  # noqa: ARG001  the signature of all types
) -> Iterator[str]:
    """The full message, then the empty one."""
    try:
        parsed = parse(schema, dependencies)
        message = parsed.message_class(request.message).DESCRIPTOR
    except (InvalidSchema, LookupError):
        return
    if message.full_name in _WELL_KNOWN:
        yield orjson.dumps(_WELL_KNOWN[message.full_name]).decode()
    yield orjson.dumps(_message(message, (), _Left())).decode()
    yield "{}"


def _message(message: Any, above: tuple[str, ...], left: _Left) -> dict[str, Any]:
    values: dict[str, Any] = {}
    below = (*above, message.full_name)
    for field in message.fields:
        left.fields -= 1
        oneof = field.containing_oneof
        if left.fields < 0 or (oneof is not None and oneof.fields[0] is not field):
            continue
        inner = field.message_type
        is_map = inner is not None and inner.GetOptions().map_entry
        target = inner.fields_by_name["value"] if is_map else field
        value = _field(target, below, left)
        if value is None:
            continue
        if is_map:
            key = inner.fields_by_name["key"]
            values[field.json_name] = {_KEYS.get(key.cpp_type, "1"): value}
        else:
            values[field.json_name] = [value] if field.is_repeated else value
    return values


def _field(field: Any, above: tuple[str, ...], left: _Left) -> Any:
    """The example of a field; None to leave it out."""
    make = _MAKERS.get(field.cpp_type)
    if make is not None:
        return make(field, above, left)
    return "AQ==" if field.type == FieldDescriptor.TYPE_BYTES else _SCALARS[field.cpp_type]


def _of_message(field: Any, above: tuple[str, ...], left: _Left) -> Any:
    name = field.message_type.full_name
    if name in _WELL_KNOWN:
        return _WELL_KNOWN[name]
    if name in above or len(above) > _DEEPEST or name == "google.protobuf.Any":
        return None
    return _message(field.message_type, above, left)


def _of_enum(field: Any, _above: tuple[str, ...], _left: _Left) -> Any:
    if field.enum_type.full_name == "google.protobuf.NullValue":
        return None
    return field.enum_type.values[0].name


_MAKERS: Mapping[int, Callable[[Any, tuple[str, ...], _Left], Any]] = {
    FieldDescriptor.CPPTYPE_MESSAGE: _of_message,
    FieldDescriptor.CPPTYPE_ENUM: _of_enum,
}
