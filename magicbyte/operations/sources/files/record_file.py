"""Common parts of files of records: such a file is a log without a broker."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from magicbyte.operations.closing import Closing
from magicbyte.operations.failures import Unreadable
from magicbyte.operations.sources.port import Origin, RawRecord, Reading
from magicbyte.operations.state import State
from registry.log.port import LogEntry


class RecordFile(Closing, ABC):
    """A file with the records of a registry's log, written by another tool.

    It is read in pieces, so it needs the memory of its largest record, and of the state if that is wanted. It must not
    change while it is read.

    Args:
        path: The file.
    """

    #: Who wrote it: the vendor of a registry, or a tool.
    vendor = ""
    #: What the form cannot tell, each a sentence.
    form_notes: tuple[str, ...] = ()

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def name(self) -> str:
        """The file's path."""
        return str(self.path)

    def read(self) -> Reading:
        """Read the whole state; see `Source.read`."""
        offset: int | None = None

        def entries() -> Iterator[LogEntry]:
            nonlocal offset
            # What a file that is not whole has made of the state is dropped with the error.
            for record in self._guarded():
                offset = record.offset
                if self.counts(record):
                    yield record.entry

        state = State.of_entries(entries())
        return Reading(state, replace(self.origin(), offset=offset), self.notes())

    def records(self) -> Iterator[RawRecord]:
        """Yield the records that count, after the whole file was checked as far as its form allows.

        A log that holds the others, too, would be read in another way by all registries but the one that wrote it.
        """
        for _ in self._guarded():
            pass
        yield from filter(self.counts, self._guarded())

    @abstractmethod
    def parsed(self) -> Iterator[RawRecord]:
        """Yield the records; what was yielded is valid only if the end is reached.

        Raises:
            Unreadable: The file is cut or was changed; the text says where.
        """

    def counts(self, record: RawRecord, /) -> bool:
        """Tell whether the registry that wrote a record would apply it."""
        del record
        return True

    def origin(self) -> Origin:
        """The file, and who wrote it; see `RawSource.origin`."""
        return Origin(self.name, self.vendor)

    def notes(self) -> tuple[str, ...]:
        """Return notes on facts that the form cannot tell; see `RawSource.notes`."""
        return self.form_notes

    def topic_configs(self) -> Mapping[str, str]:
        """The topic's settings; none unless the form has them. See `RawSource.topic_configs`."""
        return {}

    def _guarded(self) -> Iterator[RawRecord]:
        try:
            yield from self.parsed()
        except Unreadable as error:
            raise Unreadable(f"{self.path} is not whole, and nothing of it is used: {error}") from None
        except OSError as error:
            raise Unreadable(f"{self.path} cannot be read: {error.strerror}") from None
