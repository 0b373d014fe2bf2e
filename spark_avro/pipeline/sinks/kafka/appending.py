"""A topic, at least once: Spark's writer on the executors, with each record's source in a header."""

from __future__ import annotations

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from magicbyte.kit.kafka.client_settings import client_config
from spark_avro.pipeline.file.sinks import KafkaSink
from spark_avro.pipeline.ports import (
    REASON,
    BatchIdentity,
    Delivery,
    Guarantee,
    Reject,
    SinkContext,
    SinkRefused,
    SinkResult,
)
from spark_avro.pipeline.sinks.broken_texts import split_rows
from spark_avro.pipeline.sinks.kafka.payload import SOURCE_HEADER, Encoding, topic_name


class AppendingTarget:
    """A topic that executors write to."""

    guarantee = Guarantee(
        Delivery.AT_LEAST_ONCE,
        f"executors write without a transaction; a repeated record has the same header {SOURCE_HEADER}",
        "records are written again",
        "tests/spark/pipeline/sinks/test_kafka.py",
    )

    def __init__(self, spec: KafkaSink, context: SinkContext) -> None:
        """Make a sink.

        Raises:
            SinkRefused: Spark's writer cannot copy records with their timestamps.
        """
        if spec.mirror:
            raise SinkRefused("sink.kafka.mirror needs delivery: exactly-once; Spark's writer sets its own timestamps")
        self._spec, self._context = spec, context
        self._encoding = Encoding(spec, context)
        self._properties = {f"kafka.{name}": value for name, value in {**context.kafka, **spec.kafka}.items()}

    def prepare(self, schema: spark.StructType) -> tuple[str, ...]:
        """Check schemas and brokers; see `Sink`."""
        statements = self._encoding.check(self._context.spark.createDataFrame([], schema))
        admin = AdminClient(client_config({**self._context.kafka, **self._spec.kafka}, role="admin"))
        try:
            topics = admin.list_topics(timeout=30).topics
        except KafkaException as error:
            raise SinkRefused(f"topic {self._spec.topic}: {error.args[0].str()}") from error
        name = topic_name(self._spec)
        return statements if name is None or name in topics else (*statements, f"create topic {name}")

    def write(self, rows: DataFrame, batch: BatchIdentity, *, reject: Reject) -> SinkResult:
        """Write a batch; a repeated one is written again. See `Sink`."""
        del batch
        records = self._encoding.records(rows, source_header=True)
        split = split_rows(records, F.col(REASON) if REASON in records.columns else None, reject)
        named = [name for name in ("topic", "key", "value", "headers", "partition") if name in split.good.columns]
        good = split.good.select(*named)
        good.write.format("kafka").options(**self._properties).save()
        return SinkResult(rows.count() - split.refused)

    def close(self) -> None:
        """Nothing is open; see `Sink`."""
