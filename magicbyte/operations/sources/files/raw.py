"""Raw backups: the records of a registry's log, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from magicbyte.operations.closing import Closing
from magicbyte.operations.failures import Unreadable
from magicbyte.operations.sources.files.closed_lines import closed_lines
from magicbyte.operations.sources.port import Origin, RawRecord, Reading
from magicbyte.operations.state import State
from registry.log.port import LogEntry

#: The manifest's `format`. It is no number, so `POST /import` and older readers cannot take it for an export.
RAW_FORMAT = "raw-1"
#: What a file of this form begins with.
RAW_HEAD = b'{"kind":"manifest","format":"raw-'


class RawLine(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A record as a line: offset, time in ms, key and value in Base64, headers in order."""

    o: int
    t: int
    k: bytes | None
    v: bytes | None
    h: tuple[tuple[str, bytes | None], ...] = ()


_UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError)
_DECODER = msgspec.json.Decoder(RawLine)


class RawFile(Closing):
    """A file with the records of a log.

    Args:
        path: The file; it is read twice, so it must not change meanwhile.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        #: The manifest of the file, once all of it was checked.
        self._checked: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        """The file's path."""
        return str(self._path)

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The manifest, after the whole file was checked.

        Raises:
            Unreadable: The file is cut or was changed.
        """
        if self._checked is None:
            for _ in self._records():
                pass
            with closing(closed_lines(self._path)) as lines:
                self._checked = _manifest(self._path, next(lines))
        return self._checked

    def read(self) -> Reading:
        """Read the whole state; see `Source.read`."""
        offset: int | None = None

        def entries() -> Iterator[LogEntry]:
            nonlocal offset
            for record in self.records():
                offset = record.offset
                yield record.entry

        state = State.of_entries(entries())
        return Reading(state, replace(self.origin(), offset=offset), self.notes())

    def origin(self) -> Origin:
        """Return the origin of the records; see `RawSource.origin`."""
        vendor, version = (str(self.manifest.get(name, "")) for name in ("vendor", "version"))
        return Origin(self.name, vendor, version, None, _texts(self.manifest.get("clusterIds")))

    def notes(self) -> tuple[str, ...]:
        """Return notes on facts that the source of the backup could not tell; see `RawSource.notes`."""
        notes = self.manifest.get("notes")
        return tuple(map(str, notes)) if isinstance(notes, list) else ()

    def records(self) -> Iterator[RawRecord]:
        """Yield all records, after the whole file was checked; see `RawSource.records`."""
        _ = self.manifest
        yield from self._records()

    def topic_configs(self) -> Mapping[str, str]:
        """The topic's settings when the backup was made; see `RawSource.topic_configs`."""
        return _texts(self.manifest.get("topicConfigs"))

    def _records(self) -> Iterator[RawRecord]:
        last = -1
        for number, line in enumerate(closed_lines(self._path), 1):
            if number == 1:
                _manifest(self._path, line)
                continue
            try:
                raw = _DECODER.decode(line)
            except _UNDECODABLE as error:
                raise Unreadable(f"{self._path} cannot be used: line {number} is no record: {error}") from None
            if raw.o <= last:
                raise Unreadable(f"{self._path} cannot be used: offset {raw.o} in line {number} comes after {last}")
            last = raw.o
            yield RawRecord(raw.o, raw.t, raw.k, raw.v, raw.h)


def _manifest(path: Path, line: bytes) -> Mapping[str, Any]:
    value: Any
    try:
        value = msgspec.json.decode(line)
    except _UNDECODABLE as error:
        raise Unreadable(f"{path} cannot be used: its manifest is not JSON: {error}") from None
    found = value.get("format") if isinstance(value, dict) and value.get("kind") == "manifest" else None
    if found != RAW_FORMAT:
        raise Unreadable(f"{path} is of format {found!r}, and this version of Magicbyte reads {RAW_FORMAT!r}")
    return dict(value)


def _texts(value: object) -> Mapping[str, str]:
    return {str(name): str(text) for name, text in value.items()} if isinstance(value, dict) else {}
