"""Edits of JSON texts that leave all else as it is: a member or element set, put in or taken out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from compat.edits import TextEdit, indent_of
from compat.json.json_text import lexemes, quote, unquoted
from compat.schema import Pointer

_CLOSING = {"[": "]", "{": "}"}


class Span(NamedTuple):
    """Where a value stands in a text: from `start` to `end`; `key` is where its member's name begins, or its start."""

    key: int
    start: int
    end: int


@lru_cache(maxsize=4)
def spans(text: str) -> Mapping[Pointer, Span]:
    """Where every value of a JSON text stands, by pointer; comments count as blanks."""
    values: dict[Pointer, Span] = {}
    # The arrays and objects around: the pointer, the bracket, and where the value and its key begin.
    around: list[tuple[Pointer, str, int, int]] = []
    counts: list[int] = []
    key: tuple[str, int] | None = None
    for offset, lexeme in lexemes(text):
        if lexeme in {",", ":"}:
            continue
        end = offset + len(lexeme)
        if lexeme in {"]", "}"}:
            if not around:
                break
            pointer, _, start, key_at = around.pop()
            counts.pop()
            values[pointer] = Span(key_at, start, end)
            key = None
            continue
        if around and around[-1][1] == "{" and key is None:
            key = (unquoted(lexeme), offset)
            continue
        pointer, key_at = _place(around, counts, key, offset)
        key = None
        if lexeme in _CLOSING:
            around.append((pointer, lexeme, offset, key_at))
            counts.append(0)
        else:
            values[pointer] = Span(key_at, offset, end)
    return values


def _place(
    around: list[tuple[Pointer, str, int, int]], counts: list[int], key: tuple[str, int] | None, offset: int
) -> tuple[Pointer, int]:
    if not around:
        return (), offset
    outer = around[-1][0]
    if key is not None:
        return (*outer, key[0]), key[1]
    counts[-1] += 1
    return (*outer, counts[-1] - 1), offset


def value_text(text: str, pointer: Pointer) -> str | None:
    """The text of a value; None if there is none."""
    span = spans(text).get(pointer)
    return None if span is None else text[span.start : span.end]


def replace_value(text: str, pointer: Pointer, value: str) -> TextEdit:
    """Put another value in a value's place.

    Raises:
        KeyError: There is no value at the pointer; so for all the functions below.
    """
    span = spans(text)[pointer]
    return TextEdit(span.start, span.end - span.start, value)


def set_member(text: str, pointer: Pointer, name: str, value: str) -> TextEdit:
    """Give an object's member a value, behind the other members if it has none."""
    if (*pointer, name) in spans(text):
        return replace_value(text, (*pointer, name), value)
    return _append(text, pointer, f"{quote(name)}: {value}")


def append_element(text: str, pointer: Pointer, value: str) -> TextEdit:
    """Put a value at an array's end."""
    return _append(text, pointer, value)


def _append(text: str, pointer: Pointer, part: str) -> TextEdit:
    everything = spans(text)
    container = everything[pointer]
    inside = _inside(everything, pointer)
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
    """Take out a member or an element, with the comma that goes with it."""
    everything = spans(text)
    span = everything[pointer]
    inside = _inside(everything, pointer[:-1])
    index = inside.index(span)
    if index + 1 < len(inside):
        return TextEdit(span.key, inside[index + 1].key - span.key, "")
    if index:
        previous = inside[index - 1]
        return TextEdit(previous.end, span.end - previous.end, "")
    outer = everything[pointer[:-1]]
    return TextEdit(outer.start + 1, outer.end - outer.start - 2, "")


def _inside(everything: Mapping[Pointer, Span], pointer: Pointer) -> list[Span]:
    """The members or elements of a container, in the text's order."""
    depth = len(pointer)
    inside = (span for at, span in everything.items() if len(at) == depth + 1 and at[:depth] == pointer)
    return sorted(inside, key=lambda span: span.start)
