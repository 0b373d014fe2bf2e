"""A finding of a comparison."""

from __future__ import annotations

from dataclasses import dataclass

from compat.difference import Difference
from compat.level import Direction, Level, Policy
from compat.schema import ParsedSchema


@dataclass(frozen=True, slots=True)
class Finding:
    """A breaking difference, and the comparison that found it.

    Attributes:
        difference: The difference.
        message: The reference's message.
        direction: Which schema is the reader.
        version: The number of the earlier version, if it has one.
        new: The new schema.
        old: The earlier version's schema; None if its stored text cannot be read.
        level: Which directions are compared.
        policy: How strictly differences are judged.
    """

    difference: Difference
    message: str
    direction: Direction
    version: int | None
    new: ParsedSchema
    old: ParsedSchema | None
    level: Level
    policy: Policy
