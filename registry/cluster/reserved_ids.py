"""A file beside an SQLite database with the ids that were given: none is given again if the database loses data.

Each line is a JSON object. `reserved` has the ids up to which a context may give ids; it is synced before the first of
them is given. `given` has the highest ids that were given; it is not synced, so a registration costs no more. It is
valid unless the machine has lost power: if the last line says that the file was closed, or if the machine has not been
started since.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from registry.decide import Decision
from registry.log.port import Log, LogEntry, LogError, Offset, Record
from registry.state import records
from registry.state.model import MAX_VERSION, Version, context_of
from registry.state.records import Key
from registry.state.view import View

log = logging.getLogger("magicbyte.registry.ids")

BLOCK = 1000
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_ID_MARK = records.ID_MARK.encode()

#: The highest id of each context.
Highest = dict[str, int]


class ReservedIds:
    """The file of one database; several processes may have it open."""

    def __init__(self, path: Path) -> None:
        """Open or make the file.

        Raises:
            LogError: The file can't be read or written.
        """
        self._path = path
        # What is known of the file: another process may have written more.
        self._reserved: Highest = {}
        self._given: Highest = {}
        #: Up to which ids the file's earlier users may have given ids, and whether that is exactly known.
        self.given_before: Highest = {}
        self.is_exact = True
        try:
            self._file = self._open()
            while not self._begin():  # another process has replaced the file meanwhile
                os.close(self._file)
                self._file = self._open()
        except OSError as error:
            raise LogError(f"the ids in {path} can't be reserved: {error}") from error

    def _open(self) -> int:
        is_new = not self._path.exists()
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        if is_new:
            _sync(self._path.parent)
        return file

    def _begin(self) -> bool:
        """Read the file, and shorten it if no other process has it open; False if the open file is not at the path."""
        is_alone = self._lock(fcntl.LOCK_EX | fcntl.LOCK_NB)
        if is_alone and self._is_in_place():
            boot = _boot_id()
            self._read(boot)
            shorter = self._path.with_name(self._path.name + "-new")
            shorter.write_bytes(_line(reserved=self._reserved, given=self._given, boot=boot))
            _sync(shorter)
            shorter.replace(self._path)
            _sync(self._path.parent)
            os.close(self._file)
            self._file = self._open()
        self._lock(fcntl.LOCK_SH)
        if not self._is_in_place():
            return False
        if not is_alone:
            self._read(_boot_id())
        return True

    def _read(self, boot: str) -> None:
        self._reserved, given, self.is_exact = _parsed(self._path.read_bytes(), boot, self._path)
        self._given = given if self.is_exact else given | self._reserved
        self.given_before = dict(self._given)

    def _is_in_place(self) -> bool:
        with suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(self._file), self._path.stat())
        return False

    def _lock(self, kind: int) -> bool:
        with suppress(BlockingIOError):
            fcntl.flock(self._file, kind)
            return True
        return False

    def cover(self, highest: Mapping[str, int]) -> None:
        """Note ids that are about to be given.

        Raises:
            LogError: The file can't be written; the ids must not be given.
        """
        higher = {context: last for context, last in highest.items() if last > self._given.get(context, 0)}
        if not higher:
            return
        blocks = {
            context: min(-(-last // BLOCK) * BLOCK, MAX_VERSION)
            for context, last in higher.items()
            if last > self._reserved.get(context, 0)
        }
        try:
            if blocks:
                _write(self._file, _line(reserved=blocks))
                os.fsync(self._file)
                self._reserved |= blocks
            _write(self._file, _line(given=higher))
        except OSError as error:
            raise LogError(f"ids can't be reserved in {self._path}: {error}") from error
        self._given |= higher

    def close(self) -> None:
        """Note that all ids given are in the file."""
        with suppress(OSError):
            if self._lock(fcntl.LOCK_EX | fcntl.LOCK_NB):
                _write(self._file, _line(closed=True))
                os.fsync(self._file)
        os.close(self._file)

    def mark_lost(self, view: View, now: int) -> Decision[None]:
        """Command: write id marks for the ids that were given, as far as the database has forgotten them."""
        marks = []
        for context, last in sorted(self.given_before.items()):
            highest = view.highest_id(context)
            if last <= highest:
                continue
            if self.is_exact:
                log.error(
                    "the database has lost schemas: it has ids up to %d in context %s, but ids up to %d were given "
                    "(%s); new ids begin at %d",
                    *(highest, context, last, self._path, last + 1),
                    extra={"event": "schemas_lost", "context": context, "highest_id": highest, "reserved_id": last},
                )
            else:
                log.warning(
                    "the machine stopped before the ids in %s were synced; new ids in context %s begin at %d, because "
                    "any up to there may have been given",
                    *(self._path, context, last + 1),
                    extra={"event": "ids_skipped", "context": context, "next_id": last + 1},
                )
            key = view.key_bytes(Key(records.ID_MARK, context))
            marks.append(Record(key, records.encode_id_mark(context, last), now))
        return Decision(None, tuple(marks))


class ReservingLog:
    """A log that notes the ids in its records in a file before it appends the records."""

    def __init__(self, store: Log, ids: ReservedIds) -> None:
        self._log = store
        self._ids = ids
        self.max_record_bytes = store.max_record_bytes

    @property
    def log_id(self) -> str:
        """The log's id."""
        return self._log.log_id

    def append(self, new_records: Sequence[Record], after: Offset, epoch: int = 0, /) -> Offset:
        """Note the ids, then append; see `Log.append`."""
        self._ids.cover(_highest_in(new_records))
        return self._log.append(new_records, after, epoch)

    def read(self, after: Offset) -> Iterator[LogEntry]:
        """See `Log.read`."""
        return self._log.read(after)

    def end(self) -> Offset:
        """See `Log.end`."""
        return self._log.end()

    def close(self) -> None:
        """Close the log, then the file."""
        self._log.close()
        self._ids.close()


def _highest_in(new_records: Sequence[Record]) -> Highest:
    highest: Highest = {}
    for record in new_records:
        version = record.decoded
        if isinstance(version, Version):
            context, schema_id = context_of(version.subject), version.schema_id
        elif _ID_MARK in record.key and record.value is not None:
            # A subject may have this name, too.
            if records.decode_key(record.key).keytype != records.ID_MARK:
                continue
            value = orjson.loads(record.value)
            context, schema_id = value["context"], value["maxId"]
        else:
            continue
        highest[context] = max(schema_id, highest.get(context, 0))
    return highest


def _parsed(content: bytes, boot: str, path: Path) -> tuple[Highest, Highest, bool]:
    """Return the highest ids that are reserved and that were given, by context, and whether they are exactly known."""
    reserved: Highest = {}
    given: Highest = {}
    is_exact = True
    for number, raw in enumerate(content.splitlines(), 1):
        if not raw:
            continue
        try:
            line: dict[str, Any] = orjson.loads(raw)
            for table, name in ((reserved, "reserved"), (given, "given")):
                for context, last in line.get(name, {}).items():
                    table[context] = max(int(last), table.get(context, 0))
        except (ValueError, AttributeError, TypeError):
            # What is behind a line that was cut by a loss of power was not synced either.
            log.warning(
                "line %d of %s can't be read",
                number,
                path,
                extra={"event": "reserved_ids_unreadable", "file": str(path), "line": number},
            )
            is_exact = False
            continue
        if "boot" in line:
            is_exact = line["boot"] == boot
        elif line.get("closed"):
            is_exact = True
    return reserved, given, is_exact


def _line(**fields: Any) -> bytes:
    # The line break comes first: after a line that was cut, because the disk was full, a whole line begins.
    return b"\n" + orjson.dumps(fields)


def _boot_id() -> str:
    """The id of the machine's current run; random if the system has none, so that nothing unsynced is trusted."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return os.urandom(16).hex()


def _write(file: int, content: bytes) -> None:
    if os.write(file, content) != len(content):
        raise OSError("the file system is full")


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
