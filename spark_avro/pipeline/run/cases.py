"""Cases of a pipeline: records in JSON, and the rows and dead letters that the pipeline makes of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from compat.schema import AVRO, SchemaText
from spark_avro.pipeline.file.pipeline import Pipeline, RegistrySection
from spark_avro.pipeline.file.source import KafkaSource
from spark_avro.pipeline.ports import POSITION
from spark_avro.pipeline.run.prepared import open_pipeline
from spark_avro.pipeline.run.rehearsal import rehearse_decoded
from spark_avro.pipeline.sources.position import position
from spark_avro.registry import client_of

#: The key of a record that is given as its bytes in hex.
_RAW = "raw"
#: The schema of the values beside the records.
SCHEMA = "value.avsc"


class CaseRunner:
    """Runs cases without Kafka, and without a registry if a folder has the schema."""

    def __init__(self, spark: SparkSession, pipeline: Pipeline) -> None:
        self._spark = spark
        self._pipeline = pipeline

    def run(self, records: Sequence[Mapping[str, Any]], schema: Path | None = None) -> tuple[list[Any], list[Any]]:
        """The rows for the sink and the dead letters of some records, as JSON values.

        Args:
            records: The records.
            schema: The Avro schema of the values, instead of the registry's.

        Raises:
            PipelineError: the source is not Kafka, or a step does not fit the columns.
        """
        pipeline = self._pipeline if schema is None else _with_schema(self._pipeline, schema)
        if not isinstance(pipeline.source, KafkaSource):
            raise pipeline.error("source", "cases are records of Kafka")
        with closing(open_pipeline(pipeline, self._spark, with_targets=False)) as opened:
            for plans in opened.source.plans.values():
                plans.refresh()
            topic = pipeline.source.first_topic or "case"
            raw = [
                (offset, bytes.fromhex(record[_RAW])) for offset, record in enumerate(records) if set(record) == {_RAW}
            ]
            texts = [(offset, json.dumps(record)) for offset, record in enumerate(records) if set(record) != {_RAW}]
            broken = opened.decoded(self._records(raw, topic))
            result = rehearse_decoded(
                opened, broken.unionByName(self._decoded(texts, topic, broken), allowMissingColumns=True)
            )
        dead = [
            {"offset": int(row.place.rpartition(" ")[2]), "stage": row.stage, "reason": row.reason}
            for row in result.dead
        ]
        return [json.loads(json.dumps(row, default=_text)) for row in result.rows], dead

    def _records(self, raw: Sequence[tuple[int, bytes]], topic: str) -> DataFrame:
        rows = self._spark.createDataFrame(list(raw), "offset bigint, value binary")
        return rows.select(
            F.lit(None).cast("binary").alias("key"),
            "value",
            F.lit(topic).alias("topic"),
            F.lit(0).alias("partition"),
            "offset",
            _time().alias("timestamp"),
            F.lit(None).cast("array<struct<key: string, value: binary>>").alias("headers"),
        )

    def _decoded(self, texts: Sequence[tuple[int, str]], topic: str, like: DataFrame) -> DataFrame:
        """Values in JSON as decoded records, with the types of `like`."""
        rows = self._spark.createDataFrame(list(texts), "offset bigint, text string")
        kind = like.schema["decoded"].dataType
        place = {"topic": F.lit(topic), "partition": F.lit(0), "offset": F.col("offset"), "timestamp": _time()}
        value = F.from_json("text", kind, {"mode": "FAILFAST"})  # type: ignore[arg-type,unused-ignore]
        return rows.select(position(place).alias(POSITION), value.alias("decoded"))


def _time() -> Column:
    """The time of all records: results must not depend on the clock."""
    return F.timestamp_seconds(F.lit(0))


def _with_schema(pipeline: Pipeline, schema: Path) -> Pipeline:
    """The pipeline with a registry in memory that has one schema."""
    if not isinstance(pipeline.source, KafkaSource):
        raise pipeline.error("source", "cases are records of Kafka")
    if pipeline.source.records is not None:
        raise pipeline.source.error("records", f"cases of several types read the registry; remove {schema}")
    subject = pipeline.source.value.subject or f"{pipeline.source.topics[0]}-value"
    url = f"mock://cases-{pipeline.name}"
    client_of(url).register(subject, SchemaText(AVRO, schema.read_text(encoding="utf-8")))
    return replace(pipeline, registry=RegistrySection(url=url))


def _text(value: Any) -> str:
    return value.hex() if isinstance(value, bytes | bytearray) else str(value)
