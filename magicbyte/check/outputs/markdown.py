"""Markdown for the comment on a pull request: each break with a datum that shows it and its remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import unified_diff
from html import escape

from compat.edits import Fix, apply_edits
from magicbyte.check.findings import ERROR, Finding, Report
from magicbyte.kit.inert import inert_markdown

#: The first line of a comment; the next run finds the comment by it.
MARK = "<!-- magicbyte check -->"
#: The most bytes of a comment; GitHub's limit is 65,536 characters.
MOST_BYTES = 60_000
#: Bytes reserved for the line that counts the omitted findings.
_KEPT = 200
#: The number of findings shown unfolded, and the longest code block.
_UNFOLDED = 3
_LONGEST_BLOCK = 4_000

_BACKTICKS = re.compile("`+")
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~&@])")


def render(report: Report) -> str:
    """A comment of at most MOST_BYTES; findings that do not fit are counted."""
    parts = [f"{MARK}\n### Schema check: {_summary(report)}\n"]
    size = len(parts[0].encode())
    sections = [_section(finding, index) for index, finding in enumerate(report.worst_first)]
    sections += [_declared(finding) for finding in report.declared]
    sections += [f"\n> {_plain(note)}\n" for note in report.notes]
    for index, section in enumerate(sections):
        size += len(section.encode())
        if size > MOST_BYTES - _KEPT:
            parts.append(f"\n{len(sections) - index} more are left out here; the job's log has them all.\n")
            break
        parts.append(section)
    return inert_markdown("".join(parts))


def _summary(report: Report) -> str:
    errors = sum(finding.severity == ERROR for finding in report.findings)
    warnings = len(report.findings) - errors
    if not report.findings:
        return f"{_count(len(report.checked), 'schema')}, nothing breaks"
    parts = [_count(errors, "break") if errors else "nothing breaks"]
    parts += [_count(warnings, "warning")] if warnings else []
    parts += [_count(len(report.declared), "declared break")] if report.declared else []
    return ", ".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _section(finding: Finding, index: int) -> str:
    unfolded = " open" if index < _UNFOLDED and finding.severity == ERROR else ""
    sign = "❌" if finding.severity == ERROR else "⚠️"
    subject = f"<b>{_html(finding.subject)}</b> " if finding.subject else ""
    lines = [f"\n<details{unfolded}><summary>{sign} {subject}<code>{_html(finding.rule)}</code></summary>\n"]
    lines += [line for line in _finding_lines(finding) if line]
    return "\n".join([*lines, "</details>\n"])


def _finding_lines(finding: Finding) -> Iterator[str]:
    place = f"{finding.file}:{finding.position.line}:{finding.position.column}"
    against = f", against {_plain(finding.version)}" if finding.version else ""
    yield f"{_code(place)}{against}\n\n{_plain(finding.message)}\n"
    if finding.breaks:
        yield f"**Breaks** {_plain(finding.breaks)}. {_plain(finding.harm)}\n"
    elif finding.harm:
        yield f"{_plain(finding.harm)}\n"
    if finding.retained:
        yield f"**Data:** {_plain(finding.data)}\n"
    if finding.also:
        yield f"**Also breaks** {', '.join(map(_code, finding.also))}\n"
    yield from _witness(finding)
    if finding.remedy:
        yield f"**Remedy:** {_plain(finding.remedy)}\n"
    for fix in finding.fixes[:1]:
        yield f"**{_plain(fix.title)}** (`magicbyte check --fix`):\n\n{_block('diff', _diff(finding, fix))}\n"


def _witness(finding: Finding) -> Iterator[str]:
    if finding.witness is None:
        return
    if finding.witness.example is not None:
        yield f"**Example**\n\n{_block('json', finding.witness.example)}\n"
    yield f"{_plain(finding.witness.effect)}\n"


def _declared(finding: Finding) -> str:
    place = f"{finding.file}:{finding.position.line}:{finding.position.column}"
    return f"\n✅ {_code(place)} declared: {_code(finding.rule)}: {_plain(finding.declared or '')}\n"


def _diff(finding: Finding, fix: Fix) -> str:
    before, after = finding.text.splitlines(), apply_edits(finding.text, fix.edits).splitlines()
    return "\n".join(list(unified_diff(before, after, lineterm="", n=1))[2:])


def _block(language: str, text: str) -> str:
    """A code block whose fence is longer than any run of backticks inside."""
    text = text if len(text) <= _LONGEST_BLOCK else f"{text[:_LONGEST_BLOCK]}..."
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _code(text: str) -> str:
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if longest else ""
    return f"{fence}{space}{_on_one_line(text)}{space}{fence}"


def _plain(text: str) -> str:
    """Text without active Markdown and without mentions of users."""
    return (
        _SPECIAL.sub(r"\\\1", _on_one_line(text)).replace("\\&", "&amp;").replace("\\<", "&lt;").replace("\\>", "&gt;")
    )


def _html(text: str) -> str:
    """Text for an HTML block, where Markdown's escapes do not work."""
    return escape(_on_one_line(text)).replace("@", "&#64;")


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
