"""What a new leader writes first, so that records of aborted transactions mislead nobody."""

from __future__ import annotations

from collections.abc import Iterable

from registry import records
from registry.log.port import LogEntry, Record
from registry.model import context_of
from registry.records import Key, Undecodable
from registry.view import View


def amends(view: View, aborted: Iterable[LogEntry], now: int) -> list[Record]:
    """Records that settle what aborted transactions left, ending in a NOOP that says so.

    Readers that ignore transactions (Confluent's, Karapace's, MirrorMaker) take aborted records for real. So each key
    that was written there is written again with its committed value, or a tombstone where it has none; and the ids that
    only they know are never given again.

    Args:
        view: The committed state.
        aborted: The aborted records since the last NOOP.
        now: In ms since the epoch.
    """
    keys: dict[bytes, Key] = {}
    highest: dict[str, int] = {}
    for entry in aborted:
        try:
            key = records.decode_key(entry.key)
            value = None if entry.value is None else records.decode_value(entry.value)
        except Undecodable:
            continue
        assert entry.key is not None
        keys[entry.key] = key
        if key.keytype == records.SCHEMA and value is not None and isinstance(value.get("id"), int):
            assert key.subject is not None
            context = context_of(key.subject)
            highest[context] = max(highest.get(context, 0), value["id"])
    found = [
        Record(view.key_bytes(Key(records.ID_MARK, context)), records.encode_id_mark(context, most), now)
        for context, most in sorted(highest.items())
        if most > view.highest_id(context)
    ]
    found += [Record(raw, committed_value(view, key), now) for raw, key in keys.items() if key.keytype != records.NOOP]
    found.append(Record(view.key_bytes(Key(records.NOOP)), None, now))
    return found


def committed_value(view: View, key: Key) -> bytes | None:
    """The value that a key has by the committed records; None where it has none."""
    return _VALUES[key.keytype](view, key)


def _schema(view: View, key: Key) -> bytes | None:
    assert key.subject is not None
    assert key.version is not None
    version = view.version(key.subject, key.version)
    return None if version is None else records.encode_version(version)


def _config(view: View, key: Key) -> bytes | None:
    config = view.config(key.subject)
    return None if config is None else records.encode_config(key, config)


def _mode(view: View, key: Key) -> bytes | None:
    mode = view.mode(key.subject)
    return None if mode is None else records.encode_mode(key, mode)


def _context(view: View, key: Key) -> bytes | None:
    return records.encode_context(key.subject) if key.subject in view.contexts() and key.subject else None


def _deletion(view: View, key: Key) -> bytes | None:
    """A deletion of all versions up to the first that lives, which deletes nothing that is not deleted already."""
    assert key.subject is not None
    highest = 0
    for version in view.versions(key.subject):
        if not version.deleted:
            break
        highest = version.number
    return records.encode_deletion(key.subject, highest) if highest else None


def _id_mark(view: View, key: Key) -> bytes | None:
    assert key.subject is not None
    return records.encode_id_mark(key.subject, view.highest_id(key.subject))


def _nothing(_view: View, _key: Key) -> bytes | None:
    return None


_VALUES = {
    records.SCHEMA: _schema,
    records.CONFIG: _config,
    records.MODE: _mode,
    records.CONTEXT: _context,
    records.DELETE_SUBJECT: _deletion,
    records.CLEAR_SUBJECT: _nothing,
    records.ID_MARK: _id_mark,
    records.NOOP: _nothing,
}
