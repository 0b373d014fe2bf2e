"""The records of a query in the topic of markers: its writers' markers, and who owns the topic it writes to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import orjson

from spark_avro.pipeline.ports import BatchIdentity, SinkRefused
from spark_avro.pipeline.sinks.kafka.division import Division
from spark_avro.pipeline.sinks.kafka.markers_topic import MARKERS, Kept, MarkersTopic
from spark_avro.pipeline.sinks.marker import Marker, MarkerKey, is_backfill, read_marker

#: What begins the keys of markers, owners and stages; no pipeline's name has a `_`.
_MARKER, _OWNER, _STAGE = "_marker/", "_owner/", "_stage/"

#: The number of the driver's own writer; those of executors begin with 1.
DRIVER = 0


def numbers(writers: int) -> tuple[int, ...]:
    """The numbers of the writers of a layout: of so many on executors, or of the driver's for 0."""
    return tuple(range(1, writers + 1)) or (DRIVER,)


def marker_key(batch: BatchIdentity, sink: str, number: int) -> str:
    """The key of a writer's marker."""
    return f"{_MARKER}{MarkerKey(batch.query_id, sink, number)}"


@dataclass(frozen=True, slots=True)
class Owner:
    """The query that writes a pipeline's rows to a topic.

    Attributes:
        query_id: The query; None if there is none.
        writers: How many writers on executors it has; 0 if the driver writes.
        before: The marker of the last batch before the query got so many writers; None if it always had them.
        partition: The partition of the record, or of the first one.
    """

    query_id: str | None
    writers: int
    before: Marker | None
    partition: int

    @staticmethod
    def key(batch: BatchIdentity, sink: str) -> str:
        """The key of the record; a backfill owns nothing, but has a record of its writers."""
        own = f"{batch.query_id}/" if is_backfill(batch) else ""
        return f"{_OWNER}{batch.pipeline}/{own}{sink}"

    def value(self) -> bytes:
        """The record's value."""
        before = {} if self.before is None else {"before": self.before.text()}
        writers = {"writers": self.writers} if self.writers else {}
        return orjson.dumps({"query": self.query_id, **writers, **before})


@dataclass(frozen=True, slots=True)
class StageRecord:
    """The division of a batch among writers, and the folder of its stored records.

    Attributes:
        marker: The marker of the batch, with the numbers of stored records that the topic takes and does not take.
        writers: How many writers there are.
        division: What decides a record's writer.
        attempt: The name of the folder with the stored records; empty if none are.
        stored: The writers whose records are stored.
    """

    marker: Marker
    writers: int
    division: Division
    attempt: str = ""
    stored: tuple[int, ...] = ()

    @staticmethod
    def key(batch: BatchIdentity, sink: str) -> str:
        """The key of the record."""
        return f"{_STAGE}{MarkerKey(batch.query_id, sink)}"

    def value(self) -> bytes:
        """The record's value."""
        return orjson.dumps(
            {
                "attempt": self.attempt,
                "marker": self.marker.text(),
                "writers": self.writers,
                "by": self.division,
                "stored": self.stored,
            }
        )

    @classmethod
    def read(cls, value: bytes, place: str) -> StageRecord:
        """The record with a value.

        Args:
            value: The value.
            place: The record's topic and key, for the error.

        Raises:
            SinkRefused: It cannot be read.
        """
        try:
            record = orjson.loads(value)
            attempt, marker = str(record["attempt"]), read_marker(record["marker"], place)
            if "writers" not in record:
                # Earlier releases stored all records, and a folder's name began with the number of writers.
                writers = int(attempt.partition("-")[0])
                return cls(marker, writers, Division.BY_KEY, attempt, numbers(writers))
            stored = tuple(int(number) for number in record["stored"])
            return cls(marker, int(record["writers"]), Division(record["by"]), attempt, stored)
        except (orjson.JSONDecodeError, LookupError, TypeError, ValueError) as error:
            raise SinkRefused(f"{place}: the stage cannot be read: {value[:200]!r}") from error


@dataclass(frozen=True, slots=True)
class QueryRecords:
    """The records of a query in the topic of markers.

    Attributes:
        owner: The owner of the topic that the query writes to.
        found: The last records by key.
    """

    owner: Owner
    found: Mapping[str, list[Kept]]

    @classmethod
    def read(cls, topic: MarkersTopic, batch: BatchIdentity, sink: str) -> QueryRecords:
        """Read the owner and the marker of the driver's writer.

        Raises:
            SinkRefused: A record cannot be read.
        """
        owner_key = Owner.key(batch, sink)
        found = topic.last(marker_key(batch, sink, DRIVER), owner_key)
        record = _latest(found.get(owner_key, ()))
        if record is not None:
            return cls(read_owner(record.value, owner_key, record.partition), found)
        query = batch.query_id if is_backfill(batch) else None
        return cls(Owner(query, 0, None, topic.partition(batch.pipeline)), found)

    def marker(self, batch: BatchIdentity, sink: str, number: int, before: Marker | None) -> Marker | None:
        """A writer's last marker; None if it wrote no batch.

        Args:
            batch: A batch of the query.
            sink: The sink's name in the keys of markers.
            number: The writer.
            before: The marker of the last batch before the query got so many writers.

        Raises:
            SinkRefused: A record cannot be read.
        """
        key = marker_key(batch, sink, number)
        markers = [read_marker(record.value, f"{MARKERS}, {key}") for record in self.found.get(key, ())]
        if before is not None and number > 1:
            # The first writer counts its rows.
            before = replace(before, written=0, refused=0, late=0)
        return newest(*markers, before)

    def stage(self, batch: BatchIdentity, sink: str) -> StageRecord | None:
        """The division of the query's last batch; None if the query has none.

        Raises:
            SinkRefused: The record cannot be read.
        """
        key = StageRecord.key(batch, sink)
        record = _latest(self.found.get(key, ()))
        return None if record is None else StageRecord.read(record.value, f"{MARKERS}, {key}")

    def partition(self, batch: BatchIdentity, sink: str, number: int) -> int | None:
        """The partition of a writer's marker; None if it has none yet."""
        key = marker_key(batch, sink, number)
        records = self.found.get(key, ())
        return max(records, key=lambda record: read_marker(record.value, key).batch).partition if records else None


def newest(*markers: Marker | None) -> Marker | None:
    """The marker of the last batch."""
    return max((marker for marker in markers if marker is not None), key=lambda marker: marker.batch, default=None)


def agreed(markers: Iterable[Marker | None], shown: str, remedy: str) -> Marker | None:
    """One marker for a batch that all writers of a query have written; None if none of them has written any.

    Args:
        markers: Their markers.
        shown: The topic's name in errors.
        remedy: What to do about a batch that only some of them have written.

    Raises:
        SinkRefused: Some of them have written a batch that the others have not.
    """
    known = tuple(markers)
    last = newest(*known)
    if last is None:
        return None
    done = [marker for marker in known if marker is not None and marker.batch == last.batch]
    if len(done) < len(known):
        raise SinkRefused(f"{shown}: {len(done)} of {len(known)} writers have written batch {last.batch}; {remedy}")
    written, refused = (sum(getattr(marker, name) for marker in done) for name in ("written", "refused"))
    return replace(last, written=written, refused=refused)


def _latest(records: Iterable[Kept]) -> Kept | None:
    return max(records, key=lambda record: record.time, default=None)


def read_owner(value: bytes, key: str, partition: int) -> Owner:
    """The owner in a record.

    Raises:
        SinkRefused: The record cannot be read.
    """
    try:
        record = orjson.loads(value)
        before = record.get("before")
        marker = None if before is None else read_marker(before, f"{MARKERS}, {key}")
        return Owner(str(record["query"]), int(record.get("writers", 0)), marker, partition)
    except (orjson.JSONDecodeError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise SinkRefused(f"{MARKERS}: the owner {key} cannot be read: {value[:200]!r}") from error
