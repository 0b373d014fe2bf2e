"""The findings of a check, and its report."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from compat.difference import Witness
from compat.edits import Fix
from compat.report.explain import witness_json
from compat.schema import Position

ERROR = "error"
WARNING = "warning"
START = Position(1, 1)
#: The longest datum to quote within a sentence.
LONGEST_EXAMPLE = 200


@dataclass(frozen=True, slots=True)
class Retained:
    """The records of a topic that a break affects.

    Attributes:
        topic: The topic's name.
        records: The number of affected records.
        last: The timestamp of the last one in milliseconds since 1970; None if it has none.
        until: The time until which the last one is retained at least, in milliseconds since 1970; None if unknown.
        kept: How long the topic retains records for which that time is unknown, in words.
    """

    topic: str
    records: int
    last: int | None
    until: int | None
    kept: str

    @property
    def text(self) -> str:
        """The records in words."""
        noun = "record" if self.records == 1 else "records"
        parts = [
            f"{self.records:,} {noun} of topic {self.topic}",
            "" if self.last is None else f"the last of {_utc(self.last)}",
            self.kept if self.until is None else f"retained until {_utc(self.until)}",
        ]
        return ", ".join(part for part in parts if part)

    def to_json(self) -> dict[str, Any]:
        """The records as JSON data."""
        return {"topic": self.topic, "records": self.records, "last": self.last, "retainedUntil": self.until}


def retained_together(first: tuple[Retained, ...], second: tuple[Retained, ...]) -> tuple[Retained, ...]:
    """The records of both, merged by topic."""
    topics = {retained.topic: retained for retained in first}
    for other in second:
        earlier = topics.get(other.topic)
        topics[other.topic] = (
            other
            if earlier is None
            else replace(
                earlier,
                records=earlier.records + other.records,
                last=_later(earlier.last, other.last),
                until=_later(earlier.until, other.until),
            )
        )
    return tuple(topics.values())


def _later(first: int | None, second: int | None) -> int | None:
    return max((time for time in (first, second) if time is not None), default=None)


def _utc(milliseconds: int) -> str:
    try:
        return dt.datetime.fromtimestamp(milliseconds // 1000, tz=dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return f"{milliseconds} ms since 1970"


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem at a position in a file.

    Attributes:
        rule: The kind: a compatibility rule by the reference's name, or one of `RULES`.
        file: The file's path relative to the project's folder, with `/`.
        position: The position in the file.
        message: The problem, in a sentence.
        remedy: How to solve it.
        severity: `error` or `warning`.
        subject: The file's subject, if it has one.
        path: The path inside the schema as the reference prints it.
        direction: BACKWARD or FORWARD for incompatibilities.
        version: The earlier version, in words, such as `version 3` or `main (1a2b3c4)`.
        breaks: Which clients break.
        harm: How they break.
        old: The position in the earlier version.
        fixes: Edits of the file that solve the problem.
        witness: A datum that shows the break, or the reason why no data can break.
        also: Subjects that refer to this one and break because of this change.
        retained: The records of topics that become unreadable, if topics were checked.
        declared: The reason for an intended break, if the configuration declares it.
        text: The file's text, to which fixes refer.
    """

    rule: str
    file: str
    position: Position
    message: str
    remedy: str = ""
    severity: str = ERROR
    subject: str | None = None
    path: str = ""
    direction: str | None = None
    version: str | None = None
    breaks: str = ""
    harm: str = ""
    old: Position | None = None
    fixes: tuple[Fix, ...] = ()
    witness: Witness | None = None
    also: tuple[str, ...] = ()
    retained: tuple[Retained, ...] = ()
    declared: str | None = None
    text: str = ""

    @property
    def order(self) -> tuple[str, int, int, str]:
        """The sort key: file, then position."""
        return self.file, self.position.line, self.position.column, self.rule

    @property
    def sentences(self) -> str:
        """The whole explanation on one line."""
        parts = [
            self.message,
            f"Breaks {self.breaks}." if self.breaks else "",
            self.harm,
            f"Concerns {self.data}." if self.retained else "",
            self.evidence,
            f"Also breaks {', '.join(self.also)}." if self.also else "",
            f"Fix: {self.remedy}" if self.remedy else "",
        ]
        return " ".join(part for part in parts if part)

    @property
    def data(self) -> str:
        """The records that the break affects, in words; empty if no topic was checked."""
        return "; ".join(retained.text for retained in self.retained)

    @property
    def evidence(self) -> str:
        """The witness in one or two sentences; empty if there is none."""
        if self.witness is None:
            return ""
        example = self.witness.example
        if example is None or len(example) > LONGEST_EXAMPLE:
            return self.witness.effect
        return f"Example: {example} {self.witness.effect}"

    def to_json(self) -> dict[str, Any]:
        """The finding as JSON data."""
        return {
            "rule": self.rule,
            "severity": self.severity,
            "file": self.file,
            "line": self.position.line,
            "column": self.position.column,
            "subject": self.subject,
            "message": self.message,
            "breaks": self.breaks or None,
            "harm": self.harm or None,
            "remedy": self.remedy or None,
            "path": self.path or None,
            "direction": self.direction,
            "version": self.version,
            "old": None if self.old is None else {"line": self.old.line, "column": self.old.column},
            "fixes": [fix.to_json() for fix in self.fixes],
            **witness_json(self.witness),
            "also": list(self.also),
            "retained": [retained.to_json() for retained in self.retained],
            "declared": self.declared,
        }


@dataclass(frozen=True, slots=True)
class Checked:
    """A checked subject: its file, its level, and the number of earlier versions it was compared with."""

    subject: str
    file: str
    level: str
    versions: int


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a check.

    Attributes:
        checked: The checked subjects, in the order of their files.
        findings: The findings, in order.
        declared: Breaks that the configuration declares; they do not make the check fail.
        notes: Further information for the user.
        idle: The notes about expired declarations that match nothing.
        prefix: The project's folder within its git repository, followed by `/`, or empty; code hosts need it in paths.
    """

    checked: tuple[Checked, ...] = ()
    findings: tuple[Finding, ...] = ()
    declared: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    prefix: str = ""

    def plus(self, other: Report) -> Report:
        """Merge this report with that of another baseline; a break in both is reported once."""
        checked = {subject.file: subject for subject in self.checked}
        for subject in other.checked:
            earlier = checked.get(subject.file)
            versions = subject.versions + (0 if earlier is None else earlier.versions)
            checked[subject.file] = replace(earlier or subject, versions=versions)
        idle = tuple(note for note in self.idle if note in other.idle)
        over = {*self.idle, *other.idle} - {*idle}
        notes = dict.fromkeys(note for note in (*self.notes, *other.notes) if note not in over)
        return replace(
            self,
            checked=tuple(checked[file] for file in sorted(checked)),
            findings=_together(self.findings, other.findings),
            declared=_together(self.declared, other.declared),
            notes=tuple(notes),
            idle=idle,
        )

    @property
    def failed(self) -> bool:
        """Whether an error was found; warnings are ignored."""
        return any(finding.severity == ERROR for finding in self.findings)

    @property
    def worst_first(self) -> list[Finding]:
        """Errors before warnings, because code hosts show only a limited number."""
        return sorted(self.findings, key=lambda finding: (finding.severity != ERROR, finding.order))


def _together(first: Iterable[Finding], second: Iterable[Finding]) -> tuple[Finding, ...]:
    """Merge the findings of both in order; of a pair, keep the first with both records and the worse severity."""
    together: dict[tuple[object, ...], Finding] = {}
    for finding in (*first, *second):
        key = (finding.rule, finding.file, finding.path, finding.direction, finding.path or finding.message)
        earlier = together.get(key)
        if earlier is not None:
            retained = retained_together(earlier.retained, finding.retained)
            worse = ERROR if ERROR in {earlier.severity, finding.severity} else WARNING
            finding = replace(earlier, retained=retained, severity=worse)  # noqa: PLW2901 - what is kept of both
        together[key] = finding
    return tuple(sorted(together.values(), key=lambda finding: finding.order))
