"""Helpers that the checks of messages and of enums share."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

from compat.protobuf.program.program import Program
from compat.protobuf.program.unit import Symbol, Unit
from compat.protobuf.text.nodes import Option, Word

#: A fault and the index of its token.
Problem = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Context:
    """The context of a check: the program, the file, and the full name of the enclosing declaration."""

    program: Program
    unit: Unit
    scope: str

    def resolve(self, name: str) -> Symbol | None:
        """The type that a name refers to in this scope."""
        return self.program.resolve_type(self.unit, name, self.scope)

    @property
    def is_proto3(self) -> bool:
        """Whether the file is in proto3."""
        return self.unit.tree.syntax == "proto3"


def containing(ranges: list[tuple[int, int, str, int]], number: int) -> tuple[int, int, str, int] | None:
    """The range that contains a number, among sorted ranges that do not overlap."""
    index = bisect_right(ranges, number, key=itemgetter(0)) - 1
    return ranges[index] if index >= 0 and number <= ranges[index][1] else None


def overlaps(ranges: list[tuple[int, int, str, int]]) -> Iterator[Problem]:
    """A problem for each range that begins before the previous one ends; ranges are (first, last, kind, token)."""
    for (start, end, kind, _), (next_start, next_end, next_kind, at) in pairwise(sorted(ranges)):
        if next_start <= end:
            yield f"the {next_kind} {next_start} to {next_end} overlaps with the {kind} {start} to {end}", at


def is_set(options: tuple[Option, ...], name: str, value: str = "true") -> bool:
    """Whether a plain option, not an extension, has this word as its value."""
    return any(option.name == ((name, False),) and option.value == Word(value) for option in options)
