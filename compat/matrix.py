"""Compares a new schema with every earlier version in both directions, whatever the level is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compat.budget import Budget, TooMuchWork
from compat.engine import Comparison, Previous, Verdict, compare, judge, selected
from compat.level import BACKWARD, FORWARD, LEVELS, Direction, Level, Policy
from compat.report.explain import Incompatibility, explain_all
from compat.report.finding import Finding
from compat.report.fixing import OtherVersions
from compat.schema import ParsedSchema

_BOTH_WAYS = LEVELS["FULL_TRANSITIVE"]
#: The most explanations of a matrix; an explanation takes about a kilobyte.
_MOST_EXPLANATIONS = 1000


@dataclass(frozen=True, slots=True)
class Row:
    """A new schema and one earlier version.

    Attributes:
        previous: The earlier version.
        findings: The breaks in either direction.
    """

    previous: Previous
    findings: tuple[Finding, ...]

    @property
    def backward(self) -> bool:
        """Whether the new schema reads the version's data."""
        return self._holds(BACKWARD)

    @property
    def forward(self) -> bool:
        """Whether the version reads the new schema's data."""
        return self._holds(FORWARD)

    def _holds(self, direction: Direction) -> bool:
        return all(finding.direction is not direction for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Matrix:
    """The rows of the versions that could be compared within a budget.

    Attributes:
        rows: The newest version first.
        newest: The comparison with the newest version, for cautions; None without versions.
        is_cut: Whether older versions are left out because the budget is spent.
    """

    rows: tuple[Row, ...]
    newest: Comparison | None
    is_cut: bool = False

    def verdict(self, level: Level, *, validate_fields: bool = False, reserved_messages: Sequence[str] = ()) -> Verdict:
        """The verdict of `check` at a level.

        Args:
            level: The level.
            validate_fields: As for `check`.
            reserved_messages: As for `check`.

        Raises:
            TooMuchWork: The verdict depends on a version that is left out.
        """
        rows = tuple(selected(self.rows[::-1], level))
        compared = [
            (row.previous, [finding for finding in row.findings if finding.direction in level.directions])
            for row in rows
        ]
        messages, findings = judge(
            compared,
            level,
            validate_fields=validate_fields,
            reserved_messages=reserved_messages,
            every_version=False,
        )
        if not messages and self.is_cut and level.directions and (level.transitive or not rows):
            raise TooMuchWork("The schema may be incompatible with an older version")
        return Verdict(messages, findings)

    def explained(self, budget: Budget, level: Level | None = None) -> tuple[tuple[Incompatibility, ...], bool]:
        """The explanations of all findings, newest version first, then the cautions; and whether some are left out.

        Args:
            level: The level on whose versions fixes are proven; by default only on the version of the finding.
            budget: Pays for the work. Findings explained after it is spent have no witness. A break with several
                versions is explained first for the newest of them.
        """
        all_findings = [finding for row in self.rows for finding in row.findings]
        findings = all_findings[:_MOST_EXPLANATIONS]
        order = _distinct_first(findings)
        other_versions = self._other_versions(level)
        in_order = explain_all([findings[index] for index in order], budget, other_versions)
        explanations = dict(zip(order, in_order, strict=True))
        newest = self.rows[0].findings if self.rows else ()
        cautions = self.newest.cautions(newest, budget) if self.newest is not None else ()
        of_cautions = explain_all(cautions[:_MOST_EXPLANATIONS], budget, other_versions)
        is_cut = max(len(all_findings), len(cautions)) > _MOST_EXPLANATIONS
        return (*[explanations[index] for index in range(len(findings))], *of_cautions), is_cut

    def _other_versions(self, level: Level | None) -> OtherVersions | None:
        if level is None or self.newest is None:
            return None
        rows = selected(self.rows[::-1], level)
        return OtherVersions([row.previous.parsed for row in rows], level, self.newest.policy)


def _distinct_first(findings: Sequence[Finding]) -> list[int]:
    """The indexes of findings: the first finding of each rule, direction and place in the new schema, then the rest."""
    places: set[object] = set()
    first, repeated = list[int](), list[int]()
    for index, finding in enumerate(findings):
        difference, direction = finding.difference, finding.direction
        place = difference.reader_at if direction.new_reads_old else difference.writer_at
        key = (difference.rule.name, direction.name, place)
        (repeated if key in places else first).append(index)
        places.add(key)
    return first + repeated


def compare_with_every(new: ParsedSchema, previous: Sequence[Previous], policy: Policy, budget: Budget) -> Matrix:
    """Compare a new schema with all earlier versions in both directions, until a budget is spent.

    Args:
        new: The new schema.
        previous: The earlier versions, oldest first.
        policy: How strictly differences are judged.
        budget: Pays for all the work.
    """
    rows: list[Row] = []
    is_cut = False
    for version in reversed(previous):
        try:
            rows.append(Row(version, tuple(compare(new, version, _BOTH_WAYS, policy, budget))))
        except TooMuchWork:
            is_cut = True
            break
    newest = Comparison(new, previous[-1], _BOTH_WAYS, policy) if rows else None
    return Matrix(tuple(rows), newest, is_cut)
