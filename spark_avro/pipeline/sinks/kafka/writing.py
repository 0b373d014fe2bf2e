"""A writer's part of a batch, written by a task of Spark: its records and its marker in one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import KafkaError, KafkaException, Producer

from magicbyte.kit.kafka.client_settings import client_config
from magicbyte.kit.kafka.transactions import true_errors
from spark_avro.pipeline.ports import BatchIdentity, SinkRefused
from spark_avro.pipeline.sinks.kafka.division import MARK, RECORD, REFUSED
from spark_avro.pipeline.sinks.kafka.markers_topic import MARKERS, later_records
from spark_avro.pipeline.sinks.kafka.ownership import StartedWriter
from spark_avro.pipeline.sinks.kafka.producing import (
    TRANSACTION_SECONDS,
    TRANSACTIONAL,
    RecordQueue,
    TopicLimits,
    started_producer,
    with_sizes,
)
from spark_avro.pipeline.sinks.kafka.query_records import StageRecord, read_owner
from spark_avro.pipeline.sinks.marker import Marker, read_marker

#: The memory of a writer's queue; a machine may have many writers.
_QUEUE_KBYTES = 64 * 1024

#: The columns of a task's only row.
OUTCOME = (
    "number int, written bigint, refused bigint, since bigint, is_aborted boolean, error string, code int,"
    " is_retriable boolean"
)
_ARROW_TYPES = {"int": pa.int32(), "bigint": pa.int64(), "boolean": pa.bool_(), "string": pa.string()}
_SCHEMA = pa.schema([(name, _ARROW_TYPES[kind]) for name, kind in (column.split() for column in OUTCOME.split(","))])


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a writer.

    Attributes:
        number: The writer.
        written: How many records of the batch it has written, in this attempt or an earlier one.
        refused: How many records of its part the topic does not take.
        since: `StartedWriter.since` for the next batch.
        is_aborted: Whether it has written nothing, because the topic does not take some of its records.
        error: Why it failed; None if it has written its part.
        code: The broker's or client's code of the error; None if it is none of theirs.
        is_retriable: Whether the next attempt may succeed.
    """

    number: int
    written: int = 0
    refused: int = 0
    since: int = 0
    is_aborted: bool = False
    error: str | None = None
    code: int | None = None
    is_retriable: bool = False

    def check(self) -> None:
        """Raise the writer's error.

        Raises:
            KafkaException: It was the client library's.
            SinkRefused: It was another one.
        """
        if self.error is None:
            return
        if self.code is None:
            raise SinkRefused(self.error)
        raise KafkaException(KafkaError(self.code, f"writer {self.number}: {self.error}", False, self.is_retriable))


@dataclass(frozen=True, slots=True)
class Writing:
    """The function that a task runs.

    A task may run again after it has committed its transaction, and a driver that was replaced may still start tasks.
    So a writer first fences its predecessors, and then looks whether one of them has written its part.

    Attributes:
        topic: The topic of all records; None if they name it.
        limits: What records the topic takes.
        batch: The batch.
        properties: The Kafka client's properties by Java's names.
        owner: The key of the record that names the topic's owner, and its partition.
        noted: The key of the record that says how the batch is divided, and the record.
        writers: The writers by number, and the marker that each writes, without the numbers of its records.
        has_letters: Whether records that the topic does not take are dead letters already; if not, a writer that has
            such records writes nothing.
    """

    topic: str | None
    limits: TopicLimits
    batch: BatchIdentity
    properties: Mapping[str, str]
    owner: tuple[str, int]
    noted: tuple[str, StageRecord]
    writers: Mapping[int, tuple[StartedWriter, Marker]]
    has_letters: bool

    def __call__(self, parts: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write the records of a writer; yields its outcome as one row."""
        first = next(parts, None)
        if first is None:
            return
        number = first.column(MARK)[0].as_py()
        try:
            outcome = self._write(number, chain([first.slice(1)], parts))
        except SinkRefused as error:
            outcome = Outcome(number, error=str(error))
        except KafkaException as error:
            cause = error.args[0]
            outcome = Outcome(number, error=cause.str(), code=cause.code(), is_retriable=cause.retriable())
        yield pa.RecordBatch.from_pylist([asdict(outcome)], _SCHEMA)

    def _write(self, number: int, parts: Iterator[pa.RecordBatch]) -> Outcome:
        writer, marker = self.writers[number]
        producer = self._producer(writer)
        found, since = self._found(writer, marker)
        if found is not None:
            _read_all(parts)
            return Outcome(number, found.written, found.refused, since)
        with true_errors(producer):
            return self._in_transaction(producer, writer, marker, parts, since)

    def _in_transaction(
        self, producer: Producer, writer: StartedWriter, marker: Marker, parts: Iterator[pa.RecordBatch], since: int
    ) -> Outcome:
        """Write records and the marker; nothing if the topic does not take some of them and they are no letters."""
        producer.begin_transaction()
        queue, written, refused = RecordQueue(producer, self.topic), 0, 0
        for part in parts:
            marks = part.column(MARK)
            refused += pc.sum(pc.equal(marks, REFUSED), min_count=0).as_py()
            if refused and not self.has_letters:
                producer.abort_transaction(TRANSACTION_SECONDS)
                _read_all(parts)
                return Outcome(writer.number, since=since, is_aborted=True)
            taken = part.filter(pc.equal(marks, RECORD)) if refused else part
            queue.put(taken)
            written += taken.num_rows
        text = replace(marker, written=written, refused=refused).text()
        producer.produce(MARKERS, text.encode(), writer.key.encode(), partition=writer.partition)
        producer.commit_transaction(TRANSACTION_SECONDS)
        return Outcome(writer.number, written, refused, since)

    def _producer(self, writer: StartedWriter) -> Producer:
        settings = with_sizes({**TRANSACTIONAL, **client_config(self.properties, role="producer")}, self.limits)
        if "buffer.memory" not in self.properties:
            settings = {**settings, "queue.buffering.max.kbytes": _QUEUE_KBYTES}
        return started_producer(settings, writer.transactional_id)

    def _found(self, writer: StartedWriter, marker: Marker) -> tuple[Marker | None, int]:
        """The marker that a predecessor committed since the driver looked; and the end of the partition.

        Raises:
            KafkaException: Another driver has taken over.
        """
        known = -1 if writer.marker is None else writer.marker.batch
        (owner_key, owner_partition), (stage_key, noted) = self.owner, self.noted

        def is_news(key: str, value: bytes) -> bool:
            if key == stage_key:
                return value != noted.value()
            if key == owner_key:
                owner = read_owner(value, key, owner_partition)
                return (owner.query_id, owner.writers) != (self.batch.query_id, noted.writers)
            return read_marker(value, f"{MARKERS}, {key}").batch > known

        client, place = client_config(self.properties, role="admin"), (writer.partition, writer.since)
        news, end = later_records(client, self.batch.pipeline, place, {writer.key, owner_key, stage_key}, is_news)
        if owner_key in news:
            owner = read_owner(news[owner_key], owner_key, owner_partition)
            is_other = owner.query_id != self.batch.query_id
            raise _taken_over(f"query {owner.query_id} owns the topic" if is_other else "it has other writers")
        if writer.key in news:
            found = read_marker(news[writer.key], f"{MARKERS}, {writer.key}")
            if found.batch != marker.batch:
                raise _taken_over(f"batch {found.batch} is written")
            return found, end
        if stage_key in news:
            raise _taken_over("it has divided the batch anew")
        return None, end


def _read_all(parts: Iterator[pa.RecordBatch]) -> None:
    """Read the other rows of a task: Spark waits until they are read."""
    for _ in parts:
        pass


def _taken_over(how: str) -> KafkaException:
    return KafkaException(KafkaError(KafkaError._FENCED, how))  # noqa: SLF001 - the library's name of a local error
