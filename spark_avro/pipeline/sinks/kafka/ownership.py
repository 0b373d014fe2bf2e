"""The start of a topic's writer: it fences its predecessors, becomes the owner of the topic, and reads its marker.

A writer's transactional id is made of query, sink and number, so a zombie is fenced although the pipeline was renamed.
The owner record keeps two checkpoints of one pipeline apart. It is changed under the pipeline's own transactional id:
two drivers with new checkpoints cannot both become the owner, and drivers of earlier releases, which wrote rows under
that id, are fenced too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import orjson
from confluent_kafka import Producer

from magicbyte.kit.kafka.client_settings import Config
from spark_avro.pipeline.ports import BatchIdentity, SinkRefused
from spark_avro.pipeline.sinks.kafka.markers_topic import MARKERS, Kept, MarkersTopic
from spark_avro.pipeline.sinks.marker import (
    Marker,
    MarkerKey,
    earlier_marker,
    foreign_checkpoint,
    is_backfill,
    read_marker,
)

TRANSACTION_SECONDS = 120.0

#: The prefix of transactional ids.
_ID = "magicbyte-pipeline-"

#: What begins the keys of markers and owners; no pipeline's name has a `_`. In earlier releases, a marker's key was
#: the pipeline's name, and that of a backfill's marker `<name>/<query id>`.
_MARKER, _OWNER = "_marker/", "_owner/"


@dataclass(frozen=True, slots=True)
class Started:
    """A writer that has started.

    Attributes:
        producer: The producer; its predecessors are fenced.
        marker: The last batch; None if there is none.
        key: The key of the marker's record.
        partition: The partition of the marker's record.
    """

    producer: Producer
    marker: Marker | None
    key: str
    partition: int


@dataclass(frozen=True, slots=True)
class Start:
    """The start of a writer.

    Attributes:
        client: The properties of consumers and of the admin client.
        producing: The properties of the producer.
        topic: The topic's name in the marker's key.
        shown: The topic's name in errors.
        adopt: Whether a topic that another query owns is taken over.
    """

    client: Config
    producing: Config
    topic: str
    shown: str
    adopt: bool

    def run(self, batch: BatchIdentity) -> Started:
        """Start the writer of a batch's query.

        Raises:
            ForeignCheckpoint: Another query of the pipeline owns the topic.
            KafkaException: No broker answers, or it refuses.
        """
        topic = MarkersTopic(self.client, batch.pipeline)
        topic.prepare()
        key = MarkerKey(batch.query_id, self.topic)
        # Take over from drivers of earlier releases before their last marker is read.
        claim = self._producer(batch.pipeline if not is_backfill(batch) else f"{batch.pipeline}/{batch.query_id}")
        # Fence predecessors before the owner is read: a driver that adopts the topic first writes the owner, and then
        # fences the former one.
        producer = self._producer(str(key))
        records = _Records.read(topic, batch, key)
        if not is_backfill(batch):
            self._own(claim, batch, records)
        claim.purge()
        return Started(producer, records.marker, f"{_MARKER}{key}", records.marker_partition)

    def _own(self, claim: Producer, batch: BatchIdentity, records: _Records) -> None:
        """Become the owner of the topic, or refuse if another query is."""
        if records.owner == batch.query_id and records.is_noted:
            return
        foreign = records.owner is not None and records.owner != batch.query_id
        if foreign and not self.adopt:
            raise foreign_checkpoint(self.shown, str(records.owner), batch)
        owner = orjson.dumps({"query": batch.query_id})
        claim.begin_transaction()
        key = f"{_OWNER}{batch.pipeline}/{self.topic}".encode()
        claim.produce(MARKERS, owner, key, partition=records.owner_partition)
        claim.commit_transaction(TRANSACTION_SECONDS)
        if foreign:
            # The former owner's driver may still run.
            self._producer(str(MarkerKey(str(records.owner), self.topic))).purge()

    def _producer(self, name: str) -> Producer:
        """A producer; earlier producers of this name are fenced, and their open transactions aborted."""
        producer = Producer({**self.producing, "transactional.id": f"{_ID}{name}"})
        producer.init_transactions(TRANSACTION_SECONDS)
        return producer


@dataclass(frozen=True, slots=True)
class _Records:
    """The records of a writer in the topic of markers.

    Attributes:
        marker: The last batch of the query; None if there is none.
        marker_partition: The partition of its record, or of the first one.
        owner: The query that writes the pipeline's rows to the topic; None if there is none.
        owner_partition: The partition of its record, or of the first one.
        is_noted: Whether the owner has a record of its own; earlier releases had only the marker.
    """

    marker: Marker | None
    marker_partition: int
    owner: str | None
    owner_partition: int
    is_noted: bool

    @classmethod
    def read(cls, topic: MarkersTopic, batch: BatchIdentity, key: MarkerKey) -> _Records:
        """Read the records that concern a batch's query.

        Raises:
            SinkRefused: A record cannot be read.
        """
        marker_key, owner_key = f"{_MARKER}{key}", f"{_OWNER}{batch.pipeline}/{key.sink}"
        earlier_key = f"{batch.pipeline}/{batch.query_id}" if is_backfill(batch) else batch.pipeline
        found = topic.last(marker_key, owner_key, earlier_key)
        # A key has records in several partitions if an earlier release wrote them while partitions were added.
        markers = [
            (read_marker(record.value, f"{MARKERS}, {marker_key}"), record.partition)
            for record in found.get(marker_key, ())
        ]
        owner_record, earlier_record = (_latest(found.get(name, ())) for name in (owner_key, earlier_key))
        earlier_query, earlier = (None, None) if earlier_record is None else _earlier(earlier_record.value, earlier_key)
        marker = earlier if earlier_query == batch.query_id else None
        marker, marker_partition = max(
            markers, key=lambda found: found[0].batch, default=(marker, topic.partition(batch.query_id))
        )
        if owner_record is None:
            return cls(marker, marker_partition, earlier_query, topic.partition(batch.pipeline), is_noted=False)
        owner = _owner(owner_record.value, owner_key)
        return cls(marker, marker_partition, owner, owner_record.partition, is_noted=True)


def _latest(records: Iterable[Kept]) -> Kept | None:
    return max(records, key=lambda record: record.time, default=None)


def _owner(value: bytes, key: str) -> str:
    try:
        return str(orjson.loads(value)["query"])
    except (orjson.JSONDecodeError, LookupError, TypeError) as error:
        raise SinkRefused(f"{MARKERS}: the owner {key} cannot be read: {value[:200]!r}") from error


def _earlier(value: bytes, key: str) -> tuple[str, Marker]:
    """The query and the marker of a record of an earlier release."""
    try:
        record = orjson.loads(value)
        return str(record["query"]), earlier_marker(record["batch"], record["rows"], record["ranges"])
    except (orjson.JSONDecodeError, LookupError, TypeError) as error:
        raise SinkRefused(f"{MARKERS}: the marker of {key} cannot be read: {value[:200]!r}") from error
