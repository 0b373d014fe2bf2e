"""The topic of a pipeline's dead letters."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from magicbyte.kit.kafka.client_settings import client_config
from spark_avro.pipeline.ports import FAILED, BatchIdentity, SinkRefused
from spark_avro.streams.header_columns import HEADERS, attempt_of, exception_of, with_headers

log = logging.getLogger(__name__)

#: Letters are kept this many times longer than the source's records, because a person has to read them and act.
_RETENTION_FACTOR = 4
_FOREVER = -1
_SECONDS = 30.0


@dataclass(slots=True)
class LettersTopic:
    """Writes dead letters to a topic, at least once: a batch that is repeated after a crash writes them again.

    Attributes:
        pipeline: The pipeline's name, for the header `connector.name`.
        topic: The topic; it is created if it does not exist.
        kafka: The Kafka client's properties by Java's names.
        sources: The topics that the pipeline reads.
        form: The form of the headers: connect, streams or spring.
        masked: Whether letters have neither key, value nor original headers.
        samples: How many letters of a batch are logged.
    """

    pipeline: str
    topic: str
    kafka: Mapping[str, str] = field(repr=False)
    sources: Sequence[str] = ()
    form: str = "connect"
    masked: bool = False
    samples: int = 5

    def prepare(self) -> None:
        """Make the topic with the partitions of the source and four times its retention, if it does not exist.

        Raises:
            SinkRefused: the topic is a source of the pipeline, or the brokers refuse us or do not answer.
        """
        if self.topic in self.sources:
            raise SinkRefused(
                f"errors.topic: {self.topic} is a source of the pipeline, which would read its own letters"
            )
        admin = AdminClient({**client_config(self.kafka, role="admin"), "log_level": 2})
        try:
            topics = admin.list_topics(timeout=_SECONDS).topics
            if self.topic in topics:
                return
            source = next((topics[name] for name in self.sources if name in topics), None)
            partitions = 1 if source is None else len(source.partitions)
            replicas = -1 if source is None else min(len(part.replicas) for part in source.partitions.values())
            retention = _retention(admin, [name for name in self.sources if name in topics])
            new = NewTopic(self.topic, partitions, replicas, config={"retention.ms": str(retention)})
            admin.create_topics([new], operation_timeout=_SECONDS)[self.topic].result()
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise SinkRefused(f"errors.topic: {self.topic} cannot be made: {error.args[0].str()}") from error

    def write(self, letters: DataFrame, batch: BatchIdentity) -> int:
        """Write letters, and return how many.

        Args:
            letters: As `letters.rows.letters` makes them; a missing column is NULL.
            batch: The batch, for a header.
        """
        records = self.records(letters, batch).persist()
        try:
            count = int(records.count())
            if count:
                options = {f"kafka.{name}": value for name, value in self.kafka.items()}
                records.write.format("kafka").options(**options).option("topic", self.topic).save()
        finally:
            records.unpersist()
        return count

    def log_samples(self, letters: DataFrame) -> None:
        """Log the first letters of a batch: their places and reasons, without keys and values."""
        if self.samples:
            reason = self._reason(F.col("reason")).alias("reason")
            shown = letters.select("topic", "partition", "offset", "stage", reason).limit(self.samples)
            for row in shown.collect():
                log.warning(
                    "%s %s:%s, %s: %s",
                    row["topic"],
                    row["partition"],
                    row["offset"],
                    row["stage"],
                    row["reason"],
                    extra={
                        "event": "record_failed",
                        "topic": row["topic"],
                        "partition": row["partition"],
                        "offset": row["offset"],
                        "stage": row["stage"],
                    },
                )

    def records(self, letters: DataFrame, batch: BatchIdentity) -> DataFrame:
        """The letters as records of Spark's Kafka sink: key, value and headers."""
        kinds = {"headers": HEADERS, "key": "binary", "value": "binary", "timestamp": "timestamp"}

        def column_of(name: str) -> Column:
            kind = kinds.get(name, "string")
            return F.col(name).cast(kind) if name in letters.columns else F.lit(None).cast(kind)

        failure: dict[str, Column] = {
            **{name: column_of(name) for name in ("topic", "partition", "offset", "stage", "schema_id", "subject")},
            "connector": F.lit(self.pipeline),
            "task": F.lit(0),
            "executing": F.lit("spark_avro.pipeline"),
            "exception": exception_of(column_of("stage")),
            "message": self._reason(column_of("reason")),
            "stacktrace": F.lit(""),
            "timestamp": F.unix_millis(column_of("timestamp")),
            "attempt": attempt_of(column_of("headers")),
            "batch": F.lit(str(batch)),
        }
        if FAILED in letters.columns:
            names = F.array_join(FAILED, "; ")
            failure["quality"] = F.when(names != "", names)
        headers = with_headers(column_of("headers"), failure, self.form, masked=self.masked)
        key, value = (F.lit(None).cast("binary") if self.masked else column_of(name) for name in ("key", "value"))
        return letters.select(key.alias("key"), value.alias("value"), headers.alias("headers"))

    def _reason(self, reason: Column) -> Column:
        """The reason; for masked letters only its first line: the others, as PostgreSQL's DETAIL, may show the row."""
        return F.substring_index(reason, "\n", 1) if self.masked else reason

    def close(self) -> None:
        """Nothing is open between batches."""


def _retention(admin: AdminClient, sources: Sequence[str]) -> int:
    """Four times the longest retention of the sources, in ms; unlimited if a source is unlimited or compacted."""
    asked = [ConfigResource(ConfigResource.Type.TOPIC, name) for name in sources]
    longest = 0
    for future in admin.describe_configs(asked, request_timeout=_SECONDS).values() if asked else ():
        entries = {name: entry.value for name, entry in future.result().items()}
        retention = int(entries["retention.ms"])
        if retention == _FOREVER or "delete" not in entries["cleanup.policy"]:
            return _FOREVER
        longest = max(longest, retention)
    return longest * _RETENTION_FACTOR or _FOREVER
