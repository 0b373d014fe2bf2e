"""Checks of enums."""

from __future__ import annotations

from collections.abc import Iterator

from compat.protobuf.checks.checking import Context, Problem, containing, is_set, overlaps
from compat.protobuf.checks.stored import valid_order
from compat.protobuf.text.nodes import Enum, bounds


def _enum_values(context: Context, enum: Enum) -> Iterator[Problem]:
    if not enum.constants:
        yield f'the enum "{enum.name}" must have at least one value', enum.at
        return
    first = valid_order(context.unit.tree, enum)[0]
    if context.is_proto3 and first.number != 0:
        yield f'the first value of the proto3 enum "{enum.name}" must be zero', first.at
    aliases = is_set(enum.options, "allow_alias")
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
    yield from overlaps(ranges)
    ranges.sort()
    for constant in enum.constants:
        if constant.name in names:
            yield f'the name "{constant.name}" is reserved', constant.at
        if containing(ranges, constant.number) is not None:
            yield f'"{constant.name}" uses the number {constant.number}, which is reserved', constant.at


def _enum_json_names(_: Context, enum: Enum) -> Iterator[Problem]:
    """Some languages name values in camel case without the enum's name as a prefix; those names must differ too."""
    prefix = enum.name.replace("_", "").lower()
    seen: dict[str, tuple[str, int]] = {}
    for constant in enum.constants:
        name = _without_prefix(constant.name, prefix)
        other, number = seen.setdefault(name, (constant.name, constant.number))
        if other != constant.name and number != constant.number:
            yield f'"{constant.name}" and "{other}" are one name without case and the enum\'s name', constant.at


def _without_prefix(name: str, prefix: str) -> str:
    """The name in camel case, without the prefix; the prefix is matched without case and underscores."""
    rest, prefix_left = name, prefix
    while prefix_left and rest:
        if rest[0] == "_":
            rest = rest[1:]
        elif rest[0].lower() == prefix_left[0]:
            rest, prefix_left = rest[1:], prefix_left[1:]
        else:
            break
    rest = rest.lstrip("_") if not prefix_left else name
    if not rest:
        rest = name
    return "".join(part[:1].upper() + part[1:].lower() for part in rest.split("_"))


ENUM_CHECKS = (_enum_values, _enum_reserved, _enum_json_names)
