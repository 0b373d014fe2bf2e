"""Compatibility levels and policies, as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Policy(StrEnum):
    """The strictness in judging JSON Schema differences (`compatibilityPolicy` in a config)."""

    STRICT = "STRICT"
    LENIENT = "LENIENT"


@dataclass(frozen=True, slots=True)
class Direction:
    """One comparison of a new schema with an earlier one.

    `reader` and `writer` name the two schemas in messages: each is `new` or `old`.
    """

    name: str
    reader: str
    writer: str

    @property
    def new_reads_old(self) -> bool:
        """Whether the new schema is the reader."""
        return self.reader == "new"


BACKWARD = Direction("BACKWARD", reader="new", writer="old")
FORWARD = Direction("FORWARD", reader="old", writer="new")


@dataclass(frozen=True, slots=True)
class Level:
    """A compatibility level: the directions to compare in message order, and whether with all earlier versions."""

    name: str
    directions: tuple[Direction, ...]
    transitive: bool


LEVELS = {
    level.name: level
    for level in (
        Level("NONE", (), transitive=False),
        Level("BACKWARD", (BACKWARD,), transitive=False),
        Level("BACKWARD_TRANSITIVE", (BACKWARD,), transitive=True),
        Level("FORWARD", (FORWARD,), transitive=False),
        Level("FORWARD_TRANSITIVE", (FORWARD,), transitive=True),
        Level("FULL", (FORWARD, BACKWARD), transitive=False),
        Level("FULL_TRANSITIVE", (FORWARD, BACKWARD), transitive=True),
    )
}
