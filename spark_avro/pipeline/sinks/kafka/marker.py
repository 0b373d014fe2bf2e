"""The marker of the last batch in Kafka: a record of a compacted topic, written in the batch's transaction."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

import orjson
from confluent_kafka import Consumer, IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from magicbyte.kit.kafka.client_settings import Config
from spark_avro.pipeline.ports import BatchIdentity, SinkRefused
from spark_avro.pipeline.sinks.identity import Ranges, source_ranges

#: The compacted topic of all pipelines' markers.
MARKERS = "_magicbyte_pipelines"

#: The partitions of a new topic: a marker cannot be read while another pipeline's transaction is open before it.
_PARTITIONS = 16

#: How long to wait for a broker, and for other pipelines' open transactions, in seconds.
_REQUEST_SECONDS = 30.0
_OPEN_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class Marker:
    """The last batch of a pipeline in Kafka.

    Attributes:
        query: Spark's id of the query.
        batch: The number of the batch.
        rows: The number of its records.
        ranges: Its source offsets: topic, partition, start, end.
    """

    query: str
    batch: int
    rows: int
    ranges: Ranges

    def value(self) -> bytes:
        """The value of the marker's record; its key is the pipeline's name."""
        return orjson.dumps(asdict(self))


def marker_of(batch: BatchIdentity, rows: int) -> Marker:
    """The marker of a batch with this number of records."""
    return Marker(batch.query_id, batch.number, rows, source_ranges(batch))


class Markers:
    """The topic of markers, as a pipeline's driver reads it."""

    def __init__(self, client: Config, name: str) -> None:
        self._client, self._name = client, name
        self._admin = AdminClient(client)

    def prepare(self) -> int:
        """Create the topic if it is missing, and return the pipeline's partition.

        Raises:
            KafkaException: No broker answers, or it refuses.
        """
        partitions = self._partitions()
        if not partitions:
            create_topic(self._admin, NewTopic(MARKERS, _PARTITIONS, -1, config={"cleanup.policy": "compact"}))
            deadline = time.monotonic() + _REQUEST_SECONDS
            while not (partitions := self._partitions()):
                if time.monotonic() > deadline:
                    raise SinkRefused(f"the topic {MARKERS} was created, and no broker knows it")
                time.sleep(0.1)
        return self._of(partitions)

    def partition(self) -> int | None:
        """The pipeline's partition; None if the topic does not exist.

        Raises:
            KafkaException: No broker answers.
        """
        partitions = self._partitions()
        return self._of(partitions) if partitions else None

    def read(self, partition: int) -> Marker | None:
        """The pipeline's last committed marker; None if there is none.

        Reads records up to the high watermark, because a marker may follow another pipeline's open transaction.

        Raises:
            KafkaException: No broker answers, or it refuses.
            SinkRefused: Another pipeline's transaction stays open, or a marker cannot be read.
        """
        place = TopicPartition(MARKERS, partition)
        uncommitted = self._admin.list_offsets(
            {place: OffsetSpec.latest()},
            isolation_level=IsolationLevel.READ_UNCOMMITTED,
            request_timeout=_REQUEST_SECONDS,
        )
        end = uncommitted[place].result().offset
        with reading(self._client, self._name, partition) as consumer:
            return self._last(consumer, end)

    def _last(self, consumer: Consumer, end: int) -> Marker | None:
        value: bytes | None = None
        deadline = time.monotonic() + _OPEN_SECONDS
        while end > 0:
            message = consumer.poll(1.0)
            if message is None:
                if time.monotonic() > deadline:
                    raise SinkRefused(f"{MARKERS}: a transaction of another pipeline stays open; stop that pipeline")
                continue
            error = message.error()
            if error is None:
                if message.key() == self._name.encode():
                    value = message.value()
            elif error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 - the library's public name of a local error
                raise KafkaException(error)
            elif message.offset() >= end:
                break
        if value is None:
            return None
        try:
            return Marker(**orjson.loads(value))
        except (orjson.JSONDecodeError, TypeError) as error:
            raise SinkRefused(f"{MARKERS}: the marker of {self._name} cannot be read: {value[:200]!r}") from error

    def _of(self, partitions: int) -> int:
        return zlib.crc32(self._name.encode()) % partitions

    def _partitions(self) -> int:
        topics = self._admin.list_topics(timeout=_REQUEST_SECONDS).topics
        return len(topics[MARKERS].partitions) if MARKERS in topics else 0


@contextmanager
def reading(client: Config, name: str, partition: int) -> Iterator[Consumer]:
    """Open a consumer of a partition's committed records, from the first one; it reports the partition's end.

    Args:
        client: The properties of the consumer.
        name: The pipeline's name.
        partition: The partition of the markers' topic.
    """
    group = {"group.id": f"magicbyte-pipeline-{name}", "enable.auto.commit": False}
    consumer = Consumer({**client, **group, "isolation.level": "read_committed", "enable.partition.eof": True})
    try:
        consumer.assign([TopicPartition(MARKERS, partition, 0)])
        yield consumer
    finally:
        consumer.close()


def create_topic(admin: AdminClient, topic: NewTopic) -> None:
    """Create a topic unless it exists.

    Raises:
        KafkaException: The broker refuses.
    """
    try:
        admin.create_topics([topic], request_timeout=_REQUEST_SECONDS)[topic.topic].result()
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise
