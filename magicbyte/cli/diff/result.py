"""The result that `magicbyte diff` prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from magicbyte.operations.comparison.difference import Comparison, Difference, Kind
from magicbyte.operations.sources.port import Reading


@dataclass(frozen=True, slots=True)
class Result:
    """A comparison, and what was compared.

    Attributes:
        left: The left side.
        right: The right side.
        comparison: What differs.
        ignored: The kinds that do not count, by their names.
        shown: How many differences of each kind people are shown.
    """

    left: Reading
    right: Reading
    comparison: Comparison
    ignored: frozenset[str]
    shown: int

    def sides(self) -> tuple[tuple[str, Reading, int], ...]:
        """Each side's name, its reading, and how many versions it has."""
        comparison = self.comparison
        return ("left", self.left, comparison.left_versions), ("right", self.right, comparison.right_versions)

    def by_kind(self) -> Iterator[tuple[Kind, tuple[Difference, ...], int]]:
        """Yield each kind that was found, with those of its differences that are shown, and how many there are."""
        for kind, differences in groupby(self.comparison.differences, key=lambda difference: difference.kind):
            members = tuple(differences)
            yield kind, members[: self.shown], len(members)
