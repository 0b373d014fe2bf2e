"""Paths of fields: `passenger.email`, `` `odd.name`.inner ``, `legs.gate` through arrays."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from magicbyte.kit.settings.kinds import ProblemError
from magicbyte.kit.settings.place import Place
from spark_avro.pipeline.file.place import NOWHERE

_PART = re.compile(r"`((?:[^`]|``)+)`|([^.`\[\]\s]+)")


class PathError(ProblemError):
    """The text is not a field path."""


@dataclass(frozen=True, slots=True)
class FieldPath:
    """A field path: its parts, and its position in the file.

    Attributes:
        parts: The names, outermost first; a path through an array means all its items.
        place: The position in the file.
        setting: The path of the setting, for messages.
    """

    parts: tuple[str, ...]
    place: Place = field(default=NOWHERE, compare=False, repr=False)
    setting: str = field(default="", compare=False, repr=False)

    def __str__(self) -> str:
        return quoted(self.parts)


def parse_path(text: str) -> tuple[str, ...]:
    """The parts of a path; `[]` after a name is optional and marks an array.

    Raises:
        PathError: the text is not a field path.
    """
    parts: list[str] = []
    rest = text.strip()
    while True:
        match = _PART.match(rest)
        if match is None:
            raise PathError(f"{text!r} is no path of a field; write a.b, or `odd name`.b")
        parts.append(match[1].replace("``", "`") if match[1] else match[2])
        rest = rest[match.end() :].removeprefix("[]")
        if not rest:
            return tuple(parts)
        if not rest.startswith("."):
            raise PathError(f"{text!r} is no path of a field; write a.b, or `odd name`.b")
        rest = rest[1:]


def quoted(parts: tuple[str, ...]) -> str:
    """A path as SQL text; names with characters other than letters, digits and `_` are in backquotes."""
    return ".".join(part if re.fullmatch(r"[A-Za-z_]\w*", part) else f"`{part.replace('`', '``')}`" for part in parts)
