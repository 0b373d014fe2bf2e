"""Text for people: `file:line:column: rule`, followed by the details."""

from __future__ import annotations

from collections.abc import Iterator

from magicbyte.check.findings import WARNING, Finding, Report
from magicbyte.kit.inert import inert_line


def render(report: Report) -> str:
    """The report as lines of text."""
    lines = [line for finding in report.findings for line in _lines(finding)]
    lines += [f"{_place(finding)}: declared: {finding.rule}: {finding.declared}" for finding in report.declared]
    lines += [f"note: {note}" for note in report.notes]
    lines.append(_summary(report))
    return "".join(f"{inert_line(line)}\n" for line in lines)


def _lines(finding: Finding) -> Iterator[str]:
    kind = "warning: " if finding.severity == WARNING else ""
    subject = f" ({finding.subject})" if finding.subject else ""
    yield f"{_place(finding)}: {kind}{finding.rule}{subject}: {finding.message}"
    old = "" if finding.old is None else f" line {finding.old.line}, column {finding.old.column}"
    told = {
        "against": finding.version and f"{finding.version}{old}",
        "breaks": finding.breaks,
        "how": finding.harm,
        "data": finding.data,
        "also": ", ".join(finding.also),
        "example": finding.witness and finding.witness.example,
        "effect": finding.witness and finding.witness.effect,
        "fix": finding.remedy,
        "edit": f"{_titles(finding)} (--fix)" if finding.fixes else "",
    }
    yield from (f"    {label + ':':9}{text}" for label, text in told.items() if text)


def _titles(finding: Finding) -> str:
    return ", or: ".join(fix.title for fix in finding.fixes)


def _place(finding: Finding) -> str:
    return f"{finding.file}:{finding.position.line}:{finding.position.column}"


def _summary(report: Report) -> str:
    warnings = sum(finding.severity == WARNING for finding in report.findings)
    parts = [
        _count(len(report.checked), "schema checked", "schemas checked"),
        _count(len(report.findings) - warnings, "finding", "findings"),
    ]
    parts += [_count(warnings, "warning", "warnings")] if warnings else []
    parts += [_count(len(report.declared), "declared break", "declared breaks")] if report.declared else []
    return ", ".join(parts)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
