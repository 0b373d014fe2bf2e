"""Edits of a schema's text that people can apply."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class TextEdit:
    """One replacement in a text: `text` replaces `length` characters (code points) from `offset` on."""

    offset: int
    length: int
    text: str

    def to_json(self) -> dict[str, Any]:
        """The edit as JSON data."""
        return {"offset": self.offset, "length": self.length, "text": self.text}


@dataclass(frozen=True, slots=True)
class Fix:
    """A way to make a schema compatible: its title, and edits that do not overlap."""

    title: str
    edits: tuple[TextEdit, ...]

    def to_json(self) -> dict[str, Any]:
        """The fix as JSON data."""
        return {"title": self.title, "edits": [edit.to_json() for edit in self.edits]}


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """The text after some edits; their offsets refer to the text before the first edit.

    Raises:
        ValueError: Two of them overlap, or one is outside the text.
    """
    parts: list[str] = []
    at = 0
    for edit in sorted(edits):
        if not at <= edit.offset <= edit.offset + edit.length <= len(text):
            raise ValueError(f"the edit at {edit.offset} overlaps another one or is outside the text")
        parts += [text[at : edit.offset], edit.text]
        at = edit.offset + edit.length
    return "".join([*parts, text[at:]])


def line_of(text: str, offset: int) -> tuple[int, int]:
    """The start and the end of the line that contains an offset, including its line break."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    return start, len(text) if end < 0 else end + 1


def indent_of(text: str, offset: int) -> str:
    """The blanks at the start of the line that contains an offset, up to that offset."""
    start, _ = line_of(text, offset)
    line = text[start:offset]
    return line[: len(line) - len(line.lstrip(" \t"))]
