"""A topic, exactly once: the driver collects a batch's rows and sends them and its marker in one transaction."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import repeat
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType
from pyspark.sql import DataFrame
from pyspark.sql import types as spark

from magicbyte.kit.kafka.client_settings import PRODUCER_DEFAULTS, Config, client_config
from spark_avro.pipeline.file.sinks import KafkaSink
from spark_avro.pipeline.ports import (
    POSITION,
    REASON,
    BatchIdentity,
    Delivery,
    Fenced,
    Guarantee,
    Reject,
    SinkContext,
    SinkRefused,
    SinkResult,
)
from spark_avro.pipeline.sinks.collected import collected
from spark_avro.pipeline.sinks.kafka.markers_topic import MARKERS, check_policy, create_topic, until_known
from spark_avro.pipeline.sinks.kafka.mirroring import framed_ids
from spark_avro.pipeline.sinks.kafka.ownership import TRANSACTION_SECONDS, Start
from spark_avro.pipeline.sinks.kafka.payload import Encoding, topic_name
from spark_avro.pipeline.sinks.marker import is_written, marker_of
from spark_avro.pipeline.sinks.positions import PLACE_FIELDS, flat_position, rejected_rows

#: How long a broker may not know a topic that was created, in seconds.
_NEW_TOPIC_SECONDS = 10.0
#: How many rows are converted to Python objects at a time.
_CHUNK = 50_000
#: The prefix of columns with a record's source position.
_AT = "at_"
_DEFAULT_LIMIT = 1_000_000
#: The bytes of a record besides key and value; they count towards the topic's limit.
_OVERHEAD_BYTES = 200

_FENCED = frozenset(
    {
        KafkaError._FENCED,  # noqa: SLF001  the client library's public name for a local error
        KafkaError.INVALID_PRODUCER_EPOCH,
        KafkaError.PRODUCER_FENCED,
    }
)

_PRODUCER: Config = {
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


class TransactionalTarget:
    """A topic that each batch is written to in one transaction, by a producer that fences its predecessors."""

    guarantee = Guarantee(
        Delivery.EXACTLY_ONCE,
        "a batch and its marker are written in one transaction, and the broker fences earlier drivers",
        "refused, unless adopted",
        "tests/chaos/pipeline_killed.py --sink kafka --sink zombie-kafka",
    )

    def __init__(self, spec: KafkaSink, context: SinkContext) -> None:
        self._spec, self._context = spec, context
        properties = {**context.kafka, **spec.kafka}
        self._client = client_config(properties, role="admin")
        self._producing = {**_PRODUCER, **client_config(properties, role="producer")}
        self._shown = f"topic {spec.topic}"
        sink = topic_name(spec) or str(spec.topic)
        self._start = Start(self._client, self._producing, sink, self._shown, context.adopt)
        self._encoding = Encoding(spec, context)
        self._schemas = self._encoding.schema_mirror()
        self._writer: _Writer | None = None

    def prepare(self, schema: spark.StructType) -> tuple[str, ...]:
        """Check schemas and brokers; see `Sink`."""
        rows = self._context.spark.createDataFrame([], schema)
        statements = list(self._encoding.check(rows))
        with self._refusing():
            admin = AdminClient(self._client)
            topics = admin.list_topics(timeout=30).topics
            if MARKERS in topics:
                check_policy(admin)
        name = topic_name(self._spec)
        statements += [
            f"create topic {topic}" for topic in (name, MARKERS) if topic is not None and topic not in topics
        ]
        return tuple(statements)

    def write(self, rows: DataFrame, batch: BatchIdentity, *, reject: Reject) -> SinkResult:
        """Write a batch in one transaction; see `Sink`."""
        try:
            with self._refusing():
                writer = self._opened(batch)
                marker = writer.marker
                if marker is not None and is_written(marker, batch, self._shown, adopt=self._context.adopt):
                    return marker.result()
                records = self._encoding.records(rows, source_header=False)
                data, refused = self._collected(records, writer)
                if self._schemas is not None:
                    self._schemas.copy(framed_ids(data["value"]) | framed_ids(data["key"]))
                if refused:
                    reject(rejected_rows(self._context.spark, refused))
                writer.write(data, batch, len(refused))
        except BaseException:
            # The transaction's outcome may be unknown: the next attempt reads the marker again.
            self.close()
            raise
        return SinkResult(data.num_rows)

    def close(self) -> None:
        """Close the producer; the broker aborts an open transaction when the next producer starts. See `Sink`."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _collected(self, records: DataFrame, writer: _Writer) -> tuple[pa.Table, list[tuple[tuple[Any, ...], str]]]:
        """The records that the topic takes, and the positions of the others with the reason."""
        payload = [name for name in records.columns if name != POSITION and (name != "topic" or writer.topic is None)]
        data = collected(records.select(*payload))
        if writer.takes_all(data):
            return data, []
        # Positions only name refused records, so collect them only when there is one.
        places = [column.alias(f"{_AT}{name}") for name, column in flat_position(records, PLACE_FIELDS)]
        return writer.fitting(collected(records.select(*payload, *places)))

    def _opened(self, batch: BatchIdentity) -> _Writer:
        if self._writer is not None and self._writer.query_id != batch.query_id:
            self.close()
        if self._writer is None:
            self._writer = _Writer(self._start, topic_name(self._spec), batch)
        return self._writer

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Turn the client library's errors into ours."""
        try:
            yield
        except KafkaException as error:
            cause = error.args[0]
            text = cause.str() if isinstance(cause, KafkaError) else str(error)
            if isinstance(cause, KafkaError) and cause.code() in _FENCED:
                raise Fenced(f"{self._shown}: another driver of this pipeline has taken over: {text}") from error
            raise SinkRefused(f"{self._shown}: {text}") from error


class _Writer:
    """A producer whose predecessors are fenced, and their last marker; `topic` is None if records name it."""

    def __init__(self, start: Start, topic: str | None, batch: BatchIdentity) -> None:
        self.query_id, self.topic = batch.query_id, topic
        admin = AdminClient(start.client)
        if topic is not None and topic not in admin.list_topics(timeout=30).topics:
            create_topic(admin, NewTopic(topic, -1, -1))
        limit = min(int(str(start.producing.get("message.max.bytes", 2**31 - 1))), _topic_limit(admin, topic))
        sizes = {
            # A marker has an entry for each partition of the source, so it may be larger than the topic's records.
            "message.max.bytes": min(max(limit + _OVERHEAD_BYTES, _DEFAULT_LIMIT), 1_000_000_000),
            # The broker compares the topic's limit with whole batches of records.
            "batch.size": min(limit, int(str(start.producing["batch.size"]))),
        }
        started = replace(start, producing={**start.producing, **sizes}).run(batch)
        self._limit, self._producer, self._key = limit, started.producer, started.key.encode()
        self._partition, self.marker = started.partition, started.marker

    def takes_all(self, data: pa.Table) -> bool:
        """Whether the topic takes all records."""
        if REASON in data.column_names and data[REASON].null_count < len(data):
            return False
        largest = pc.max(_sizes(data)).as_py()
        return largest is None or largest + _OVERHEAD_BYTES <= self._limit

    def fitting(self, data: pa.Table) -> tuple[pa.Table, list[tuple[tuple[Any, ...], str]]]:
        """The records that the topic takes, and the positions of the others with the reason."""
        sizes = _sizes(data)
        unfit = pc.greater(sizes, self._limit - _OVERHEAD_BYTES)
        if REASON in data.column_names:
            unfit = pc.or_(unfit, pc.is_valid(data[REASON]))
        places = [name for name in data.column_names if name.startswith(_AT)]
        refused = [
            (
                tuple(row[name] for name in places),
                row.get(REASON) or f"the record has {size} bytes, and the topic takes {self._limit}",
            )
            for row, size in zip(data.filter(unfit).to_pylist(), sizes.filter(unfit).to_pylist(), strict=True)
        ]
        return data.filter(pc.invert(unfit)), refused

    def write(self, data: pa.Table, batch: BatchIdentity, refused: int) -> None:
        """Write records and the marker in one transaction.

        Raises:
            KafkaException: The broker refuses, or does not answer in time.
        """
        marker = marker_of(batch, self.marker, written=data.num_rows, refused=refused)
        self._producer.begin_transaction()
        for part in data.to_batches(max_chunksize=_CHUNK):
            self._queue(part)
        self._producer.produce(MARKERS, marker.text().encode(), self._key, partition=self._partition)
        self._producer.commit_transaction(TRANSACTION_SECONDS)
        self.marker = marker

    def _queue(self, part: pa.RecordBatch) -> None:
        """Queue records; columns without any value are not converted to Python objects."""
        topics: Iterable[Any] = repeat(self.topic) if self.topic is not None else part.column("topic").to_pylist()
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

    def close(self) -> None:
        """Drop unsent records, without a poll, which would raise the fencing error again."""
        self._producer.purge()


def _sizes(data: pa.Table) -> pa.ChunkedArray:
    """The bytes of each record's key and value."""
    return pc.add(*(pc.fill_null(pc.binary_length(data[name]), 0) for name in ("key", "value")))


def _extras(records: pa.RecordBatch) -> Iterator[dict[str, Any]] | None:
    """The arguments of `produce` besides topic, value and key; None if no record has any."""
    headers = records.column("headers")
    is_copied = "partition" in records.schema.names
    if not is_copied and headers.null_count == len(headers):
        return None
    lists = ([(pair["key"], pair["value"]) for pair in pairs or ()] for pairs in headers.to_pylist())
    if not is_copied:
        return ({"headers": pairs} for pairs in lists)
    times = pc.cast(pc.cast(records.column("timestamp"), pa.timestamp("ms", "UTC"), safe=False), pa.int64())
    placed = zip(lists, records.column("partition").to_pylist(), times.to_pylist(), strict=True)
    return ({"headers": pairs, "partition": partition, "timestamp": time} for pairs, partition, time in placed)


def _topic_limit(admin: AdminClient, topic: str | None) -> int:
    """The largest record that a topic takes, in bytes; librdkafka's default if an expression names the topic."""
    if topic is None:
        return _DEFAULT_LIMIT
    resource = ConfigResource(ResourceType.TOPIC, topic)

    def ask() -> int:
        configs = admin.describe_configs([resource], request_timeout=30)[resource].result()
        return int(configs["max.message.bytes"].value)

    return until_known(ask, [KafkaError.UNKNOWN_TOPIC_OR_PART], _NEW_TOPIC_SECONDS)
