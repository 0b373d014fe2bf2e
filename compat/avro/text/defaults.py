"""Defaults of record fields: the JSON values that are valid for each type."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import Any

from compat.avro.nodes import Array, Map, Node, Primitive, Record, Union
from compat.avro.text.stackless import run

_Check = Generator["_Check", bool, bool]

_INT = range(-(2**31), 2**31)
_LONG = range(-(2**63), 2**63)
#: What Java's Double.valueOf accepts, except hexadecimal numbers.
_JAVA_DOUBLE = re.compile(
    r"[\x00-\x20]*([+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?))[\x00-\x20]*"
)

_PRIMITIVE_DEFAULTS = {
    "null": lambda value: value is None,
    "boolean": lambda value: value is True or value is False,
    "int": lambda value: value.__class__ is int and value in _INT,
    "long": lambda value: value.__class__ is int and value in _LONG,
    "float": lambda value: value.__class__ in (int, float),
    "double": lambda value: value.__class__ in (int, float),
    "bytes": lambda value: value.__class__ is str,
    "string": lambda value: value.__class__ is str,
}


def is_default(node: Node, value: Any) -> bool:
    """Whether a JSON value is a valid default of a type; for a union, of any branch (Avro library 1.9 and later)."""
    if node.__class__ is Primitive:
        return _PRIMITIVE_DEFAULTS[node.type](value)
    if node.__class__ is Union:
        # Most defaults of unions match a primitive branch; this tells without a walk.
        for branch in node.branches:
            if branch.__class__ is Primitive and _PRIMITIVE_DEFAULTS[branch.type](value):
                return True
    return run(_fits(node, value, {}))


def double_default(text: str) -> float | None:
    """The number in a text default of a float or double; None if Java's parser refuses the text."""
    match = _JAVA_DOUBLE.fullmatch(text)
    return None if match is None else float(match[1].rstrip("fFdD"))


def _fits(node: Node, value: Any, seen: dict[tuple[int, int], bool]) -> _Check:
    if node.__class__ is Primitive:
        return _PRIMITIVE_DEFAULTS[node.type](value)
    # Without this cache, a value nested in unions of similar records would be checked exponentially often.
    key = (id(node), id(value))
    if key not in seen:
        check = _CHECKS.get(node.type)
        seen[key] = value.__class__ is str if check is None else (yield check(node, value, seen))
    return seen[key]


def _fits_union(node: Union, value: Any, seen: dict[tuple[int, int], bool]) -> _Check:
    for branch in node.branches:
        if (yield _fits(branch, value, seen)):
            return True
    return False


def _fits_array(node: Array, value: Any, seen: dict[tuple[int, int], bool]) -> _Check:
    if value.__class__ is not list:
        return False
    for element in value:
        if not (yield _fits(node.items, element, seen)):
            return False
    return True


def _fits_map(node: Map, value: Any, seen: dict[tuple[int, int], bool]) -> _Check:
    if value.__class__ is not dict:
        return False
    for element in value.values():
        if not (yield _fits(node.values, element, seen)):
            return False
    return True


def _fits_record(node: Record, value: Any, seen: dict[tuple[int, int], bool]) -> _Check:
    # A record that is still being parsed would contain itself.
    if value.__class__ is not dict or not node.is_complete:
        return False
    for member in node.fields:
        # A field's default was checked with the field.
        fits = (yield _fits(member.type, value[member.name], seen)) if member.name in value else member.has_default
        if not fits:
            return False
    return True


_CHECKS: dict[str, Callable[..., _Check]] = {
    "union": _fits_union,
    "array": _fits_array,
    "map": _fits_map,
    "record": _fits_record,
}
