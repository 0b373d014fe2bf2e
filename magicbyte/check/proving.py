"""Proves fixes on the whole project: the edited file and all files that refer to it are parsed and checked again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from compat.edits import Fix, apply_edits
from magicbyte.check.findings import Checked, Finding
from magicbyte.check.project.files import SchemaFile
from magicbyte.check.project.tree import Tree

#: The most comparisons of a file with a version for the proofs of one check, about two seconds.
_MOST_COMPARISONS = 4_000

#: Returns the findings of some files of a tree.
CheckFiles = Callable[[Tree, Sequence[SchemaFile]], Iterable[Finding]]


class Prover:
    """Removes the fixes that do not stand the trial from findings.

    A comparison of two texts has already tried each fix (`compat.report.fixing`). It did not see the other versions of
    the subject, nor the files that refer to the edited one.
    """

    def __init__(self, tree: Tree, checked: Iterable[Checked], check_files: CheckFiles) -> None:
        """Prepare the proofs of one check.

        Args:
            tree: The project.
            checked: The files that were checked.
            check_files: Checks files of another state of the project.
        """
        self._tree = tree
        self._versions = {subject.file: subject.versions for subject in checked}
        self._check_files = check_files
        self._left = _MOST_COMPARISONS
        self._findings: dict[str, list[Finding]] = {}

    def proven(self, finding: Finding) -> Finding:
        """The finding with the fixes that remove it and add no other finding in the project.

        Fixes that exceed the limit of work are not tried, and not offered.
        """
        if not finding.fixes:
            return finding
        affected = self._affected(finding.file)
        if len(affected) == 1 and self._versions.get(finding.file, 0) <= 1:
            return finding
        return replace(finding, fixes=tuple(fix for fix in finding.fixes if self._stands(finding, fix, affected)))

    def _stands(self, finding: Finding, fix: Fix, affected: Sequence[SchemaFile]) -> bool:
        self._left -= sum(1 + self._versions.get(file.path, 0) for file in affected)
        if self._left < 0:
            return False
        edited = replace(self._tree.by_path[finding.file], text=apply_edits(finding.text, fix.edits))
        files = [edited if file.path == edited.path else file for file in affected]
        before = [known for file in affected for known in self._before(file)]
        after = list(self._check_files(self._tree.with_file(edited, files), files))
        if not _by_rule(after) <= _by_rule(before):
            return False
        return _places(after)[_place(finding)] < _places(before)[_place(finding)]

    def _before(self, file: SchemaFile) -> list[Finding]:
        if file.path not in self._findings:
            self._findings[file.path] = list(self._check_files(self._tree, [file]))
        return self._findings[file.path]

    def _affected(self, path: str) -> list[SchemaFile]:
        """A file and the files that refer to it, directly or indirectly."""
        affected = {path: self._tree.by_path[path]}
        todo = [path]
        while todo:
            for user in self._users.get(todo.pop(), ()):
                if user.path not in affected:
                    affected[user.path] = user
                    todo.append(user.path)
        return list(affected.values())

    @cached_property
    def _users(self) -> Mapping[str, Sequence[SchemaFile]]:
        """The files that refer to a file directly."""
        users: dict[str, list[SchemaFile]] = {}
        for file in self._tree.files:
            for target in self._tree.targets(file):
                if target.file is not None and target.file.path != file.path:
                    users.setdefault(target.file.path, []).append(file)
        return users


def _place(finding: Finding) -> tuple[str, str, str, str | None]:
    return finding.file, finding.rule, finding.path, finding.direction


def _places(findings: Iterable[Finding]) -> Counter[tuple[str, str, str, str | None]]:
    return Counter(map(_place, findings))


def _by_rule(findings: Iterable[Finding]) -> Counter[tuple[str, str, str | None]]:
    """Count the findings of each rule in each file; paths may shift with an edit."""
    return Counter((finding.file, finding.rule, finding.direction) for finding in findings)
