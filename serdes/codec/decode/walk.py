"""Decodes step by step: it finds the fault after generated code failed, and it decodes defaults."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Literal

from serdes.codec.encode.walk import default_bytes
from serdes.codec.errors import DecodeError, key_path
from serdes.codec.forms.check import Unfit, pack_float
from serdes.codec.forms.form import Form
from serdes.codec.resolve.plan import CONVERT, Plan, resolve, unread
from serdes.codec.schema import Field, Node
from serdes.codec.size import ZERO_BYTE_ITEMS, least_size
from serdes.codec.varint import read_int, read_length, read_long

#: Takes the path of a field that the reader fills with its default (`default`), of one that only the writer has
#: (`skipped-field`), or of a key that a map has more than once (`double-key`).
Note = Callable[[str, Literal["default", "skipped-field", "double-key"]], None]

_DOUBLE = struct.Struct("<d").unpack
_FLOAT = struct.Struct("<f").unpack


def decode(plan: Plan, buffer: bytes, position: int, form: Form, note: Note | None = None) -> Any:
    """The value of a buffer from a position to its end; `note` is told what the value does not show.

    Raises:
        DecodeError: The bytes are not such a value, more bytes follow it, or it is nested too deeply.
    """
    if position < 0:
        raise DecodeError("$", position, plan.node.words(), "the offset is before the buffer")
    walk = _Walk(buffer, position, form, note)
    try:
        value = walk.any(plan, "$")
    except RecursionError:
        raise DecodeError("$", position, plan.node.words(), "nested too deeply") from None
    if walk.position != len(buffer):
        detail = f"bytes left over after the datum: {len(buffer) - walk.position}"
        raise DecodeError("$", walk.position, plan.node.words(), detail)
    return value


def default_value(field: Field, form: Form) -> Any:
    """A field's default as a decoder of the form returns it.

    Raises:
        LookupError: The field has no default that fits its type.
    """
    stored = default_bytes(field)
    if stored is None:
        raise LookupError(field.name)
    return decode(resolve(field.node, None), stored, 0, form)


def json_float(value: float) -> float | str:
    """A float as JSON: the shortest decimal that becomes the same float again, or a text for infinity and NaN."""
    if value != value or value in {float("inf"), float("-inf")}:  # noqa: PLR0124  (NaN alone differs from itself)
        return json_double(value)
    stored = pack_float(value)
    for digits in (6, 7, 8):
        shorter = float(f"{value:.{digits}g}")
        if pack_float(shorter) == stored:
            return shorter
    return float(f"{value:.9g}")


def json_double(value: float) -> float | str:
    """A double as JSON: itself, or the text that Java's Avro writes for infinity and NaN."""
    if value - value == 0:
        return value
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"  # noqa: PLR0124  (as above)


class _Walk:
    def __init__(self, buffer: bytes, position: int, form: Form, note: Note | None) -> None:
        self.note = note
        self.buffer = buffer
        self.position = position
        self.form = form
        self.zero_byte_items = ZERO_BYTE_ITEMS

    def any(self, plan: Plan, path: str) -> Any:
        method = _METHODS.get(plan.kind)
        return method(self, plan, path) if method else self.leaf(plan, path)

    def fail(self, path: str, position: int, node: Node, detail: str) -> DecodeError:
        return DecodeError(path, position, node.words(), detail)

    def number(self, node: Node, path: str, read: Any = read_long) -> int:
        """A varint: a length, a count, an index."""
        try:
            value, self.position = read(self.buffer, self.position)
        except IndexError:
            raise self.fail(path, self.position, node, "the buffer ends inside it") from None
        except (ValueError, OverflowError) as error:
            raise self.fail(path, self.position, node, str(error)) from None
        return int(value)

    def take(self, size: int, node: Node, path: str) -> bytes:
        start, end = self.position, self.position + size
        if end > len(self.buffer):
            raise self.fail(path, start, node, f"the buffer ends {end - len(self.buffer)} bytes before its end")
        self.position = end
        return self.buffer[start:end]

    def leaf(self, plan: Plan, path: str) -> Any:
        start = self.position
        try:
            return _present(plan, self.stored(plan, path), self.form)
        except DecodeError:
            raise
        except UnicodeDecodeError as error:
            raise self.fail(path, start, plan.node, f"no UTF-8: {error.reason}") from None
        except (ValueError, ArithmeticError) as error:
            raise self.fail(path, start, plan.node, str(error)) from None

    def stored(self, plan: Plan, path: str) -> Any:
        node = plan.node
        if node.kind in _FIXED_SIZES:
            size, read = _FIXED_SIZES[node.kind]
            return read(self.take(size, node, path))
        if node.kind in {"int", "long"}:
            return self.number(node, path, read_int if node.kind == "int" else read_long)
        if node.kind == "fixed":
            return self.take(node.size, node, path)
        content = self.take(self.number(node, path, read_length), node, path)
        return content.decode() if node.kind == "string" else content

    def enum(self, plan: Plan, path: str) -> str:
        start = self.position
        index = self.number(plan.node, path)
        if not 0 <= index < len(plan.symbols):
            raise self.fail(path, start, plan.node, f"index {index} is beyond its {len(plan.symbols)} symbols")
        symbol = plan.symbols[index]
        if symbol is None:
            detail = f"the reader's {plan.target.branch} has no symbol {plan.node.symbols[index]} and no default"
            raise self.fail(path, start, plan.target, detail)
        return symbol if self.form.records is None else self.form.records.symbols(plan.target).get(symbol, symbol)

    def record(self, plan: Plan, path: str) -> Any:
        values: dict[int, Any] = {}
        for index, (target, step) in enumerate(plan.steps):
            name = plan.node.fields[index].name
            if target >= 0:
                values[target] = self.any(step, f"{path}.{name}")
            else:
                self.skip(step, f"{path}.{name}")
        for target, field in unread(plan):
            try:
                values[target] = default_value(field, self.form)
            except LookupError:
                detail = "the writer has no such field, and the reader's has no default"
                raise self.fail(f"{path}.{field.name}", self.position, field.node, detail) from None
            if self.note is not None:
                self.note(f"{path}.{field.name}", "default")
        fields = {field.name: values[target] for target, field in enumerate(plan.fields)}
        if self.form.records is None:
            return fields
        try:
            return self.form.records.made(plan.target, fields)
        except Unfit as error:
            raise self.fail(path, self.position, plan.target, str(error)) from None

    def skip(self, plan: Plan, path: str) -> None:
        note, self.note = self.note, None
        self.any(plan, path)
        self.note = note
        if note is not None:
            note(path, "skipped-field")

    def count(self, plan: Plan, path: str, least: int) -> int:
        """The number of items in the next block; 0 ends the array or map."""
        start = self.position
        count = self.number(plan.node, path)
        if count < 0:
            count = -count
            self.number(plan.node, path, read_length)
        if count * least > len(self.buffer) - self.position:
            left = len(self.buffer) - self.position
            raise self.fail(path, start, plan.node, f"a block of {count} items where {left} bytes are left")
        if least == 0:
            self.zero_byte_items -= count
            if self.zero_byte_items < 0:
                raise self.fail(path, start, plan.node, f"more than {ZERO_BYTE_ITEMS} items that take no bytes")
        return count

    def array(self, plan: Plan, path: str) -> list[Any]:
        items: list[Any] = []
        least = least_size(plan.node.item)
        while count := self.count(plan, path, least):
            for _ in range(count):
                items.append(self.any(plan.child, f"{path}[{len(items)}]"))
        return items

    def map(self, plan: Plan, path: str) -> dict[str, Any]:
        items: dict[str, Any] = {}
        least = least_size(plan.node.item) + 1
        key_plan = resolve(Node("string"), None)
        while count := self.count(plan, path, least):
            for _ in range(count):
                key = self.leaf(key_plan, f"{path} as a key")
                if self.note is not None and key in items:
                    self.note(key_path(path, key), "double-key")
                items[key] = self.any(plan.child, key_path(path, key))
        return items

    def union(self, plan: Plan, path: str) -> Any:
        start = self.position
        index = self.number(plan.node, path)
        if not 0 <= index < len(plan.branches):
            raise self.fail(path, start, plan.node, f"index {index} is beyond its {len(plan.branches)} branches")
        tag, branch = plan.branches[index]
        value = self.any(branch, path)
        if self.form.record_names and branch.kind == "record":
            return (tag or branch.node.branch, value)
        return self.shown(plan, tag, value)

    def tagged(self, plan: Plan, path: str) -> Any:
        return self.shown(plan, plan.tag, self.any(plan.child, path))

    def shown(self, plan: Plan, tag: str | None, value: Any) -> Any:
        """A union's value in the form: alone, in a Branch, or in an object."""
        if self.form.records is not None:
            return self.form.records.shown(plan.target, tag, value)
        if self.form.names_branch(plan.target, tag):
            return (tag, value)
        keys = self.form.keys(plan.target, tag)
        return value if keys is None else {key: value if key == keys[1] else None for key in keys[0]}

    def mismatch(self, plan: Plan, path: str) -> Any:
        raise self.fail(path, self.position, plan.target, plan.detail)


def _boolean(byte: bytes) -> bool:
    if byte > b"\1":
        raise ValueError(f"byte {byte[0]} is neither 0 nor 1")
    return byte == b"\1"


_FIXED_SIZES: dict[str, Any] = {
    "null": (0, lambda _: None),
    "boolean": (1, _boolean),
    "float": (4, lambda content: _FLOAT(content)[0]),
    "double": (8, lambda content: _DOUBLE(content)[0]),
}

_METHODS = {
    "record": _Walk.record,
    "array": _Walk.array,
    "map": _Walk.map,
    "union": _Walk.union,
    "enum": _Walk.enum,
    "tagged": _Walk.tagged,
    "mismatch": _Walk.mismatch,
}


def _present(plan: Plan, value: Any, form: Form) -> Any:
    """A stored value converted to the form, and promoted if the reader's type differs."""
    present = form.present(plan)
    if present is not None:
        return present(value)
    kind = plan.target.kind
    if plan.convert:
        value = CONVERT[plan.convert](value)
    if form.json and kind in JSON_OUT:
        return JSON_OUT[kind](value)
    return value


def latin(value: bytes) -> str:
    """Bytes as in Avro JSON: a text of U+0000 to U+00FF."""
    return value.decode("iso-8859-1")


#: The conversions of values that JSON cannot hold as they are.
JSON_OUT: dict[str, Any] = {"float": json_float, "double": json_double, "bytes": latin, "fixed": latin}
