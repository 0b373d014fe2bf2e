"""Pieces of generated encoders: the bytes of values without parts, and the expression that joins pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from serdes.codec.encode import walk as encode_walk
from serdes.codec.forms.form import Form
from serdes.codec.schema import Node

EMPTY = 'b""'


def joined(pieces: list[str]) -> str:
    """One expression for the bytes of several pieces."""
    if len(pieces) == 1:
        return pieces[0]
    return f"join(({', '.join(pieces)}))" if pieces else EMPTY


#: The usual case of a type as an expression, with `{slow}` for all other cases.
_NUMBER = "(S[{v}] if {low} <= {v} < {end} else long({v})) if type({v}) is int else {slow}"
QUICK = {
    "boolean": 'b"\\1" if {v} is True else b"\\0" if {v} is False else {slow}',
    "int": _NUMBER.replace("long", "int32"),
    "long": _NUMBER,
    "float": "pack_float({v}) if type({v}) is float or type({v}) is int else {slow}",
    "double": "pack_double({v}) if type({v}) is float or type({v}) is int else {slow}",
    "fixed": "{v} if type({v}) is bytes and len({v}) == {size} else {slow}",
}


def stored(node: Node, form: Form) -> Callable[[Any], Any]:
    """The function that checks a value and returns what is stored."""
    check = form.checks[node.kind]
    return lambda value: check(node, value)


def prepared_leaf(node: Node, form: Form) -> Callable[[Any], bytes]:
    """The function that encodes a leaf by the step-by-step encoder's rules."""
    slow = checked_leaf(node, form)
    prepare = None if form.json else form.prepare(node)
    if prepare is None:
        return slow
    return lambda value: slow(prepare(value))


def checked_leaf(node: Node, form: Form) -> Callable[[Any], bytes]:
    """As `prepared_leaf`, for values whose logical type is already prepared."""
    check, write = form.checks[node.kind], encode_walk.WRITE[node.kind]
    return lambda value: write(node, check(node, value))
