"""The registry's state, built from the log: only `apply` changes it, and look-ups read it."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from registry.log.port import BEGINNING, LogEntry, Offset, Record
from registry.state import records
from registry.state.model import Posted, Version, context_of, in_bounds
from registry.state.records import Key, OutOfBounds, Undecodable
from registry.state.view.recent_entries import Applied, RecentEntries
from registry.state.view.settings import Settings
from registry.state.view.tables import Tables

log = logging.getLogger("magicbyte.registry.view")


class View(Settings):
    """Subjects, ids, configs and modes, as the log's records define them.

    `apply` never fails on a record: a record that cannot be read is counted, logged and skipped. It parses no schema
    text, does no I/O, and raises only MemoryError. A view with a base shows the base and the entries applied to the
    view since; it does not change the base.

    Other threads may read while `apply` runs: a read is one table look-up, or copies the table's keys in one step. Who
    needs several reads of one moment holds `still` meanwhile.
    """

    def __init__(self, base: View | None = None) -> None:
        super().__init__(base)
        self._base = base
        #: Held while the state changes.
        self.still = threading.Lock()
        self.offset: Offset = base.offset if base else BEGINNING
        self._first_offset = self.offset
        #: The versions that a view with a base has added to it; None if it has also changed something else.
        self._added: list[Version] | None = []
        self.references_moved = base.references_moved if base else 0
        #: The offset of the last leader mark: that leader had settled all earlier writes.
        self.settled_offset: Offset = base.settled_offset if base else BEGINNING
        #: The last mark of a node that posts changes to webhooks; None if there is none.
        self.posted: Posted | None = base.posted if base else None
        #: The last entries applied, for readers that follow the changes.
        self.recent = RecentEntries()
        #: How many records were skipped, or could not be stored under the id that they claim, by reason.
        self.passed_over: Counter[str] = Counter()

    def overlay(self) -> View:
        """A view with this view as its base."""
        return View(self)

    # Reads, besides those of versions and settings

    def may_see(self, _subject: str) -> bool:
        """Tell whether the reader of this view may see a subject; see `VisibleView`."""
        return True

    def key_bytes(self, key: Key) -> bytes:
        """The key's bytes as the log has them; for a new record, as this server writes them.

        Compaction compares bytes, so an update or tombstone of another writer's record must repeat that writer's bytes.
        """
        forms = self.tables.raw_keys.get(key)
        return forms[-1] if forms else records.encode_key(key)

    def key_forms(self, key: Key) -> tuple[bytes, ...]:
        """All byte forms of the key that the log may contain: a removal needs a tombstone for each."""
        return self.tables.raw_keys.get(key) or (records.encode_key(key),)

    def entries_after(self, offset: Offset, *, compacted: bool = False) -> list[Applied] | None:
        """The entries applied after an offset; None if they are not all at hand; see `RecentEntries`."""
        return self.recent.after(offset, compacted=compacted)

    # The only methods that change the state: `apply`, and those that apply many entries at once

    def apply(self, entry: LogEntry, decoded: Version | None = None) -> None:
        """Apply the next entry of the log.

        Args:
            entry: The entry.
            decoded: The version in the entry, if the writer already has it; it must equal the decoded entry.

        Raises:
            MemoryError: The view may have applied only a part of the entry; discard the view.
        """
        with self.still:
            self._apply(entry, decoded)

    def _apply(self, entry: LogEntry, decoded: Version | None) -> None:
        if self.tables is self._below:
            self.tables = Tables(self._below)
        try:
            if decoded is None:
                self._apply_encoded(entry)
            else:
                self._apply_decoded(decoded, entry)
        except Undecodable as error:
            self._count(error.reason, entry, f"skipped ({error.reason}): {error}")
            self._note_broken_rule(entry, error)
        except MemoryError:
            # A lack of memory says nothing about the record, which may have been acknowledged, so it is not skipped.
            raise
        except Exception as error:  # noqa: BLE001  no record may stop the reader
            self._count("undecodable", entry, f"skipped (undecodable): {error!r}")
        # Set the offset last: a reader that sees the offset must see everything up to it.
        self.offset = entry.offset

    def _apply_encoded(self, entry: LogEntry) -> None:
        key = records.decode_key(entry.key)
        value = None if entry.value is None else records.decode_value(entry.value)
        handler = _HANDLERS.get(key.keytype)
        if handler:
            handler(self, key, value, entry)
        self._remember_key(key, entry.key)
        self._added = None
        if self._base is None:
            if value is not None:
                value.pop("schema", None)
            self.recent.append(Applied(entry.offset, key, value, entry.timestamp))

    def _apply_decoded(self, version: Version, entry: LogEntry) -> None:
        # The writer took the key's bytes from `key_bytes`, so there are no new bytes to remember.
        adds = self._put_version(version, entry)
        if self._base is None:
            self.recent.note(version, entry.offset)
        elif not adds:
            self._added = None
        elif self._added is not None:
            self._added.append(version)

    def apply_record(self, record: Record, offset: Offset | None = None) -> None:
        """Apply a record that was appended at an offset; without an offset, as the log's next record."""
        at = self.offset + 1 if offset is None else offset
        self.apply(LogEntry(at, record.key, record.value, record.timestamp), record.decoded)

    def adopt(self, overlay: View, first: Offset) -> None:
        """Apply the records that were applied to an overlay, if they only added versions; otherwise do nothing.

        It also does nothing if this view has changed, or was replaced, since the overlay was made.

        Args:
            overlay: A view with this view as its base.
            first: The offset that the log gave to the first of the records.
        """
        if not overlay._added or overlay._first_offset != self.offset or overlay._below is not self.tables:
            return
        with self.still:
            overlay.tables.merge()
            self.references_moved = overlay.references_moved
            for offset, version in enumerate(overlay._added, first):
                self._add_digest(version)
                self.recent.note(version, offset)
            self.offset = first + len(overlay._added) - 1

    def become(self, other: View, offset: Offset) -> None:
        """Take the state of a view that has read the whole log; that view must not be used any more.

        Args:
            other: A view without a base.
            offset: An offset up to which the other view holds everything, not before this view's.
        """
        with self.still:
            self._become(other, offset)

    def _become(self, other: View, offset: Offset) -> None:
        self.references_moved += 1 + other.references_moved
        same_rules = all(other.rule_origin(rule) == self.rule_origin(rule) for rule in {*self.rules(), *other.rules()})
        self.settled_offset, self.posted = other.settled_offset, other.posted
        self._rule_changes, self.broken_rules = other._rule_changes, other.broken_rules
        self.passed_over = other.passed_over
        # Compaction has removed some of the changes that led to the new state.
        other.recent.compacted_until = offset
        self.recent = other.recent
        with self._digesting:
            self._digests = None
            self.tables = other.tables
        # After the rules, because other threads load them when this has changed. If a rule's tombstone is gone, no
        # record that is left tells that the rules have changed.
        self.rules_offset = other.rules_offset if same_rules else offset
        self.offset = offset

    def _remember_key(self, key: Key, raw: bytes | None) -> None:
        """Remember the bytes of a key if they differ from ours, the latest last."""
        ours = records.encode_key(key)
        forms = self.tables.raw_keys.get(key)
        if raw is not None and (forms or raw != ours):
            self.tables.raw_keys[key] = (*(form for form in forms or (ours,) if form != raw), raw)

    def _count(self, reason: str, entry: LogEntry, text: str) -> None:
        """Count a faulty record, and log a warning."""
        self.passed_over[reason] += 1
        if self._base is None:
            log.warning(
                "record at offset %d %s",
                entry.offset,
                text,
                extra={"event": "record_passed_over", "offset": entry.offset},
            )

    def _apply_schema(self, key: Key, value: dict[str, Any] | None, entry: LogEntry) -> None:
        assert key.subject is not None
        assert key.version is not None
        if value is None:
            self._remove(key.subject, key.version)
            return
        self._put_version(records.decode_version(key, value, entry.timestamp), entry)

    def _put_version(self, version: Version, entry: LogEntry) -> bool:
        """Store a version in place of the one with its number, if there is one; tell whether it only adds one."""
        replaced = self._remove(version.subject, version.number)
        contests = self._put(version)
        if contests:
            self._count("id conflict", entry, f"claims id {version.schema_id}, which stands for another schema")
        if replaced is not None and replaced.schema_id != version.schema_id and self._base is None:
            self._warn_of_lost_id(replaced)
        return replaced is None and not contests

    def _warn_of_lost_id(self, replaced: Version) -> None:
        """Warn that an id has lost its schema because another schema was written over its only version."""
        if not self.with_id(context_of(replaced.subject), replaced.schema_id):
            log.warning(
                "version %d of %s was written over: no schema has id %d any more",
                replaced.number,
                replaced.subject,
                replaced.schema_id,
                extra={
                    "event": "schema_id_lost",
                    "subject": replaced.subject,
                    "version": replaced.number,
                    "schema_id": replaced.schema_id,
                },
            )

    def _apply_deletion(self, key: Key, value: dict[str, Any] | None, _entry: LogEntry) -> None:
        if value is None:
            return
        assert key.subject is not None
        highest = value.get("version")
        if type(highest) is not int:
            raise Undecodable("a DELETE_SUBJECT value needs a version")
        if not in_bounds(highest):
            raise OutOfBounds(f"subject {key.subject!r}", "version", highest)
        for version in list(self.versions(key.subject)):
            if version.number <= highest and not version.deleted:
                self._replace(version, replace(version, deleted=True))

    def _apply_clearing(self, key: Key, _value: dict[str, Any] | None, _entry: LogEntry) -> None:
        assert key.subject is not None
        for version in list(self.versions(key.subject)):
            if version.deleted:
                self._remove(version.subject, version.number)

    def _apply_settled(self, _key: Key, _value: dict[str, Any] | None, entry: LogEntry) -> None:
        self.settled_offset = entry.offset

    def _apply_posted(self, _key: Key, value: dict[str, Any] | None, entry: LogEntry) -> None:
        if value is None:
            self.posted = None
            return
        node, offset = value.get("node"), value.get("offset")
        if not isinstance(node, str) or type(offset) is not int:
            raise Undecodable("a mark of what was posted needs a node and an offset")
        # In a copy of the log, which has fewer records, what follows the mark may have smaller offsets than it names.
        self.posted = Posted(node, min(offset, entry.offset), entry.offset)

    def _apply_id_mark(self, key: Key, value: dict[str, Any] | None, _entry: LogEntry) -> None:
        assert key.subject is not None
        highest = None if value is None else value.get("maxId")
        if type(highest) is not int:
            raise Undecodable("an id mark needs a maxId")
        # A mark of 0 says that no id was assigned.
        if highest and not in_bounds(highest):
            raise OutOfBounds(f"context {key.subject!r}", "maxId", highest)
        self._raise_highest_id(key.subject, highest)


_HANDLERS: dict[str, Callable[[View, Key, dict[str, Any] | None, LogEntry], None]] = {
    records.SCHEMA: View._apply_schema,  # noqa: SLF001  the class's own table
    records.CONFIG: View._apply_config,  # noqa: SLF001
    records.MODE: View._apply_mode,  # noqa: SLF001
    records.CONTEXT: View._apply_context,  # noqa: SLF001
    records.DELETE_SUBJECT: View._apply_deletion,  # noqa: SLF001
    records.CLEAR_SUBJECT: View._apply_clearing,  # noqa: SLF001
    records.SETTLED: View._apply_settled,  # noqa: SLF001
    records.ID_MARK: View._apply_id_mark,  # noqa: SLF001
    records.POSTED: View._apply_posted,  # noqa: SLF001
    records.MIRROR: View._apply_mirror,  # noqa: SLF001
    records.RULE: View._apply_rule,  # noqa: SLF001
    records.RULE_SET: View._apply_rule_set,  # noqa: SLF001
}
