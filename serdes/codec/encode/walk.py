"""Encoding step by step: after generated code failed, it finds what does not fit; it also encodes defaults."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from serdes.codec.errors import EncodeError, key_path
from serdes.codec.forms.check import Unfit, pack_float
from serdes.codec.forms.form import DEFAULT, Form
from serdes.codec.schema import MISSING, Field, Node
from serdes.codec.size import ZERO_BYTE_ITEMS, least_size
from serdes.codec.varint import write_long

_DOUBLE = struct.Struct("<d").pack


def encode(node: Node, value: Any, form: Form) -> bytes:
    """The bytes of a value.

    Raises:
        EncodeError: The value does not fit the schema, or is nested too deeply.
    """
    out: list[bytes] = []
    try:
        _Walk(form, out).any(node, value, "$")
    except RecursionError:
        raise EncodeError("$", type(value).__name__, node.words(), "nested too deeply") from None
    return b"".join(out)


def default_bytes(field: Field) -> bytes | None:
    """The bytes of a field's default; None if it has no default, or one that does not fit its type."""
    if field.default is MISSING:
        return None
    try:
        return encode(field.node, field.default, DEFAULT)
    except EncodeError:
        return None


def missing_bytes(field: Field, form: Form) -> bytes | None:
    """The bytes of a field that a record lacks; None if the field is required."""
    default = default_bytes(field) if form.defaults else None
    if default is None and field.default is MISSING and form.nulls:
        # As in fastavro: a nullable field becomes null.
        nulls = [index for index, branch in enumerate(field.node.branches) if branch.kind == "null"]
        if field.node.kind == "null" or nulls:
            return write_long(nulls[0]) if nulls else b""
    return default


def as_items(value: Any) -> Any:
    """The value, checked to have a length and to be iterable as an array's items.

    Raises:
        Unfit: The value is a text or a mapping, or not a collection.
    """
    if isinstance(value, (str, Mapping)) or not (hasattr(value, "__len__") and hasattr(value, "__iter__")):
        raise Unfit
    return value


class _Walk:
    def __init__(self, form: Form, out: list[bytes]) -> None:
        self.form = form
        self.put = out.append

    def any(self, node: Node, value: Any, path: str) -> None:
        method = _METHODS.get(node.kind)
        if method:
            method(self, node, value, path)
        else:
            self.leaf(node, value, path)

    def leaf(self, node: Node, value: Any, path: str) -> None:
        try:
            stored = value
            prepare = None if self.form.json else self.form.prepare(node)
            if prepare is not None:
                stored = prepare(value)
            self.put(WRITE[node.kind](node, self.form.checks[node.kind](node, stored)))
        except (ValueError, OverflowError) as error:
            raise _unfit(path, value, node, str(error)) from None

    def record(self, node: Node, value: Any, path: str) -> None:
        if self.form.records is not None:
            try:
                value = self.form.records.fields(node, value)
            except Unfit as error:
                raise _unfit(path, value, node, str(error)) from None
        if not isinstance(value, Mapping):
            raise _unfit(path, value, node)
        for field in node.fields:
            if field.name in value:
                self.any(field.node, value[field.name], f"{path}.{field.name}")
                continue
            missing = missing_bytes(field, self.form)
            if missing is None:
                raise EncodeError(f"{path}.{field.name}", "nothing", field.node.words(), "the field is missing")
            self.put(missing)
        if self.form.closed:
            names = {field.name for field in node.fields}
            unknown = next((key for key in value if key not in names), None)
            if unknown is not None:
                raise EncodeError(f"{path}.{unknown}", type(value[unknown]).__name__, node.words(), "an unknown field")

    def array(self, node: Node, value: Any, path: str) -> None:
        try:
            items = as_items(value)
        except Unfit:
            raise _unfit(path, value, node) from None
        if len(items) > ZERO_BYTE_ITEMS and least_size(node.item) == 0:
            raise _unfit(path, value, node, f"more than {ZERO_BYTE_ITEMS} items that take no bytes")
        if len(items):
            self.put(write_long(len(items)))
        for index, item in enumerate(items):
            self.any(node.item, item, f"{path}[{index}]")
        self.put(b"\0")

    def map(self, node: Node, value: Any, path: str) -> None:
        if not isinstance(value, Mapping):
            raise _unfit(path, value, node)
        if value:
            self.put(write_long(len(value)))
        key_node = Node("string")
        for key, item in value.items():
            self.leaf(key_node, key, f"{key_path(path, key)} as a key")
            self.any(node.item, item, key_path(path, key))
        self.put(b"\0")

    def union(self, node: Node, value: Any, path: str) -> None:
        try:
            index, inner = self.form.chooser(node)(value)
        except Unfit as error:
            self.explain(node, value, path)
            raise _unfit(path, value, node, str(error)) from None
        self.put(write_long(index))
        self.any(node.branches[index], inner, path)

    def explain(self, node: Node, value: Any, path: str) -> None:
        """Raises an error from inside a branch, if only one branch can have been meant."""
        if self.form.json and self.form.tagged:
            return
        kinds = _MEANT.get(type(value), frozenset())
        meant = [branch for branch in node.branches if branch.kind in kinds]
        if len(meant) > 1 and isinstance(value, dict):
            meant = [branch for branch in meant if value.keys() <= {field.name for field in branch.fields}]
        if len(meant) == 1:
            self.any(meant[0], value, path)


#: The kinds of branch that a container is meant for.
_MEANT: dict[Any, frozenset[str]] = {dict: frozenset({"record", "map"}), list: frozenset({"array"})}

_METHODS = {"record": _Walk.record, "array": _Walk.array, "map": _Walk.map, "union": _Walk.union}


def _sized(value: bytes) -> bytes:
    return write_long(len(value)) + value


WRITE: Mapping[str, Any] = {
    "null": lambda _, __: b"",
    "boolean": lambda _, value: b"\1" if value else b"\0",
    "int": lambda _, value: write_long(value),
    "long": lambda _, value: write_long(value),
    "float": lambda _, value: pack_float(value),
    "double": lambda _, value: _DOUBLE(value),
    "string": lambda _, value: _sized(value.encode()),
    "bytes": lambda _, value: _sized(value),
    "fixed": lambda _, value: value,
    "enum": lambda node, value: write_long(node.symbols.index(value)),
}


def _unfit(path: str, value: Any, node: Node, detail: str = "") -> EncodeError:
    return EncodeError(path, type(value).__name__, node.words(), detail)
