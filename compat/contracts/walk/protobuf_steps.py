"""The steps of a walk through Protobuf messages; a message is copied before the first of its fields changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Context, Decimal
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor import FieldDescriptor

from compat.contracts.walk.leaf import LeafFailed, Step
from compat.contracts.walk.protobuf_fields import DECIMAL, TIMESTAMP, is_map, record_type, value_field
from compat.contracts.walk.steps import changed_items
from compat.protobuf.descriptor.undescribe import is_repeated

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, eq=False)
class FieldStep:
    """The step into a field of a message.

    Attributes:
        name: The name in the schema.
        attribute: The name in the message's class.
        has_presence: Whether the field may be unset.
        step: The step into the value, or into the whole array or map.
        write: Sets the new value in a copy of the message.
    """

    name: str
    attribute: str
    has_presence: bool
    step: Step
    write: Callable[[Any, Any], None]


def message_step(steps: Sequence[FieldStep]) -> Step:
    """The step through a message."""
    steps = tuple(steps)

    def walk(value: Any, _: Any) -> Any:
        message = value
        for field in steps:
            if field.has_presence and not message.HasField(field.attribute):
                continue
            old = getattr(message, field.attribute)
            try:
                new = field.step(old, message)
                if new is not old:
                    if message is value:
                        message = type(value)()
                        message.CopyFrom(value)
                    field.write(message, new)
            except LeafFailed as failure:
                raise failure.in_field(field.name) from failure.__cause__
        return message

    return walk


def field_step(name: str, field: FieldDescriptor, step: Step) -> FieldStep:
    """The step into a field, from the step into its value.

    Args:
        name: The field's name in the schema.
        field: The field of the message's class.
        step: The step into the value, into each item, or into each value of a map.
    """
    if is_map(field):
        return FieldStep(name, field.name, has_presence=False, step=_entries(step), write=_map_writer(field))
    if is_repeated(field):
        return FieldStep(name, field.name, has_presence=False, step=_items(step), write=_array_writer(field))
    return FieldStep(name, field.name, field.has_presence, step, _value_writer(field))


def _items(step: Step) -> Step:
    return lambda value, record: changed_items(value, step, record)


def _entries(step: Step) -> Step:
    """The step into a map, which returns the changed entries alone."""

    def walk(value: Any, record: Any) -> Any:
        changed: dict[Any, Any] = {}
        for key in value:
            old = value[key]
            try:
                new = step(old, record)
            except LeafFailed as failure:
                raise failure.in_entry(key) from failure.__cause__
            if new is not old:
                changed[key] = new
        return changed or value

    return walk


def _value_writer(field: FieldDescriptor) -> Callable[[Any, Any], None]:
    name = field.name
    converted = _converter(field)
    if field.message_type is not None:

        def copy(message: Any, new: Any) -> None:
            with _Fitting(field, new):
                getattr(message, name).CopyFrom(converted(new))

        return copy

    def write(message: Any, new: Any) -> None:
        with _Fitting(field, new):
            setattr(message, name, new)

    return write


def _array_writer(field: FieldDescriptor) -> Callable[[Any, Any], None]:
    name = field.name
    converted = _converter(field)

    def write(message: Any, new: Any) -> None:
        message.ClearField(name)
        items = getattr(message, name)
        for index, item in enumerate(new):
            try:
                with _Fitting(field, item):
                    items.append(converted(item))
            except LeafFailed as failure:
                raise failure.in_item(index) from failure.__cause__

    return write


def _map_writer(field: FieldDescriptor) -> Callable[[Any, Any], None]:
    name = field.name
    values = value_field(field)
    converted = _converter(values)
    is_message = values.message_type is not None

    def write(message: Any, new: Any) -> None:
        entries = getattr(message, name)
        for key, value in new.items():
            try:
                with _Fitting(values, value):
                    if is_message:
                        entries[key].CopyFrom(converted(value))
                    else:
                        entries[key] = value
            except LeafFailed as failure:
                raise failure.in_entry(key) from failure.__cause__

    return write


class _Fitting:
    """Names a result's type instead of the runtime's error, which shows the value."""

    def __init__(self, field: FieldDescriptor, value: Any) -> None:
        self._field = field
        self._value = value

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, TypeError | ValueError | OverflowError):
            kind = type(self._value).__name__
            raise LeafFailed(f"a result of type {kind} does not fit the field {self._field.name}") from None


def _converter(field: FieldDescriptor) -> Callable[[Any], Any]:
    """Makes messages of the results of visits: Timestamp of a datetime, Decimal of a Decimal."""
    message = value_field(field).message_type
    name = message.full_name if message is not None else None
    if name not in {DECIMAL, TIMESTAMP} or record_type(field) is not None:
        return lambda value: value
    assert message is not None
    message_class = message_factory.GetMessageClass(message)

    def convert(value: Any) -> Any:
        if isinstance(value, message_class):
            return value
        if name == TIMESTAMP and isinstance(value, datetime):
            return _timestamp(message_class, value)
        if name == DECIMAL and isinstance(value, Decimal) and value.is_finite():
            return _decimal(message_class, value)
        raise LeafFailed(f"a result of type {type(value).__name__} does not fit {name}")

    return convert


def _timestamp(message_class: Any, value: datetime) -> Any:
    """A Timestamp; a naive datetime is in UTC."""
    since = (value if value.tzinfo is not None else value.replace(tzinfo=UTC)) - _EPOCH
    seconds, rest = divmod(since, timedelta(seconds=1))
    return message_class(seconds=seconds, nanos=rest.microseconds * 1000)


def _decimal(message_class: Any, value: Decimal) -> Any:
    """A Decimal: its unscaled value in two's complement of minimal width, its precision and its scale."""
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    unscaled = int(value.scaleb(-exponent, Context(prec=len(digits) + 1)))
    size = (unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1
    return message_class(value=unscaled.to_bytes(size, "big", signed=True), precision=len(digits), scale=-exponent)
