"""GitHub's workflow commands, which annotate the lines of a pull request."""

from __future__ import annotations

from magicbyte.check.findings import Report
from magicbyte.kit.inert import escape_controls


def render(report: Report) -> str:
    """A command for each finding, errors first: GitHub shows at most ten of each kind per step."""
    lines = []
    for finding in report.worst_first:
        title = finding.rule if finding.subject is None else f"{finding.rule} ({finding.subject})"
        properties = {
            "file": report.prefix + finding.file,
            "line": str(finding.position.line),
            "col": str(finding.position.column),
            "title": title,
        }
        shown = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
        lines.append(f"::{finding.severity} {shown}::{_data(finding.sentences)}\n")
    return "".join(lines)


def _data(text: str) -> str:
    # Line breaks are the only control characters that the runner decodes.
    lines = (escape_controls(line) for line in text.replace("\r", "").replace("%", "%25").split("\n"))
    return "%0A".join(lines)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
