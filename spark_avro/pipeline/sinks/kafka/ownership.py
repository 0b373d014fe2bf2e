"""The start of a topic's writers: they fence their predecessors, their query becomes the owner, and markers are read.

A writer's transactional id is made of query, sink and number, so a zombie is fenced although the pipeline was renamed.
The owner record keeps two checkpoints of one pipeline apart. It is changed under the pipeline's own transactional id:
two drivers with new checkpoints cannot both become the owner.

The owner record also says how many writers the query has. Another number counts from a batch that all of the former
ones have written; its marker is in the record until each of the new ones has one of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from confluent_kafka import Producer

from magicbyte.kit.kafka.client_settings import Config
from spark_avro.pipeline.ports import BatchIdentity
from spark_avro.pipeline.sinks.kafka.markers_topic import MARKERS, MarkersTopic
from spark_avro.pipeline.sinks.kafka.producing import TRANSACTION_SECONDS, started_producer
from spark_avro.pipeline.sinks.kafka.query_records import (
    DRIVER,
    Owner,
    QueryRecords,
    StageRecord,
    agreed,
    marker_key,
    numbers,
)
from spark_avro.pipeline.sinks.marker import Marker, MarkerKey, foreign_checkpoint, is_backfill

#: The prefix of transactional ids.
_ID = "magicbyte-pipeline-"


@dataclass(frozen=True, slots=True)
class StartedWriter:
    """A writer whose predecessors are fenced.

    Attributes:
        number: Its number: DRIVER, or from 1.
        transactional_id: The id of its producer.
        marker: Its last batch; None if there is none.
        key: The key of the marker's record.
        partition: The partition of the marker's record.
        since: An offset of that partition: no later record of the key was there when the marker was read.
    """

    number: int
    transactional_id: str
    marker: Marker | None
    key: str
    partition: int
    since: int = 0


@dataclass(frozen=True, slots=True)
class Started:
    """The writers of a query.

    Attributes:
        producer: A producer under the id of the driver's writer.
        writers: The writers: the driver's, or those of executors.
        owner: The key of the record that names the owner, and its partition.
        stage: The division of the last batch of writers on executors; None if there was none.
    """

    producer: Producer
    writers: tuple[StartedWriter, ...]
    owner: tuple[str, int]
    stage: StageRecord | None = None

    def note_stage(self, stage: StageRecord, batch: BatchIdentity, sink: str) -> None:
        """Note the division of a batch, before its first writer begins.

        Raises:
            KafkaException: Another driver has taken over, or no broker answers.
        """
        self.producer.begin_transaction()
        _, partition = self.owner
        self.producer.produce(MARKERS, stage.value(), StageRecord.key(batch, sink).encode(), partition=partition)
        self.producer.commit_transaction(TRANSACTION_SECONDS)


@dataclass(frozen=True, slots=True)
class Start:
    """The start of a query's writers.

    Attributes:
        client: The properties of consumers and of the admin client.
        producing: The properties of the producer.
        topic: The topic's name in the marker's key.
        shown: The topic's name in errors.
        adopt: Whether a topic that another query owns is taken over.
        writers: How many writers on executors; 0 if the driver writes, None for as many as before.
        slots: How many there are if the query has none yet.
    """

    client: Config
    producing: Config
    topic: str
    shown: str
    adopt: bool
    writers: int | None = 0
    slots: int = 1

    def run(self, batch: BatchIdentity) -> Started:
        """Start the writers of a batch's query.

        Raises:
            ForeignCheckpoint: Another query of the pipeline owns the topic.
            KafkaException: No broker answers, or it refuses.
            SinkRefused: A batch of another number of writers is not whole.
        """
        topic = MarkersTopic(self.client, batch.pipeline)
        topic.prepare()
        # Fence other drivers that are about to become the owner, before the owner is read.
        claim = self._producer(batch.pipeline if not is_backfill(batch) else f"{batch.pipeline}/{batch.query_id}")
        # Fence predecessors before the owner is read: a driver that adopts the topic first writes the owner, and then
        # fences the former one.
        producer = self._producer(str(MarkerKey(batch.query_id, self.topic, DRIVER)))
        records = QueryRecords.read(topic, batch, self.topic)
        former = records.owner.writers if records.owner.query_id == batch.query_id else 0
        writers = (former or self.slots) if self.writers is None else self.writers
        ends: dict[int, int] = {}
        if writers or former:
            known = numbers(max(writers, former))
            for number in known:
                self._producer(str(MarkerKey(batch.query_id, self.topic, number))).purge()
            # Before the markers: a record that comes now is looked at again by the writer.
            ends = topic.ends()
            keys = (marker_key(batch, self.topic, number) for number in known)
            found = topic.last(*keys, StageRecord.key(batch, self.topic))
            records = replace(records, found={**records.found, **found})
        before = self._own(claim, batch, records, former, writers)
        claim.purge()
        started = tuple(self._started(topic, batch, records, number, before, ends) for number in numbers(writers))
        owner = (Owner.key(batch, self.topic), records.owner.partition)
        return Started(producer, started, owner, records.stage(batch, self.topic))

    def _started(
        self,
        topic: MarkersTopic,
        batch: BatchIdentity,
        records: QueryRecords,
        number: int,
        before: Marker | None,
        ends: Mapping[int, int],
    ) -> StartedWriter:
        name = str(MarkerKey(batch.query_id, self.topic, number))
        partition = records.partition(batch, self.topic, number)
        if partition is None:
            # A writer on an executor reads its marker and the owner together.
            partition = topic.partition(batch.query_id) if number == DRIVER else records.owner.partition
        marker = records.marker(batch, self.topic, number, before)
        key = marker_key(batch, self.topic, number)
        return StartedWriter(number, f"{_ID}{name}", marker, key, partition, ends.get(partition, 0))

    def _own(
        self, claim: Producer, batch: BatchIdentity, records: QueryRecords, former: int, writers: int
    ) -> Marker | None:
        """Become the owner of the topic, or refuse if another query is.

        Returns:
            The marker of the last batch of another number of writers; None if there was none.
        """
        owner = records.owner
        is_ours = owner.query_id == batch.query_id
        before = owner.before if is_ours else None
        if former != writers:
            markers = (records.marker(batch, self.topic, number, before) for number in numbers(former))
            before = agreed(markers, self.shown, f"run with {_layout(former)} until the batch is whole")
        if is_ours and former == writers:
            return before
        foreign = owner.query_id is not None and not is_ours
        if foreign and not self.adopt:
            raise foreign_checkpoint(self.shown, str(owner.query_id), batch)
        value = Owner(batch.query_id, writers, before, owner.partition).value()
        claim.begin_transaction()
        key = Owner.key(batch, self.topic).encode()
        claim.produce(MARKERS, value, key, partition=owner.partition)
        claim.commit_transaction(TRANSACTION_SECONDS)
        if foreign:
            # The former owner's driver and writers may still run.
            for number in {DRIVER, *numbers(owner.writers)}:
                self._producer(str(MarkerKey(str(owner.query_id), self.topic, number))).purge()
        return before

    def _producer(self, name: str) -> Producer:
        """A producer; earlier producers of this name are fenced, and their open transactions aborted."""
        return started_producer(self.producing, f"{_ID}{name}")


def _layout(writers: int) -> str:
    """The settings of so many writers."""
    return f"sink.kafka.via: executors and writers: {writers}" if writers else "sink.kafka.via: driver"
