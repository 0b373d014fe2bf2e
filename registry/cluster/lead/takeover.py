"""The first records of a new leader: they correct what aborted transactions have left in the log."""

from __future__ import annotations

from collections.abc import Iterable

from registry.log.port import LogEntry, Record
from registry.state import records
from registry.state.model import context_of, in_bounds
from registry.state.records import Key, Undecodable
from registry.state.view import View


def amends(view: View, aborted: Iterable[LogEntry], now: int) -> list[Record]:
    """Make the records that correct aborted transactions, and a mark that this was done.

    Readers that ignore transactions (Confluent's, Karapace's, MirrorMaker) take aborted records for real. So each key
    in an aborted record is written again with its committed value, or with a tombstone if it has none. Ids in aborted
    records are never assigned again.

    Args:
        view: The committed state.
        aborted: The aborted records since the last mark.
        now: The time in ms since the epoch.
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
    corrections = [
        Record(view.key_bytes(Key(records.ID_MARK, context)), records.encode_id_mark(context, schema_id), now)
        for context, schema_id in sorted(highest.items())
        if schema_id > view.highest_id(context)
    ]
    for raw, key in keys.items():
        corrections.append(Record(raw, committed_value(view, key), now))
        if key.keytype == records.DELETE_SUBJECT and key.subject is not None:
            # A reader that applied the aborted deletion regards the subject's live versions as deleted.
            for version in view.live_versions(key.subject):
                raw_key = view.key_bytes(Key(records.SCHEMA, version.subject, version.number))
                corrections.append(Record(raw_key, records.encode_version(version), now))
    corrections.append(Record(view.key_bytes(Key(records.SETTLED)), records.encode_settled(), now))
    return corrections


def committed_value(view: View, key: Key) -> bytes | None:
    """The value of a key in the committed state; None if it has none."""
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
    """A deletion up to the highest deleted version; `amends` writes the live versions below it again after it."""
    assert key.subject is not None
    highest = max((version.number for version in view.versions(key.subject) if version.deleted), default=0)
    return records.encode_deletion(key.subject, highest) if highest else None


def _id_mark(view: View, key: Key) -> bytes | None:
    assert key.subject is not None
    return records.encode_id_mark(key.subject, view.highest_id(key.subject))


def _mirror(view: View, key: Key) -> bytes | None:
    mark = view.mirrors().get(key.subject or "")
    return None if mark is None or key.subject is None else records.encode_mirror(key.subject, mark)


def _posted(view: View, _key: Key) -> bytes | None:
    mark = view.posted
    return None if mark is None else records.encode_posted(mark.node, mark.offset)


def _rule(view: View, key: Key) -> bytes | None:
    origin = None if key.rule is None else view.rule_origin(key.rule)
    return None if origin is None else records.encode_rule(origin)


def _rule_set(_view: View, _key: Key) -> bytes | None:
    return records.encode_rule_set(is_open=False)


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
    records.MIRROR: _mirror,
    records.RULE: _rule,
    records.RULE_SET: _rule_set,
}
