"""The state of the target, as far as a mirror compares it: ids, guids, deletions, marks and settings, without texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Self

from magicbyte.operations.state import ContextState, State
from registry.state.identity import guid_of
from registry.state.model import Config, Version, context_of, parse_subject, subject_in


def subjects_of(*settings: Iterable[str | None]) -> set[str]:
    """The subjects among names that may also be those of contexts, or None for the global settings."""
    return {name for names in settings for name in names if name is not None and parse_subject(name).name}


class HeldVersion(NamedTuple):
    """A version of the target."""

    schema_id: int
    guid: str
    deleted: bool

    @classmethod
    def of(cls, version: Version) -> Self:
        """The part of a version that is compared."""
        return cls(version.schema_id, guid_of(version.content), version.deleted)


#: A version's subject and number.
Key = tuple[str, int]


class TargetState:
    """The target's state in little memory; lines that were written change it.

    Attributes:
        versions: (subject, number) -> version.
        numbers: Subject -> the numbers of its versions.
        contexts: Name -> context.
        configs: Subject or context -> its own config; None is the global one.
        modes: Subject or context -> its own mode.
        references: (subject, number) -> the versions that it refers to; only of those that refer to some.
        referrers: (subject, number) -> the versions that refer to it.
    """

    def __init__(self, state: State) -> None:
        self.versions: dict[tuple[str, int], HeldVersion] = {}
        self.numbers: dict[str, set[int]] = defaultdict(set)
        self._holders: dict[tuple[str, int], dict[tuple[str, int], str]] = defaultdict(dict)
        self.contexts = dict(state.contexts)
        self.configs = dict(state.configs)
        self.modes = dict(state.modes)
        self.references: dict[Key, frozenset[Key]] = {}
        self.referrers: dict[Key, set[Key]] = defaultdict(set)
        for version in state.versions.values():
            self._put(version.subject, version.number, HeldVersion.of(version))
            named = ((reference.subject, reference.version) for reference in version.references)
            self._refer(version.subject, version.number, named)

    def subjects(self) -> set[str]:
        """The subjects with a version or settings of their own."""
        return {name for name, numbers in self.numbers.items() if numbers} | subjects_of(self.configs, self.modes)

    def conflicting_versions(self, context: str, schema_id: int, guid: str) -> list[tuple[str, int]]:
        """The versions that have an id in a context and another content."""
        return [key for key, held in self._holders.get((context, schema_id), {}).items() if held != guid]

    def apply(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Change it as lines changed the target."""
        for line in lines:
            change = _CHANGES.get((line["kind"], line.get("of")))
            if change is not None:
                change(self, line)

    def _put(self, subject: str, number: int, version: HeldVersion) -> None:
        self._drop(subject, number)
        self.versions[subject, number] = version
        self.numbers[subject].add(number)
        self._holders[context_of(subject), version.schema_id][subject, number] = version.guid

    def _drop(self, subject: str, number: int) -> None:
        version = self.versions.pop((subject, number), None)
        if version is not None:
            self.numbers[subject].discard(number)
            del self._holders[context_of(subject), version.schema_id][subject, number]
        for target in self.references.pop((subject, number), ()):
            self.referrers[target].discard((subject, number))

    def _refer(self, subject: str, number: int, named: Iterable[Key]) -> None:
        targets = frozenset((subject_in(context_of(subject), name), version) for name, version in named)
        if targets:
            self.references[subject, number] = targets
        for target in targets:
            self.referrers[target].add((subject, number))

    def _schema(self, line: Mapping[str, Any]) -> None:
        version = HeldVersion(line["id"], line["guid"], line["deleted"])
        self._put(line["subject"], line["version"], version)
        named = ((reference["subject"], reference["version"]) for reference in line.get("references", ()))
        self._refer(line["subject"], line["version"], named)
        context = context_of(line["subject"])
        known = self.contexts.get(context, ContextState(listed=True, highest_id=0))
        self.contexts[context] = ContextState(True, max(known.highest_id, version.schema_id))

    def _context(self, line: Mapping[str, Any]) -> None:
        known = self.contexts.get(line["context"], ContextState(listed=False, highest_id=0))
        listed = known.listed or line["listed"]
        self.contexts[line["context"]] = ContextState(listed, max(known.highest_id, line["maxId"]))

    def _unlist(self, line: Mapping[str, Any]) -> None:
        known = self.contexts.get(line["context"])
        if known is not None:
            self.contexts[line["context"]] = ContextState(False, known.highest_id)

    def _config(self, line: Mapping[str, Any]) -> None:
        self.configs[line.get("subject")] = Config.from_json(line["config"])

    def _mode(self, line: Mapping[str, Any]) -> None:
        self.modes[line.get("subject")] = line["mode"]


_CHANGES: Mapping[tuple[str, str | None], Callable[[TargetState, Mapping[str, Any]], object]] = {
    ("schema", None): TargetState._schema,  # noqa: SLF001  the class's own table
    ("context", None): TargetState._context,  # noqa: SLF001
    ("config", None): TargetState._config,  # noqa: SLF001
    ("mode", None): TargetState._mode,  # noqa: SLF001
    ("removal", "schema"): lambda held, line: held._drop(line["subject"], line["version"]),  # noqa: SLF001
    ("removal", "config"): lambda held, line: held.configs.pop(line.get("subject"), None),
    ("removal", "mode"): lambda held, line: held.modes.pop(line.get("subject"), None),
    ("removal", "context"): TargetState._unlist,  # noqa: SLF001
}
