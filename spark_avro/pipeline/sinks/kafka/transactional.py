"""A topic, exactly once: the driver collects a batch's rows and sends them and its marker in one transaction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import types as spark

from magicbyte.kit.kafka.transactions import true_errors
from spark_avro.pipeline.file.sinks import KafkaSink
from spark_avro.pipeline.ports import (
    POSITION,
    REASON,
    BatchIdentity,
    Delivery,
    Guarantee,
    Reject,
    SinkContext,
    SinkResult,
)
from spark_avro.pipeline.sinks.collected import collected
from spark_avro.pipeline.sinks.kafka.exact_topic import ExactTopic
from spark_avro.pipeline.sinks.kafka.markers_topic import MARKERS
from spark_avro.pipeline.sinks.kafka.mirroring import frames_of
from spark_avro.pipeline.sinks.kafka.producing import (
    TRANSACTION_SECONDS,
    RecordQueue,
    refusing,
    with_sizes,
)
from spark_avro.pipeline.sinks.marker import is_written, marker_of
from spark_avro.pipeline.sinks.positions import PLACE_FIELDS, flat_position, rejected_rows

#: How many rows are converted to Python objects at a time.
_CHUNK = 50_000
#: The prefix of columns with a record's source position.
_AT = "at_"


class TransactionalTarget:
    """A topic that each batch is written to in one transaction, by a producer that fences its predecessors."""

    guarantee = Guarantee(
        Delivery.EXACTLY_ONCE,
        "a batch and its marker are written in one transaction, and the broker fences earlier drivers",
        "refused, unless adopted",
        "tests/chaos/pipeline_killed.py --sink kafka --sink zombie-kafka",
    )

    def __init__(self, spec: KafkaSink, context: SinkContext) -> None:
        self._topic, self._context = ExactTopic(spec, context), context
        self._writer: _Writer | None = None

    def prepare(self, schema: spark.StructType) -> tuple[str, ...]:
        """Check schemas and brokers; see `Sink`."""
        return self._topic.prepare(schema)

    def write(self, rows: DataFrame, batch: BatchIdentity, *, reject: Reject) -> SinkResult:
        """Write a batch in one transaction; see `Sink`."""
        try:
            with refusing(self._topic.shown):
                writer = self._opened(batch)
                marker = writer.marker
                if marker is not None and is_written(marker, batch, self._topic.shown, adopt=self._context.adopt):
                    return marker.result()
                records = self._topic.records(rows, writer.limits)
                data, refused = self._collected(records, writer)
                if self._topic.schemas is not None:
                    self._topic.schemas.copy_for(frames_of(data))
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
        if data[REASON].null_count == len(data):
            return data, []
        # Positions only name refused records, so collect them only when there is one.
        places = flat_position(records, PLACE_FIELDS)
        named = [column.alias(f"{_AT}{name}") for name, column in places]
        data = collected(records.select(*payload, *named))
        unfit = pc.is_valid(data[REASON])
        refused = [
            (tuple(row[f"{_AT}{name}"] for name, _ in places), row[REASON]) for row in data.filter(unfit).to_pylist()
        ]
        return data.filter(pc.invert(unfit)), refused

    def _opened(self, batch: BatchIdentity) -> _Writer:
        if self._writer is not None and self._writer.query_id != batch.query_id:
            self.close()
        if self._writer is None:
            self._writer = _Writer(self._topic, batch)
        return self._writer


class _Writer:
    """A producer whose predecessors are fenced, and their last marker; `topic` is None if records name it."""

    def __init__(self, topic: ExactTopic, batch: BatchIdentity) -> None:
        self.query_id, self.topic = batch.query_id, topic.name
        self.limits, start = topic.opened(), topic.start()
        started = replace(start, producing=with_sizes(start.producing, self.limits)).run(batch)
        [writer] = started.writers
        self._producer, self._key = started.producer, writer.key.encode()
        self._partition, self.marker = writer.partition, writer.marker
        self._queue = RecordQueue(self._producer, self.topic)

    def write(self, data: pa.Table, batch: BatchIdentity, refused: int) -> None:
        """Write records and the marker in one transaction.

        Raises:
            KafkaException: The broker refuses, or does not answer in time.
        """
        marker = marker_of(batch, self.marker, written=data.num_rows, refused=refused)
        self._producer.begin_transaction()
        with true_errors(self._producer):
            for part in data.to_batches(max_chunksize=_CHUNK):
                self._queue.put(part)
            self._producer.produce(MARKERS, marker.text().encode(), self._key, partition=self._partition)
        self._producer.commit_transaction(TRANSACTION_SECONDS)
        self.marker = marker

    def close(self) -> None:
        """Drop unsent records, without a poll, which would raise the fencing error again."""
        self._producer.purge()
