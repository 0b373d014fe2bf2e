"""Decides from the types alone whether a reader's field holds every value of the writer's field."""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from compat.budget import Budget
from compat.protobuf.descriptor.undescribe import is_repeated
from compat.protobuf.witness.data import Field, is_map, is_required

_STEPS_A_FIELD = 2
_INT32 = (FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_INT64)
#: For each type of a writer, the other types with the same encoding that hold all of its values.
_WIDER = {
    FieldDescriptor.TYPE_BOOL: (*_INT32, FieldDescriptor.TYPE_UINT32, FieldDescriptor.TYPE_UINT64),
    FieldDescriptor.TYPE_ENUM: _INT32,
    FieldDescriptor.TYPE_INT32: _INT32,
    FieldDescriptor.TYPE_UINT32: (FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_INT64),
    FieldDescriptor.TYPE_SINT32: (FieldDescriptor.TYPE_SINT64,),
    FieldDescriptor.TYPE_STRING: (FieldDescriptor.TYPE_BYTES,),
}


def holds_all(writer: Field, reader: Field, budget: Budget) -> bool:
    """Whether a reader's type equals the writer's except for names, or is wider, including all nested types.

    The labels of the two fields themselves are ignored.

    Raises:
        TooMuchWork: The budget is spent.
    """
    todo: list[tuple[Any, Any]] = [(writer, reader)]
    visited: set[tuple[str, str]] = set()
    while todo:
        one, other = todo.pop()
        budget.spend(_STEPS_A_FIELD)
        if is_map(one) != is_map(other):
            return False
        if one.type != other.type:
            if other.type not in _WIDER.get(one.type, ()):
                return False
            continue
        if one.enum_type is not None and not _are_equal_enums(one.enum_type, other.enum_type):
            return False
        if one.message_type is None:
            continue
        key = (one.message_type.full_name, other.message_type.full_name)
        if key in visited:
            continue
        visited.add(key)
        fields, others = one.message_type.fields_by_number, other.message_type.fields_by_number
        if set(fields) != set(others) or _oneofs(one.message_type) != _oneofs(other.message_type):
            return False
        pairs = [(fields[number], others[number]) for number in fields]
        if any(_label(field) != _label(partner) for field, partner in pairs):
            return False
        todo += pairs
    return True


def _label(field: Field) -> tuple[bool, bool]:
    return is_repeated(field), is_required(field)


def _oneofs(message: Any) -> list[list[int]]:
    return sorted(sorted(field.number for field in oneof.fields) for oneof in message.oneofs)


def _are_equal_enums(one: Any, other: Any) -> bool:
    return one.is_closed == other.is_closed and set(one.values_by_number) == set(other.values_by_number)
