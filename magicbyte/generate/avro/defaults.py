"""The defaults of an Avro record's fields as Python expressions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from magicbyte.generate.avro.types import Types
from magicbyte.generate.expressions import NONE, Call, ClassName, Display, Expression, Import, Lambda, Subscript, Text
from magicbyte.generate.literals import bytes_literal, number_literal
from magicbyte.generate.model import RUNTIME, made_by, made_display, text
from serdes.codec.encode.walk import default_bytes
from serdes.codec.forms.branch import first_chooser
from serdes.codec.forms.records import kind_of, presented
from serdes.codec.schema import Field, Node
from serdes.records.kinds import wrapped
from serdes.records.values import Duration

#: Full name of an enumeration or a record -> symbol or field -> the Python name of it.
Names = Mapping[str, Mapping[str, str]]


class Defaults:
    """Makes defaults.

    Args:
        types: Makes the types of values.
        names: The Python names of the symbols and fields of each type.
    """

    def __init__(self, types: Types, names: Names) -> None:
        self._types = types
        self._class_of = types.class_of
        self._names = names

    def of(self, field: Field, module: str) -> Expression | None:
        """A field's default; None if it has none, one that does not fit, or one that Python has no value for."""
        if default_bytes(field) is None:
            return None
        try:
            value = self._value(field.node, field.default)
        except (ValueError, ArithmeticError):
            return None
        if isinstance(value, Display) and not value.items:
            return made_display(value)
        return value if _is_shared(value, module) else made_by(Lambda(value))

    def _value(self, node: Node, value: Any) -> Expression:
        method = _METHODS.get(node.kind)
        return self._leaf(node, value) if method is None else method(self, node, value)

    def _union(self, node: Node, value: Any) -> Expression:
        index, inner = first_chooser(node)(value)
        branch = node.branches[index]
        made = self._value(branch, inner)
        if branch.branch not in wrapped(map(kind_of, node.branches)):
            return made
        return Call(self._types.branch(node, branch), (("", text(branch.branch)), ("", made)))

    def _record(self, node: Node, value: Any) -> Expression:
        names = self._names[node.branch]
        fields = tuple(
            (names[field.name], self._value(field.node, value[field.name]))
            for field in node.fields
            if field.name in value
        )
        return Call(self._class_of(node.branch), fields)

    def _array(self, node: Node, value: Any) -> Expression:
        return Display("[]", tuple((None, self._value(node.item, item)) for item in value))

    def _map(self, node: Node, value: Any) -> Expression:
        return Display("{}", tuple((text(key), self._value(node.item, item)) for key, item in value.items()))

    def _enum(self, node: Node, value: Any) -> Expression:
        cls = self._class_of(node.branch)
        return ClassName(cls.module, cls.name, self._names[node.branch][value])

    def _leaf(self, node: Node, value: Any) -> Expression:
        stored = value.encode("iso-8859-1") if node.kind in {"bytes", "fixed"} else value
        present = presented(node)
        if present is not None:
            return _logical(present(int(stored) if node.kind in {"int", "long"} else stored))
        if node.kind == "fixed":
            return Call(self._class_of(node.branch), (("", Text(bytes_literal(stored))),))
        return _primitive(node.kind, stored)


_METHODS = {
    "union": Defaults._union,  # noqa: SLF001 - the class's own table
    "record": Defaults._record,  # noqa: SLF001
    "array": Defaults._array,  # noqa: SLF001
    "map": Defaults._map,  # noqa: SLF001
    "enum": Defaults._enum,  # noqa: SLF001
}


def _is_shared(value: Expression, module: str) -> bool:
    """Whether all instances may share a value: it cannot be changed, and what it mentions is defined before."""
    match value:
        case Text() | Import():
            return True
        case ClassName():
            return value.module == module
        case Call(ClassName() as cls, ((name, _), *_)):
            return cls.module == module and name == ""
        case Call(Import() | Subscript(), arguments):
            return all(_is_shared(part, module) for _, part in arguments)
    return False


def _primitive(kind: str, value: Any) -> Expression:  # noqa: PLR0911  # one for each type
    match kind:
        case "null":
            return NONE
        case "string":
            return text(value)
        case "bytes":
            return Text(bytes_literal(value))
        case "int" | "long":
            return Text(str(int(value)))
        case "float" | "double":
            number = float(value)
            if math.isfinite(number):
                return Text(number_literal(number))
            return Call(Import("builtins", "float"), (("", Text(f'"{number}"')),))
    return Text(repr(bool(value)))


def _logical(value: Any) -> Expression:
    match value:
        case datetime():
            zone = (("tzinfo", Import("datetime", "UTC")),) if value.tzinfo else ()
            return Call(Import("datetime", "datetime"), (*_numbers(value.timetuple()[:6], value.microsecond), *zone))
        case date():
            return Call(Import("datetime", "date"), _numbers(value.timetuple()[:3], 0))
        case time():
            return Call(
                Import("datetime", "time"), _numbers((value.hour, value.minute, value.second), value.microsecond)
            )
        case Decimal():
            return Call(Import("decimal", "Decimal"), (("", Text(f'"{value}"')),))
        case UUID():
            return Call(Import("uuid", "UUID"), (("", Text(f'"{value}"')),))
        case Duration():
            return Call(Import(RUNTIME, "Duration"), _numbers((value.months, value.days, value.millis), 0))
    raise ValueError(type(value).__name__)


def _numbers(numbers: tuple[int, ...], micros: int) -> tuple[tuple[str, Expression], ...]:
    return tuple(("", Text(str(number))) for number in (*numbers, *([micros] if micros else [])))
