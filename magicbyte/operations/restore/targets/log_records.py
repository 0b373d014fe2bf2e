"""The records that a restore writes into an empty log, and how many of them are there already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from magicbyte.kit.plural import plural
from magicbyte.operations.restore.plan import Plan
from magicbyte.operations.sources.port import RawRecord
from magicbyte.operations.state import State, global_last
from registry.feed.export import in_order
from registry.state import records
from registry.state.model import DEFAULT_CONTEXT, context_of
from registry.state.records import Key, Undecodable


class Foreign(Exception):
    """A log that is not empty holds something else than the beginning of this restore; the text says what."""


def records_to_write(plan: Plan) -> Iterator[RawRecord]:
    """Yield the records of a plan: those of the backup's log byte for byte, or those that its state makes."""
    if plan.records is None:
        yield from records_of_state(plan.state)
        return
    marks: dict[bytes, RawRecord] = {}
    last = 0
    for record in plan.records():
        last = max(last, record.timestamp)
        if record.key is not None and b"MAGICBYTE_POSTED" in record.key and _is_posted(record.key):
            marks[record.key] = record
        yield record
    # A mark of posted changes holds an offset of the log that was backed up. In another log, webhooks would be silent
    # until that offset is reached.
    for key, record in marks.items():
        if record.value is not None:
            yield RawRecord(0, last, key, None)


def _is_posted(key: bytes) -> bool:
    try:
        return records.decode_key(key).keytype == records.POSTED
    except Undecodable:
        return False


def records_of_state(state: State) -> Iterator[RawRecord]:
    """Yield the records that our registry would write: contexts and marks, versions, configs, and modes at last.

    Each call yields the same records, so that a restore can find out what it has already written. So settings, whose
    time is not in a backup, get the time of the youngest version.
    """
    last = max((version.timestamp for version in state.versions.values()), default=0)
    highest: dict[str, int] = {}
    for version in state.versions.values():
        context = context_of(version.subject)
        highest[context] = max(version.schema_id, highest.get(context, 0))
    for name, context_state in sorted(state.contexts.items()):
        if name != DEFAULT_CONTEXT and (context_state.listed or name in highest):
            yield _record(Key(records.CONTEXT, name), records.encode_context(name), last)
        if context_state.highest_id > highest.get(name, 0):
            yield _record(Key(records.ID_MARK, name), records.encode_id_mark(name, context_state.highest_id), last)
    for version in in_order(list(state.versions.values())):
        key = Key(records.SCHEMA, version.subject, version.number)
        yield _record(key, records.encode_version(version), version.timestamp)
    for subject, config in sorted(state.configs.items(), key=global_last):
        key = Key(records.CONFIG, subject)
        yield _record(key, records.encode_config(key, config), last)
    for subject, mode in sorted(state.modes.items(), key=global_last):
        key = Key(records.MODE, subject)
        yield _record(key, records.encode_mode(key, mode), last)


def _record(key: Key, value: bytes, timestamp: int) -> RawRecord:
    return RawRecord(0, timestamp, records.encode_key(key), value)


def count_written(present: Iterable[RawRecord], wanted: Iterator[RawRecord], *, compacted: bool) -> int:
    """Count the records at the beginning of a restore that a log already holds, and consume them from `wanted`.

    Args:
        present: The records of the log.
        wanted: The records of the restore.
        compacted: Accept that compaction has removed a record whose key comes again later in the log.

    Returns:
        How many records of `wanted` were consumed; the next one is the first to write.

    Raises:
        Foreign: The log holds a record that the restore would not write there.
    """
    written = 0
    removed: set[bytes | None] = set()
    for record in present:
        for candidate in wanted:
            written += 1
            if _is_same(record, candidate):
                removed.discard(record.key)
                break
            if not compacted:
                raise Foreign(f"its record at offset {record.offset}, {_shown(record)}, is not of this restore")
            removed.add(candidate.key)
        else:
            raise Foreign(f"its record at offset {record.offset}, {_shown(record)}, is not of this restore")
    if removed:
        raise Foreign(f"it lacks {plural(len(removed), 'record')} before its last one that this restore would write")
    return written


def unlike(present: Iterable[RawRecord], wanted: Iterator[RawRecord], *, compacted: bool) -> tuple[str, ...]:
    """Find differences between a log and a restore: keys, values, tombstones, headers or times; each a sentence.

    Args:
        present: The records of the log.
        wanted: The records of the restore.
        compacted: Accept that compaction has removed a record whose key comes again later in the log.
    """
    try:
        count_written(present, wanted, compacted=compacted)
    except Foreign as error:
        return (f"the records are not those that were restored: {error}",)
    lacking = sum(1 for _ in wanted)
    return (f"the log ends before the last {plural(lacking, 'record')} of the restore",) if lacking else ()


def _is_same(present: RawRecord, wanted: RawRecord) -> bool:
    # A record without a time gets the time at which it is written.
    same_time = wanted.timestamp <= 0 or present.timestamp == wanted.timestamp
    return (present.key, present.value, present.headers) == (wanted.key, wanted.value, wanted.headers) and same_time


def _shown(record: RawRecord) -> str:
    return f"key {(record.key or b'')[:120].decode(errors='replace')}"
