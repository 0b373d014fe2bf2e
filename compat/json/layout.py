"""Lays out a JSON value as the text around it is laid out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from compat.json.json_text import lexemes

_OPENING, _CLOSING = frozenset("[{"), frozenset("]}")
#: The longest line that a value is put on if the text also has values on one line.
_LONGEST_LINE = 100
_USUAL_INDENT = "  "


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a JSON text.

    Attributes:
        unit: The indentation of one level; None if the whole text is on one line.
        one_line: Whether some arrays or objects with content are on one line.
        separators: What stands after a value and after a name.
    """

    unit: str | None
    one_line: bool
    separators: tuple[str, str]


@lru_cache(maxsize=4)
def layout_of(text: str) -> Layout:
    """The layout of a JSON text."""
    places = list(lexemes(text))
    separators = _separator(",", text, places), _separator(":", text, places)
    if "\n" not in text.strip():
        return Layout(None, one_line=True, separators=separators)
    starts = [(offset, lexeme) for offset, lexeme in places if lexeme not in {",", ":"}]
    unit = next((_blanks(text, offset) for offset, _ in starts if _blanks(text, offset)), _USUAL_INDENT)
    one_line = any(
        lexeme in _OPENING and following not in _CLOSING and "\n" not in text[offset:after]
        for (offset, lexeme), (after, following) in pairwise(starts)
    )
    return Layout(unit, one_line, separators)


def _separator(mark: str, text: str, places: Sequence[tuple[int, str]]) -> str:
    """A comma or colon with the blank that follows it in a text; a line break says nothing about blanks."""
    after = [text[offset + 1 : offset + 2] for offset, lexeme in places if lexeme == mark]
    is_dense = any(character not in " \t\r\n" for character in after) and " " not in after
    return mark if is_dense else f"{mark} "


def _blanks(text: str, offset: int) -> str:
    """The indentation of a lexeme that begins a line; empty for others."""
    before = text[text.rfind("\n", 0, offset) + 1 : offset]
    return before if before.isspace() else ""


def fitted(value: str, text: str, indent: str) -> str:
    """A value's text, laid out for a place in another text.

    An array or object is on one line if the other text has such lines, if it fits, and if it was on one line before.

    Args:
        value: The text of the value, as it is laid out elsewhere.
        text: The text that will contain it.
        indent: The indentation of the line on which the value will begin.
    """
    layout = layout_of(text)
    places = list(lexemes(value))
    words = [lexeme for _, lexeme in places]
    if layout.unit is None:
        return _on_one_line(words, layout.separators)
    ends = _ends(words)
    parts: list[str] = []
    depth, at = 0, 0
    while at < len(words):
        lexeme, end = words[at], ends.get(at)
        line_break = f"\n{indent}{layout.unit * depth}"
        if end is not None:
            line = _on_one_line(words[at : end + 1], layout.separators)
            was_on_one_line = "\n" not in value[places[at][0] : places[end][0]]
            fits = layout.one_line and len(line_break) + len(line) <= _LONGEST_LINE
            if end == at + 1 or (was_on_one_line and fits):
                parts.append(line)
                at = end
            else:
                depth += 1
                parts.append(f"{lexeme}{line_break}{layout.unit}")
        elif lexeme in _CLOSING:
            depth -= 1
            parts.append(f"\n{indent}{layout.unit * depth}{lexeme}")
        elif lexeme == ",":
            parts.append(f",{line_break}")
        else:
            parts.append(layout.separators[1] if lexeme == ":" else lexeme)
        at += 1
    return "".join(parts)


def _on_one_line(words: Sequence[str], separators: tuple[str, str]) -> str:
    after = {",": separators[0], ":": separators[1]}
    return "".join(after.get(lexeme, lexeme) for lexeme in words)


def _ends(words: Sequence[str]) -> dict[int, int]:
    """The closing bracket of each opening bracket."""
    ends: dict[int, int] = {}
    open_: list[int] = []
    for at, lexeme in enumerate(words):
        if lexeme in _OPENING:
            open_.append(at)
        elif lexeme in _CLOSING and open_:
            ends[open_.pop()] = at
    return ends
