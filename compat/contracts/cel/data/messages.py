"""Protobuf messages with only the fields that an expression reads: large messages cost no more than small ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

#: A message with at most so many fields, all of them scalars, is taken as it is.
_SMALL = 16
Copy = Callable[[Any, Any], None]


def message_binder(names: Sequence[str], convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that makes a message with some fields of another one.

    Args:
        names: The names of the fields.
        convert: Converts a value that is no message.
    """
    copies: dict[Any, list[Copy] | None] = {}

    def part(value: Any) -> Any:
        if type(value) is dict or not isinstance(value, Message):
            return convert(value)
        descriptor: Any = value.DESCRIPTOR
        if descriptor not in copies:
            copies[descriptor] = _copies(descriptor, names)
        chosen = copies[descriptor]
        if chosen is None:
            return value
        made = type(value)()
        for copy in chosen:
            copy(value, made)
        return made

    return part


def _copies(descriptor: Descriptor, names: Sequence[str]) -> list[Copy] | None:
    """The functions that copy the fields; None if the message is to be taken as it is.

    A field that this descriptor lacks may be among the unknown fields, so the message is taken as it is.
    """
    fields = [descriptor.fields_by_name.get(name) for name in names]
    if len(descriptor.fields) <= _SMALL and not any(_is_composed(field) for field in descriptor.fields):
        return None
    known = [field for field in fields if field is not None]
    return [_copy(field) for field in known] if len(known) == len(fields) else None


def _is_composed(field: FieldDescriptor) -> bool:
    return field.message_type is not None or is_repeated(field)


def is_repeated(field: FieldDescriptor) -> bool:
    """Whether a field is a list or a map; older protobuf packages say it by the label alone."""
    untyped: Any = field
    return bool(untyped.is_repeated) if hasattr(untyped, "is_repeated") else untyped.label == untyped.LABEL_REPEATED


def _copy(field: FieldDescriptor) -> Copy:
    name = field.name

    def copy_list(source: Any, target: Any) -> None:
        getattr(target, name).MergeFrom(getattr(source, name))

    def copy_message(source: Any, target: Any) -> None:
        if source.HasField(name):
            getattr(target, name).CopyFrom(getattr(source, name))

    def copy_present(source: Any, target: Any) -> None:
        if source.HasField(name):
            setattr(target, name, getattr(source, name))

    def copy_scalar(source: Any, target: Any) -> None:
        setattr(target, name, getattr(source, name))

    if is_repeated(field):
        return copy_list
    if field.message_type is not None:
        return copy_message
    return copy_present if field.has_presence else copy_scalar
