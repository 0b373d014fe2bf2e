"""Checks of messages, their fields, and extensions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from compat.protobuf.checks.checking import Context, Problem, containing, is_set, overlaps
from compat.protobuf.checks.stored import valid_order
from compat.protobuf.descriptor.undescribe import to_json_name
from compat.protobuf.program.unit import ENUM
from compat.protobuf.text.nodes import (
    MAX_FIELD_NUMBER,
    SCALAR_TYPES,
    Aggregate,
    Enum,
    Extend,
    Field,
    MapType,
    Member,
    Message,
    Word,
    bounds,
)

_FIRST_IMPLEMENTATION_NUMBER, _LAST_IMPLEMENTATION_NUMBER = 19000, 19999
_NO_MAP_KEYS = frozenset(("float", "double", "bytes"))
_JSTYPE = frozenset(("int64", "uint64", "sint64", "fixed64", "sfixed64"))
_NOT_PACKED = frozenset(("string", "bytes"))
#: The messages that can be extended in proto3.
_OPTIONS_MESSAGES = frozenset(
    f"google.protobuf.{name}Options"
    for name in ("File", "Message", "Field", "Oneof", "Enum", "EnumValue", "Service", "Method", "ExtensionRange")
) | {"google.protobuf.StreamOptions"}


def _field_numbers(context: Context, message: Message) -> Iterator[Problem]:
    seen: dict[int, str] = {}
    for member in _members(message):
        number = member.number
        if number in seen:
            yield f'field number {number} is already used in "{context.scope}" by field "{seen[number]}"', member.at
        seen[number] = member.name
        yield from _number(number, member.at)


def _number(number: int, at: int) -> Iterator[Problem]:
    if number <= 0:
        yield "field numbers must be positive integers", at
    elif number > MAX_FIELD_NUMBER:
        yield f"field numbers cannot be greater than {MAX_FIELD_NUMBER}", at
    elif _FIRST_IMPLEMENTATION_NUMBER <= number <= _LAST_IMPLEMENTATION_NUMBER:
        yield "field numbers 19000 through 19999 are reserved for the protocol buffer library", at


def _reserved_numbers(_: Context, message: Message) -> Iterator[Problem]:
    reserved = [
        (*bounds(value), "reserved range", statement.at)
        for statement in message.reserved
        for value in statement.values
        if not isinstance(value, str)
    ]
    extensions = [
        (*bounds(value), "extension range", statement.at)
        for statement in message.extensions
        for value in statement.ranges
    ]
    if not reserved and not extensions:
        return
    for start, end, kind, at in (*reserved, *extensions):
        if start <= 0:
            yield f"a {kind} must hold positive numbers", at
        elif end < start:
            yield f"the end of a {kind} must not be smaller than its start", at
        elif end > MAX_FIELD_NUMBER:
            yield f"a {kind} cannot reach beyond {MAX_FIELD_NUMBER}", at
    yield from overlaps(reserved + extensions)
    ranges = sorted(reserved + extensions)
    for member in _members(message):
        span = containing(ranges, member.number)
        if span is not None:
            start, end, kind, _at = span
            fault = "is reserved" if kind == "reserved range" else f"lies in the extension range {start} to {end}"
            yield f'field "{member.name}" uses the number {member.number}, which {fault}', member.at


def _reserved_names(_: Context, message: Message) -> Iterator[Problem]:
    names: set[str] = set()
    for statement in message.reserved:
        for value in statement.values:
            if isinstance(value, str):
                if value in names:
                    yield f'the name "{value}" is reserved twice', statement.at
                names.add(value)
    if names:
        for member in _members(message):
            if member.name in names:
                yield f'the field name "{member.name}" is reserved', member.at


def _json_names(context: Context, message: Message) -> Iterator[Problem]:
    if is_set(message.options, "deprecated_legacy_json_field_conflicts"):
        return
    is_strict = _has_strict_json_names(context, message)
    by_default: dict[str, str] = {}
    by_name: dict[str, tuple[str, bool]] = {}
    for member in _members(message):
        default = to_json_name(member.name)
        if is_strict and by_default.setdefault(default, member.name) != member.name:
            yield (
                f'the JSON names of the fields "{by_default[default]}" and "{member.name}" are the same: "{default}"',
                member.at,
            )
        custom = member.json_name if isinstance(member, Field) else None
        name = default if custom is None else custom
        other, other_is_custom = by_name.setdefault(name, (member.name, custom is not None))
        if other != member.name and (is_strict or (custom is not None and other_is_custom)):
            yield f'the JSON names of the fields "{other}" and "{member.name}" are the same: "{name}"', member.at
        if custom is not None and custom[:1] == "[" and custom[-1:] == "]":
            yield f'the JSON name "{custom}" looks like that of an extension', member.at


def _has_strict_json_names(context: Context, message: Message) -> bool:
    """Whether equal JSON names are refused; proto2 allows them, and editions can with a feature."""
    if context.unit.tree.syntax != "editions":
        return context.is_proto3
    options = (*context.unit.tree.options, *message.options)
    legacy = Word("LEGACY_BEST_EFFORT")
    return not any(
        (option.value == legacy and option.name == (("features", False), ("json_format", False)))
        or (option.name == (("features", False),) and option.value == Aggregate((("json_format", legacy),)))
        for option in options
    )


def _field_types(context: Context, message: Message) -> Iterator[Problem]:
    for member in _members(message):
        if isinstance(member, Field):
            if isinstance(member.type, MapType):
                yield from _map(context, member, member.type)
            elif context.is_proto3 and member.type not in SCALAR_TYPES:
                yield from _closed_enum(context, member, member.type)
            if member.options:
                yield from _field_options(context, member)


def _map(context: Context, field: Field, kind: MapType) -> Iterator[Problem]:
    if kind.key in _NO_MAP_KEYS or kind.key not in SCALAR_TYPES:
        yield f"the key of a map cannot be of type {kind.key}", field.at
    if kind.value in SCALAR_TYPES:
        return
    symbol = context.resolve(kind.value)
    if symbol is not None and isinstance(symbol.node, Enum) and symbol.node.constants:
        if valid_order(symbol.unit.tree, symbol.node)[0].number != 0:
            yield f"the first value of the enum {kind.value}, a map's value, must be zero", field.at
        if context.is_proto3:
            yield from _closed_enum(context, field, kind.value)


def _closed_enum(context: Context, field: Field, name: str) -> Iterator[Problem]:
    symbol = context.resolve(name)
    if symbol is not None and symbol.kind == ENUM and symbol.unit.tree.syntax in {None, "proto2"}:
        yield (
            f'the enum "{symbol.full_name}" is of proto2 and cannot be used in the proto3 field "{field.name}"',
            field.at,
        )


def _field_options(context: Context, field: Field) -> Iterator[Problem]:
    """Options that only fields of some types may have."""
    kind = field.type
    symbol = context.resolve(kind) if isinstance(kind, str) and kind not in SCALAR_TYPES else None
    if is_set(field.options, "packed"):
        numeric = (kind in SCALAR_TYPES and kind not in _NOT_PACKED) or (symbol is not None and symbol.kind == ENUM)
        if field.label != "repeated" or not numeric:
            yield f'only repeated fields of numbers can be packed, and "{field.name}" is none', field.at
    if context.unit.tree.syntax == "editions" and any(option.name == (("packed", False),) for option in field.options):
        yield "the option packed does not exist in editions; use features.repeated_field_encoding", field.at
    is_message = symbol is not None and symbol.kind != ENUM
    if not is_message and any(is_set(field.options, name) for name in ("lazy", "unverified_lazy")):
        yield f'only messages can be lazy, and "{field.name}" is none', field.at
    if kind not in _JSTYPE and any(is_set(field.options, "jstype", value) for value in ("JS_STRING", "JS_NUMBER")):
        yield f'only integers of 64 bits can have a jstype, and "{field.name}" is none', field.at


def _extensions(context: Context, extend: Extend) -> Iterator[Problem]:
    symbol = context.resolve(extend.extendee)
    if symbol is None or not isinstance(symbol.node, Message):
        return
    if context.is_proto3 and symbol.full_name not in _OPTIONS_MESSAGES:
        yield "extensions in proto3 may only define options", extend.at
    ranges = sorted((*bounds(value), "", 0) for statement in symbol.node.extensions for value in statement.ranges)
    for member in extend.members:
        yield from _number(member.number, member.at)
        if containing(ranges, member.number) is None:
            yield f'"{symbol.full_name}" does not declare {member.number} as an extension number', member.at
        if member.label == "required":
            yield f'the extension "{member.name}" cannot be required', member.at
        if isinstance(member, Field):
            if member.json_name is not None:
                yield "extensions cannot have a json_name", member.at
            if member.options:
                yield from _field_options(context, member)


def _members(message: Message) -> Iterator[Member]:
    """The fields of a message, including those of oneofs, in the order of the text."""
    if not message.oneofs and not message.groups:
        return iter(message.fields)
    inside = (member for oneof in message.oneofs for member in oneof.members)
    return iter(sorted(chain(message.fields, message.groups, inside), key=lambda member: member.at))


MESSAGE_CHECKS = (_field_numbers, _reserved_numbers, _reserved_names, _json_names, _field_types)
EXTEND_CHECKS = (_extensions,)
