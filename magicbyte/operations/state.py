"""The logical state of a registry, whatever it is stored in: what a backup holds and two registries are compared by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Self

from magicbyte.kit.failure import Failure
from registry.feed.export import in_order, version_value
from registry.log.port import LogEntry
from registry.state import records
from registry.state.identity import guid_of
from registry.state.model import DEFAULT_CONTEXT, Config, Version
from registry.state.records import Key, Undecodable
from registry.state.view import View

#: A mapping without items, as a default.
_NONE: Mapping[Any, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ContextState:
    """A context.

    Attributes:
        listed: Whether `GET /contexts` shows it.
        highest_id: The highest id that it has ever given, which may be above the ids of its schemas; 0 for none.
    """

    listed: bool
    highest_id: int


@dataclass(frozen=True, slots=True)
class State:
    """All that clients of a registry can see of its schemas, and the marks that keep its ids from being given twice.

    Access rules are not part of it.

    Attributes:
        contexts: Name -> context, with the default one (`.`).
        versions: (subject in wire form, version) -> version; soft-deleted ones are included.
        configs: Subject or context in wire form -> its own config; None is the global one.
        modes: Subject or context in wire form -> its own mode; None is the global one.
        passed_over: Reason -> how many records of the source could not be read.
    """

    contexts: Mapping[str, ContextState] = field(default_factory=lambda: _NONE)
    versions: Mapping[tuple[str, int], Version] = field(default_factory=lambda: _NONE)
    configs: Mapping[str | None, Config] = field(default_factory=lambda: _NONE)
    modes: Mapping[str | None, str] = field(default_factory=lambda: _NONE)
    passed_over: Mapping[str, int] = field(default_factory=lambda: _NONE)

    @classmethod
    def of_view(cls, view: View) -> Self:
        """The state that a registry has built from its log."""
        contexts = sorted({DEFAULT_CONTEXT, *view.contexts(), *view.contexts_with_ids()})
        listed = {DEFAULT_CONTEXT, *view.contexts()}
        configs = {name: view.config(name) for name in (None, *view.configured())}
        modes = {name: view.mode(name) for name in (None, *view.with_modes())}
        return cls(
            {name: ContextState(name in listed, view.highest_id(name)) for name in contexts},
            {(name, stored.number): stored for name in view.subjects() for stored in view.versions(name)},
            {name: config for name, config in configs.items() if config is not None},
            {name: mode for name, mode in modes.items() if mode is not None},
            dict(view.passed_over),
        )

    @classmethod
    def of_entries(cls, entries: Iterable[LogEntry]) -> Self:
        """The state that a registry builds from the records of a log."""
        view = View()
        for entry in entries:
            view.apply(entry)
        return cls.of_view(view)

    @classmethod
    def of_lines(cls, lines: Iterable[Mapping[str, Any]]) -> Self:
        """The state in the lines of an export; manifest and closing line are passed over, as is a `kind` it lacks.

        Raises:
            Failure: A line lacks what its kind needs; the text names the line.
        """
        contexts: dict[str, ContextState] = {}
        versions: dict[tuple[str, int], Version] = {}
        configs: dict[str | None, Config] = {}
        modes: dict[str | None, str] = {}
        for number, line in enumerate(lines, 1):
            try:
                match line.get("kind", "schema"):
                    case "context":
                        contexts[line["context"]] = ContextState(bool(line["listed"]), int(line["maxId"]))
                    case "schema":
                        version = _version(line)
                        versions[version.subject, version.number] = version
                    case "config":
                        configs[line.get("subject")] = Config.from_json(line["config"])
                    case "mode":
                        modes[line.get("subject")] = str(line["mode"])
            except (Undecodable, AttributeError, KeyError, TypeError, ValueError) as error:
                raise Failure(f"line {number} is no {line.get('kind', 'schema')} of an export: {error}") from None
        contexts.setdefault(DEFAULT_CONTEXT, ContextState(listed=True, highest_id=0))
        return cls(contexts, versions, configs, modes)

    def lines(self) -> Iterator[dict[str, Any]]:
        """The lines of an export, without manifest and closing line, in the order in which they can be imported."""
        for name, context in sorted(self.contexts.items()):
            yield {"kind": "context", "context": name, "listed": context.listed, "maxId": context.highest_id}
        for version in in_order(list(self.versions.values())):
            yield version_value(version)
        # The global settings come last: a mode such as READONLY would stop what follows it.
        for subject, config in sorted(self.configs.items(), key=global_last):
            yield {"kind": "config", **_of(subject), "config": config.to_json()}
        for subject, mode in sorted(self.modes.items(), key=global_last):
            yield {"kind": "mode", **_of(subject), "mode": mode}


def _version(line: Mapping[str, Any]) -> Version:
    key = Key(records.SCHEMA, str(line["subject"]), int(line["version"]))
    version = records.decode_version(key, dict(line), int(line.get("ts") or 0))
    guid = line.get("guid")
    if guid is not None and guid != guid_of(version.content):
        raise ValueError(f"its schema is not what its guid {guid} stands for")
    return version


def _of(subject: str | None) -> dict[str, str]:
    return {} if subject is None else {"subject": subject}


def global_last(item: tuple[str | None, object]) -> tuple[bool, str]:
    """Sort settings by their subjects, the global ones last."""
    subject, _ = item
    return subject is None, subject or ""
