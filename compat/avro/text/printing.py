"""Prints Avro schemas as `Schema.toString` of the Avro library for Java: the canonical or the normalized text.

The work is kept in a list, not on the stack: types of many texts may nest deeper than any one text.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from json.encoder import encode_basestring
from typing import Any

from compat.avro.nodes import (
    COMPLEX_TYPES,
    NAMED,
    NO_DEFAULT,
    PRIMITIVE_TYPES,
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Name,
    Named,
    Node,
    Primitive,
    Record,
    Union,
)
from compat.avro.text.logical_types import has_logical_type
from compat.avro.text.stackless import run
from compat.json.json_text import dumps, java_order, upper_case_escapes

#: A part that is still to be printed: text, or a type and its enclosing namespace.
_Part = str | tuple[Node, str | None]


def print_node(
    node: Node, *, defined_elsewhere: Iterable[str] = (), normalized: bool = False, only_outermost: bool = False
) -> str:
    """The compact text of a schema.

    Args:
        node: The schema's outermost type.
        defined_elsewhere: Full names of the types that references define; only their names are printed.
        normalized: Whether to sort properties, aliases and objects in values, omit empty docs, and print each default
            as a value of its type; a union's default that is not of its first branch is omitted, as in the reference.
        only_outermost: Whether to print only the names of inner named types.
    """
    names = set(defined_elsewhere)
    printed: list[str] = []
    remaining: list[_Part] = [(node, None)]
    while remaining:
        part = remaining.pop()
        if isinstance(part, str):
            printed.append(part)
            continue
        node, space = part
        text = _nameless(node, normalized=normalized)
        if text is not None:
            printed.append(text)
            continue
        if isinstance(node, NAMED):
            full = node.name.full
            if full in names or (only_outermost and printed):
                printed.append(encode_basestring(_mention(node.name, space, names)))
                continue
            names.add(full)
        remaining += reversed(_PRINTERS[node.__class__](node, space, normalized=normalized))
    return upper_case_escapes("".join(printed))


def _nameless(node: Node, *, normalized: bool) -> str | None:
    """The text of a type that contains only primitive types, itself included; None for any other type."""
    if node.__class__ is Primitive:
        return _primitive(node, normalized=normalized)
    if node.__class__ is not Union:
        return None
    if node.text is not None:
        return node.text
    if node.types <= PRIMITIVE_TYPES:
        branches: Sequence[Any] = node.branches
        texts = [
            _primitive(branch, normalized=normalized) if branch.props else _QUOTED[branch.type] for branch in branches
        ]
        return f"[{','.join(texts)}]"
    return None


_QUOTED = {name: f'"{name}"' for name in PRIMITIVE_TYPES}


def _primitive(node: Any, *, normalized: bool) -> str:
    if not node.props:
        return _QUOTED[node.type]
    return f'{{"type":"{node.type}"{_props(node, node.props, normalized=normalized)}}}'


def _array(node: Array, space: str | None, *, normalized: bool) -> Sequence[_Part]:
    return '{"type":"array","items":', (node.items, space), _props(node, node.props, normalized=normalized) + "}"


def _map(node: Map, space: str | None, *, normalized: bool) -> Sequence[_Part]:
    return '{"type":"map","values":', (node.values, space), _props(node, node.props, normalized=normalized) + "}"


def _union(node: Union, space: str | None, **_: bool) -> Sequence[_Part]:
    parts: list[_Part] = []
    separator = "["
    for branch in node.branches:
        parts += separator, (branch, space)
        separator = ","
    parts.append("]")
    return parts


def _fixed(node: Fixed, space: str | None, *, normalized: bool) -> Sequence[_Part]:
    return (
        f'{{"type":"fixed"{_header(node, space, normalized=normalized)},"size":{node.size}',
        _footer(node, normalized=normalized),
    )


def _enum(node: Enum, space: str | None, *, normalized: bool) -> Sequence[_Part]:
    default = "" if node.default is None else f',"default":{encode_basestring(node.default)}'
    symbols = ",".join(map(encode_basestring, node.symbols))
    return (
        f'{{"type":"enum"{_header(node, space, normalized=normalized)},"symbols":[{symbols}]{default}',
        _footer(node, normalized=normalized),
    )


def _record(node: Record, space: str | None, *, normalized: bool) -> Sequence[_Part]:
    kind = "error" if node.is_error and not normalized else "record"
    parts: list[_Part] = [f'{{"type":"{kind}"{_header(node, space, normalized=normalized)},"fields":[']
    separator = ""
    for field in node.fields:
        before = f'{separator}{{"name":{encode_basestring(field.name)},"type":'
        after = _field_footer(field, normalized=normalized)
        text = _nameless(field.type, normalized=normalized)
        if text is None:
            parts += before, (field.type, node.name.space), after
        else:
            parts.append(before + text + after)
        separator = ","
    parts.append("]" + _footer(node, normalized=normalized))
    return parts


_PRINTERS: Mapping[type, Callable[..., Sequence[_Part]]] = {
    Array: _array,
    Map: _map,
    Union: _union,
    Fixed: _fixed,
    Enum: _enum,
    Record: _record,
}


def _header(node: Named, space: str | None, *, normalized: bool) -> str:
    """The name, the doc, and the namespace if it differs from the enclosing one."""
    header = f',"name":{encode_basestring(node.name.name)}'
    if node.name.space != space:
        header += f',"namespace":{encode_basestring(node.name.space or "")}'
    if node.doc or (node.doc is not None and not normalized):
        header += f',"doc":{encode_basestring(node.doc)}'
    return header


def _footer(node: Named, *, normalized: bool) -> str:
    footer = _props(node, node.props, normalized=normalized)
    if node.aliases:
        aliases = sorted(node.aliases, key=lambda alias: java_order(alias.full)) if normalized else node.aliases
        footer += f',"aliases":[{",".join([encode_basestring(_alias(alias, node.name.space)) for alias in aliases])}]'
    return footer + "}"


def _field_footer(field: Field, *, normalized: bool) -> str:
    footer = "" if field.doc is None else f',"doc":{encode_basestring(field.doc)}'
    if field.default is not NO_DEFAULT:
        default = run(_typed(field.type, field.default)) if normalized else field.default
        if default is not _DROPPED:
            footer += f',"default":{dumps(default, sort_keys=normalized)}'
    if field.order != "ascending":
        footer += f',"order":"{field.order}"'
    if field.aliases:
        aliases = sorted(field.aliases, key=java_order) if normalized else field.aliases
        footer += f',"aliases":[{",".join(map(encode_basestring, aliases))}]'
    if field.props:
        footer += _props(None, field.props, normalized=normalized)
    return footer + "}"


def _props(node: Node | None, props: Mapping[str, Any], *, normalized: bool) -> str:
    if not props:
        return ""
    keys: Iterable[str] = props
    if normalized:
        keys = sorted(props, key=java_order)
        if node is not None and has_logical_type(node):
            first = ["logicalType"]
            if props["logicalType"] == "decimal":
                first += ["precision", "scale"] if props.get("scale") else ["precision"]
            keys = [*first, *(key for key in keys if key not in first)]
    return "".join([f",{encode_basestring(key)}:{dumps(props[key], sort_keys=normalized)}" for key in keys])


def _mention(name: Name, space: str | None, names: set[str]) -> str:
    # Java omits the empty namespace even if the name is then read as one of the enclosing namespace.
    hidden = name.space is None and space is not None and f"{space}.{name.name}" in names
    return f".{name.name}" if hidden else _qualified(name, space)


def _qualified(name: Name, space: str | None) -> str:
    """The name as it is written within a namespace."""
    if name.space == space and not (space is not None and name.name in PRIMITIVE_TYPES | COMPLEX_TYPES):
        return name.name
    return name.full


def _alias(alias: Name, space: str | None) -> str:
    # Java omits an alias's empty namespace, and then reads the alias as one of the type's namespace.
    return f".{alias.name}" if alias.space is None and space is not None else _qualified(alias, space)


class _Dropped:
    """A default that is left out."""


_DROPPED = _Dropped()


def _typed(node: Node | None, default: Any) -> Generator[Any, Any, Any]:
    """The default as the Avro library's `Field.defaultVal` returns it: a value of its type, for a union of the first.

    A number or text of another type than that becomes `_DROPPED`; within an array or object it becomes null.

    Args:
        node: The type; None if there is none, and then every value stays.
        default: The JSON value.
    """
    while isinstance(node, Union):
        node = node.branches[0] if node.branches else None
    if default.__class__ is list:
        items = node.items if isinstance(node, Array) else None
        elements = []
        for element in default:
            typed = yield _typed(items, element)
            elements.append(None if typed is _DROPPED else typed)
        return elements
    if default.__class__ is dict:
        members = {}
        for key, member in default.items():
            typed = yield _typed(_member(node, key), member)
            members[key] = None if typed is _DROPPED else typed
        return members
    if node is None or default is None or default.__class__ is bool:
        return default
    if default.__class__ in (int, float) and node.type in _FLOATS:
        return _FLOATS[node.type](default)
    if default.__class__ is str:
        return default if node.type in _TEXTS else _DROPPED
    return default if default.__class__ is int and default in _INTEGERS.get(node.type, ()) else _DROPPED


def _member(node: Node | None, key: str) -> Node | None:
    if isinstance(node, Map):
        return node.values
    return node.by_name[key].type if isinstance(node, Record) and key in node.by_name else None


_INTEGERS = {"int": range(-(2**31), 2**31), "long": range(-(2**63), 2**63)}
_TEXTS = frozenset({"string", "enum", "bytes", "fixed"})


def _double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def _float(value: float) -> float:
    """The double that prints like the nearest single-precision number: the one with the fewest digits."""
    double = _double(value)
    packed = _packed(double)
    if packed is None:
        return math.copysign(math.inf, double)
    (nearest,) = struct.unpack("<f", packed)
    shorter = (float(f"{nearest:.{digits}g}") for digits in range(1, 10))
    return next((short for short in shorter if _packed(short) == packed), double)


def _packed(value: float) -> bytes | None:
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return None


_FLOATS = {"double": _double, "float": _float}
