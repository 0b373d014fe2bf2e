"""Edits of a JSON text that set, add or remove a member or element and leave the rest as it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from compat.edits import TextEdit, indent_of, line_of
from compat.json.json_text import lexemes, quote, unquoted
from compat.json.layout import fitted, layout_of
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
    """Replace a value; here and below, the new value is laid out as the text is.

    Raises:
        KeyError: There is no value at the pointer. The functions below raise the same error.
    """
    span = spans(text)[pointer]
    return TextEdit(span.start, span.end - span.start, fitted(value, text, _line_indent(text, span.start)))


def set_member(text: str, pointer: Pointer, name: str, value: str) -> TextEdit:
    """Set an object's member; a new member goes after the others."""
    if (*pointer, name) in spans(text):
        return replace_value(text, (*pointer, name), value)
    return _append(text, pointer, [value], f"{quote(name)}{layout_of(text).separators[1]}")


def append_elements(text: str, pointer: Pointer, values: Sequence[str]) -> TextEdit:
    """Append values to an array."""
    return _append(text, pointer, values)


def _append(text: str, pointer: Pointer, values: Sequence[str], name: str = "") -> TextEdit:
    places = spans(text)
    container = places[pointer]
    inside = _inside(places, pointer)
    if not inside:
        return _fill(text, container, values, name)
    last = inside[-1]
    before = inside[-2].end if len(inside) > 1 else container.start
    gap = text[before : last.key]
    if "\n" in gap:
        indent = indent_of(text, last.key)
        return TextEdit(last.end, 0, "".join(f",\n{indent}{name}{fitted(value, text, indent)}" for value in values))
    is_dense = gap == "," if len(inside) > 1 else layout_of(text).separators[0] == ","
    indent = _line_indent(text, last.key)
    blank = "" if is_dense else " "
    return TextEdit(last.end, 0, "".join(f",{blank}{name}{fitted(value, text, indent)}" for value in values))


def prepend_element(text: str, pointer: Pointer, value: str) -> TextEdit:
    """Put a value before the others of an array."""
    places = spans(text)
    inside = _inside(places, pointer)
    if not inside:
        return _fill(text, places[pointer], [value], "")
    first = inside[0].key
    gap = text[places[pointer].start + 1 : first]
    indent = _line_indent(text, first)
    blanks = f"\n{indent}" if "\n" in gap else layout_of(text).separators[0].removeprefix(",")
    return TextEdit(first, 0, f"{fitted(value, text, indent)},{blanks}")


def wrap(text: str, pointer: Pointer, before: Sequence[str], after: Sequence[str]) -> tuple[TextEdit, ...]:
    """Put a value into a new array, between others; its own lines stay if the layout has arrays on one line."""
    span = spans(text)[pointer]
    value = text[span.start : span.end]
    layout = layout_of(text)
    if value[0] not in _CLOSING or (layout.unit is not None and not layout.one_line):
        return (replace_value(text, pointer, f"[{','.join([*before, value, *after])}]"),)
    indent = _line_indent(text, span.start)
    between = layout.separators[0]
    opening = "".join(f"{fitted(other, text, indent)}{between}" for other in before)
    closing = "".join(f"{between}{fitted(other, text, indent)}" for other in after)
    return (TextEdit(span.start, 0, f"[{opening}"), TextEdit(span.end, 0, f"{closing}]"))


def _fill(text: str, container: Span, values: Sequence[str], name: str) -> TextEdit:
    """Put the first values into an empty array or object."""
    layout = layout_of(text)
    indent = _line_indent(text, container.start)
    length = container.end - container.start - 2
    if layout.unit is None or (layout.one_line and not text[container.start + 1 : container.end - 1].strip(" ")):
        parts = layout.separators[0].join(f"{name}{fitted(value, text, indent)}" for value in values)
        return TextEdit(container.start + 1, length, parts)
    inner = f"{indent}{layout.unit}"
    parts = ",".join(f"\n{inner}{name}{fitted(value, text, inner)}" for value in values)
    return TextEdit(container.start + 1, length, f"{parts}\n{indent}")


def _line_indent(text: str, offset: int) -> str:
    """The indentation of the line that contains an offset."""
    start, end = line_of(text, offset)
    line = text[start:end]
    return line[: len(line) - len(line.lstrip(" \t"))]


def remove(text: str, pointer: Pointer) -> TextEdit:
    """Remove a member or an element, and its comma."""
    places = spans(text)
    inside = _inside(places, pointer[:-1])
    index = inside.index(places[pointer])
    edits = _without(places[pointer[:-1]], inside, {index})
    return edits[0]


def remove_elements(text: str, pointer: Pointer, indexes: Collection[int]) -> tuple[TextEdit, ...]:
    """Remove some elements of an array, and their commas."""
    places = spans(text)
    return _without(places[pointer], _inside(places, pointer), indexes)


def _without(container: Span, inside: Sequence[Span], indexes: Collection[int]) -> tuple[TextEdit, ...]:
    kept = [index for index in range(len(inside)) if index not in indexes]
    if not kept:
        return (TextEdit(container.start + 1, container.end - container.start - 2, ""),)
    last = kept[-1]
    edits = [
        TextEdit(inside[index].key, inside[index + 1].key - inside[index].key, "") for index in indexes if index < last
    ]
    if last + 1 < len(inside):
        edits.append(TextEdit(inside[last].end, inside[-1].end - inside[last].end, ""))
    return tuple(sorted(edits))


def _inside(places: Mapping[Pointer, Span], pointer: Pointer) -> list[Span]:
    """The members or elements of a container, in the text's order."""
    depth = len(pointer)
    inside = (span for at, span in places.items() if len(at) == depth + 1 and at[:depth] == pointer)
    return sorted(inside, key=lambda span: span.start)
