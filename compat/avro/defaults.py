"""Defaults of record fields: which JSON values are defaults of which types."""

from __future__ import annotations

import re
from typing import Any

from compat.avro.nodes import Array, Map, Node, Primitive, Record, Union

_INT = range(-(2**31), 2**31)
_LONG = range(-(2**63), 2**63)
#: What Java's Double.valueOf reads, hexadecimal numbers aside.
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
    """Whether a JSON value is a default of a type; of a union, that of any branch (Avro library 1.9 and later)."""
    return _fits(node, value, {})


def double_default(text: str) -> float | None:
    """The number in a text that stands as default of a float or double; None where Java's parser finds none."""
    match = _JAVA_DOUBLE.fullmatch(text)
    return None if match is None else float(match[1].rstrip("fFdD"))


def _fits(node: Node, value: Any, seen: dict[tuple[int, int], bool]) -> bool:
    if isinstance(node, Primitive):
        return _PRIMITIVE_DEFAULTS[node.type](value)
    # Without this memory a value nested in unions of look-alike records would be tried exponentially often.
    key = (id(node), id(value))
    if key not in seen:
        seen[key] = _fits_complex(node, value, seen)
    return seen[key]


def _fits_complex(node: Node, value: Any, seen: dict[tuple[int, int], bool]) -> bool:
    if isinstance(node, Union):
        return any(_fits(branch, value, seen) for branch in node.branches)
    if isinstance(node, Array):
        return value.__class__ is list and all(_fits(node.items, element, seen) for element in value)
    if isinstance(node, Map):
        return value.__class__ is dict and all(_fits(node.values, element, seen) for element in value.values())
    if isinstance(node, Record):
        # A field's own default was checked with the field; a record that is still being read would contain itself.
        return (
            value.__class__ is dict
            and node.is_complete
            and all(
                _fits(member.type, value[member.name], seen) if member.name in value else member.has_default
                for member in node.fields
            )
        )
    return value.__class__ is str
