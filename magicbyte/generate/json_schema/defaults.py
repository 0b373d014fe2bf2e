"""The defaults of optional properties as Python expressions."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from magicbyte.generate.expressions import (
    NONE,
    ClassName,
    Display,
    Either,
    Expression,
    Import,
    Lambda,
    Subscript,
    Text,
)
from magicbyte.generate.literals import number_literal
from magicbyte.generate.model import Class, EnumClass, made_by, made_display, text

_ANY = Import("typing", "Any")


def default_of(value: Any, kind: Expression, classes: Mapping[ClassName, Class], module: str) -> Expression | None:
    """The default of a property of a type; None if the JSON value does not fit the type.

    Args:
        value: The JSON value.
        kind: The property's type.
        classes: The classes made so far.
        module: The key of the module that the default is in.
    """
    made = _literal(value, kind, classes)
    if made is None:
        return None
    if isinstance(made, ClassName) and made.module != module:
        # The other module may be imported later.
        return made_by(Lambda(made))
    return made_display(made) if isinstance(made, Display) else made


def constant(value: Any) -> Expression:
    """The literal of a text, a number, a boolean or null."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, Decimal):
        return Text(number_literal(float(value)))
    return NONE if value is None else Text(repr(value))


def _literal(value: Any, kind: Expression, classes: Mapping[ClassName, Class]) -> Expression | None:  # noqa: PLR0911  # one case for each form
    match kind:
        case Either(members):
            return next((made for member in members if (made := _literal(value, member, classes))), None)
        case Subscript(Import("typing", "Annotated"), (inner, *_)):
            return _literal(value, inner, classes)
        case Subscript(Import("typing", "Literal"), constants):
            is_constant = isinstance(value, str | bool | int)
            return constant(value) if is_constant and constant(value) in constants else None
        case Subscript(Import("builtins", "list"), (item,)):
            return _display("[]", value, item, classes) if isinstance(value, list) else None
        case Subscript(Import("builtins", "dict"), (_, item)):
            return _display("{}", value, item, classes) if isinstance(value, dict) else None
        case ClassName():
            cls = classes.get(kind)
            names = {symbol: name for name, symbol in cls.members} if isinstance(cls, EnumClass) else {}
            member = names.get(value) if isinstance(value, str) else None
            return None if member is None else ClassName(kind.module, kind.name, member)
    return constant(value) if _fits(value, kind) else None


def _display(brackets: str, value: Any, item: Expression, classes: Mapping[ClassName, Class]) -> Expression | None:
    parts = value.items() if isinstance(value, dict) else ((None, part) for part in value)
    made = [(None if key is None else text(key), _literal(part, item, classes)) for key, part in parts]
    items = tuple((key, part) for key, part in made if part is not None)
    return Display(brackets, items) if len(items) == len(made) else None


def _fits(value: Any, kind: Expression) -> bool:
    if value is None:
        return kind in (NONE, _ANY)
    if isinstance(value, bool):
        return kind in (Import("builtins", "bool"), _ANY)
    if isinstance(value, str):
        return kind in (Import("builtins", "str"), _ANY)
    if isinstance(value, int):
        return kind in (Import("builtins", "int"), Import("builtins", "float"), _ANY)
    return isinstance(value, Decimal) and kind in (Import("builtins", "float"), _ANY)
