"""The steps that change a registry's state into a project's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from magicbyte.check.project.files import SchemaFile
from magicbyte.cli.registry_state.project import Project
from serdes.error import RegistryError


@dataclass(frozen=True, slots=True)
class Step:
    """One change of the registry: its sign (`+`, `~`, `-`), its description, and the function that carries it out."""

    sign: str
    text: str
    do: Callable[[], str]


class Planner:
    """Plans the steps; registering a schema yields the version that later schemas refer to."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._client = project.client
        #: The versions of the project's subjects that are known to be in the registry.
        self._versions: dict[str, int] = {}

    def registrations(self) -> Iterator[Step]:
        """The schemas that the registry does not have yet, each after those that it refers to."""
        project = self._project
        for file in project.files:
            version = project.registered(file, self._versions)
            if version is not None:
                self._versions[file.subject] = version
            else:
                self._versions.pop(file.subject, None)
                yield Step("+", f"register {file.subject} from {file.path}", partial(self._register, file))

    def levels(self) -> Iterator[Step]:
        """The levels that differ between the project and the registry."""
        level = self._project.config.level
        if level is not None and self._level(None) != level.name:
            yield self._set_level(None, level.name)
        for file in self._project.files:
            level = file.entry.level
            if level is not None and self._level(file.subject) != level.name:
                yield self._set_level(file.subject, level.name)

    def deletions(self) -> Iterator[Step]:
        """Deletions of levels and subjects that the project does not have; referrers come before their targets."""
        files = self._project.tree.by_subject
        subjects = self._client.subjects()
        for subject in subjects:
            file = files.get(subject)
            level = self._level(subject)
            if level is not None and (file is None or file.entry.level is None):
                yield Step("-", f"take away {subject}'s level {level}", partial(self._delete_level, subject))
        for subject in self._referrers_first([name for name in subjects if name not in files]):
            versions = self._client.versions(subject)
            shown = f"delete {subject} ({len(versions)} version{'s' * (len(versions) != 1)})"
            yield Step("-", shown, partial(self._delete, subject))

    def superfluous(self) -> list[str]:
        """The registry's subjects that have no file in the project."""
        files = self._project.tree.by_subject
        return [subject for subject in self._client.subjects() if subject not in files]

    def _referrers_first(self, subjects: list[str]) -> list[str]:
        refers = {
            subject: {
                reference.subject
                for version in self._client.versions(subject)
                for reference in self._client.version(subject, version).schema.references
            }
            for subject in subjects
        }
        ordered: list[str] = []
        left = dict.fromkeys(subjects)
        while left:
            free = [name for name in left if not any(name in refers[other] for other in left if other != name)]
            ordered += free or list(left)
            left = dict.fromkeys(name for name in left if name not in ordered)
        return ordered

    def _register(self, file: SchemaFile) -> str:
        schema = self._project.schema(file, self._versions)
        assert schema is not None  # its references were registered before it
        registered = self._client.register(file.subject, schema)
        self._versions[file.subject] = registered.version
        return f"version {registered.version}, id {registered.id}"

    def _set_level(self, subject: str | None, level: str) -> Step:
        whose = "the global level" if subject is None else f"{subject}'s level"
        before = self._level(subject)
        change = f"from {before} to {level}" if before else f"to {level}"
        return Step("~", f"set {whose} {change}", lambda: self._put_level(subject, level))

    def _put_level(self, subject: str | None, level: str) -> str:
        self._client.put_config({"compatibility": level}, subject)
        return "done"

    def _delete_level(self, subject: str) -> str:
        self._client.delete_config(subject)
        return "done"

    def _delete(self, subject: str) -> str:
        self._client.delete_subject(subject)
        return "done"

    def _level(self, subject: str | None) -> str | None:
        try:
            level: str | None = self._client.config(subject).get("compatibilityLevel")
        except RegistryError as error:
            if error.status == 404:
                return None
            raise
        return level
