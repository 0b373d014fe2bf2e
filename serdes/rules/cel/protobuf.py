"""Protobuf messages from the results of expressions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message as ProtobufMessage

from compat.contracts.walk.protobuf_fields import is_map, value_field
from compat.protobuf.descriptor.undescribe import is_repeated
from serdes.rules.error import ValueRejected


def message_of(result: Any, message_class: Any, path: str) -> Any:
    """A message of a class: from a map of its fields, or from a message of the same type.

    Args:
        result: The map or message; a datetime for a Timestamp, a timedelta for a Duration, a value for a wrapper.
        message_class: The class.
        path: The path to the message, for errors.

    Raises:
        ValueRejected: The result does not fit the class.
    """
    descriptor = message_class.DESCRIPTOR
    if isinstance(result, ProtobufMessage):
        if result.DESCRIPTOR.full_name != descriptor.full_name:
            raise ValueRejected(
                f"the result is a message {result.DESCRIPTOR.full_name}, expected {descriptor.full_name}", path, result
            )
        return result if type(result) is message_class else message_class.FromString(result.SerializeToString())
    message = message_class()
    if _set_well_known(message, result):
        return message
    if not isinstance(result, Mapping):
        raise ValueRejected(f"the result is {type(result).__name__}, expected a map of {descriptor.full_name}", path)
    for name, value in result.items():
        field = descriptor.fields_by_name.get(name) if isinstance(name, str) else None
        if field is None:
            # The name may be a value of the message: the expression computed it.
            raise ValueRejected(f"the result has a field that {descriptor.full_name} lacks", path)
        if value is not None:
            _set(message, field, value, f"{path}.{name}" if path else name)
    return message


def _set_well_known(message: Any, result: Any) -> bool:
    """Sets a Timestamp, a Duration or a wrapper; false if the message or the result is of another type."""
    name = message.DESCRIPTOR.full_name
    if name == "google.protobuf.Timestamp" and isinstance(result, datetime):
        message.FromDatetime(result)
    elif name == "google.protobuf.Duration" and isinstance(result, timedelta):
        message.FromTimedelta(result)
    elif name in _WRAPPERS and not isinstance(result, Mapping):
        message.value = result
    else:
        return False
    return True


def _set(message: Any, field: FieldDescriptor, value: Any, path: str) -> None:
    try:
        if is_map(field):
            _set_map(getattr(message, field.name), field, value, path)
        elif is_repeated(field):
            _set_items(getattr(message, field.name), field, value, path)
        elif field.message_type is not None:
            getattr(message, field.name).SetInParent()
            getattr(message, field.name).CopyFrom(message_of(value, type(getattr(message, field.name)), path))
        else:
            setattr(message, field.name, _scalar(field, value))
    except (TypeError, ValueError, AttributeError) as error:
        if isinstance(error, ValueRejected):
            raise
        raise ValueRejected(f"a {type(value).__name__} does not fit the field {field.full_name}", path) from None


def _set_map(entries: Any, field: FieldDescriptor, value: Any, path: str) -> None:
    if not isinstance(value, Mapping):
        raise TypeError
    entry = value_field(field)
    for key, item in value.items():
        if entry.message_type is None:
            entries[key] = _scalar(entry, item)
        else:
            entries[key].CopyFrom(message_of(item, type(entries[key]), f"{path}[{key!r}]"))


def _set_items(items: Any, field: FieldDescriptor, value: Any, path: str) -> None:
    if not isinstance(value, list | tuple):
        raise TypeError
    for index, item in enumerate(value):
        if field.message_type is None:
            items.append(_scalar(field, item))
        else:
            added = items.add()
            added.CopyFrom(message_of(item, type(added), f"{path}[{index}]"))


def _scalar(field: FieldDescriptor, value: Any) -> Any:
    """A scalar of an expression; an int is no real number and no bool in CEL, but its fields take it."""
    if isinstance(value, bool) != (field.cpp_type == FieldDescriptor.CPPTYPE_BOOL):
        raise TypeError
    if field.enum_type is not None and isinstance(value, str):
        return field.enum_type.values_by_name[value].number if value in field.enum_type.values_by_name else _missing()
    return value


def _missing() -> Any:
    raise ValueError


_WRAPPED = ("Bool", "Int32", "Int64", "UInt32", "UInt64", "Float", "Double", "String", "Bytes")
_WRAPPERS = frozenset(f"google.protobuf.{name}Value" for name in _WRAPPED)
