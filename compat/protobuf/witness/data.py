"""Small messages of the runtime's classes: nothing set but what is required, and one chosen field."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from compat.protobuf.descriptor.undescribe import is_repeated

Field = Any  # FieldDescriptor; its attributes differ between versions of the runtime

#: Deepest nesting of messages that are required, and of those that values are tried in.
_DEEPEST = 8
_DEEPEST_VALUES = 2
#: Most messages that are filled for one.
_MOST_FILLED = 500
#: Values of a kind that are tried, the plainest first, and of each field of a message in turn.
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
    """A message that contains itself without end."""


def fill(message: Message) -> None:
    """Set the required fields of a message, and those within them.

    Raises:
        NoData: It can never be whole, or only if it is very large.
    """
    todo: list[tuple[Message, int]] = [(message, 0)]
    filled = 0
    while todo:
        place, depth = todo.pop()
        filled += 1
        if depth > _DEEPEST or filled > _MOST_FILLED:
            raise NoData(place.DESCRIPTOR.full_name)
        todo += [(inner, depth + 1) for inner in _fill_one(place)]


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
    """True for a field that every message must have."""
    return bool(field.is_required) if hasattr(field, "is_required") else field.label == field.LABEL_REQUIRED


def is_map(field: Field) -> bool:
    """True for a map."""
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def settings(field: Field, depth: int = 0) -> Iterator[Callable[[Message], None]]:
    """Functions that each set a field of a message to another value, the plainest first.

    Args:
        field: The field.
        depth: How many messages are around the field's that values are tried in.
    """
    if is_map(field):
        key, value = field.message_type.fields
        for of_key in islice(_values(key, depth), _MOST_INNER):
            for of_value in islice(_values(value, depth), _MOST_VALUES):
                yield partial(_put, field=field, key=of_key, value=of_value)
    elif is_repeated(field):
        values = list(islice(_values(field, depth), _MOST_VALUES))
        for listed in [*([value] for value in values), values[:2]]:
            yield partial(_extend, field=field, values=listed)
    else:
        for value in islice(_values(field, depth), _MOST_VALUES if field.message_type is None else _MOST_FIELDS):
            yield partial(_set, field=field, value=value)


def _values(field: Field, depth: int) -> Iterator[Any]:
    """Values of a field, one at a time; of a message, functions that fill it in."""
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
