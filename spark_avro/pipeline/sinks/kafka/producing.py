"""Records of Arrow batches, sent by a transactional producer; which of them a topic takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from magicbyte.kit.kafka.client_settings import PRODUCER_DEFAULTS, Config
from magicbyte.kit.kafka.transactions import is_fenced, start
from spark_avro.pipeline.ports import REASON, Fenced, SinkRefused
from spark_avro.pipeline.sinks.kafka.markers_topic import MARKERS, create_topic, until_known

TRANSACTION_SECONDS = 120.0

#: The bytes of a record besides key and value; they count towards the topic's limit.
_OVERHEAD_BYTES = 200

#: How long a broker may not know a topic that was created, in seconds.
_NEW_TOPIC_SECONDS = 10.0
_DEFAULT_LIMIT = 1_000_000

#: The properties of a producer that writes a batch's records and marker in one transaction.
TRANSACTIONAL: Config = {
    **PRODUCER_DEFAULTS,
    "acks": "all",
    "linger.ms": 20,
    "batch.size": 1_000_000,
    "transaction.timeout.ms": int(TRANSACTION_SECONDS * 1000),
    "queue.buffering.max.messages": 1_000_000,
    "queue.buffering.max.kbytes": 512 * 1024,
    # Nothing waits for a single record: the transaction fails if one of its records does.
    "delivery.report.only.error": True,
}


def started_producer(producing: Config, transactional_id: str) -> Producer:
    """A producer; earlier producers of its id are fenced, and their open transactions aborted.

    Raises:
        KafkaException: No broker answers, or it refuses.
    """
    producer = Producer({**producing, "transactional.id": transactional_id})
    start(producer, MARKERS, TRANSACTION_SECONDS)
    return producer


class RecordQueue:
    """A producer's queue, as it takes the records of Arrow batches.

    Args:
        producer: The producer, in a transaction.
        topic: The topic of all records; None if the column `topic` names it.
    """

    def __init__(self, producer: Producer, topic: str | None) -> None:
        self._producer, self._topic = producer, topic

    def put(self, part: pa.RecordBatch) -> None:
        """Queue records; columns without any value are not converted to Python objects.

        Args:
            part: The columns key and value, and perhaps headers, topic, partition and timestamp.

        Raises:
            SinkRefused: The queue stays full.
        """
        topics: Iterable[Any] = repeat(self._topic) if self._topic is not None else part.column("topic").to_pylist()
        key = part.column("key")
        keys = [] if key.null_count == len(key) else [key.to_pylist()]
        records = zip(topics, part.column("value").to_pylist(), *keys, strict=False)
        extras = _extras(part)
        if extras is None:
            self._produce(records, self._producer.produce)
            return
        for record, extra in zip(records, extras, strict=True):
            self._produce([record], partial(self._producer.produce, **extra))

    def _produce(self, records: Iterable[tuple[Any, ...]], produce: Callable[..., None]) -> None:
        """Queue records that have only a topic, a value and perhaps a key."""
        for record in records:
            try:
                produce(*record)
            except BufferError:
                self._wait_and_produce(record, produce)

    def _wait_and_produce(self, record: tuple[Any, ...], produce: Callable[..., None]) -> None:
        """Queue a record when the queue has room again."""
        deadline = time.monotonic() + TRANSACTION_SECONDS
        while time.monotonic() < deadline:
            self._producer.poll(0.1)
            try:
                produce(*record)
            except BufferError:
                continue
            return
        raise SinkRefused(f"the producer's queue stays full for {TRANSACTION_SECONDS:.0f} s: no broker answers")


def _extras(records: pa.RecordBatch) -> Iterator[dict[str, Any]] | None:
    """The arguments of `produce` besides topic, value and key; None if no record has any."""
    made: dict[str, Iterable[Any]] = {}
    headers = records.column("headers") if "headers" in records.schema.names else None
    if headers is not None and headers.null_count < len(headers):
        made["headers"] = ([(pair["key"], pair["value"]) for pair in pairs or ()] for pairs in headers.to_pylist())
    if "partition" in records.schema.names:
        # No partition: the producer's partitioner chooses one.
        made["partition"] = (-1 if number is None else number for number in records.column("partition").to_pylist())
    if "timestamp" in records.schema.names:
        stamps = pc.cast(records.column("timestamp"), pa.timestamp("ms", "UTC"), safe=False)
        made["timestamp"] = pc.cast(stamps, pa.int64()).to_pylist()
    if not made:
        return None
    return (dict(zip(made, values, strict=True)) for values in zip(*made.values(), strict=True))


@dataclass(frozen=True, slots=True)
class TopicLimits:
    """The limits of the records that a topic takes.

    Attributes:
        size: The bytes of the largest record.
        partitions: The number of partitions; None if an expression names the topic.
    """

    size: int
    partitions: int | None


def opened_topic(client: Config, producing: Config, topic: str | None) -> TopicLimits:
    """Create a topic if it is missing; what it takes from a producer.

    Args:
        client: The properties of the admin client.
        producing: The properties of the producer.
        topic: The topic; None if an expression names it, which gives librdkafka's default.

    Raises:
        KafkaException: No broker answers, or it refuses.
    """
    size = int(str(producing.get("message.max.bytes", 2**31 - 1)))
    if topic is None:
        return TopicLimits(min(size, _DEFAULT_LIMIT), None)
    admin = AdminClient(client)
    if topic not in admin.list_topics(timeout=30).topics:
        create_topic(admin, NewTopic(topic, -1, -1))
    resource = ConfigResource(ResourceType.TOPIC, topic)

    def ask() -> TopicLimits:
        configs = admin.describe_configs([resource], request_timeout=30)[resource].result()
        found = admin.list_topics(topic, timeout=30).topics[topic]
        if found.error is not None:
            raise KafkaException(found.error)
        return TopicLimits(min(size, int(configs["max.message.bytes"].value)), len(found.partitions))

    return until_known(ask, [KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.LEADER_NOT_AVAILABLE], _NEW_TOPIC_SECONDS)


def with_sizes(producing: Config, limits: TopicLimits) -> Config:
    """The properties of a producer for a topic with these limits, and for markers."""
    return {
        **producing,
        # A marker has an entry for each partition of the source, so it may be larger than the topic's records.
        "message.max.bytes": min(max(limits.size + _OVERHEAD_BYTES, _DEFAULT_LIMIT), 1_000_000_000),
        # The broker compares the topic's limit with whole batches of records.
        "batch.size": min(limits.size, int(str(producing["batch.size"]))),
    }


def with_reasons(records: DataFrame, limits: TopicLimits) -> DataFrame:
    """Records with the column REASON: why the topic does not take one, or NULL."""
    size = sum((F.coalesce(F.length(name), F.lit(0)) for name in ("key", "value")), F.lit(0))
    large = F.format_string(f"the record has %d bytes, and the topic takes {limits.size}", size)
    reasons = [F.when(size + _OVERHEAD_BYTES > limits.size, large)]
    if "partition" in records.columns and limits.partitions is not None:
        named = F.format_string(f"partition %d, and the topic has {limits.partitions}", "partition")
        reasons.append(F.when(~F.col("partition").between(0, limits.partitions - 1), named))
    if REASON in records.columns:
        reasons.insert(0, F.col(REASON))
    return records.withColumn(REASON, F.coalesce(*reasons))


@contextmanager
def refusing(shown: str) -> Iterator[None]:
    """Turn the client library's errors into ours.

    Args:
        shown: The topic's name in errors.
    """
    try:
        yield
    except KafkaException as error:
        cause = error.args[0]
        text = cause.str() if isinstance(cause, KafkaError) else str(error)
        if isinstance(cause, KafkaError) and is_fenced(cause):
            raise Fenced(f"{shown}: another driver of this pipeline has taken over: {text}") from error
        raise SinkRefused(f"{shown}: {text}") from error
