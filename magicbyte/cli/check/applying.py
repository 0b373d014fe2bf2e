"""`--fix`: edits files to remove findings, and checks again."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path

from compat.edits import Fix, TextEdit, apply_edits
from magicbyte.check.findings import Finding, Report
from magicbyte.kit.bounded_file import read_bounded
from magicbyte.kit.failure import Failure

#: The most rounds of fixes; each removes at least one finding.
_MOST_ROUNDS = 1_000


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
        after = check()
        if _is_worse(after, report):
            # Each fix stands on its own, but two of them may take the same number or name.
            session.undo_round()
            session.apply_round(report, most=1)
            after = check()
        report = after
    return replace(report, notes=(*session.applied, *report.notes))


def _is_worse(after: Report, before: Report) -> bool:
    """Whether there are findings that were not there before; paths may shift with an edit."""
    counts = [Counter((finding.file, finding.rule) for finding in report.findings) for report in (after, before)]
    return not counts[0] <= counts[1]


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
        #: What was chosen for a finding in a text, so that nobody is asked twice when a round is taken back.
        self._choices: dict[tuple[_Identity, str], Fix] = {}
        #: The texts of the files before the last round, and how many notes there were.
        self._before: dict[str, str] = {}
        self._notes_before = 0
        self.applied: list[str] = []
        self.is_over = False

    def apply_round(self, report: Report, most: int | None = None) -> bool:
        """Apply to each file the fixes that do not overlap; return whether there were any.

        Args:
            report: The findings.
            most: The most fixes to apply; by default all.
        """
        self._before = {}
        notes = len(self.applied)
        self._notes_before = notes
        by_file: dict[str, list[Finding]] = {}
        for finding in report.findings:
            if finding.fixes and _Identity.of(finding) not in self._left:
                by_file.setdefault(finding.file, []).append(finding)
        for file, findings in by_file.items():
            text = _read(self._root / file)
            edits = self._chosen(findings, text, None if most is None else most + notes - len(self.applied))
            if edits:
                self._before[file] = text
                _write(self._root / file, apply_edits(text, edits))
            if self.is_over or (most is not None and len(self.applied) - notes >= most):
                break
        return len(self.applied) > notes

    def undo_round(self) -> None:
        """Take back the fixes of the last round."""
        for file, text in self._before.items():
            _write(self._root / file, text)
        del self.applied[self._notes_before :]
        self.is_over = False

    def _chosen(self, findings: Sequence[Finding], text: str, most: int | None) -> list[TextEdit]:
        """The edits of the chosen fixes for a file."""
        edits: list[TextEdit] = []
        for finding in findings:
            if most is not None and most <= 0:
                break
            choice = self._choices.get((_Identity.of(finding), text))
            try:
                fix = choice if choice is not None else self._choose(finding, text)
            except NoMore:
                self.is_over = True
                break
            if fix is None:
                self._left.add(_Identity.of(finding))
            elif _fit(text, [*edits, *fix.edits]):
                self._choices[_Identity.of(finding), text] = fix
                edits += fix.edits
                self.applied.append(f"{finding.file}: {finding.rule}: {fix.title}")
                most = None if most is None else most - 1
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
