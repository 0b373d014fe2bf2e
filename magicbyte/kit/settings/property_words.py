"""Descriptions of the values that a server's property takes: for the reference, and for errors in its values."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from magicbyte.kit.secret import Secret
from magicbyte.kit.settings.place import nearest

BYTES = "bytes"
BYTES_A_SECOND = "bytes a second"
MILLISECONDS = "milliseconds"
SECONDS = "seconds"

_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", Secret: "a secret"}
_UNITS = (BYTES, BYTES_A_SECOND, MILLISECONDS, SECONDS)


@dataclass(frozen=True, slots=True)
class Takes:
    """An annotation of a property for the reference and the JSON Schema.

    Attributes:
        words: What the property takes, with its unit.
        default: The default in words, if its value does not tell it.
        schema: The texts in JSON Schema, if the property's type does not tell them.
    """

    words: str
    default: str = ""
    schema: Mapping[str, Any] | None = field(default=None, hash=False)


def words(model: FieldInfo) -> str:
    """Describe the values that a property takes, for the reference."""
    kind, takes = kind_of(model)
    if takes is None and get_origin(kind) is Literal:
        return " or ".join(map(str, get_args(kind)))
    label = takes.words if takes else _WORDS[kind]
    least, most = bound(model, "ge"), bound(model, "le")
    if least is not None and most is not None:
        return f"{label}, from {least} to {most}"
    if most is not None:
        return f"{label}, at most {most}"
    above = bound(model, "gt")
    if above is not None:
        return f"{label}, at least {above + 1}" if kind is int else f"{label}, above {above}"
    length = bound(model, "max_length")
    if length is not None:
        return f"{label} of at most {length} characters"
    return label if least is None else f"{label}, at least {least}"


def problem_of(model: FieldInfo, value: object, shown: str) -> str:
    """The problem of a value that a property does not take, with the nearest word.

    Args:
        model: The property.
        value: The value.
        shown: The value for the message.
    """
    kind, takes = kind_of(model)
    if kind is str and bound(model, "min_length") and not value:
        return "must not be empty"
    choices = ("true", "false") if kind is bool else get_args(kind) if get_origin(kind) is Literal else ()
    expected = words(model)
    if choices:
        expected = " or ".join(choices)
    elif takes is not None and takes.words in _UNITS:
        expected = f"{_WORDS[kind]} of {expected}"
    elif takes is None and kind in (int, float):
        expected = expected.replace(", from", " from").replace(", at", " of at").replace(", above", " above")
    return f"must be {expected}, not {shown}{nearest(str(value), choices)}"


def kind_of(model: FieldInfo) -> tuple[Any, Takes | None]:
    """The type of a property without None, and the words that its annotation has."""
    kind, annotations = annotations_of(model)
    return kind, next((item for item in annotations if isinstance(item, Takes)), None)


def annotations_of(model: FieldInfo) -> tuple[Any, Sequence[Any]]:
    """The type of a property without None, and all of its annotations."""
    kind, metadata = model.annotation, [*model.metadata]
    while True:
        if get_origin(kind) is Annotated:
            kind, *more = get_args(kind)
            metadata += more
        elif get_origin(kind) in (Union, types.UnionType):
            kind = next(part for part in get_args(kind) if part is not type(None))
        else:
            return kind, metadata


def bound(model: FieldInfo, name: str) -> Any:
    """A bound of a property's values, such as `ge`; None without it."""
    return next((getattr(item, name) for item in model.metadata if hasattr(item, name)), None)
