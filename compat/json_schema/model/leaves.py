"""Loaders for the kinds of nodes without subschemas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from compat.json_schema.model import nodes as model
from compat.json_schema.model.reading import Malformed, decimal, place, shown
from compat.json_schema.model.resources import Resource
from compat.schema import Pointer

#: A node's class, and the fields that only this class has.
Part = tuple[type[model.Node], dict[str, Any]]


def _number(raw: dict[str, Any], pointer: Pointer, resource: Resource, integer: bool) -> Part:  # noqa: FBT001  a table's
    fields: dict[str, Any] = {
        "integer": integer,
        "minimum": decimal(raw, "minimum", pointer),
        "maximum": decimal(raw, "maximum", pointer),
        "multiple_of": decimal(raw, "multipleOf", pointer),
    }
    if fields["multiple_of"] == 0:
        raise Malformed("multipleOf should not be 0", place((*pointer, "multipleOf"), resource))
    for bound, keyword in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if resource.dialect.exclusive_flags:
            # The bound itself stays, so setting or removing the flag counts as adding or removing a bound.
            fields[f"exclusive_{bound}"] = fields[bound] if raw.get(keyword) is True else None
        else:
            fields[f"exclusive_{bound}"] = decimal(raw, keyword, pointer)
    return model.Number, fields


def _string(raw: dict[str, Any], pointer: Pointer, resource: Resource, _integer: bool) -> Part:  # noqa: FBT001  a table's
    pattern = raw.get("pattern")
    if pattern is not None and not isinstance(pattern, str):
        raise Malformed(f"'pattern' must be a string, not {shown(pattern)}", place((*pointer, "pattern"), resource))
    return model.String, {
        "min_length": decimal(raw, "minLength", pointer),
        "max_length": decimal(raw, "maxLength", pointer),
        "pattern": pattern,
    }


#: Loaders by kind; the last argument is whether the type is `integer`.
LEAVES: Mapping[str, Callable[[dict[str, Any], Pointer, Resource, bool], Part]] = {
    "string": _string,
    "number": _number,
    "boolean": lambda _raw, _pointer, _resource, _integer: (model.Boolean, {}),
    "null": lambda _raw, _pointer, _resource, _integer: (model.Null, {}),
}
