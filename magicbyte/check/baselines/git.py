"""A git ref as the baseline: the files at the branch point, and for transitive levels all earlier contents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from compat.schema import SchemaText
from magicbyte.check.baselines.baseline import Earlier, Nothing
from magicbyte.check.baselines.folder import earlier_of
from magicbyte.check.baselines.git_repository import Change, Repository
from magicbyte.check.config.config import FILE, TABLES, Config, parse_config
from magicbyte.check.config.toml_file import read_toml
from magicbyte.check.project.files import SchemaFile, read_files
from magicbyte.check.project.tree import Tree
from magicbyte.kit.failure import Failure

#: The usual target branches of pull requests.
USUAL = ("origin/HEAD", "origin/main", "main", "origin/master", "master")


class GitBaseline(Nothing):
    """The files at the merge base of HEAD and a ref.

    Raises:
        Failure: there is no repository, no such ref, or no common commit. `earlier` raises it if all versions are
            needed and the history is shallow.
    """

    def __init__(self, ref: str, config: Config) -> None:
        self._config = config
        self._repository = Repository(config.root, config.endings)
        commit = self._repository.commit(ref)
        if commit is None:
            problem = f"git has no ref {ref!r}"
            remedy = ": in CI, fetch it with the history (`fetch-depth: 0` of actions/checkout)"
            if config.against == f"git:{ref}":
                raise config.error("against", problem + remedy)
            raise Failure(f"--against:1:5: {problem}{remedy}")
        base = self._repository.merge_base(commit)
        if base is None:
            raise Failure(
                f"--against:1:5: HEAD and {ref!r} share no commit"
                + (": fetch the history (`fetch-depth: 0`)" if self._repository.is_shallow else "")
            )
        self._base = base
        self._ref = ref
        self.name = f"{ref} ({base[:7]})"
        self._trees: dict[str, Tree] = {}
        #: The paths of the files at the merge base that were compared.
        self._compared: set[str] = set()

    def earlier(self, file: SchemaFile, *, every: bool) -> Sequence[Earlier]:
        """The file with the same subject, or otherwise with the same path; with `every`, all its earlier contents."""
        tree = self._tree(self._base)
        earlier = tree.by_subject.get(file.subject) or tree.by_path.get(file.path)
        if earlier is None:
            return ()
        self._compared.add(earlier.path)
        newest = earlier_of(earlier, tree, self.name)
        if not every:
            return (newest,)
        if self._repository.is_shallow:
            raise Failure(
                f"{file.path}:1:1: its level compares with all versions, but the git history is shallow: fetch all of"
                " it (`fetch-depth: 0` of actions/checkout, or `git fetch --unshallow`)"
            )
        return (*reversed(list(self._history(earlier, newest))), newest)

    def notes(self) -> Sequence[str]:
        """Say that there are no changes, or which files were compared with nothing because they were moved or deleted.

        A subject is named after its file by default, so a file with another name is another subject.
        """
        if self._repository.is_unchanged_since(self._base):
            return (f"HEAD is at {self._ref} and no file differs from it: there are no changes to compare",)
        return tuple(
            f"{path} in {self.name} is gone, and no other file has its subject {file.subject}: nothing is compared with"
            " it"
            for path, file in sorted(self._tree(self._base).by_path.items())
            if path not in self._compared and not (self._config.root / path).exists()
        )

    def _history(self, file: SchemaFile, newest: Earlier) -> list[Earlier]:
        """The versions before the newest one, newest first."""
        path, after = file.path, (newest.schema.text, newest.dependencies)
        versions = []
        for change in self._changes:
            if change.after != path:
                continue
            path = change.before
            if change.blob is None:
                continue
            text = self._repository.read([change.blob])[change.blob].decode(errors="replace")
            schema, tree = SchemaText(file.schema_type, text), None
            has_references = bool(self._tree(self._base).mentions(file)) or bool(newest.dependencies)
            if has_references:
                tree = self._tree(change.commit)
            earlier = tree.by_path.get(change.after) if tree is not None else None
            dependencies = tree.dependencies(earlier) if tree is not None and earlier is not None else ()
            if (text, dependencies) != after:
                versions.append(Earlier(f"{self._ref}'s {change.commit[:7]}", None, schema, dependencies))
            after = (text, dependencies)
        return versions

    @cached_property
    def _changes(self) -> list[Change]:
        changes = list(self._repository.changes(self._base))
        self._repository.read(change.blob for change in changes if change.blob)
        return changes

    def _tree(self, commit: str) -> Tree:
        if commit not in self._trees:
            blobs = self._repository.files(commit)
            config = self._config_at(blobs)
            contents = self._repository.read(blob for path, blob in blobs.items() if config.entry_of(path))
            files, _ = read_files(config, sorted(blobs), lambda path: contents[blobs[path]])
            self._trees[commit] = Tree(files, import_roots=config.import_roots)
        return self._trees[commit]

    def _config_at(self, blobs: Mapping[str, str]) -> Config:
        """The configuration at that commit, which maps files to subjects; today's if there was none."""
        name = self._config.origin.place.file or FILE
        blob = blobs.get(name)
        if blob is None:
            return self._config
        try:
            text = self._repository.read([blob])[blob].decode(errors="replace")
            node = read_toml(name, text, path=TABLES.get(name, ()))
            return self._config if node is None else parse_config(node, self._config.root)
        except Failure:
            return self._config


def usual_ref(config: Config) -> str | None:
    """The main branch; None if the project is not in a git repository or has no such branch."""
    try:
        repository = Repository(config.root, config.endings)
    except Failure:
        return None
    return next((ref for ref in USUAL if repository.commit(ref) is not None), None)
