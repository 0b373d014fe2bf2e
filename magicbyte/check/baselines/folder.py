"""A folder or a file as the baseline: one earlier version of every subject."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

from compat.schema import SchemaText
from magicbyte.check.baselines.baseline import Earlier, Nothing
from magicbyte.check.config.config import Config, Entry
from magicbyte.check.config.toml_file import read_text
from magicbyte.check.project.files import SchemaFile, find_paths, read_files, read_inside
from magicbyte.check.project.tree import Tree


class FolderBaseline(Nothing):
    """A copy of an earlier state of the project's files, under the same paths."""

    def __init__(self, folder: Path, config: Config, name: str) -> None:
        self.name = name
        self._folder = folder
        self._config = replace(config, root=folder)
        self._transitive = False

    def earlier(self, file: SchemaFile, *, every: bool) -> Sequence[Earlier]:
        """The file with the same subject, or otherwise with the same path."""
        self._transitive |= every
        earlier = self._tree.by_subject.get(file.subject) or self._tree.by_path.get(file.path)
        return () if earlier is None else (earlier_of(earlier, self._tree, self.name),)

    def notes(self) -> Sequence[str]:
        """Notes that transitive levels compare only one version, if such a level was requested."""
        return (f"{self.name} holds one version of each subject: levels cannot be transitive",) * self._transitive

    @cached_property
    def _tree(self) -> Tree:
        read = read_files(
            self._config,
            find_paths(self._folder, self._config.endings),
            partial(read_inside, self._folder),
        )
        return Tree(read[0], import_roots=self._config.import_roots)


class FileBaseline(FolderBaseline):
    """One file, which is the earlier version of every checked file."""

    def __init__(self, file: Path, config: Config, name: str) -> None:
        super().__init__(
            file.parent, replace(config, subjects=(Entry(files=file.name), *config.subjects), exclude=()), name
        )
        self._file = file.name
        read_text(file, name)

    def earlier(self, file: SchemaFile, *, every: bool) -> Sequence[Earlier]:
        """The file."""
        self._transitive |= every
        earlier = self._tree.by_path.get(self._file)
        if earlier is None:
            return ()
        return (earlier_of(replace(earlier, schema_type=file.schema_type), self._tree, self.name),)


def earlier_of(file: SchemaFile, tree: Tree, name: str) -> Earlier:
    """An earlier file as an earlier version."""
    return Earlier(name, None, SchemaText(file.schema_type, file.text), tree.dependencies(file))
