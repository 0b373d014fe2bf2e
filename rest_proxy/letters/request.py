"""A request to replay dead letters, and the outcome of each letter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from magicbyte.dead_letters.options import ReplayOptions

#: The most letters of a request: they are one transaction.
MOST_LETTERS = 500


class LetterPosition(NamedTuple):
    """The position of a letter in its topic."""

    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """A request to replay letters.

    Attributes:
        topic: The topic of dead letters.
        places: The letters.
        options: The target, and which letters may be sent.
        schema_id: The id to put into the frames; None to leave them.
        part: The part whose frame gets the id.
        formats: By part what it has to be, one of `serdes.letters.parts.FORMATS`.
        validate_only: Whether nothing is sent.
    """

    topic: str
    places: tuple[LetterPosition, ...]
    options: ReplayOptions
    schema_id: int | None = None
    part: str = "value"
    formats: Mapping[str, str] = field(default_factory=dict)
    validate_only: bool = True


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a letter.

    Attributes:
        place: The letter.
        outcome: `sent`, `would_be_sent`, `stays`, or `left` if the request was too large to reach it.
        topic: The topic that the record was sent to.
        reason: Why it stays, in a few words.
        detail: Why it stays.
    """

    place: LetterPosition
    outcome: str
    topic: str | None = None
    reason: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Replay:
    """The outcome of a request.

    Attributes:
        outcomes: What became of each letter, in the order of the request.
        missing: The rights that the sender would need to send the letters.
        warnings: What to know before they are sent.
    """

    outcomes: tuple[Outcome, ...]
    missing: tuple[tuple[str, str, str], ...]
    warnings: tuple[str, ...]
