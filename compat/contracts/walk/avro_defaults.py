"""The values that Avro fields have if a record lacks them."""

from __future__ import annotations

from typing import Any

from compat.avro.nodes import NO_DEFAULT, Array, Enum, Field, Fixed, Map, Node, Primitive, Record, Union
from compat.contracts.walk.steps import ABSENT

_JSON_TYPES: dict[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "int": (int,),
    "long": (int,),
    "float": (int, float),
    "double": (int, float),
    "string": (str,),
    "bytes": (str,),
    "fixed": (str,),
    "enum": (str,),
    "array": (list,),
    "map": (dict,),
    "record": (dict,),
}


class _Unfit(ValueError):
    """A default that does not fit its type; a schema that was accepted leniently may have one."""


def value_if_absent(field: Field) -> Any:
    """The value that an encoder writes for a field that a record lacks; ABSENT if the field is required."""
    if field.default is NO_DEFAULT:
        is_nullable = field.type.type == "null" or (isinstance(field.type, Union) and "null" in field.type.types)
        return None if is_nullable else ABSENT
    try:
        return _value(field.type, field.default)
    except (_Unfit, RecursionError):
        return ABSENT


def _value(node: Node, default: Any) -> Any:
    """The Python value of a default, which is JSON: bytes are texts of ISO-8859-1, and unions have no tags."""
    if isinstance(node, Union):
        return _union_value(node, default)
    types: Any = _JSON_TYPES[node.type]
    if not isinstance(default, types) or (isinstance(default, bool) and node.type != "boolean"):
        raise _Unfit
    if isinstance(node, Record):
        return {field.name: _field_value(field, default) for field in node.fields}
    if isinstance(node, Array):
        return [_value(node.items, item) for item in default]
    if isinstance(node, Map):
        return {key: _value(node.values, item) for key, item in default.items()}
    return _leaf_value(node, default)


def _leaf_value(node: Primitive | Enum | Fixed, default: Any) -> Any:
    if isinstance(node, Enum) and default not in node.symbols:
        raise _Unfit
    if node.type in {"bytes", "fixed"}:
        return _bytes(default)
    return float(default) if node.type in {"float", "double"} else default


def _union_value(node: Union, default: Any) -> Any:
    for branch in node.branches:
        try:
            return _value(branch, default)
        except _Unfit:
            continue
    raise _Unfit


def _field_value(field: Field, defaults: dict[str, Any]) -> Any:
    default = defaults.get(field.name, field.default)
    if default is NO_DEFAULT:
        raise _Unfit
    return _value(field.type, default)


def _bytes(text: str) -> bytes:
    try:
        return text.encode("iso-8859-1")
    except UnicodeEncodeError:
        raise _Unfit from None
