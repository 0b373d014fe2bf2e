"""JUnit's XML: a test case for every file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.sax.saxutils import quoteattr

from magicbyte.check.findings import ERROR, Finding, Report

#: Control characters that XML may contain, as they are or by number.
_CONTROL = re.compile("[\t\n\r\x7f-\x9f\u2028\u2029]")


def render(report: Report) -> str:
    """One suite with a case for each file; a case fails with all findings of its file."""
    files: dict[str, list[Finding]] = {checked.file: [] for checked in report.checked}
    for finding in report.findings:
        files.setdefault(finding.file, []).append(finding)
    subjects = {checked.file: f"{checked.subject} ({checked.level})" for checked in report.checked}
    failed = sum(any(finding.severity == ERROR for finding in findings) for findings in files.values())
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuites tests="{len(files)}" failures="{failed}">']
    lines.append(f'  <testsuite name="magicbyte check" tests="{len(files)}" failures="{failed}">')
    for file, findings in sorted(files.items()):
        case = f"    <testcase classname={_quote(subjects.get(file, file))} name={_quote(file)} file={_quote(file)}"
        lines += [f"{case}>", *_outcome(findings), "    </testcase>"] if findings else [f"{case}/>"]
    return "\n".join([*lines, "  </testsuite>", "</testsuites>"]) + "\n"


def _outcome(findings: Iterable[Finding]) -> Iterable[str]:
    for finding in findings:
        place = f"{finding.file}:{finding.position.line}:{finding.position.column}"
        text = _escape(f"{place}: {finding.sentences}")
        if finding.severity == ERROR:
            yield f"      <failure type={_quote(finding.rule)} message={_quote(finding.message)}>{text}</failure>"
        else:
            yield f"      <system-out>{text}</system-out>"


def _legal(text: str) -> str:
    """The text without the characters that XML cannot contain."""
    return "".join(sign if sign >= " " or sign in "\t\n\r" else "\ufffd" for sign in text).replace("\uffff", "\ufffd")


def _quote(text: str) -> str:
    return _inert(quoteattr(_legal(text)))


def _escape(text: str) -> str:
    return _inert(_legal(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))


def _inert(markup: str) -> str:
    """The same text without line breaks and commands, for CI runners that read it as a log."""
    escaped = _CONTROL.sub(lambda match: f"&#{ord(match[0])};", markup)
    return escaped.replace("##", "&#35;#")
