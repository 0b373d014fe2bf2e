"""Describes how a reader's class reads a message that a writer's class serialized."""

from __future__ import annotations

from typing import Any

from google.protobuf.message import DecodeError, Message

from compat.json import json_text
from compat.protobuf.descriptor.undescribe import is_repeated
from compat.protobuf.witness.data import Field, is_map

#: The longest value that is shown.
_LONGEST = 80


def effect(written: Message, read: Any, data: bytes, numbers: tuple[int, ...], *, by_name: bool = False) -> str | None:
    """One sentence: what the reader loses, misreads or refuses.

    Args:
        written: The writer's message.
        read: An empty message of the reader's class.
        data: The serialized message.
        numbers: The numbers of the fields to compare.
        by_name: Whether the written value is misread if the reader gets it under another name.

    Returns:
        None if the reader gets the written values of these fields.
    """
    try:
        read.ParseFromString(data)
    except DecodeError:
        return "The reader refuses it: it cannot be parsed."
    if not read.IsInitialized():
        missing = ", ".join(read.FindInitializationErrors())
        return f"The reader refuses it: the required {missing} is missing."
    for number in numbers:
        field = written.DESCRIPTOR.fields_by_number[number]
        if not _is_set(written, field):
            continue
        before, shown = value_of(written, field), _shown(written, field)
        other = read.DESCRIPTOR.fields_by_number.get(number)
        if other is None or not _is_set(read, other):
            if other is None or not _is_default(before):
                return f"{shown} is lost: the reader finds no value there."
            continue
        after = value_of(read, other)
        if not _is_same(before, after) or (by_name and field.name != other.name):
            return f"{shown} is read as {_shown(read, other)}."
    return None


def _is_set(message: Message, field: Field) -> bool:
    if is_repeated(field) or not field.has_presence:
        return any(present.number == field.number for present, _ in message.ListFields())
    return message.HasField(field.name)


def _is_default(value: Any) -> bool:
    # An empty message counts as a value, because its presence can be detected.
    return value in (0, b"", [], [0], [b""])


def _is_same(one: Any, other: Any) -> bool:
    """Whether two values are equal; a single value equals a list of one element."""
    if isinstance(one, list) or isinstance(other, list):
        ones, others = (value if isinstance(value, list) else [value] for value in (one, other))
        return len(ones) == len(others) and all(map(_is_same, ones, others))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_same(one[key], other[key]) for key in one)
    return type(one) is type(other) and bool(one == other)


def value_of(message: Message, field: Field) -> Any:
    """A field's value in a form that does not depend on the schema.

    Numbers, booleans and enum values become numbers, strings and bytes become bytes, and messages become dicts of
    their set fields by number.
    """
    value = getattr(message, field.name)
    if is_map(field):
        inner = field.message_type.fields_by_name["value"]
        return {_plain(key): _plain(value[key]) if inner.message_type is None else _fields(value[key]) for key in value}
    if is_repeated(field):
        return [_plain(element) for element in value]
    return _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Message):
        return _fields(value)
    if isinstance(value, str):
        return value.encode()
    return int(value) if isinstance(value, bool) else value


def _fields(message: Message) -> dict[int, Any]:
    return {field.number: value_of(message, field) for field, _ in message.ListFields()}


def _shown(message: Message, field: Field) -> str:
    text = json_text.dumps(json_of(message).get(field.name))
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    return f"`{field.name}: {text}`"


def json_of(message: Message) -> dict[str, Any]:
    """A message in Protobuf's JSON form, with the field names of the schema.

    Raises:
        ValueError: The message has no JSON form.
    """
    # Imported here because only callers who want data need it.
    from google.protobuf.json_format import Error, MessageToDict  # noqa: PLC0415

    try:
        value: dict[str, Any] = MessageToDict(message, preserving_proto_field_name=True)
    except Error as error:
        raise ValueError(str(error)) from None
    return value
