"""Builds small messages with the runtime's classes: only required fields and one chosen field are set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from compat.protobuf.descriptor.undescribe import is_repeated

Field = Any  # FieldDescriptor; its attributes differ between versions of the runtime

#: The deepest nesting of required messages, and of messages in which values are tried.
_DEEPEST = 8
_DEEPEST_VALUES = 2
#: The most messages that are filled for one message.
_MOST_FILLED = 500
#: The most bytes of a message that is filled: the defaults of required fields may be long.
_MOST_BYTES = 1 << 20
#: How many values are tried for a field, for an inner field, and how many fields of an inner message.
_MOST_VALUES = 12
_MOST_INNER = 4
_MOST_FIELDS = 200

_INT32 = (1, 2, 2**31 - 1, -1, -(2**31))
_INT64 = (1, 2, 2**63 - 1, 2**31, -1, -(2**63))
_UINT32 = (1, 2, 2**32 - 1)
_UINT64 = (1, 2, 2**64 - 1, 2**32)
_VALUES: Mapping[int, tuple[Any, ...]] = {
    FieldDescriptor.TYPE_INT32: _INT32,
    FieldDescriptor.TYPE_SINT32: _INT32,
    FieldDescriptor.TYPE_SFIXED32: _INT32,
    FieldDescriptor.TYPE_INT64: _INT64,
    FieldDescriptor.TYPE_SINT64: _INT64,
    FieldDescriptor.TYPE_SFIXED64: _INT64,
    FieldDescriptor.TYPE_UINT32: _UINT32,
    FieldDescriptor.TYPE_FIXED32: _UINT32,
    FieldDescriptor.TYPE_UINT64: _UINT64,
    FieldDescriptor.TYPE_FIXED64: _UINT64,
    FieldDescriptor.TYPE_BOOL: (True, False),
    FieldDescriptor.TYPE_FLOAT: (1.5, 2.5, 0.0),
    FieldDescriptor.TYPE_DOUBLE: (1.5, 2.5, 1e300, 0.0),
    FieldDescriptor.TYPE_STRING: ("a", "b", ""),
    FieldDescriptor.TYPE_BYTES: (b"a", b"b", b"\xff", b""),
}


class NoData(LookupError):
    """The message cannot be built, because it contains itself without end."""


def fill(message: Message) -> None:
    """Set the required fields of a message, also in nested messages.

    Raises:
        NoData: It can never be complete, or would be too large.
    """
    todo: list[tuple[Message, int]] = [(message, 0)]
    filled = size = 0
    while todo:
        current, depth = todo.pop()
        filled += 1
        if depth > _DEEPEST or filled > _MOST_FILLED:
            raise NoData(current.DESCRIPTOR.full_name)
        todo += [(inner, depth + 1) for inner in _fill_one(current)]
        size += len(current.SerializePartialToString())
        if size > _MOST_BYTES:
            raise NoData(message.DESCRIPTOR.full_name)


def _fill_one(message: Message) -> Iterator[Message]:
    """Set the required fields of one message; yield the messages within it."""
    fields: list[Field] = list(message.DESCRIPTOR.fields)
    for field in fields:
        if is_required(field) and not message.HasField(field.name):
            if field.message_type is None:
                setattr(message, field.name, getattr(message, field.name))
            else:
                getattr(message, field.name).SetInParent()
        if field.message_type is not None and not is_repeated(field) and message.HasField(field.name):
            yield getattr(message, field.name)


def is_required(field: Field) -> bool:
    """Whether every message must have the field."""
    return bool(field.is_required) if hasattr(field, "is_required") else field.label == field.LABEL_REQUIRED


def is_map(field: Field) -> bool:
    """Whether the field is a map."""
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def settings(field: Field, depth: int = 0) -> Iterator[Callable[[Message], None]]:
    """Functions that set a field of a message to one value each, the simplest first.

    Args:
        field: The field.
        depth: How deeply the field's message is nested in the message that is built.
    """
    if is_map(field):
        key, value = field.message_type.fields
        for of_key in islice(_values(key, depth), _MOST_INNER):
            for of_value in islice(_values(value, depth), _MOST_VALUES):
                yield partial(_put, field=field, key=of_key, value=of_value)
    elif is_repeated(field):
        values = list(islice(_values(field, depth), _MOST_VALUES))
        for elements in [*([value] for value in values), values[:2]]:
            yield partial(_extend, field=field, values=elements)
    else:
        for value in islice(_values(field, depth), _MOST_VALUES if field.message_type is None else _MOST_FIELDS):
            yield partial(_set, field=field, value=value)


def _values(field: Field, depth: int) -> Iterator[Any]:
    """Values of a field; for a field of message type, functions that fill the message."""
    if field.enum_type is not None:
        yield from sorted((value.number for value in field.enum_type.values), key=lambda number: (number == 0, number))
    elif field.message_type is None:
        yield from _VALUES[field.type]
    else:
        yield lambda _message: None
        if depth < _DEEPEST_VALUES:
            for inner in field.message_type.fields[:_MOST_FIELDS]:
                yield from islice(settings(inner, depth + 1), _MOST_INNER)


def _set(message: Any, field: Field, value: Any) -> None:
    if field.message_type is None:
        setattr(message, field.name, value)
    else:
        inner = getattr(message, field.name)
        inner.SetInParent()
        value(inner)


def _extend(message: Any, field: Field, values: list[Any]) -> None:
    elements = getattr(message, field.name)
    for value in values:
        if field.message_type is None:
            elements.append(value)
        else:
            value(elements.add())


def _put(message: Any, field: Field, key: Any, value: Any) -> None:
    entries = getattr(message, field.name)
    if field.message_type.fields_by_name["value"].message_type is None:
        entries[key] = value
    else:
        value(entries[key])
