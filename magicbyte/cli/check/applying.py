"""`--fix`: edits files to remove findings, and checks again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path

from compat.report.edits import Fix, TextEdit, apply_edits
from magicbyte.cli.check.findings import Finding, Report
from magicbyte.kit.bounded_file import read_bounded
from magicbyte.kit.failure import Failure

#: The most rounds of fixes; each removes at least one finding.
_MOST_ROUNDS = 50


class NoMore(Exception):
    """The user has stopped the fixing."""


#: Chooses one of a finding's fixes, given the file's text; None skips the finding. It may raise NoMore.
Choose = Callable[[Finding, str], Fix | None]


@dataclass(frozen=True, slots=True)
class _Identity:
    """Identifies a finding across rounds, without its line, which may change."""

    file: str
    rule: str
    path: str
    direction: str | None

    @classmethod
    def of(cls, finding: Finding) -> _Identity:
        return cls(finding.file, finding.rule, finding.path, finding.direction)


def fix_all(root: Path, check: Callable[[], Report], choose: Choose) -> Report:
    """Apply fixes until there are no more, and return the last check's report with notes on the changes.

    Args:
        root: The folder to which the findings' paths are relative.
        check: Checks the project in its current state.
        choose: Chooses a finding's fix.

    Raises:
        Failure: A file cannot be written.
    """
    session = _Session(root, choose)
    report = check()
    for _ in range(_MOST_ROUNDS):
        if session.is_over or not session.apply_round(report):
            break
        report = check()
    return replace(report, notes=(*session.applied, *report.notes))


class _Session:
    """The fixes of one call.

    Attributes:
        applied: Sentences about the applied fixes.
        is_over: Whether the user has stopped.
    """

    def __init__(self, root: Path, choose: Choose) -> None:
        self._root = root
        self._choose = choose
        self._left: set[_Identity] = set()
        self.applied: list[str] = []
        self.is_over = False

    def apply_round(self, report: Report) -> bool:
        """Apply to each file the fixes that do not overlap; return whether there were any."""
        before = len(self.applied)
        by_file: dict[str, list[Finding]] = {}
        for finding in report.findings:
            if finding.fixes and _Identity.of(finding) not in self._left:
                by_file.setdefault(finding.file, []).append(finding)
        for file, findings in by_file.items():
            text = _read(self._root / file)
            edits = self._chosen(findings, text)
            if edits:
                _write(self._root / file, apply_edits(text, edits))
            if self.is_over:
                break
        return len(self.applied) > before

    def _chosen(self, findings: Sequence[Finding], text: str) -> list[TextEdit]:
        """The edits of the chosen fixes for a file."""
        edits: list[TextEdit] = []
        for finding in findings:
            try:
                fix = self._choose(finding, text)
            except NoMore:
                self.is_over = True
                break
            if fix is None:
                self._left.add(_Identity.of(finding))
            elif _fit(text, [*edits, *fix.edits]):
                edits += fix.edits
                self.applied.append(f"{finding.file}: {finding.rule}: {fix.title}")
        return edits


def _fit(text: str, edits: Sequence[TextEdit]) -> bool:
    """Whether the edits can be applied together: no edit overlaps another or begins at the same position."""
    if len({edit.offset for edit in edits}) < len(edits):
        return False
    try:
        apply_edits(text, edits)
    except ValueError:
        return False
    return True


def choose_first(finding: Finding, _text: str) -> Fix:
    """Choose the first fix, which is the best."""
    return finding.fixes[0]


def ask(finding: Finding, text: str) -> Fix | None:
    """Show a finding's fixes as diffs and ask which one to apply.

    Raises:
        NoMore: The answer is `q`, or the input is at its end.
    """
    print(f"{finding.file}:{finding.position.line}:{finding.position.column}: {finding.rule}: {finding.message}")
    for number, fix in enumerate(finding.fixes, 1):
        print(f"  {number}. {fix.title}")
        before, after = text.splitlines(), apply_edits(text, fix.edits).splitlines()
        lines = list(unified_diff(before, after, lineterm="", n=1))[2:]
        print("\n".join(f"     {line}" for line in lines))
    while True:
        print(f"Apply which one? [1-{len(finding.fixes)}, n for none, q to stop] ", end="", flush=True)
        answer = sys.stdin.readline()
        word = answer.strip().lower()
        if not answer or word == "q":
            raise NoMore
        if word == "n":
            return None
        if word.isdecimal() and 1 <= int(word) <= len(finding.fixes):
            return finding.fixes[int(word) - 1]


def _read(path: Path) -> str:
    try:
        return read_bounded(path).decode()
    except OSError as error:
        raise Failure(f"{path}: cannot be read: {error.strerror}") from None


def _write(path: Path, text: str) -> None:
    try:
        path.write_bytes(text.encode())
    except OSError as error:
        raise Failure(f"{path}: cannot be written: {error.strerror}") from None
