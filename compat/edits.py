"""Changes to a schema's text that people can apply."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class TextEdit:
    """One replacement in a text: `length` characters (code points) from `offset` on give way to `text`."""

    offset: int
    length: int
    text: str

    def to_json(self) -> dict[str, Any]:
        """The edit as JSON data."""
        return {"offset": self.offset, "length": self.length, "text": self.text}


@dataclass(frozen=True, slots=True)
class Fix:
    """A way to make a schema compatible: what it does, and the edits that do it, none of them overlapping."""

    title: str
    edits: tuple[TextEdit, ...]

    def to_json(self) -> dict[str, Any]:
        """The fix as JSON data."""
        return {"title": self.title, "edits": [edit.to_json() for edit in self.edits]}


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """The text after some edits; the offsets are those of the text before all of them.

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
    """Where the line with an offset begins and ends, its line break included."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    return start, len(text) if end < 0 else end + 1


def indent_of(text: str, offset: int) -> str:
    """The blanks that the line with an offset begins with, up to the offset."""
    start, _ = line_of(text, offset)
    line = text[start:offset]
    return line[: len(line) - len(line.lstrip(" \t"))]
