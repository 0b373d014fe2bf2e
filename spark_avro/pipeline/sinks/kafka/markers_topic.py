"""The topic of markers, owners and changes: a compacted topic that pipelines' transactions write to."""

from __future__ import annotations

import time
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from confluent_kafka import Consumer, IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from magicbyte.kit.kafka.client_settings import Config
from spark_avro.pipeline.ports import SinkRefused

#: The compacted topic of all pipelines' markers.
MARKERS = "_magicbyte_pipelines"

#: The partitions of a new topic: a marker cannot be read while another pipeline's transaction is open before it.
_PARTITIONS = 16

#: How long to wait for a broker, and for other pipelines' open transactions, in seconds.
_REQUEST_SECONDS = 30.0
_OPEN_SECONDS = 180.0


class MarkersTopic:
    """The topic of markers, as a pipeline's driver reads it.

    Args:
        client: The properties of the clients.
        name: The pipeline's name, for the consumer's group.
    """

    def __init__(self, client: Config, name: str) -> None:
        self._client, self._name = client, name
        self._admin = AdminClient(client)
        self._count = 0

    def prepare(self) -> None:
        """Create the topic if it is missing.

        Raises:
            KafkaException: No broker answers, or it refuses.
        """
        if self.exists():
            return
        create_topic(self._admin, NewTopic(MARKERS, _PARTITIONS, -1, config={"cleanup.policy": "compact"}))
        deadline = time.monotonic() + _REQUEST_SECONDS
        while not self.exists():
            if time.monotonic() > deadline:
                raise SinkRefused(f"the topic {MARKERS} was created, and no broker knows it")
            time.sleep(0.1)

    def exists(self) -> bool:
        """Whether the broker has the topic.

        Raises:
            KafkaException: No broker answers.
        """
        topics = self._admin.list_topics(timeout=_REQUEST_SECONDS).topics
        self._count = len(topics[MARKERS].partitions) if MARKERS in topics else 0
        return self._count > 0

    def partition(self, name: str) -> int:
        """The partition for the records of a query or pipeline; `prepare` or `exists` found the topic."""
        return zlib.crc32(name.encode()) % self._count

    def last(self, keys: Mapping[str, int]) -> dict[str, bytes]:
        """The last committed value of each key that has one.

        Reads records up to the high watermarks, because a marker may follow another pipeline's open transaction.

        Args:
            keys: From each key to its partition.

        Raises:
            KafkaException: No broker answers, or it refuses.
            SinkRefused: Another pipeline's transaction stays open.
        """
        partitions = sorted(set(keys.values()))
        latest = {TopicPartition(MARKERS, partition): OffsetSpec.latest() for partition in partitions}
        uncommitted = self._admin.list_offsets(
            latest, isolation_level=IsolationLevel.READ_UNCOMMITTED, request_timeout=_REQUEST_SECONDS
        )
        ends = {place.partition: future.result().offset for place, future in uncommitted.items()}
        with reading(self._client, self._name, partitions) as consumer:
            return _last(consumer, {key.encode(): key for key in keys}, ends)


def _last(consumer: Consumer, keys: Mapping[bytes, str], ends: Mapping[int, int]) -> dict[str, bytes]:
    values: dict[str, bytes] = {}
    unread = {partition for partition, end in ends.items() if end > 0}
    deadline = time.monotonic() + _OPEN_SECONDS
    while unread:
        message = consumer.poll(1.0)
        if message is None:
            if time.monotonic() > deadline:
                raise SinkRefused(f"{MARKERS}: a transaction of another pipeline stays open; stop that pipeline")
            continue
        error, name, value, partition, offset = (
            message.error(),
            keys.get(message.key() or b""),
            message.value(),
            message.partition(),
            message.offset(),
        )
        if error is None:
            if name is not None and value is not None:
                values[name] = value
        elif error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 - the library's public name of a local error
            raise KafkaException(error)
        elif partition is not None and offset is not None and offset >= ends[partition]:
            unread.discard(partition)
    return values


@contextmanager
def reading(client: Config, name: str, partitions: Collection[int]) -> Iterator[Consumer]:
    """Open a consumer of partitions' committed records, from the first ones; it reports each partition's end.

    Args:
        client: The properties of the consumer.
        name: The pipeline's name.
        partitions: The partitions of the markers' topic.
    """
    group = {"group.id": f"magicbyte-pipeline-{name}", "enable.auto.commit": False}
    consumer = Consumer({**client, **group, "isolation.level": "read_committed", "enable.partition.eof": True})
    try:
        consumer.assign([TopicPartition(MARKERS, partition, 0) for partition in partitions])
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
