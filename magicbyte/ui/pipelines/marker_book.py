"""The markers of Kafka sinks, their owners, and the changes of schemas, from the records of the markers' topic.

Pipelines write them in `spark_avro/pipeline/sinks/kafka/query_records.py` and `spark_avro/pipeline/batch/changes.py`.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec

from magicbyte.ui.messages.scan_request import ScannedRecord
from magicbyte.ui.pipelines.bounded_records import BoundedRecords

#: The topic of all pipelines' markers.
MARKERS = "_magicbyte_pipelines"

_MARKER, _OWNER, _CHANGE = "_marker/", "_owner/", "/change/"
#: Begins the query ids of backfills, which are no pipeline's progress.
_BACKFILL = "bf-"
#: The number of the driver's writer; those of executors begin with 1.
_DRIVER = 0
#: Longer keys and values are no pipeline's, in characters of base64.
_LONGEST = 1 << 18


class _Marker(msgspec.Struct, gc=False):
    batch: int
    written: int
    refused: int = 0
    late: int = 0
    ranges: list[tuple[str, int, int, int]] = []
    ends: list[tuple[str, int, int]] = []


class _Owner(msgspec.Struct, gc=False):
    query: str
    writers: int = 0
    #: The marker before the query got so many writers.
    before: str | None = None


class _Change(msgspec.Struct, gc=False):
    time: str
    query: str
    batch: int
    schemas: dict[str, int | None] = {}
    statements: list[str] = []


@dataclass(frozen=True, slots=True)
class Written:
    """The last batch of a writer in a topic.

    Attributes:
        batch: Its number.
        time: When it was written, in ms since 1970; None if the broker does not say.
        written: How many rows the writer wrote.
        refused: How many of them became dead letters.
        ends: The next offset of the source, by topic and partition.
    """

    batch: int
    time: int | None
    written: int
    refused: int
    ends: Mapping[tuple[str, int], int]


@dataclass(frozen=True, slots=True)
class SinkMarker:
    """The last batch in a Kafka sink.

    Attributes:
        sink: The topic, or the expression that names it.
        query: The query's id.
        writers: How many writers the query has.
        behind: How many of them have not written the batch.
        last: The batch; rows are those of all its writers.
    """

    sink: str
    query: str
    writers: int
    behind: int
    last: Written


@dataclass(frozen=True, slots=True)
class LastChange:
    """The last change of schemas or columns.

    Attributes:
        time: When it was posted, in ms since 1970; None if it cannot be read.
        batch: The batch that brought it.
        schemas: The version by schema id, None if it has none.
        statements: What changed the targets, such as ALTER TABLE.
    """

    time: int | None
    batch: int
    schemas: Mapping[str, int | None]
    statements: tuple[str, ...]


class MarkerBook:
    """The last record of each key.

    Attributes:
        unreadable: How many records were not as pipelines write them.
    """

    def __init__(self) -> None:
        """Begin without records."""
        self.unreadable = 0
        self._markers = BoundedRecords[tuple[str, str, int], Written]()
        self._owners = BoundedRecords[tuple[str, str], tuple[int, _Owner]]()
        self._changes = BoundedRecords[str, LastChange]()

    def add(self, record: ScannedRecord) -> None:
        """Add a record; those of a partition come in the order of their offsets."""
        # A record without a value is the end of its key, which pipelines do not write.
        if record.key is None or record.value is None:
            return
        try:
            key, value = _bytes(record.key).decode(), _bytes(record.value)
            if key.startswith(_MARKER):
                self._add_marker(key.removeprefix(_MARKER), value, record.timestamp)
            elif key.startswith(_OWNER):
                self._add_owner(key.removeprefix(_OWNER), value, record.timestamp or 0)
            elif _CHANGE in key:
                self._add_change(key.partition(_CHANGE)[0], value)
        except (ValueError, RecursionError):
            self.unreadable += 1

    def sinks(self) -> dict[str, list[SinkMarker]]:
        """The last batch in each Kafka sink of each pipeline, by the sinks' names."""
        found: dict[str, list[SinkMarker]] = {}
        for pipeline, sink in sorted(self._owners):
            owner = self._owners.get((pipeline, sink))
            if owner is not None and (marker := self._of_sink(sink, owner[1])) is not None:
                found.setdefault(pipeline, []).append(marker)
        return found

    def changes(self) -> dict[str, LastChange]:
        """The last change of each pipeline."""
        return {pipeline: change for pipeline in self._changes if (change := self._changes.get(pipeline)) is not None}

    def _of_sink(self, sink: str, owner: _Owner) -> SinkMarker | None:
        numbers = range(1, owner.writers + 1) if owner.writers else (_DRIVER,)
        parts = [part for number in numbers if (part := self._markers.get((owner.query, sink, number))) is not None]
        if not parts and owner.before is not None:
            parts = [_written(msgspec.json.decode(owner.before, type=_Marker), None)] * len(numbers)
        if not parts:
            return None
        newest = max(part.batch for part in parts)
        done = [part for part in parts if part.batch == newest]
        times = [part.time for part in done if part.time is not None]
        rows, refused = sum(part.written for part in done), sum(part.refused for part in done)
        last = Written(newest, max(times, default=None), rows, refused, done[0].ends)
        return SinkMarker(sink, owner.query, len(numbers), len(numbers) - len(done), last)

    def _add_marker(self, key: str, value: bytes, time: int | None) -> None:
        query, _, rest = key.partition("/")
        number, _, sink = rest.partition("/")
        if query.startswith(_BACKFILL):
            return
        marker = msgspec.json.decode(value, type=_Marker)
        place = (query, sink, int(number))
        before = self._markers.get(place)
        # A key has records in several partitions if partitions were added.
        if before is None or before.batch <= marker.batch:
            self._markers.put(place, _written(marker, time), len(key) + len(value))

    def _add_owner(self, key: str, value: bytes, time: int) -> None:
        pipeline, _, sink = key.partition("/")
        if sink.startswith(_BACKFILL):
            return
        owner = msgspec.json.decode(value, type=_Owner)
        if owner.before is not None:
            msgspec.json.decode(owner.before, type=_Marker)
        before = self._owners.get((pipeline, sink))
        if before is None or before[0] <= time:
            self._owners.put((pipeline, sink), (time, owner), len(key) + len(value))

    def _add_change(self, pipeline: str, value: bytes) -> None:
        change = msgspec.json.decode(value, type=_Change)
        posted = LastChange(_milliseconds(change.time), change.batch, change.schemas, tuple(change.statements))
        before = self._changes.get(pipeline)
        if before is None or (before.time or 0, before.batch) <= (posted.time or 0, posted.batch):
            self._changes.put(pipeline, posted, len(pipeline) + len(value))


def _written(marker: _Marker, time: int | None) -> Written:
    ends = {(topic, partition): end for topic, partition, end in marker.ends}
    ends |= {(topic, partition): end for topic, partition, _, end in marker.ranges}
    return Written(marker.batch, time, marker.written, marker.refused, ends)


def _bytes(data: str) -> bytes:
    if len(data) > _LONGEST:
        raise ValueError("longer than a pipeline's")
    return base64.b64decode(data, validate=True)


def _milliseconds(time: str) -> int | None:
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
