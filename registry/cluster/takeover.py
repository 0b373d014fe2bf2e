"""What a new leader writes first, so that records of aborted transactions mislead nobody."""

from __future__ import annotations

from collections.abc import Iterable

from registry.log.port import LogEntry, Record
from registry.state import records
from registry.state.model import context_of, in_bounds
from registry.state.records import Key, Undecodable
from registry.state.view import View


def amends(view: View, aborted: Iterable[LogEntry], now: int) -> list[Record]:
    """Records that settle what aborted transactions left, ending in a mark that says so.

    Readers that ignore transactions (Confluent's, Karapace's, MirrorMaker) take aborted records for real. So each key
    that was written there is written again with its committed value, or a tombstone where it has none; and the ids that
    only they know are never given again.

    Args:
        view: The committed state.
        aborted: The aborted records since the last such mark.
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
        schema_id = value.get("id") if value is not None else None
        if key.keytype == records.SCHEMA and in_bounds(schema_id):
            assert key.subject is not None
            context = context_of(key.subject)
            highest[context] = max(highest.get(context, 0), schema_id)
    found = [
        Record(view.key_bytes(Key(records.ID_MARK, context)), records.encode_id_mark(context, most), now)
        for context, most in sorted(highest.items())
        if most > view.highest_id(context)
    ]
    for raw, key in keys.items():
        found.append(Record(raw, committed_value(view, key), now))
        if key.keytype == records.DELETE_SUBJECT and key.subject is not None:
            # Whoever believed the aborted deletion takes the subject's living versions for deleted.
            for each in view.live_versions(key.subject):
                raw_key = view.key_bytes(Key(records.SCHEMA, each.subject, each.number))
                found.append(Record(raw_key, records.encode_version(each), now))
    found.append(Record(view.key_bytes(Key(records.SETTLED)), records.encode_settled(), now))
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
    """A deletion up to the highest deleted version; what lives below it is written again behind it."""
    assert key.subject is not None
    highest = max((each.number for each in view.versions(key.subject) if each.deleted), default=0)
    return records.encode_deletion(key.subject, highest) if highest else None


def _id_mark(view: View, key: Key) -> bytes | None:
    assert key.subject is not None
    return records.encode_id_mark(key.subject, view.highest_id(key.subject))


def _posted(view: View, _key: Key) -> bytes | None:
    mark = view.posted
    return None if mark is None else records.encode_posted(mark.node, mark.offset)


def _nothing(_view: View, _key: Key) -> bytes | None:
    return None


def _settled(_view: View, _key: Key) -> bytes | None:
    return records.encode_settled()


_VALUES = {
    records.SCHEMA: _schema,
    records.CONFIG: _config,
    records.MODE: _mode,
    records.CONTEXT: _context,
    records.DELETE_SUBJECT: _deletion,
    records.CLEAR_SUBJECT: _nothing,
    records.ID_MARK: _id_mark,
    records.NOOP: _nothing,
    records.SETTLED: _settled,
    records.POSTED: _posted,
}
