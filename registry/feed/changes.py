"""The change feed: the log's entries as changes for followers of the registry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from registry.state import records
from registry.state.model import parse_subject
from registry.state.records import Key
from registry.state.view import Applied, View


@dataclass(frozen=True, slots=True)
class Change:
    """One change. A follower that names its offset in the log continues after it."""

    offset: int
    kind: str
    subject: str | None
    details: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """The change in the form that followers get."""
        return {"offset": self.offset, "type": self.kind, "subject": self.subject, **self.details}


class TooOld(LookupError):
    """The changes after an offset are no longer available."""


def changes_since(view: View, offset: int, prefix: str = "", *, compacted: bool = False) -> list[Change]:
    """The changes after an offset, in a list; see `iterate_changes`."""
    return list(iterate_changes(view, offset, prefix, compacted=compacted))


def iterate_changes(view: View, offset: int, prefix: str = "", *, compacted: bool = False) -> Iterator[Change]:
    """The changes after an offset to subjects with a prefix; `:*:` and the empty prefix mean all. Made one by one.

    Args:
        view: The state.
        offset: The offset.
        prefix: The prefix of the subjects.
        compacted: Accept that compaction has removed changes that later ones have replaced.

    Raises:
        TooOld: Entries after the offset are no longer available; an export contains the resulting state.
    """
    entries = view.entries_after(offset, compacted=compacted)
    if entries is None:
        raise TooOld(f"changes soon after offset {offset} are no longer at hand")
    changes = map(change_of, entries)
    return (change for change in changes if change is not None and _concerns(change, prefix))


def _concerns(change: Change, prefix: str) -> bool:
    if prefix in ("", ":*:"):
        return True
    subject = change.subject or ""
    if prefix.startswith(":*:"):
        return parse_subject(subject).name.startswith(prefix.removeprefix(":*:"))
    return subject.startswith(prefix)


def change_of(entry: Applied) -> Change | None:
    """The change that an entry makes; None if it makes none that followers see."""
    read = _READERS.get(entry.key.keytype)
    kind_and_details = next(read(entry.key, entry.value), None) if read else None
    if kind_and_details is None:
        return None
    kind, details = kind_and_details
    return Change(entry.offset, kind, entry.key.subject, {**details, "ts": entry.timestamp})


_Read = Iterator[tuple[str, dict[str, Any]]]


def _schema(key: Key, value: dict[str, Any] | None) -> _Read:
    if value is None:
        yield "schema.removed", {"version": key.version}
        return
    kind = "schema.deleted" if value.get("deleted") else "schema.registered"
    yield kind, {"version": key.version, "id": value.get("id"), "schemaType": value.get("schemaType") or "AVRO"}


def _deletion(_key: Key, value: dict[str, Any] | None) -> _Read:
    if value is not None:
        yield "subject.deleted", {"version": value.get("version")}


def _config(_key: Key, value: dict[str, Any] | None) -> _Read:
    if value is None:
        yield "config.removed", {}
    else:
        yield "config.updated", {"config": {name: setting for name, setting in value.items() if name != "subject"}}


def _mode(_key: Key, value: dict[str, Any] | None) -> _Read:
    mode = None if value is None else value.get("mode")
    yield ("mode.removed", {}) if mode is None else ("mode.updated", {"mode": mode})


_READERS: Mapping[str, Callable[[Key, dict[str, Any] | None], _Read]] = {
    records.SCHEMA: _schema,
    records.DELETE_SUBJECT: _deletion,
    records.CONFIG: _config,
    records.MODE: _mode,
}
