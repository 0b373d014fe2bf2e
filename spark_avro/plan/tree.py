"""Avro schemas as trees of JSON values, which a plan changes before Spark parses them.

A tree has the whole definition at every mention of a named type, and all names are full names, so that any part can be
removed or changed alone; `text` writes each definition only at its first mention.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from compat.avro import AvroSchema
from compat.avro.nodes import Array, Enum, Field, Fixed, Map, Node, Primitive, Record, Union
from compat.avro.text.logical_types import has_logical_type
from spark_avro.errors import UnsupportedSchema

#: A type: `{"type": ...}` with what the type has, or the list of a union's branches.
Tree = Any

NAMED = frozenset({"record", "enum", "fixed"})

#: The number of digits that a Spark decimal can hold.
MAX_PRECISION = 38


def tree(schema: AvroSchema, label: str, *, reader: bool) -> Tree:
    """The tree of a schema.

    Args:
        schema: The parsed schema.
        label: The schema's name in errors, such as `schema id 3`.
        reader: Whether defaults and aliases are kept; a writer's tree does not need them.

    Raises:
        UnsupportedSchema: a type contains itself, a decimal has more than 38 digits, or the names of two fields differ
            in case only, which Spark ignores.
    """
    return _Builder(label, reader=reader).build(schema.root, "", ())


class _Builder:
    def __init__(self, label: str, *, reader: bool) -> None:
        self._label = label
        self._reader = reader

    def build(self, node: Node, path: str, inside: tuple[Node, ...]) -> Tree:  # noqa: PLR0911 - one for each type
        match node:
            case Primitive():
                return {"type": node.type, **self._logical(node, path)}
            case Array():
                return {"type": "array", "items": self.build(node.items, f"{path}[]", inside)}
            case Map():
                return {"type": "map", "values": self.build(node.values, f"{path}{{}}", inside)}
            case Union():
                return [self.build(branch, path, inside) for branch in node.branches]
            case Fixed():
                return {**self._named(node), "size": node.size, **self._logical(node, path)}
            case Enum():
                default = {"default": node.default} if self._reader and node.default is not None else {}
                return {**self._named(node), "symbols": list(node.symbols), **default}
            case Record():
                return self._record(node, path, inside)

    def _record(self, node: Record, path: str, inside: tuple[Node, ...]) -> Tree:
        if any(node is outer for outer in inside):
            raise UnsupportedSchema(
                self._label,
                path,
                f"is of type {node.name.full}, which contains itself; Spark has no recursive types:"
                " use confluent_avro_udf with a schema of the part you need",
            )
        seen: dict[str, str] = {}
        for field in node.fields:
            other = seen.setdefault(field.name.lower(), field.name)
            if other is not field.name:
                raise UnsupportedSchema(
                    self._label, _join(path, field.name), f"differs from {other} in case only, which Spark does not see"
                )
        fields = [self._field(field, path, (*inside, node)) for field in node.fields]
        return {**self._named(node), "fields": fields}

    def _field(self, field: Field, path: str, inside: tuple[Node, ...]) -> Tree:
        built = {"name": field.name, "type": self.build(field.type, _join(path, field.name), inside)}
        if self._reader:
            if field.has_default:
                built["default"] = field.default
            if field.aliases:
                built["aliases"] = list(field.aliases)
        return built

    def _named(self, node: Record | Enum | Fixed) -> dict[str, Any]:
        aliases = {"aliases": [alias.full for alias in node.aliases]} if self._reader and node.aliases else {}
        return {"type": node.type, "name": node.name.full, **aliases}

    def _logical(self, node: Primitive | Fixed, path: str) -> dict[str, Any]:
        if not has_logical_type(node):
            return {}
        name = node.props["logicalType"]
        if name != "decimal":
            return {"logicalType": name}
        precision = node.props["precision"]
        if precision > MAX_PRECISION:
            raise UnsupportedSchema(
                self._label, path, f"is a decimal of {precision} digits; Spark has no more than {MAX_PRECISION}"
            )
        return {"logicalType": name, "precision": precision, "scale": node.props.get("scale", 0)}


def text(schema: Tree) -> str:
    """The JSON text of a tree.

    Raises:
        ValueError: two types have the same name.
    """
    return json.dumps(_printable(schema, None, {}), separators=(",", ":"))


def _printable(schema: Tree, space: str | None, seen: dict[str, Tree]) -> Any:
    if isinstance(schema, list):
        return [_printable(branch, space, seen) for branch in schema]
    kind = schema["type"]
    if kind == "array":
        return {"type": kind, "items": _printable(schema["items"], space, seen)}
    if kind == "map":
        return {"type": kind, "values": _printable(schema["values"], space, seen)}
    if kind not in NAMED:
        return schema if len(schema) > 1 else kind
    full = schema["name"]
    name_space, _, name = full.rpartition(".")
    if full in seen:
        if seen[full] != schema:
            raise ValueError(f"{full} stands for two types")
        # A name without a dot belongs to the enclosing namespace; a leading dot means no namespace.
        return full if name_space or not space else f".{full}"
    seen[full] = schema
    out = {**schema, "name": name}
    if name_space != (space or ""):
        out["namespace"] = name_space
    if kind == "record":
        out["fields"] = [{**field, "type": _printable(field["type"], name_space, seen)} for field in schema["fields"]]
    return out


def names(schema: Tree) -> Iterator[str]:
    """The full names of all named types in a tree."""
    if isinstance(schema, list):
        for branch in schema:
            yield from names(branch)
        return
    if "name" in schema:
        yield schema["name"]
    for part in (schema.get("items"), schema.get("values"), *(field["type"] for field in schema.get("fields", ()))):
        if part is not None:
            yield from names(part)


def is_record(schema: Tree) -> bool:
    """Whether a tree is a record, and not a union with one."""
    return isinstance(schema, dict) and schema["type"] == "record"


def is_nullable(schema: Tree) -> bool:
    """Whether null is a value of a tree's type."""
    return any(branch["type"] == "null" for branch in (schema if isinstance(schema, list) else [schema]))


def describe(schema: Tree) -> str:
    """The name of a type in messages: its logical type, or kind and name."""
    if isinstance(schema, list):
        return f"a union of {', '.join(map(describe, schema))}"
    if schema.get("logicalType") == "decimal":
        return f"decimal({schema['precision']},{schema['scale']})"
    return str(schema.get("logicalType") or " ".join(filter(None, (schema["type"], schema.get("name")))))


def prune(schema: Tree, fields: list[str], label: str) -> Tree:
    """The tree with the named fields only, in the schema's order.

    Args:
        schema: A record, or a union with one.
        fields: Names of fields; dots lead into records, also through unions, arrays and maps.
        label: The schema's name in errors.

    Raises:
        UnsupportedSchema: the schema does not have a field.
    """
    selected: dict[str, Any] = {}
    for path in fields:
        branch = selected
        for step in path.split("."):
            branch = branch.setdefault(step, {})
    return _prune(schema, selected, label, "")


def _prune(schema: Tree, selected: dict[str, Any], label: str, path: str) -> Tree:
    if not selected:
        return schema
    if isinstance(schema, list):
        return [
            _prune(branch, selected if branch["type"] in ("record", "array", "map") else {}, label, path)
            for branch in schema
        ]
    kind = schema["type"]
    if kind in ("array", "map"):
        part = "items" if kind == "array" else "values"
        return {**schema, part: _prune(schema[part], selected, label, path)}
    if kind != "record":
        raise UnsupportedSchema(label, path, f"is of type {describe(schema)} and has no field {next(iter(selected))}")
    existing = {field["name"] for field in schema["fields"]}
    for name in selected:
        if name not in existing:
            raise UnsupportedSchema(label, path, f"has no field {name}; its fields are {', '.join(sorted(existing))}")
    kept = [
        {**field, "type": _prune(field["type"], selected[field["name"]], label, _join(path, field["name"]))}
        for field in schema["fields"]
        if field["name"] in selected
    ]
    return {**schema, "fields": kept}


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
