"""Facts in a log's records besides the state: the byte forms of keys, ids that were given, unreadable records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import orjson

from registry.log.port import LogEntry
from registry.state import records
from registry.state.model import context_of
from registry.state.records import Key, Undecodable
from registry.state.view import View

#: The key types of this release that the reference does not have. Others with their prefix are of a later release.
_OWN_TYPES = frozenset({records.ID_MARK, records.SETTLED, records.POSTED, records.RULE, records.RULE_SET})
_OWN_PREFIX = "MAGICBYTE_"
#: Key types of newer releases of the reference, which this registry skips.
_REFERENCE_TYPES = frozenset({"ASSOC"})


@dataclass(slots=True)
class Form:
    """The bytes of a key, and the records that have them.

    Attributes:
        raw: The bytes.
        offset: The offset of the last record.
        has_value: Whether the last record has a value; if not, it is a tombstone.
        values: How many records have a value.
        records: How many records there are.
        schema_id: The id in the last value of a version, or the highest id in that of a mark; None if it has none.
    """

    raw: bytes
    offset: int = -1
    has_value: bool = False
    values: int = 0
    records: int = 0
    schema_id: int | None = None


class Fault(NamedTuple):
    """The last record with the bytes of a key, which cannot be read: its offset, the reason, and the key if it can."""

    offset: int
    text: str
    key: Key | None


class Repointed(NamedTuple):
    """A version whose id was changed by a record: the offsets of the earlier and the later record, and both ids."""

    key: Key
    offsets: tuple[int, int]
    ids: tuple[int, int]


class HighestId(NamedTuple):
    """The highest id of a context in the records, and the offset of the first record that has it."""

    schema_id: int
    offset: int


class Deletion(NamedTuple):
    """The last soft deletion of a subject: its offset, and the highest version that it deletes."""

    offset: int
    highest_version: int


class LogFacts:
    """The facts of one log, gathered record by record from its beginning.

    Attributes:
        forms: Key -> bytes -> the records with these bytes.
        faults: Bytes of a key -> the fault of the last record that has them.
        repointed: The versions whose id has changed without a deletion in between.
        highest: Context -> the highest id in any record.
        deletions: Subject -> its last soft deletion.
        records: How many records the log has.
    """

    def __init__(self) -> None:
        self.forms: dict[Key, dict[bytes, Form]] = {}
        self.faults: dict[bytes | None, Fault] = {}
        self.repointed: list[Repointed] = []
        self.highest: dict[str, HighestId] = {}
        self.deletions: dict[str, Deletion] = {}
        self.records = 0
        self._ids: dict[Key, tuple[int, int]] = {}
        self._values = _ValueReader()

    @classmethod
    def of_entries(cls, entries: Iterable[LogEntry]) -> Self:
        """The facts of a log's records."""
        facts = cls()
        for entry in entries:
            facts.add(entry)
        return facts

    def add(self, entry: LogEntry) -> None:
        """Add the next record of the log."""
        self.records += 1
        try:
            key = records.decode_key(entry.key)
        except Undecodable as error:
            self._note_fault(entry, None, "" if _is_of_newer_server(entry.key) else str(error))
            return
        assert entry.key is not None
        form = self.forms.setdefault(key, {}).setdefault(entry.key, Form(entry.key))
        form.offset, form.has_value, form.schema_id = entry.offset, entry.value is not None, None
        form.records += 1
        form.values += form.has_value
        fault = ""
        try:
            form.schema_id = self._read(key, entry)
        except Undecodable as error:
            fault = str(error)
        self._note_fault(entry, key, fault)

    def _note_fault(self, entry: LogEntry, key: Key | None, text: str) -> None:
        # A tombstone removes the records with its bytes, even if nobody can read them.
        if text and entry.value is not None:
            self.faults[entry.key] = Fault(entry.offset, text, key)
        elif entry.key is not None:
            self.faults.pop(entry.key, None)

    def _read(self, key: Key, entry: LogEntry) -> int | None:
        """Note what a record with a readable key says; return the id in it.

        Raises:
            Undecodable: The value cannot be read.
        """
        if key.keytype == records.SCHEMA:
            return self._read_version(key, entry)
        if key.keytype == records.CLEAR_SUBJECT:
            self._ids = {known: value for known, value in self._ids.items() if known.subject != key.subject}
        if entry.value is None:
            return None
        value = self._values.read(entry)
        if key.keytype == records.ID_MARK:
            assert key.subject is not None
            self._note_id(key.subject, value["maxId"], entry.offset)
            return int(value["maxId"])
        if key.keytype == records.DELETE_SUBJECT:
            assert key.subject is not None
            self.deletions[key.subject] = Deletion(entry.offset, value["version"])
        return None

    def _read_version(self, key: Key, entry: LogEntry) -> int | None:
        if entry.value is None:
            self._ids.pop(key, None)
            return None
        version = records.decode_version(key, records.decode_value(entry.value), entry.timestamp)
        schema_id = version.schema_id
        earlier = self._ids.get(key)
        if earlier is not None and earlier[0] != schema_id:
            self.repointed.append(Repointed(key, (earlier[1], entry.offset), (earlier[0], schema_id)))
        self._ids[key] = (schema_id, entry.offset)
        self._note_id(context_of(version.subject), schema_id, entry.offset)
        return schema_id

    def _note_id(self, context: str, schema_id: int, offset: int) -> None:
        known = self.highest.get(context)
        if schema_id and (known is None or schema_id > known.schema_id):
            self.highest[context] = HighestId(schema_id, offset)

    def remembered_ids(self) -> dict[str, int]:
        """Context -> the highest id that compaction leaves in the log."""
        remembered: dict[str, int] = {}
        for key, forms in self.forms.items():
            if key.keytype not in (records.SCHEMA, records.ID_MARK) or key.subject is None:
                continue
            context = context_of(key.subject) if key.keytype == records.SCHEMA else key.subject
            for form in forms.values():
                if form.has_value and form.schema_id is not None:
                    remembered[context] = max(remembered.get(context, 0), form.schema_id)
        return remembered

    def last_offset(self, key: Key) -> int:
        """The offset of the last record of a key, in any form; -1 if there is none."""
        return max((form.offset for form in self.forms.get(key, {}).values()), default=-1)


class _ValueReader(View):
    """Reads values of all types but versions, by the rules of the view."""

    _fault = ""

    def read(self, entry: LogEntry) -> dict[str, Any]:
        """Return the value.

        Raises:
            Undecodable: The view would skip the record.
        """
        assert entry.value is not None
        value = records.decode_value(entry.value)
        self._fault = ""
        self.apply(entry)
        if self._fault:
            raise Undecodable(self._fault)
        return value

    def _count(self, _reason: str, _entry: LogEntry, text: str) -> None:
        self._fault = text.partition("): ")[2] or text


def _is_of_newer_server(raw: bytes | None) -> bool:
    """Tell whether a key that cannot be read is of a later release of this registry or of the reference."""
    try:
        parts = orjson.loads(raw or b"")
    except orjson.JSONDecodeError:
        return False
    keytype = parts.get("keytype") if isinstance(parts, dict) else None
    if not isinstance(keytype, str) or keytype in _OWN_TYPES:
        return False
    return keytype.startswith(_OWN_PREFIX) or keytype in _REFERENCE_TYPES
