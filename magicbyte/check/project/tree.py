"""The files of a project with the references between them: their targets, and the order in which to read them."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from compat.schema import AVRO, JSON, PROTOBUF, Dependencies, Dependency, InvalidSchema, Position, SchemaText
from magicbyte.check.config.config import Link
from magicbyte.check.findings import START, Finding
from magicbyte.check.project.files import SchemaFile, invalid
from magicbyte.check.project.mentions import Contents, Mention, ends_with, read_contents


@dataclass(frozen=True, slots=True)
class Stored:
    """A version of a subject in a lock file or a registry, with the texts that it refers to."""

    subject: str
    version: int
    schema: SchemaText
    dependencies: Dependencies = ()


class Store(Protocol):
    """Resolves references that no file resolves."""

    def stored(self, subject: str, version: int) -> Stored | None:
        """A version of a subject, -1 for the latest; None if there is none."""


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a mention: a file, or otherwise a stored version, with the name that the reference gives it."""

    name: str
    mention: Mention
    file: SchemaFile | None = None
    stored: Stored | None = None


@dataclass(frozen=True, slots=True)
class _Read:
    contents: Contents
    targets: tuple[Target, ...] = ()
    #: The first mention without a target.
    dangling: Mention | None = None
    error: InvalidSchema | None = None


@dataclass(eq=False)
class Tree:
    """Schema files, and the targets of their references.

    Attributes:
        files: The files, sorted by path.
        stores: The stores, searched in turn for references that no file resolves.
        import_roots: The folders to which Protobuf imports are relative.
    """

    files: Sequence[SchemaFile]
    stores: Sequence[Store] = ()
    import_roots: Sequence[str] = ("",)
    _reads: dict[str, _Read] = field(default_factory=dict)
    _dependencies: dict[str, Mapping[str, str]] = field(default_factory=dict)
    _contents_by_path: dict[str, Contents] = field(default_factory=dict)

    @cached_property
    def by_path(self) -> Mapping[str, SchemaFile]:
        """The files by path."""
        return {file.path: file for file in self.files}

    @cached_property
    def by_subject(self) -> Mapping[str, SchemaFile]:
        """The files by subject; of two files with the same subject, the first."""
        return {file.subject: file for file in reversed(self.files)}

    def targets(self, file: SchemaFile) -> tuple[Target, ...]:
        """The direct references of a file; none if it cannot be read."""
        return self._read(file).targets

    def locate(self, file: SchemaFile, mention: Mention) -> Position:
        """The position of a mention."""
        return self._read(file).contents.locate(mention.pointer) or START

    def mentions(self, file: SchemaFile) -> tuple[Mention, ...]:
        """The names in a file that other schemas may define."""
        return self._read(file).contents.mentions

    def dependencies(self, file: SchemaFile) -> Dependencies:
        """The texts that a file refers to, directly or indirectly; each text comes after the texts that it needs.

        With circular references or missing targets, the texts that were found.
        """
        if file.path not in self._dependencies:
            self.order([file])
        return tuple(Dependency(name, text) for name, text in self._dependencies[file.path].items())

    def reached(self, file: SchemaFile) -> list[SchemaFile]:
        """The files that a file refers to, directly or indirectly."""
        reached: dict[str, SchemaFile] = {}
        todo = [file]
        while todo:
            for target in self.targets(todo.pop()):
                if target.file is not None and target.file.path not in reached:
                    reached[target.file.path] = target.file
                    todo.append(target.file)
        return [reached_file for reached_file in reached.values() if reached_file.path != file.path]

    def with_file(self, edited: SchemaFile, files: Iterable[SchemaFile]) -> Tree:
        """Another state of a part of the project: some files, those that they refer to, and one of them edited."""
        part = {file.path: file for file in files}
        part |= {reached.path: reached for file in [*part.values()] for reached in self.reached(file)}
        part[edited.path] = edited
        contents = {path: known for path in part if (known := self._contents_by_path.get(path)) is not None}
        contents.pop(edited.path, None)
        in_order = [part[path] for path in sorted(part)]
        return Tree(in_order, self.stores, self.import_roots, _contents_by_path=contents)

    def order(self, files: Iterable[SchemaFile] | None = None) -> tuple[list[SchemaFile], list[Finding]]:
        """The files and those that they refer to, each after those that it needs; and findings for circular references.

        Args:
            files: The files to begin with; by default all.
        """
        ordered: list[SchemaFile] = []
        findings: list[Finding] = []
        entered: set[str] = set()
        left: set[str] = set()
        for first in self.files if files is None else files:
            if first.path in entered:
                continue
            entered.add(first.path)
            # Depth first without recursion, because chains of references may be long.
            stack = [(first, iter(self.targets(first)))]
            while stack:
                file, targets = stack[-1]
                target = next(targets, None)
                if target is None:
                    stack.pop()
                    left.add(file.path)
                    ordered.append(file)
                    self._dependencies.setdefault(file.path, self._gather(file, left))
                elif target.file is not None and target.file.path not in entered:
                    entered.add(target.file.path)
                    stack.append((target.file, iter(self.targets(target.file))))
                elif target.file is not None and target.file.path not in left:
                    around = [open_file.path for open_file, _ in stack]
                    findings.append(self._cycle(file, target, around[around.index(target.file.path) :]))
        return ordered, findings

    def problems(self, file: SchemaFile) -> Finding | None:
        """The reason why a file cannot be parsed: it cannot be read, or it mentions a name that nothing defines.

        A Protobuf file with a missing import can still be parsed if it uses no type of that import.
        """
        read = self._read(file)
        if read.error is not None:
            return invalid(file, read.error)
        if read.dangling is None:
            return None
        name = read.dangling.names[0]
        message = f"Nothing defines {name!r}: no file of the project, and nothing that the configuration refers to."
        return Finding(
            "DANGLING_REFERENCE",
            file.path,
            self.locate(file, read.dangling),
            message,
            _WHERE_TO_DEFINE[file.schema_type],
            subject=file.subject,
        )

    def _cycle(self, file: SchemaFile, target: Target, around: list[str]) -> Finding:
        circle = " -> ".join([*around, around[0]])
        message = f"The references go round in a circle: {circle}."
        remedy = "Put the types that refer to each other into one file."
        position = self.locate(file, target.mention)
        return Finding("CYCLIC_REFERENCE", file.path, position, message, remedy, subject=file.subject)

    def _gather(self, file: SchemaFile, left: set[str]) -> Mapping[str, str]:
        texts: dict[str, str] = {}
        for target in self.targets(file):
            if target.file is not None:
                if target.file.path in left and target.file.path != file.path:
                    for name, text in self._dependencies[target.file.path].items():
                        texts.setdefault(name, text)
                    texts.setdefault(target.name, target.file.text)
            elif target.stored is not None:
                for dependency in target.stored.dependencies:
                    texts.setdefault(dependency.name, dependency.text)
                texts.setdefault(target.name, target.stored.schema.text)
        return texts

    def _read(self, file: SchemaFile) -> _Read:
        if file.path not in self._reads:
            self._reads[file.path] = self._read_now(file)
        return self._reads[file.path]

    def _read_now(self, file: SchemaFile) -> _Read:
        try:
            contents = self._contents(file)
        except InvalidSchema as error:
            return _Read(Contents(), error=error)
        targets = []
        dangling = None
        for mention in contents.mentions:
            target = self._find(file, mention)
            if target is None:
                dangling = dangling or mention
            else:
                targets.append(target)
        return _Read(contents, (*targets, *self._unmentioned(file, contents)), dangling)

    def _unmentioned(self, file: SchemaFile, contents: Contents) -> Iterator[Target]:
        """Configured references that the text uses without mentioning them: Protobuf files that are not imported."""
        for link in file.entry.references if contents.uses else ():
            if any(link.name in mention.names for mention in contents.mentions):
                continue
            target = self._linked(link, Mention((link.name,), (0,)))
            defined = () if target is None else self._defined(target)
            if target is not None and any(ends_with(defined, name) for name in contents.uses):
                yield target

    def _defined(self, target: Target) -> tuple[str, ...]:
        try:
            if target.file is not None:
                return self._contents(target.file).defines
            schema = target.stored.schema if target.stored is not None else None
            return () if schema is None else read_contents(schema.schema_type, schema.text).defines
        except InvalidSchema:
            return ()

    def _contents(self, file: SchemaFile) -> Contents:
        if file.path not in self._contents_by_path:
            self._contents_by_path[file.path] = read_contents(file.schema_type, file.text)
        return self._contents_by_path[file.path]

    def _find(self, file: SchemaFile, mention: Mention) -> Target | None:
        for link in file.entry.references:
            if link.name in mention.names:
                return self._linked(link, mention)
        definition = _FINDERS[file.schema_type](self, file, mention)
        if definition is not None:
            return Target(definition[0], mention, file=definition[1])
        for name in mention.names:
            # Confluent's serializers register a referenced schema under the reference's name.
            for store in self.stores:
                stored = store.stored(name, -1)
                if stored is not None and stored.schema.schema_type == file.schema_type:
                    return Target(name, mention, stored=stored)
        return None

    def _linked(self, link: Link, mention: Mention) -> Target | None:
        file = self.by_path.get(link.file) if link.file is not None else self.by_subject.get(link.subject or "")
        if file is not None and link.version == -1:
            return Target(link.name, mention, file=file)
        for store in self.stores:
            stored = store.stored(link.subject or "", link.version)
            if stored is not None:
                return Target(link.name, mention, stored=stored)
        return None

    @cached_property
    def _definitions(self) -> dict[tuple[str, str], SchemaFile]:
        """The file that defines each name of a type; a file with the name as its outermost definition comes first."""
        definitions: dict[tuple[str, str], tuple[int, SchemaFile]] = {}
        for file in self.files:
            if file.schema_type == PROTOBUF:
                continue
            try:
                defines = self._contents(file).defines
            except InvalidSchema:
                continue
            for rank, name in enumerate(defines):
                earlier = definitions.get((file.schema_type, name))
                if earlier is None or min(rank, 1) < earlier[0]:
                    definitions[file.schema_type, name] = (min(rank, 1), file)
        return {key: file for key, (_, file) in definitions.items()}

    def _find_avro(self, _: SchemaFile, mention: Mention) -> tuple[str, SchemaFile] | None:
        for name in mention.names:
            file = self._definitions.get((AVRO, name))
            if file is not None:
                return name, file
        return None

    def _find_json(self, file: SchemaFile, mention: Mention) -> tuple[str, SchemaFile] | None:
        folder = posixpath.dirname(file.path)
        for path in (posixpath.normpath(posixpath.join(folder, mention.names[0])), mention.names[0]):
            if path in self.by_path:
                return mention.names[0], self.by_path[path]
        for name in mention.names:
            target = self._definitions.get((JSON, name))
            if target is not None:
                return mention.names[0], target
        return None

    def _find_protobuf(self, _: SchemaFile, mention: Mention) -> tuple[str, SchemaFile] | None:
        path = mention.names[0]
        for root in self.import_roots:
            file = self.by_path.get(posixpath.normpath(posixpath.join(root, path)))
            if file is not None:
                return path, file
        endings = self._by_file_name.get(posixpath.basename(path), [])
        fitting = [file for file in endings if file.path.endswith(f"/{path}")]
        # The folder that imports start from may be unknown, so accept the only file whose path ends like the import.
        return (path, fitting[0]) if len(fitting) == 1 else None

    @cached_property
    def _by_file_name(self) -> dict[str, list[SchemaFile]]:
        by_name: dict[str, list[SchemaFile]] = {}
        for file in self.files:
            by_name.setdefault(posixpath.basename(file.path), []).append(file)
        return by_name


_FINDERS: dict[str, Callable[[Tree, SchemaFile, Mention], tuple[str, SchemaFile] | None]] = {
    AVRO: Tree._find_avro,  # noqa: SLF001 - the tree's own table
    JSON: Tree._find_json,  # noqa: SLF001
    PROTOBUF: Tree._find_protobuf,  # noqa: SLF001
}
_WHERE_TO_DEFINE = {
    AVRO: "Define the type before it is used, add the file that does, or give its subject under `references`.",
    JSON: "Put the file where the address leads from here, or give its file or subject under `references`.",
    PROTOBUF: "Add the file, name the folder that imports start at under `import-roots`, or give its subject under "
    "`references`.",
}
