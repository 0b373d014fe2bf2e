"""Places of settings, and the one form of errors in them: `PLACE: NAME: PROBLEM; did you mean WORD?`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Self

from msgspec import Struct

from magicbyte.kit.failure import Failure


class Place(Struct, frozen=True, order=True):
    """A position: the file (or a variable, or the option `--set NAME`), and the line and column from 1, or 0."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return ":".join(map(str, filter(None, (self.file, self.line, self.column))))


#: The place of a value that is not in a file, such as a default.
NOWHERE = Place("")


class PlacedText(str):
    """A text with its place: errors name the place even after properties were merged and renamed."""

    __slots__ = ("place",)

    place: Place

    def __new__(cls, text: str, place: Place = NOWHERE) -> Self:
        """Make the text; methods such as `strip` return texts without a place."""
        made = super().__new__(cls, text)
        made.place = place
        return made


def place_of(value: object) -> Place:
    """The place of a value that knows it."""
    return value.place if isinstance(value, PlacedText) else NOWHERE


def moved(text: str, value: object) -> str:
    """A text, at the place of the value that it was made from."""
    return PlacedText(text, value.place) if isinstance(value, PlacedText) else text


def with_places(error: str, values: Mapping[str, object]) -> str:
    """An error whose lines begin with names of settings, with the places of their values: `PLACE: NAME: PROBLEM`."""
    lines = error.splitlines()
    placed = ((str(place_of(values.get(line.partition(": ")[0]))), line) for line in lines)
    return "\n".join(f"{place}: {line}" if place else line for place, line in placed)


class Finding(Struct, frozen=True, order=True):
    """One error: the position, the setting's path such as `sink.files.partition`, and the problem."""

    place: Place
    path: str
    problem: str

    def __str__(self) -> str:
        return ": ".join(part for part in (str(self.place), self.path, self.problem) if part)


class SettingsError(Failure, ValueError):
    """A setting has an invalid value; the text names the setting."""


class FindingsError(SettingsError):
    """Errors in settings, or in something that they name; the text has one line for each.

    Attributes:
        findings: The errors in the order of the file.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings: Sequence[Finding] = tuple(sorted(findings))
        super().__init__("\n".join(map(str, self.findings)))


def did_you_mean(word: str, words: Iterable[str], synonyms: Mapping[str, str] | None = None) -> str:
    """`; did you mean WORD?` for the nearest word, or the list of words if none is near and the list is short.

    Args:
        word: The wrong word.
        words: The right words.
        synonyms: Names that other programs have for one of the words, by name in small letters without `-` and `_`.
    """
    candidates = list(words)
    few = 12
    meant = (synonyms or {}).get(word.lower().replace("_", "").replace("-", ""))
    if meant is not None:
        return f"; did you mean {meant}?"
    return nearest(word, candidates) or (f"; use one of {', '.join(candidates)}" if 0 < len(candidates) <= few else "")


def nearest_inside(key: str, inside: Mapping[str, Sequence[str]]) -> str:
    """`; did you mean value: {schema: ..}?` for a key such as `value.shema`; empty if its first part is no section.

    Args:
        key: The unknown key.
        inside: From a setting's name to the names of the settings inside, if it is a section.
    """
    first, dot, rest = key.partition(".")
    outer = first if first in inside else _near(first, inside)
    names = inside.get(outer, ())
    if not dot or not names:
        return ""
    inner = rest if rest in names else _near(rest, names)
    if inner:
        return f"; did you mean {outer}: {{{inner}: ..}}?"
    return f"; write {outer}: {{NAME: ..}} with one of {', '.join(names)}"


def nearest(word: str, words: Iterable[str]) -> str:
    """`; did you mean WORD?` for the nearest word; empty if none is near."""
    near = _near(word, words)
    return f"; did you mean {near}?" if near else ""


def _near(word: str, words: Iterable[str]) -> str:
    import difflib  # noqa: PLC0415 - only for a wrong word

    lower = {candidate.lower(): candidate for candidate in words}
    found = difflib.get_close_matches(word.lower(), lower, n=1)
    return lower[found[0]] if found else ""
