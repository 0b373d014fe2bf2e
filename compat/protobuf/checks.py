"""What protoc refuses in a file and the runtime's descriptor pool does not, or not as clearly.

Each check is a generator over one kind of declaration; it yields the sentence for each fault and the token it is at.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain, pairwise
from operator import itemgetter
from typing import TypeVar

from compat.protobuf.nodes import (
    MAX_FIELD_NUMBER,
    SCALAR_TYPES,
    Aggregate,
    Enum,
    Extend,
    Field,
    MapType,
    Member,
    Message,
    Option,
    Word,
    bounds,
    nested_messages,
)
from compat.protobuf.program import ENUM, Program, Symbol, Unit
from compat.protobuf.undescribe import to_json_name

_FIRST_IMPLEMENTATION_NUMBER, _LAST_IMPLEMENTATION_NUMBER = 19000, 19999
_NO_MAP_KEYS = frozenset(("float", "double", "bytes"))
_JSTYPE = frozenset(("int64", "uint64", "sint64", "fixed64", "sfixed64"))
_NOT_PACKED = frozenset(("string", "bytes"))
#: The messages that extensions may extend in proto3.
_OPTIONS_MESSAGES = frozenset(
    f"google.protobuf.{name}Options"
    for name in ("File", "Message", "Field", "Oneof", "Enum", "EnumValue", "Service", "Method", "ExtensionRange")
) | {"google.protobuf.StreamOptions"}

Problem = tuple[str, int]
_Node = TypeVar("_Node", Message, Enum, Extend)


@dataclass(frozen=True, slots=True)
class Context:
    """Where a check is: the program, the file, and the full name of what encloses the declaration."""

    program: Program
    unit: Unit
    scope: str

    def resolve(self, name: str) -> Symbol | None:
        """The type a name stands for here."""
        return self.program.resolve_type(self.unit, name, self.scope)

    @property
    def is_proto3(self) -> bool:
        """True in a proto3 file."""
        return self.unit.tree.syntax == "proto3"


@dataclass(frozen=True, slots=True)
class Declared:
    """The names and the packages of the files checked so far, and which file has them."""

    names: dict[str, str] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=dict)

    def add(self, unit: Unit) -> None:
        """Take in the names of a file."""
        self.names.update(dict.fromkeys(unit.symbols, unit.path))
        self.packages.update(dict.fromkeys(unit.packages, unit.path))


def check(program: Program, unit: Unit, earlier: Declared) -> None:
    """Raise InvalidSchema for the first fault of a file, in the order of the checks.

    Args:
        program: What the file's names are resolved in.
        unit: The file.
        earlier: The names of the files that it imports, and of others that the program has.
    """
    problems = chain(
        _imports(program, unit), _names(unit), _names_elsewhere(earlier, unit), _declarations(program, unit)
    )
    for message, at in problems:
        unit.fail(message, at)


def _imports(program: Program, unit: Unit) -> Iterator[Problem]:
    seen: set[str] = set()
    for entry in unit.tree.imports:
        if entry.path in seen:
            yield f'"{entry.path}" is imported twice', entry.at
        seen.add(entry.path)
    for missing in program.missing:
        if missing.unit is unit:
            yield f'the import "{missing.path}" was not found: no reference has this name', missing.at


def _names(unit: Unit) -> Iterator[Problem]:
    """Every full name is declared once in a file, and none is that of a package as well."""
    if len(unit.symbols) != len(unit.declarations):
        seen: set[str] = set()
        for symbol, at in unit.declarations:
            if symbol.full_name in seen:
                yield f'"{symbol.full_name}" is already defined', at
            seen.add(symbol.full_name)
    for package in unit.packages:
        if package in unit.symbols:
            yield f'"{package}" is already defined as a package', unit.tree.package_at


def _names_elsewhere(earlier: Declared, unit: Unit) -> Iterator[Problem]:
    """No name of a file is declared by a file that was checked before."""
    if not earlier.names and not earlier.packages:
        return
    for symbol, at in unit.declarations:
        if symbol.full_name in earlier.names:
            yield f'"{symbol.full_name}" is already defined in "{earlier.names[symbol.full_name]}"', at
        if symbol.full_name in earlier.packages:
            where = earlier.packages[symbol.full_name]
            yield f'"{symbol.full_name}" is already defined as a package in "{where}"', at
    for package in unit.packages:
        if package in earlier.names:
            where = earlier.names[package]
            yield f'"{package}" is already defined, not as a package, in "{where}"', unit.tree.package_at


def _declarations(program: Program, unit: Unit) -> Iterator[Problem]:
    """The faults of every declaration, in the order of the text's nesting."""
    tree = unit.tree
    top = Context(program, unit, tree.package or "")
    for message in tree.messages:
        yield from _message(top, message)
    for enum in tree.enums:
        yield from _all(ENUM_CHECKS, top, enum)
    for extend in tree.extends:
        yield from _extend(top, extend)


def _message(outer: Context, message: Message) -> Iterator[Problem]:
    name = f"{outer.scope}.{message.name}" if outer.scope else message.name
    context = Context(outer.program, outer.unit, name)
    yield from _all(MESSAGE_CHECKS, context, message)
    for nested in nested_messages(message):
        yield from _message(context, nested)
    for enum in message.enums:
        yield from _all(ENUM_CHECKS, context, enum)
    for extend in message.extends:
        yield from _all(EXTEND_CHECKS, context, extend)


def _extend(context: Context, extend: Extend) -> Iterator[Problem]:
    yield from _all(EXTEND_CHECKS, context, extend)
    for group in extend.groups:
        yield from _message(context, group.message)


def _all(
    checks: tuple[Callable[[Context, _Node], Iterator[Problem]], ...], context: Context, node: _Node
) -> Iterator[Problem]:
    for each in checks:
        yield from each(context, node)


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
    yield from _overlaps(reserved + extensions)
    ranges = sorted(reserved + extensions)
    for member in _members(message):
        found = _around(ranges, member.number)
        if found is not None:
            start, end, kind, _at = found
            what = "is reserved" if kind == "reserved range" else f"lies in the extension range {start} to {end}"
            yield f'field "{member.name}" uses the number {member.number}, which {what}', member.at


def _around(ranges: list[tuple[int, int, str, int]], number: int) -> tuple[int, int, str, int] | None:
    """The range that a number is in, among sorted ranges that do not overlap."""
    index = bisect_right(ranges, number, key=itemgetter(0)) - 1
    return ranges[index] if index >= 0 and number <= ranges[index][1] else None


def _overlaps(ranges: list[tuple[int, int, str, int]]) -> Iterator[Problem]:
    for (start, end, kind, _), (next_start, next_end, next_kind, at) in pairwise(sorted(ranges)):
        if next_start <= end:
            yield f"the {next_kind} {next_start} to {next_end} overlaps with the {kind} {start} to {end}", at


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
    if _is_set(message.options, "deprecated_legacy_json_field_conflicts"):
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
    """True where JSON names that are the same are refused, which proto2 and a feature of editions do not ask for."""
    if context.unit.tree.syntax != "editions":
        return context.is_proto3
    options = (*context.unit.tree.options, *message.options)
    legacy = Word("LEGACY_BEST_EFFORT")
    return not any(
        (option.value == legacy and option.name == (("features", False), ("json_format", False)))
        or (option.name == (("features", False),) and option.value == Aggregate((("json_format", legacy),)))
        for option in options
    )


def _oneofs(_: Context, message: Message) -> Iterator[Problem]:
    for oneof in message.oneofs:
        if not oneof.fields and not oneof.groups:
            yield f'the oneof "{oneof.name}" must have at least one field', oneof.at


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
        if symbol.node.constants[0].number != 0:
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
    """Options that fields of some types only may have."""
    kind = field.type
    symbol = context.resolve(kind) if isinstance(kind, str) and kind not in SCALAR_TYPES else None
    if _is_set(field.options, "packed"):
        numeric = (kind in SCALAR_TYPES and kind not in _NOT_PACKED) or (symbol is not None and symbol.kind == ENUM)
        if field.label != "repeated" or not numeric:
            yield f'only repeated fields of numbers can be packed, and "{field.name}" is none', field.at
    if context.unit.tree.syntax == "editions" and any(option.name == (("packed", False),) for option in field.options):
        yield "the option packed does not exist in editions; use features.repeated_field_encoding", field.at
    is_message = symbol is not None and symbol.kind != ENUM
    if not is_message and any(_is_set(field.options, name) for name in ("lazy", "unverified_lazy")):
        yield f'only messages can be lazy, and "{field.name}" is none', field.at
    if kind not in _JSTYPE and any(_is_set(field.options, "jstype", value) for value in ("JS_STRING", "JS_NUMBER")):
        yield f'only integers of 64 bits can have a jstype, and "{field.name}" is none', field.at


def _enum_values(context: Context, enum: Enum) -> Iterator[Problem]:
    if not enum.constants:
        yield f'the enum "{enum.name}" must have at least one value', enum.at
        return
    if context.is_proto3 and enum.constants[0].number != 0:
        yield f'the first value of the proto3 enum "{enum.name}" must be zero', enum.constants[0].at
    aliases = _is_set(enum.options, "allow_alias")
    seen: dict[int, str] = {}
    for constant in enum.constants:
        if constant.number in seen and not aliases:
            other = seen[constant.number]
            yield f'"{constant.name}" has the number {constant.number} of "{other}"; set allow_alias', constant.at
        seen[constant.number] = constant.name
    if aliases and len(seen) == len(enum.constants):
        yield f'"{enum.name}" sets allow_alias, but no two of its values share a number', enum.at


def _enum_reserved(_: Context, enum: Enum) -> Iterator[Problem]:
    if not enum.reserved:
        return
    names: set[str] = set()
    ranges: list[tuple[int, int, str, int]] = []
    for statement in enum.reserved:
        for value in statement.values:
            if isinstance(value, str):
                if value in names:
                    yield f'the name "{value}" is reserved twice', statement.at
                names.add(value)
                continue
            start, end = bounds(value)
            if end < start:
                yield "the end of a reserved range must not be smaller than its start", statement.at
            ranges.append((start, end, "reserved range", statement.at))
    yield from _overlaps(ranges)
    ranges.sort()
    for constant in enum.constants:
        if constant.name in names:
            yield f'the name "{constant.name}" is reserved', constant.at
        if _around(ranges, constant.number) is not None:
            yield f'"{constant.name}" uses the number {constant.number}, which is reserved', constant.at


def _enum_json_names(_: Context, enum: Enum) -> Iterator[Problem]:
    """In some languages values go by their names in camel case without the enum's name in front."""
    prefix = enum.name.replace("_", "").lower()
    seen: dict[str, tuple[str, int]] = {}
    for constant in enum.constants:
        name = _without_prefix(constant.name, prefix)
        other, number = seen.setdefault(name, (constant.name, constant.number))
        if other != constant.name and number != constant.number:
            yield f'"{constant.name}" and "{other}" are one name without case and the enum\'s name', constant.at


def _without_prefix(name: str, prefix: str) -> str:
    """The name in camel case, without a leading prefix that is compared without case and underscores."""
    rest, wanted = name, prefix
    while wanted and rest:
        if rest[0] == "_":
            rest = rest[1:]
        elif rest[0].lower() == wanted[0]:
            rest, wanted = rest[1:], wanted[1:]
        else:
            break
    rest = rest.lstrip("_") if not wanted else name
    if not rest:
        rest = name
    return "".join(part[:1].upper() + part[1:].lower() for part in rest.split("_"))


def _extensions(context: Context, extend: Extend) -> Iterator[Problem]:
    symbol = context.resolve(extend.extendee)
    if symbol is None or not isinstance(symbol.node, Message):
        return
    if context.is_proto3 and symbol.full_name not in _OPTIONS_MESSAGES:
        yield "extensions in proto3 may only define options", extend.at
    ranges = sorted((*bounds(value), "", 0) for statement in symbol.node.extensions for value in statement.ranges)
    for member in extend.members:
        yield from _number(member.number, member.at)
        if _around(ranges, member.number) is None:
            yield f'"{symbol.full_name}" does not declare {member.number} as an extension number', member.at
        if member.label == "required":
            yield f'the extension "{member.name}" cannot be required', member.at
        if isinstance(member, Field):
            if member.json_name is not None:
                yield "extensions cannot have a json_name", member.at
            if member.options:
                yield from _field_options(context, member)


def _members(message: Message) -> Iterator[Member]:
    """Every field of a message, in oneofs or not, in the order of the text."""
    if not message.oneofs and not message.groups:
        return iter(message.fields)
    inside = (member for oneof in message.oneofs for member in oneof.members)
    return iter(sorted(chain(message.fields, message.groups, inside), key=lambda member: member.at))


def _is_set(options: tuple[Option, ...], name: str, value: str = "true") -> bool:
    return any(option.name == ((name, False),) and option.value == Word(value) for option in options)


MESSAGE_CHECKS = (_field_numbers, _reserved_numbers, _reserved_names, _json_names, _oneofs, _field_types)
ENUM_CHECKS = (_enum_values, _enum_reserved, _enum_json_names)
EXTEND_CHECKS = (_extensions,)
