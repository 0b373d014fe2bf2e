"""What a comparison found."""

from __future__ import annotations

from dataclasses import dataclass

from compat.difference import Difference
from compat.level import Direction, Level, Policy
from compat.schema import ParsedSchema


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference that breaks someone, and the comparison that it was found in.

    Attributes:
        difference: What differs.
        message: The reference's message.
        direction: Which schema was the reader.
        version: The number of the earlier version, if it has one.
        new: The new schema.
        old: The earlier version's schema; None if its stored text cannot be read.
        level: Which directions were compared.
        policy: How strictly differences were judged.
    """

    difference: Difference
    message: str
    direction: Direction
    version: int | None
    new: ParsedSchema
    old: ParsedSchema | None
    level: Level
    policy: Policy
