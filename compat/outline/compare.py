"""Compares two versions of a schema for people: what changed, and which readers each change breaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from compat.budget import Budget
from compat.engine import Previous, check
from compat.formats import make_outline
from compat.level import BACKWARD, FORWARD, LEVELS, Direction, Level, Policy
from compat.outline.changes import Change, Changes
from compat.outline_tree import MOST_COMPARED, Limits, Outline
from compat.report.explain import explain
from compat.report.finding import Finding
from compat.schema import ParsedSchema, Reference

#: The most rows of an answer; those with findings come before others.
MOST_CHANGES = 5_000
_BOTH_WAYS = LEVELS["FULL"]


@dataclass(frozen=True, slots=True)
class Side:
    """One of two schemas to compare.

    Attributes:
        schema: The parsed schema.
        references: Its list of references.
        version: Its number, if it has one.
    """

    schema: ParsedSchema
    references: Sequence[Reference] = ()
    version: int | None = None


@dataclass(frozen=True, slots=True)
class SchemaComparison:
    """The comparison of an old and a new schema.

    Attributes:
        policy: How strictly differences were judged.
        findings: The breaks of rules in both directions, and the breaks that the rules allow.
        changes: The rows of the changes; each finding is in one of them.
        unchanged: How many leaves are the same on both sides.
        is_cut: Whether nodes or rows were left out.
    """

    policy: Policy
    findings: tuple[Finding, ...]
    changes: tuple[Change, ...]
    unchanged: int
    is_cut: bool

    def to_json(self, budget: Budget | None = None, *, searches: bool = True) -> dict[str, Any]:
        """The comparison as JSON data, each finding explained.

        Args:
            budget: Pays for the explanations. Findings explained after it is spent have no witness.
            searches: Whether to search for fixes and witnesses.
        """
        budget = budget or Budget()
        return {
            "backward": self._verdict(BACKWARD),
            "forward": self._verdict(FORWARD),
            "levels": {level.name: self._is_allowed(level) for level in LEVELS.values() if not level.transitive},
            "policy": self.policy.value,
            "unchanged": self.unchanged,
            "cut": self.is_cut,
            "changes": [
                change.to_json()
                | {"findings": [explain(one, budget, searches=searches).to_json() for one in change.findings]}
                for change in self.changes
            ],
        }

    def _verdict(self, direction: Direction) -> dict[str, Any]:
        findings = [finding for finding in self.findings if finding.direction is direction]
        errors = sum(map(_breaks, findings))
        return {"compatible": not errors, "errors": errors, "warnings": len(findings) - errors}

    def _is_allowed(self, level: Level) -> bool:
        return not any(_breaks(finding) and finding.direction in level.directions for finding in self.findings)


def compare(old: Side, new: Side, policy: Policy = Policy.STRICT, budget: Budget | None = None) -> SchemaComparison:
    """Compare two schemas of any type.

    Args:
        old: The old schema.
        new: The new schema.
        policy: How strictly differences are judged.
        budget: Pays for the comparison.

    Raises:
        TooMuchWork: The comparison exceeds the budget.
    """
    budget = budget or Budget()
    verdict = check(new.schema, [Previous(old.version, old.schema)], _BOTH_WAYS, policy, budget=budget)
    changes = Changes(_outline(old, budget), _outline(new, budget))
    # Cautions may use the rest of the budget.
    findings = (*verdict.findings, *verdict.cautions(budget))
    for finding in findings:
        changes.attach(finding)
    rows = changes.rows()
    if len(rows) > MOST_CHANGES:
        kept = sorted(range(len(rows)), key=lambda index: (not rows[index].findings, index))[:MOST_CHANGES]
        shown = [rows[index] for index in sorted(kept)]
    else:
        shown = rows
    return SchemaComparison(policy, findings, tuple(shown), changes.unchanged, changes.is_cut or shown is not rows)


def _outline(side: Side, budget: Budget) -> Outline:
    return make_outline(side.schema, side.references, Limits(MOST_COMPARED, budget))


def _breaks(finding: Finding) -> bool:
    return finding.policy not in finding.difference.rule.allowed
