"""The port of sources: all have a state, and those with a log have its records, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from msgspec import Struct

from magicbyte.operations.state import State
from registry.log.port import LogEntry

#: A record's headers: names and values, in order; a value may be None.
Headers = tuple[tuple[str, bytes | None], ...]


class RawRecord(Struct, frozen=True, gc=False):
    """A record of a log, byte for byte.

    Attributes:
        offset: Its offset; it grows from record to record, not always by one. In a file without offsets, its number
            from 0.
        timestamp: In ms since the epoch; 0 if the source has none.
        key: Its key.
        value: Its value; None for a tombstone.
        headers: Its headers.
    """

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()

    @property
    def entry(self) -> LogEntry:
        """The record as a registry reads it."""
        return LogEntry(self.offset, self.key, self.value, self.timestamp)


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a state.

    Attributes:
        name: The source as the user named it, without secrets.
        vendor: `magicbyte`, `confluent`, `karapace`, ...; empty if it is not known.
        version: The version of that server, or of the tool that wrote the file.
        offset: The offset up to which its log was read; None without one.
        cluster_ids: Such as `kafka` -> the id of the Kafka cluster.
        defaults: The effective settings of the server where it has none of its own, such as `compatibilityLevel`.
    """

    name: str
    vendor: str = ""
    version: str = ""
    offset: int | None = None
    cluster_ids: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """A state that was read as a whole.

    Attributes:
        state: The state.
        origin: Where it was read.
        notes: What the source could not tell, each a sentence for the user.
        withheld: What the source did not show to this user, with the right that it takes; each a sentence. The state
            is not the whole one if there is any.
    """

    state: State
    origin: Origin
    notes: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """All that the user has to know of it, each a sentence."""
        return (*self.notes, *not_shown(self.origin.name, self.withheld))


def not_shown(name: str, withheld: Sequence[str]) -> tuple[str, ...]:
    """Return the parts that a source did not show, as sentences that name it."""
    return tuple(f"{name} does not show everything: {one}" for one in withheld)


class Source(Protocol):
    """A registry or a file whose state can be read; a context manager that closes its connections."""

    @property
    def name(self) -> str:
        """The source as the user named it, without secrets."""

    def read(self) -> Reading:
        """Read the whole state.

        Raises:
            Unreachable: The source does not answer, or refuses the client.
            Unreadable: A file is cut or was changed.
            Failure: The source has no state that can be read.
        """

    def close(self) -> None:
        """Close connections and files."""

    def __enter__(self) -> Self:
        """Return this source."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Close connections and files."""


@runtime_checkable
class RawSource(Source, Protocol):
    """A source with the records of a log: a topic, a database, or a file of records."""

    def records(self) -> Iterator[RawRecord]:
        """Yield all committed records in order.

        Raises:
            Unreachable, Unreadable: As for `read`.
        """

    def topic_configs(self) -> Mapping[str, str]:
        """The topic's settings by Kafka's names, with `partitions` and `replication.factor`; empty if unknown."""

    def origin(self) -> Origin:
        """Return the origin of the records, without the offset up to which they were read.

        Raises:
            Unreachable, Unreadable: As for `read`.
        """

    def notes(self) -> tuple[str, ...]:
        """Return the facts that the records' form cannot tell, or has lost, each a sentence.

        Raises:
            Unreadable: As for `read`.
        """
