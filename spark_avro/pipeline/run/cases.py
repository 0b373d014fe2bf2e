"""Cases of a pipeline: records in JSON, and the rows and dead letters that the pipeline makes of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import StructField, StructType

from compat.schema import AVRO, SchemaText
from spark_avro.pipeline.batch.prepared import Opened, open_pipeline
from spark_avro.pipeline.file.pipeline import Pipeline, RegistrySection
from spark_avro.pipeline.file.source import KafkaSource
from spark_avro.pipeline.ports import POSITION
from spark_avro.pipeline.run.rehearsal import rehearse_decoded
from spark_avro.pipeline.sources.position import position
from spark_avro.registry import client_of

#: The key of a record that is given as its bytes in hex.
_RAW = "raw"
#: The keys of a record of a pipeline with several parts: its topic, the value if it has no `raw`, and perhaps its time.
_TOPIC, _VALUE, _TIMESTAMP = "topic", "value", "timestamp"
#: The key of a record of a topic that is joined as a table.
_KEY = "key"
#: The name of the schema's file beside the records; with several parts, TOPIC.avsc for the first topic of each.
SCHEMA = "value.avsc"


@dataclass(frozen=True, slots=True)
class _Record:
    """A record of a case: its topic, its bytes or its value in JSON, its time in milliseconds, and its key in JSON."""

    offset: int
    topic: str
    raw: bytes | None
    text: str
    timestamp: int = 0
    key: str | None = None


class CaseRunner:
    """Runs cases without Kafka, and without a registry if a folder has the schemas."""

    def __init__(self, spark: SparkSession, pipeline: Pipeline) -> None:
        self._spark = spark
        self._pipeline = pipeline

    @property
    def schema_files(self) -> Mapping[str, str]:
        """The names of the files with the schemas of the parts, by first topic; none for formats without ids."""
        parts = self._pipeline.parts
        return {
            part.first_topic or "": SCHEMA if len(parts) == 1 else f"{part.first_topic}.avsc"
            for _, part in parts
            if part.value.is_by_id
        }

    def run(
        self, records: Sequence[Mapping[str, Any]], schemas: Mapping[str, Path] | None = None
    ) -> tuple[list[Any], list[Any]]:
        """The rows for the sink and the dead letters of some records, as JSON values.

        Args:
            records: The records.
            schemas: The Avro schemas of the values instead of the registry's, by the keys of `schema_files`.

        Raises:
            PipelineError: the source is not Kafka, a record has not the form of a record, or a step does not fit the
                columns.
        """
        pipeline = _with_schemas(self._pipeline, schemas, self.schema_files) if schemas else self._pipeline
        if not isinstance(pipeline.source, KafkaSource):
            raise pipeline.error("source", "cases are records of Kafka")
        given = [self._record(offset, record) for offset, record in enumerate(records)]
        with closing(open_pipeline(pipeline, self._spark, with_targets=False)) as opened:
            for plans in opened.source.plans.values():
                plans.refresh()
            decoded = partial(self._decoded, opened, given)
            result = rehearse_decoded(opened, decoded(""), opened.context_of(decoded))
        dead = [{"offset": row.offset, "stage": row.stage, "reason": row.reason} for row in result.dead]
        return [json.loads(json.dumps(row, default=_text)) for row in result.rows], dead

    def _record(self, offset: int, record: Mapping[str, Any]) -> _Record:
        """A record of a case.

        Raises:
            PipelineError: the pipeline has several parts, and the record does not name a topic of them and its value.
        """
        parts = self._pipeline.parts
        if len(parts) == 1:
            raw = bytes.fromhex(record[_RAW]) if set(record) == {_RAW} else None
            return _Record(offset, parts[0][1].first_topic or "case", raw, json.dumps(record))
        topic = str(record.get(_TOPIC))
        # Without a time of its own, a record has one that does not depend on the clock.
        timestamp = record.get(_TIMESTAMP, 0)
        is_table = topic in self._pipeline.table_topics
        keys = set(record) - {_TIMESTAMP, *([_KEY] if is_table else [])}
        is_raw = keys == {_TOPIC, _RAW}
        if topic not in self._pipeline.topics or not (is_raw or keys == {_TOPIC, _VALUE}):
            forms = '{"topic": .., "value": {..}} or {"topic": .., "raw": ".."}'
            topics = ", ".join(self._pipeline.topics)
            raise self._pipeline.error(
                "source", f"record {offset + 1} of the case must be {forms}, with one of the topics {topics}"
            )
        if type(timestamp) is not int:
            raise self._pipeline.error(
                "source", f"record {offset + 1} of the case: timestamp must be an integer, in milliseconds since 1970"
            )
        if is_raw:
            return _Record(offset, topic, bytes.fromhex(record[_RAW]), "", timestamp)
        if is_table and record.get(_KEY) is None:
            raise self._pipeline.error(
                "source", f"record {offset + 1} of the case has no key, and {topic} is joined by its key; give key"
            )
        key = json.dumps(record[_KEY]) if is_table else None
        if is_table and record[_VALUE] is None:
            return _Record(offset, topic, None, "null", timestamp, key)
        if not isinstance(record[_VALUE], dict):
            raise self._pipeline.error(
                "source", f"record {offset + 1} of the case: value must be a JSON object; give other values as raw"
            )
        return _Record(offset, topic, None, json.dumps(record[_VALUE]), timestamp, key)

    def _records(self, records: Sequence[_Record]) -> DataFrame:
        values = [(record.offset, record.topic, record.timestamp, record.raw) for record in records]
        rows = self._spark.createDataFrame(values, "offset bigint, topic string, time bigint, value binary")
        return rows.select(
            F.lit(None).cast("binary").alias("key"),
            "value",
            "topic",
            F.lit(0).alias("partition"),
            "offset",
            F.timestamp_millis("time").alias("timestamp"),
            F.lit(None).cast("array<struct<key: string, value: binary>>").alias("headers"),
        )

    def _decoded(self, opened: Opened, given: Sequence[_Record], name: str) -> DataFrame:
        """The decoded records of the pipeline's rows, whose name is empty, or of a stream."""
        parts = self._pipeline.parts
        topics = {topic for part_name, part in parts if part_name == name for topic in part.topics}
        records = given if len(parts) == 1 else [record for record in given if record.topic in topics]
        broken = opened.decoded(self._records([record for record in records if record.raw is not None]), name)
        texts = self._of_json([record for record in records if record.raw is None], broken)
        return broken.unionByName(texts, allowMissingColumns=True)

    def _of_json(self, records: Sequence[_Record], like: DataFrame) -> DataFrame:
        """Values in JSON as decoded records, with the types of `like`."""
        values = [
            # One object, so that a key may be any JSON.
            (
                record.offset,
                record.topic,
                record.timestamp,
                f'{{"value": {record.text}, "key": {record.key or "null"}}}',
            )
            for record in records
        ]
        rows = self._spark.createDataFrame(values, "offset bigint, topic string, time bigint, text string")
        kind = like.schema["decoded"].dataType
        place = {
            "topic": F.col("topic"),
            "partition": F.lit(0),
            "offset": F.col("offset"),
            "timestamp": F.timestamp_millis("time"),
        }
        fields = [StructField("value", kind)]
        has_key = "decoded_key" in like.columns
        if has_key:
            fields.append(StructField("key", like.schema["decoded_key"].dataType))
        value = F.from_json("text", StructType(fields), {"mode": "FAILFAST"})
        key = [value["key"].alias("decoded_key")] if has_key else []
        return rows.select(position(place).alias(POSITION), value["value"].alias("decoded"), *key)


def _with_schemas(pipeline: Pipeline, schemas: Mapping[str, Path], names: Mapping[str, str]) -> Pipeline:
    """The pipeline with a registry in memory that has the schemas of all parts."""
    url = f"mock://cases-{pipeline.name}"
    for _, part in pipeline.parts:
        topic = part.first_topic or ""
        if topic not in names:
            continue
        schema = schemas.get(topic)
        if schema is None:
            found = next(iter(schemas.values()))
            raise part.error("topics", f"{names[topic]} is missing beside {found}: with schemas, cases ask no registry")
        if part.records is not None:
            raise part.error("records", f"cases of several types read the registry; remove {schema}")
        subject = part.value.subject or f"{topic}-value"
        client_of(url).register(subject, SchemaText(AVRO, schema.read_text(encoding="utf-8")))
    return replace(pipeline, registry=RegistrySection(url=url))


def _text(value: Any) -> str:
    return value.hex() if isinstance(value, bytes | bytearray) else str(value)
