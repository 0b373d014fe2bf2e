"""Changes of schemas and columns while a pipeline runs, posted to the markers' topic, from which `status` reads them.

A change is posted before its batch is written: a crash in between repeats the batch and the post, under the same key.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import orjson
from confluent_kafka import KafkaError, KafkaException, Producer

from magicbyte.kit.failure import Failure
from magicbyte.kit.kafka.client_settings import CONSUMER_DEFAULTS, PRODUCER_DEFAULTS, Config, client_config
from spark_avro.pipeline.ports import BatchIdentity, SinkRefused
from spark_avro.pipeline.sinks.kafka.markers_topic import MARKERS, MarkersTopic, reading

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from spark_avro.pipeline.batch.prepared import Opened, Prepared

log = logging.getLogger(__name__)

#: The text between pipeline name and batch in a change's key.
_KIND = "/change/"
_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Change:
    """The changes that came with a batch.

    Attributes:
        time: When it was posted, in ISO 8601.
        query: Spark's id of the query.
        batch: The number of the batch.
        schemas: The schemas that are read for the first time: the number of the version by schema id, None if the
            schema has none. With the first batch of a run, the newest schema of each part of the source.
        statements: The statements that changed the sinks' targets, such as ALTER TABLE.
    """

    time: str
    query: str
    batch: int
    schemas: Mapping[str, int | None] = field(default_factory=dict)
    statements: tuple[str, ...] = ()


@dataclass(slots=True)
class ChangeLog:
    """Notices changes, batch by batch."""

    opened: Opened
    _schema: StructType
    _statements: tuple[str, ...]
    _ids: frozenset[int] | None = None

    @classmethod
    def of(cls, prepared: Prepared) -> ChangeLog:
        """The log of a run whose sinks have checked their targets."""
        return cls(prepared.opened, prepared.written, _flat(prepared.statements))

    def note(self, schema: StructType, batch: BatchIdentity) -> None:
        """Post what a batch changes, before it is written.

        Args:
            schema: The columns of the rows for the sinks.
            batch: The batch.
        """
        if schema != self._schema:
            self._statements = _flat(tuple(sink.prepare(schema) for sink in self.opened.sinks))
            self._schema = schema
        schemas, is_new = self._new_schemas()
        if self._statements or is_new:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            self._post(Change(now, batch.query_id, batch.number, schemas, self._statements))
        self._statements = ()

    def _new_schemas(self) -> tuple[dict[str, int | None], bool]:
        """The schemas that are new in this run, and whether they appeared after its first batch."""
        by_part = [
            [(schema_id, source.versions) for source in part.plans.values() for schema_id in source.plan.ids]
            for part in self.opened.source.parts
        ]
        listed = [entry for entries in by_part for entry in entries]
        before, self._ids = self._ids, frozenset(schema_id for schema_id, _ in listed)
        if before is None:
            newest = [entry for entries in by_part for entry in entries[:1]]
            return {str(schema_id): versions.get(schema_id) for schema_id, versions in newest}, False
        new = {str(schema_id): versions.get(schema_id) for schema_id, versions in listed if schema_id not in before}
        return new, bool(new)

    def _post(self, change: Change) -> None:
        """Post a change; if that fails, the pipeline continues, because its rows do not depend on it."""
        pipeline = self.opened.pipeline
        if not pipeline.uses_kafka:
            return
        try:
            post_change(pipeline.kafka, pipeline.name, change)
        except (KafkaException, Failure) as error:
            log.warning(
                "a change is not posted to %s: %s",
                MARKERS,
                error,
                extra={"event": "change_not_posted", "error": str(error)},
            )


def post_change(kafka: Mapping[str, str], pipeline: str, change: Change) -> None:
    """Write a change to the topic, which is created if it is missing.

    Raises:
        KafkaException: No broker answers, or it refuses.
    """
    topic = MarkersTopic(_client(kafka), pipeline)
    topic.create()
    producer = Producer({**PRODUCER_DEFAULTS, **client_config(kafka, role="producer")})
    failures: list[KafkaError] = []
    producer.produce(
        MARKERS,
        orjson.dumps(asdict(change)),
        f"{pipeline}{_KIND}{change.query}-{change.batch}".encode(),
        partition=topic.partition(pipeline),
        on_delivery=lambda error, _: failures.append(error) if error is not None else None,
    )
    if producer.flush(_SECONDS):
        raise SinkRefused(f"{MARKERS}: no broker answers")
    if failures:
        raise KafkaException(failures[0])


def read_changes(kafka: Mapping[str, str], pipeline: str) -> list[Change]:
    """The changes of a pipeline, oldest first.

    Raises:
        KafkaException: No broker answers, or it refuses.
    """
    topic = MarkersTopic(_client(kafka), pipeline)
    if not topic.exists():
        return []
    changes: dict[bytes, Change] = {}
    client = {**CONSUMER_DEFAULTS, **client_config(kafka, role="consumer")}
    # The partition of a pipeline's name is another one after partitions were added.
    unread = topic.starts()
    with reading(client, pipeline, unread.copy()) as consumer:
        while unread and (message := consumer.poll(_SECONDS)) is not None:
            error, key, value = message.error(), message.key(), message.value()
            if error is not None and error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - as in markers_topic.py
                unread.pop(message.partition() or 0, None)
            elif error is not None:
                raise KafkaException(error)
            if key is not None and value is not None and key.startswith(f"{pipeline}{_KIND}".encode()):
                changes[key] = _change(value)
    return sorted(changes.values(), key=lambda change: (change.time, change.batch))


def _change(value: bytes) -> Change:
    try:
        record = orjson.loads(value)
        return Change(**{**record, "statements": tuple(record["statements"])})
    except (orjson.JSONDecodeError, LookupError, TypeError) as error:
        raise SinkRefused(f"{MARKERS}: a change cannot be read: {value[:200]!r}") from error


def _client(kafka: Mapping[str, str]) -> Config:
    return client_config(kafka, role="admin")


def _flat(statements: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    return tuple(statement for of_sink in statements for statement in of_sink)
