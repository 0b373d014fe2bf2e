"""What a check finds, and the report of it all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from compat.difference import Witness
from compat.edits import Fix
from compat.explain import witness_json
from compat.schema import Position

ERROR = "error"
WARNING = "warning"
START = Position(1, 1)
#: Longest datum that is part of a sentence.
LONGEST_EXAMPLE = 200


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong at a place in a file.

    Attributes:
        rule: Its kind: a compatibility rule by the reference's name, or one of `RULES`.
        file: From the project's folder, with `/`.
        position: Where it stands.
        message: What is wrong, in a sentence.
        remedy: What would mend it.
        severity: `error` or `warning`.
        subject: The file's subject, if it has one.
        path: The path inside the schema as the reference prints it.
        direction: BACKWARD or FORWARD for incompatibilities.
        version: The earlier version, in words, such as `version 3` or `main (1a2b3c4)`.
        breaks: Who breaks.
        harm: How they break.
        old: Where the earlier version has it.
        fixes: Ways to change the file that mend it.
        witness: A datum that shows the break, or why no data can break.
        also: Subjects that refer to this one and break by this change.
        declared: Why the break is meant, where the configuration declares it.
        text: The file's text, in which fixes are edits.
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
    declared: str | None = None
    text: str = ""

    @property
    def order(self) -> tuple[str, int, int, str]:
        """Findings come by file, then by place."""
        return self.file, self.position.line, self.position.column, self.rule

    @property
    def sentences(self) -> str:
        """All of the explanation, on one line."""
        parts = [
            self.message,
            f"Breaks {self.breaks}." if self.breaks else "",
            self.harm,
            self.evidence,
            f"Also breaks {', '.join(self.also)}." if self.also else "",
            f"Fix: {self.remedy}" if self.remedy else "",
        ]
        return " ".join(part for part in parts if part)

    @property
    def evidence(self) -> str:
        """The witness in a sentence or two; nothing if there is none."""
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
            "declared": self.declared,
        }


@dataclass(frozen=True, slots=True)
class Checked:
    """A subject that was checked: its file, the level, and how many earlier versions it was compared with."""

    subject: str
    file: str
    level: str
    versions: int


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a check.

    Attributes:
        checked: What was checked, in the order of the files.
        findings: What is wrong, in order.
        declared: Breaks that the configuration declares; they count for nothing.
        notes: What the user should know besides.
        prefix: The project's folder within its git repository, with a `/` at its end, or nothing: what code hosts put
            before paths.
    """

    checked: tuple[Checked, ...] = ()
    findings: tuple[Finding, ...] = ()
    declared: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    prefix: str = ""

    @property
    def failed(self) -> bool:
        """Whether an error was found; warnings do not count."""
        return any(finding.severity == ERROR for finding in self.findings)

    @property
    def worst_first(self) -> list[Finding]:
        """Errors before warnings: code hosts show no more than some."""
        return sorted(self.findings, key=lambda finding: (finding.severity != ERROR, finding.order))
