"""Edits of a JSON text that set, add or remove a member or element and leave the rest as it is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from compat.json.json_text import lexemes, quote, unquoted
from compat.report.edits import TextEdit, indent_of
from compat.schema import Pointer

_CLOSING = {"[": "]", "{": "}"}


class Span(NamedTuple):
    """The place of a value in a text, `start` to `end`; `key` is the start of its name, or equals `start`."""

    key: int
    start: int
    end: int


@lru_cache(maxsize=4)
def spans(text: str) -> Mapping[Pointer, Span]:
    """The places of all values of a JSON text by pointer; comments count as blanks."""
    values: dict[Pointer, Span] = {}
    # The open arrays and objects: the pointer, the bracket, and the starts of the value and of its key.
    open_containers: list[tuple[Pointer, str, int, int]] = []
    counts: list[int] = []
    key: tuple[str, int] | None = None
    for offset, lexeme in lexemes(text):
        if lexeme in {",", ":"}:
            continue
        end = offset + len(lexeme)
        if lexeme in {"]", "}"}:
            if not open_containers:
                break
            pointer, _, start, key_at = open_containers.pop()
            counts.pop()
            values[pointer] = Span(key_at, start, end)
            key = None
            continue
        if open_containers and open_containers[-1][1] == "{" and key is None:
            key = (unquoted(lexeme), offset)
            continue
        pointer, key_at = _place(open_containers, counts, key, offset)
        key = None
        if lexeme in _CLOSING:
            open_containers.append((pointer, lexeme, offset, key_at))
            counts.append(0)
        else:
            values[pointer] = Span(key_at, offset, end)
    return values


def _place(
    open_containers: list[tuple[Pointer, str, int, int]], counts: list[int], key: tuple[str, int] | None, offset: int
) -> tuple[Pointer, int]:
    if not open_containers:
        return (), offset
    outer = open_containers[-1][0]
    if key is not None:
        return (*outer, key[0]), key[1]
    counts[-1] += 1
    return (*outer, counts[-1] - 1), offset


def value_text(text: str, pointer: Pointer) -> str | None:
    """The text of a value; None if there is no value at the pointer."""
    span = spans(text).get(pointer)
    return None if span is None else text[span.start : span.end]


def replace_value(text: str, pointer: Pointer, value: str) -> TextEdit:
    """Replace a value.

    Raises:
        KeyError: There is no value at the pointer. The functions below raise the same error.
    """
    span = spans(text)[pointer]
    return TextEdit(span.start, span.end - span.start, value)


def set_member(text: str, pointer: Pointer, name: str, value: str) -> TextEdit:
    """Set an object's member; a new member goes after the others."""
    if (*pointer, name) in spans(text):
        return replace_value(text, (*pointer, name), value)
    return _append(text, pointer, f"{quote(name)}: {value}")


def append_element(text: str, pointer: Pointer, value: str) -> TextEdit:
    """Append a value to an array."""
    return _append(text, pointer, value)


def _append(text: str, pointer: Pointer, part: str) -> TextEdit:
    places = spans(text)
    container = places[pointer]
    inside = _inside(places, pointer)
    if not inside:
        return TextEdit(container.start + 1, 0, part)
    last = inside[-1]
    before = inside[-2].end if len(inside) > 1 else container.start
    gap = text[before : last.key]
    if "\n" in gap:
        return TextEdit(last.end, 0, f",\n{indent_of(text, last.key)}{part}")
    is_dense = len(inside) > 1 and gap == ","
    return TextEdit(last.end, 0, f",{'' if is_dense else ' '}{part}")


def remove(text: str, pointer: Pointer) -> TextEdit:
    """Remove a member or an element, and its comma."""
    places = spans(text)
    span = places[pointer]
    inside = _inside(places, pointer[:-1])
    index = inside.index(span)
    if index + 1 < len(inside):
        return TextEdit(span.key, inside[index + 1].key - span.key, "")
    if index:
        previous = inside[index - 1]
        return TextEdit(previous.end, span.end - previous.end, "")
    outer = places[pointer[:-1]]
    return TextEdit(outer.start + 1, outer.end - outer.start - 2, "")


def _inside(places: Mapping[Pointer, Span], pointer: Pointer) -> list[Span]:
    """The members or elements of a container, in the text's order."""
    depth = len(pointer)
    inside = (span for at, span in places.items() if len(at) == depth + 1 and at[:depth] == pointer)
    return sorted(inside, key=lambda span: span.start)
