"""Explains an incompatibility to people: what changed and where, what breaks and how, and how to fix it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from compat.budget import Budget
from compat.difference import Difference, Witness
from compat.edits import Fix
from compat.formats import FORMATS
from compat.level import Direction
from compat.report.finding import Finding
from compat.report.fixing import OtherVersions, fixes_of
from compat.schema import ParsedSchema, Pointer, Position

ERROR = "error"
WARNING = "warning"
#: The reasons for a missing datum, unless it is known that no data can break.
NOT_TRIED = "No datum is shown: the search for one ended at its limit of work."
NOT_FOUND = "No datum is shown: none was found that a reader refuses or reads as another value."


@dataclass(frozen=True, slots=True)
class Incompatibility:
    """A reason why a new schema breaks, or may break, an earlier version's readers or writers; for people.

    Attributes:
        rule: The reference's name of the rule.
        severity: `error`, or `warning` if the rules allow the change.
        path: The path as the reference prints it.
        direction: BACKWARD if the new schema fails to read old data, FORWARD if the old schema fails to read new data.
        version: The number of the earlier version, if it has one.
        change: The difference in words.
        new_at: Its position in the new schema's source; None if it is not there.
        old_at: Its position in the earlier version's source; None if it is not there.
        breaks: Whose reads break.
        harm: What happens to them.
        remedy: A change that makes the schemas compatible.
        fixes: Edits of the new schema's text; each fix removes this incompatibility and breaks nothing else.
        witness: A datum that shows the break, or the reason why no data can break; None if neither is known.
        message: The reference's message.
    """

    rule: str
    severity: str
    path: str
    direction: str
    version: int | None
    change: str
    new_at: Position | None
    old_at: Position | None
    breaks: str
    harm: str
    remedy: str
    fixes: tuple[Fix, ...]
    witness: Witness | None
    message: str

    @property
    def example(self) -> str | None:
        """The witness's datum as JSON text; None if there is none."""
        return self.witness.example if self.witness is not None else None

    def to_json(self) -> dict[str, Any]:
        """The explanation as JSON data; a position is null or an object with line and column."""
        return {
            "rule": self.rule,
            "severity": self.severity,
            "path": self.path,
            "direction": self.direction,
            "version": self.version,
            "change": self.change,
            "new": _position_json(self.new_at),
            "old": _position_json(self.old_at),
            "breaks": self.breaks,
            "harm": self.harm,
            "remedy": self.remedy,
            "fixes": [fix.to_json() for fix in self.fixes],
            **witness_json(self.witness),
            "message": self.message,
        }

    def to_text(self) -> str:
        """The explanation as lines of text, without a line break at the end."""
        old = "old schema" if self.version is None else f"version {self.version}"
        labelled = {
            "what changed": self.change,
            "where": f"{_position_text('new schema', self.new_at)}; {_position_text(old, self.old_at)}",
            "who breaks": self.breaks,
            "how": self.harm,
            "example": self.example,
            "effect": self.witness and self.witness.effect,
            "remedy": self.remedy,
            "fix": self.fixes[0].title if self.fixes else "",
        }
        lines = [f"  {label + ':':14}{text}" for label, text in labelled.items() if text]
        kind = "" if self.severity == ERROR else f"{self.severity}: "
        return "\n".join([f"{kind}{self.rule} at {self.path}", *lines])


#: The least steps of a finding's searches, if so many are left.
_STEPS_A_FINDING = 20_000


def explain_all(
    findings: Iterable[Finding], budget: Budget, other_versions: OtherVersions | None = None
) -> list[Incompatibility]:
    """The explanations of several findings, which share a budget: each gets its witness before any gets fixes.

    Args:
        findings: The findings.
        budget: Pays for the work.
        other_versions: The versions on which fixes have to stand; by default only that of the finding.
    """
    findings = list(findings)
    witnesses = []
    for index, finding in enumerate(findings):
        part = budget.part(len(findings) - index, _STEPS_A_FINDING)
        witnesses.append(finding.difference.witness or _witness(finding, part))
        budget.take(part)
    explanations = []
    for index, (finding, witness) in enumerate(zip(findings, witnesses, strict=True)):
        part = budget.part(len(findings) - index, _STEPS_A_FINDING)
        explanations.append(_explained(finding, witness, fixes_of(finding, part, other_versions)))
        budget.take(part)
    return explanations


def explain(finding: Finding, budget: Budget | None = None, *, searches: bool = True) -> Incompatibility:
    """The explanation of a finding.

    Args:
        finding: The finding.
        budget: Pays for the search for a witness; once it is spent, there is no search.
        searches: Whether to search for fixes and for a witness.
    """
    budget = budget or Budget()
    # The fixes take more work: each is proven by another comparison.
    witness = finding.difference.witness or (_witness(finding, budget) if searches else None)
    return _explained(finding, witness, fixes_of(finding, budget) if searches else ())


def _explained(finding: Finding, witness: Witness | None, fixes: tuple[Fix, ...]) -> Incompatibility:
    difference, direction = finding.difference, finding.direction
    rule = difference.rule
    reader_is_new = direction.new_reads_old
    remedy = rule.remedy if reader_is_new else rule.writer_remedy or rule.remedy
    new_pointer = difference.reader_at if reader_is_new else difference.writer_at
    old_pointer = difference.writer_at if reader_is_new else difference.reader_at
    return Incompatibility(
        rule=rule.name,
        severity=WARNING if finding.policy in rule.allowed else ERROR,
        path=difference.path,
        direction=direction.name,
        version=finding.version,
        change=_change(difference, direction),
        new_at=_locate(finding.new, new_pointer),
        old_at=_locate(finding.old, old_pointer),
        breaks=_breaks(finding),
        harm=difference.fill(rule.harm, direction.reader, direction.writer),
        remedy=difference.fill(remedy, direction.reader, direction.writer),
        fixes=fixes,
        witness=witness,
        message=finding.message,
    )


def _change(difference: Difference, direction: Direction) -> str:
    """The difference in words; if a part of a union does not fit, with the innermost cause."""
    rule = difference.rule
    change = difference.fill(rule.change or rule.description, direction.reader, direction.writer)
    cause = difference
    while cause.causes:
        cause = cause.causes[0]
    if cause is difference:
        return change
    why = cause.fill(cause.rule.change or cause.rule.description, direction.reader, direction.writer)
    more_causes = len(difference.causes) - 1
    more = f" ({more_causes} more in the same branch.)" if more_causes else ""
    return f"{change} The cause is {cause.rule.name} at {cause.path} of the branch: {why}{more}"


def witness_json(witness: Witness | None) -> dict[str, str | None]:
    """A witness as members of an explanation's JSON object; the binary form is in base64."""
    if witness is None:
        return {"example": None, "exampleBytes": None, "effect": None}
    encoded = None if witness.data is None else b64encode(witness.data).decode()
    return {"example": witness.example, "exampleBytes": encoded, "effect": witness.effect}


def _witness(finding: Finding, budget: Budget) -> Witness | None:
    schema_format = FORMATS[finding.new.schema_type]
    # The type's witness search does not handle the engine's own rules, such as the one for a changed schema type.
    if finding.old is None or finding.difference.rule.name not in schema_format.rules:
        return None
    reader_is_new = finding.direction.new_reads_old
    reader, writer = (finding.new, finding.old) if reader_is_new else (finding.old, finding.new)
    witness = None if budget.is_spent else schema_format.witness(finding.difference, reader, writer, budget)
    if witness is None:
        # Without a witness, the explanation does not mention data: some may break, or none.
        return Witness(NOT_TRIED if budget.is_spent else NOT_FOUND)
    return witness


def _breaks(finding: Finding) -> str:
    old = "the old schema" if finding.version is None else f"version {finding.version}"
    if finding.direction.new_reads_old:
        return f"readers with the new schema, on data written with {old}"
    return f"readers with {old}, on data written with the new schema"


def _locate(schema: ParsedSchema | None, pointer: Pointer | None) -> Position | None:
    if schema is None or pointer is None:
        return None
    return FORMATS[schema.schema_type].locate(schema, pointer)


def _position_json(position: Position | None) -> dict[str, int] | None:
    return None if position is None else {"line": position.line, "column": position.column}


def _position_text(name: str, position: Position | None) -> str:
    return f"{name} nowhere" if position is None else f"{name} line {position.line}, column {position.column}"
