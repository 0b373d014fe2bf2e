"""The topic of markers, owners and changes: a compacted topic that pipelines' transactions write to.

A key stays in the partition in which it is found, and all partitions are searched for it. So partitions can be added to
the topic: a key's hash then names another partition, but its records are still found.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from confluent_kafka import Consumer, IsolationLevel, KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, OffsetSpec, ResourceType

from magicbyte.kit.kafka.client_settings import Config
from spark_avro.pipeline.ports import SinkRefused

#: The compacted topic of all pipelines' markers.
MARKERS = "_magicbyte_pipelines"

#: The partitions of a new topic: a marker cannot be read while another pipeline's transaction is open before it.
_PARTITIONS = 16
#: The settings of a new topic. Compaction leaves the newest segment as it is, and each start reads it: keep it small.
_CONFIG = {"cleanup.policy": "compact", "segment.bytes": str(16 * 1024 * 1024)}

#: How long to wait for a broker, and for other pipelines' open transactions, in seconds.
_REQUEST_SECONDS = 30.0
_OPEN_SECONDS = 180.0
#: How many records a consumer returns at a time, and how long it waits for so many.
_CHUNK = 10_000
_WAIT_SECONDS = 0.01
#: The broker does not know the partition's leader, or no longer leads it.
_NO_LEADER = frozenset(
    {
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
    }
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Kept:
    """The last record of a key in a partition.

    Attributes:
        partition: The partition.
        time: Its timestamp, in milliseconds since 1970-01-01.
        value: Its value.
    """

    partition: int
    time: int
    value: bytes


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
        """Create the topic if it is missing, and check that it keeps the last record of each key.

        Raises:
            KafkaException: No broker answers, or it refuses.
            SinkRefused: The topic deletes records, or nobody knows whether it does.
        """
        self.create()
        check_policy(self._admin)

    def create(self) -> None:
        """Create the topic if it is missing.

        Raises:
            KafkaException: No broker answers, or it refuses.
        """
        if self.exists():
            return
        create_topic(self._admin, NewTopic(MARKERS, _PARTITIONS, -1, config=_CONFIG))
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
        """The partition for new keys of a query or pipeline; `prepare` or `exists` found the topic."""
        return zlib.crc32(name.encode()) % self._count

    def starts(self) -> dict[int, int]:
        """Offset 0 of each partition, to read all records."""
        return dict.fromkeys(range(self._count), 0)

    def last(self, *keys: str) -> dict[str, list[Kept]]:
        """The last committed record of each key in each partition that has one.

        Reads records up to the high watermarks, because a marker may follow another pipeline's open transaction. Waits
        for the end of such a transaction only in partitions that have one of the keys.

        Args:
            keys: The keys.

        Raises:
            KafkaException: No broker answers, or it refuses.
            SinkRefused: Another pipeline's transaction stays open.
        """
        wanted = {key.encode(): key for key in keys}
        ends = self.ends()
        first: dict[int, int] = {}
        with reading(self._client, self._name, self.starts(), isolation="read_uncommitted") as consumer:
            for record in _records(consumer, ends):
                if record.key() in wanted:
                    first.setdefault(record.partition(), record.offset())
        found: dict[tuple[bytes, int], Kept] = {}
        with reading(self._client, self._name, first) as consumer:
            for record in _records(consumer, {partition: ends[partition] for partition in first}):
                key, value, partition = record.key(), record.value(), record.partition()
                if key in wanted and value is not None:
                    found[key, partition] = Kept(partition, record.timestamp()[1], value)
        kept: dict[str, list[Kept]] = {}
        for (key, _), record in found.items():
            kept.setdefault(wanted[key], []).append(record)
        return kept

    def ends(self) -> dict[int, int]:
        """The high watermark of each partition: the offset of the next record.

        Raises:
            KafkaException: No broker answers, or it refuses.
        """
        latest = {TopicPartition(MARKERS, partition): OffsetSpec.latest() for partition in self.starts()}

        def ask() -> dict[int, int]:
            uncommitted = self._admin.list_offsets(
                latest, isolation_level=IsolationLevel.READ_UNCOMMITTED, request_timeout=_REQUEST_SECONDS
            )
            return {place.partition: future.result().offset for place, future in uncommitted.items()}

        # The partitions of a new topic get their leaders a moment after the broker lists them.
        return until_known(ask, _NO_LEADER, _REQUEST_SECONDS)


def later_records(
    client: Config, name: str, place: tuple[int, int], keys: Collection[str], is_news: Callable[[str, bytes], bool]
) -> tuple[dict[str, bytes], int]:
    """The last committed news of each key from an offset on, and the end of the partition.

    Waits for the end of other pipelines' transactions only if there is news.

    Args:
        client: The properties of the consumer.
        name: The pipeline's name.
        place: The partition of the markers' topic, and the first offset.
        keys: The keys.
        is_news: Whether a key's value is not yet known.

    Raises:
        KafkaException: No broker answers, or it refuses.
        SinkRefused: Another pipeline's transaction stays open.
    """
    partition, since = place

    def news(consumer: Consumer, end: int) -> Iterator[tuple[int, str, bytes]]:
        for record in _records(consumer, {partition: end}):
            key, value = (record.key() or b"").decode(errors="replace"), record.value()
            if key in keys and value is not None and is_news(key, value):
                yield record.offset(), key, value

    with reading(client, name, {partition: since}, isolation="read_uncommitted") as consumer:
        _, end = consumer.get_watermark_offsets(TopicPartition(MARKERS, partition), timeout=_REQUEST_SECONDS)
        # At the end there is nothing to wait for.
        first = min((offset for offset, _, _ in news(consumer, end)), default=None) if since < end else None
    if first is None:
        return {}, end
    with reading(client, name, {partition: first}) as consumer:
        return {key: value for _, key, value in news(consumer, end)}, end


def check_policy(admin: AdminClient) -> None:
    """Check that the topic keeps the last record of each key.

    Raises:
        KafkaException: No broker answers, or it refuses.
        SinkRefused: The topic deletes records, or the user has no right to read its settings.
    """
    resource = ConfigResource(ResourceType.TOPIC, MARKERS)
    try:
        configs = admin.describe_configs([resource], request_timeout=_REQUEST_SECONDS)[resource].result()
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_AUTHORIZATION_FAILED:
            raise
        raise SinkRefused(
            f"the user may not read the settings of the topic {MARKERS}, so nobody knows whether it keeps markers;"
            " allow DescribeConfigs"
        ) from error
    policy = str(configs["cleanup.policy"].value)
    if policy != "compact":
        raise SinkRefused(
            f"the topic {MARKERS} has cleanup.policy={policy}: it loses markers, and a repeated batch would be written"
            f" twice. Set it: kafka-configs.sh --alter --topic {MARKERS} --add-config cleanup.policy=compact"
        )


def _records(consumer: Consumer, ends: Mapping[int, int]) -> Iterator[Message]:
    """The records up to the end of each partition.

    Raises:
        KafkaException: No broker answers, or it refuses.
        SinkRefused: A transaction stays open before the end of a partition.
    """
    unread = {partition for partition, end in ends.items() if end > 0}
    deadline = time.monotonic() + _OPEN_SECONDS
    while unread:
        messages = consumer.consume(_CHUNK, _WAIT_SECONDS)
        if not messages and time.monotonic() > deadline:
            raise SinkRefused(f"{MARKERS}: a transaction of another pipeline stays open; stop that pipeline")
        for message in messages:
            error = message.error()
            if error is None:
                yield message
            elif error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 - the library's public name of a local error
                raise KafkaException(error)
            elif message.offset() >= ends[message.partition()]:
                unread.discard(message.partition())


@contextmanager
def reading(
    client: Config, name: str, starts: Mapping[int, int], *, isolation: str = "read_committed"
) -> Iterator[Consumer]:
    """Open a consumer of partitions; it reports each partition's end.

    Args:
        client: The properties of the consumer.
        name: The pipeline's name.
        starts: From each partition of the markers' topic to the first offset to read.
        isolation: Which records of transactions it reads.
    """
    group = {"group.id": f"magicbyte-pipeline-{name}", "enable.auto.commit": False}
    # The broker tells the end of a partition when it answers a fetch, which it would put off for half a second.
    reads = {"isolation.level": isolation, "enable.partition.eof": True, "auto.offset.reset": "earliest"}
    reads["fetch.wait.max.ms"] = 10
    consumer = Consumer({**client, **group, **reads})
    try:
        consumer.assign([TopicPartition(MARKERS, partition, start) for partition, start in starts.items()])
        yield consumer
    finally:
        consumer.close()


def until_known(ask: Callable[[], T], not_yet: Collection[int], seconds: float) -> T:
    """Ask a broker, which may hear of a new topic a moment after its creation, until the broker answers.

    Args:
        ask: The request.
        not_yet: The broker's errors after which the request is repeated.
        seconds: How long.

    Raises:
        KafkaException: Another error, or one of these after the time.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            return ask()
        except KafkaException as error:
            if error.args[0].code() not in not_yet or time.monotonic() > deadline:
                raise
            time.sleep(0.1)


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
