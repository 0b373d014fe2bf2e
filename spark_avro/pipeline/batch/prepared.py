"""The stages of a pipeline before it runs: the file is read, its parts are opened, the columns are worked out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import StructType

from spark_avro.errors import BrokenRecord
from spark_avro.pipeline import sinks
from spark_avro.pipeline.batch.measures import record_measures
from spark_avro.pipeline.file.object_stores import Properties, store_findings
from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.place import PipelineError
from spark_avro.pipeline.file.steps import DEFAULT_REFRESH, Join
from spark_avro.pipeline.letters.topic import LettersTopic
from spark_avro.pipeline.ports import KEY, POSITION, Sink, SinkContext
from spark_avro.pipeline.quality.gate import QualityGate
from spark_avro.pipeline.sources.opening import open_source
from spark_avro.pipeline.sources.parts import Part, decoder_of
from spark_avro.pipeline.sources.position import with_version
from spark_avro.pipeline.sources.source import Source
from spark_avro.pipeline.steps.joined_tables import Tables
from spark_avro.pipeline.steps.step import StepContext
from spark_avro.pipeline.steps.step_table import apply_steps, of_one_record
from spark_avro.pipeline.steps.times import needs_time, with_stream_times, with_table_keys
from spark_avro.pipeline.steps.topic_table import table_records
from spark_avro.streams.decoder import RecordDecoder
from spark_avro.streams.following import patiently

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Opened:
    """A pipeline whose source, sinks, checks and dead letters are opened; nothing is checked or written yet.

    Attributes:
        pipeline: The file.
        spark: The session.
        source: The source.
        decoders: Decode the source's records: by "" those of the pipeline's rows, by the name of a stream its own.
        sinks: The sinks.
        gate: The checks; None if there are none.
        letters: The topic of dead letters; None if there is none.
        tables: The tables that steps join.
        cautions: What the folders of the pipeline do not promise, although it may run.
    """

    pipeline: Pipeline
    spark: SparkSession
    source: Source
    decoders: Mapping[str, RecordDecoder]
    sinks: tuple[Sink, ...]
    gate: QualityGate | None
    letters: LettersTopic | None
    tables: Tables
    cautions: tuple[str, ...] = ()

    def context(self, records: DataFrame, *, whole_topics: bool = False) -> StepContext:
        """The resources that steps may use for rows that are all there.

        Args:
            records: The records of all parts, of which steps may join those of streams.
            whole_topics: Whether topics that are joined as tables are read from their beginning to their end; if not,
                their records are among `records`.
        """

        def of_topic(name: str) -> DataFrame:
            return self.decoded(self.source.whole(self.pipeline.table_topics), name)

        return self.context_of(partial(self.decoded, records), of_topic if whole_topics else None)

    def context_of(
        self, decoded_stream: Callable[[str], DataFrame], decoded_topic: Callable[[str], DataFrame] | None = None
    ) -> StepContext:
        """The resources that steps may use for rows that are all there.

        Args:
            decoded_stream: The decoded records of a stream, by its name.
            decoded_topic: Those of a topic that is joined as a table; as `decoded_stream` if not given.
        """

        def topic(step: Join) -> DataFrame:
            assert step.topic is not None
            decoded = (decoded_topic or decoded_stream)(step.topic)
            return table_records(self._sound_records(decoded, step))

        def stream(step: Join) -> DataFrame:
            assert step.stream is not None
            decoded = decoded_stream(step.stream)
            # In a batch no letters are made of a stream's records, so none of them may be left out.
            _refuse_broken(decoded)
            return record_columns(decoded, self.source, step.stream)

        return StepContext(self.tables, stream, topic, time_needed=needs_time(self.pipeline.steps))

    def _sound_records(self, decoded: DataFrame, step: Join) -> DataFrame:
        """The records of a topic that can be decoded; the stream's batches make dead letters of the others.

        Raises:
            BrokenRecord: one cannot be decoded, and errors.tolerance is none.
        """
        if self.pipeline.errors.tolerance == "none":
            _refuse_broken(decoded)
        elif decoded.where(F.col("error").isNotNull()).limit(1).collect():
            log.warning(
                "%s: %s has records that cannot be decoded; they are left out",
                step.origin.setting,
                step.topic,
                extra={"event": "undecodable_left_out", "topic": step.topic},
            )
        return decoded.where(F.col("error").isNull())

    @property
    def decoder(self) -> RecordDecoder:
        """Decodes the records of the pipeline's rows."""
        return self.decoders[""]

    def decoded(self, records: DataFrame, name: str = "") -> DataFrame:
        """Records of the source, decoded with the last plans; not persisted, and batch or stream as the records.

        Args:
            records: The records of all parts.
            name: The name of the parts whose records are decoded: empty for the pipeline's rows, or that of a stream.

        Raises:
            PipelineError: a column has types in two parts that no type holds.
        """
        rows = self.decoders[name].rows(self.source.positioned(records, name))
        if not name:
            return rows
        return with_table_keys(with_stream_times(rows, self.pipeline.steps, name), self.pipeline.steps, name)

    def close(self) -> None:
        """Close all connections, and forget the tables."""
        self.tables.close()
        self.source.close()
        for part in (*self.sinks, self.letters):
            if part is not None:
                part.close()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A pipeline whose columns are known and whose targets are checked.

    Attributes:
        opened: The parts.
        decoded: The columns of the decoded records.
        written: The columns that the sinks get.
        statements: The DDL that each sink would issue for the first batch.
    """

    opened: Opened
    decoded: StructType
    written: StructType
    statements: tuple[tuple[str, ...], ...]


def makes_rows_of_one_record(pipeline: Pipeline) -> bool:
    """Whether each row for the sinks is made of one record, and no other record decides whether it is there."""
    return of_one_record(pipeline.steps) and not any(check.unique for check in pipeline.quality)


def open_pipeline(pipeline: Pipeline, spark: SparkSession, *, adopt: bool = False, with_targets: bool = True) -> Opened:
    """Open the parts of a pipeline.

    Args:
        pipeline: The file.
        spark: The session.
        adopt: Whether targets that another query has written to are taken over.
        with_targets: Whether the sinks and the topic of dead letters are opened.

    Raises:
        PipelineError: a sink's promise does not hold in its object store; the text says which one does.
    """
    cautions = _check_object_stores(pipeline, spark) if with_targets else ()
    context = SinkContext(
        spark=spark,
        pipeline=pipeline.name,
        columns=pipeline.evolve.columns,  # type: ignore[arg-type]
        kafka=pipeline.kafka,
        registry=pipeline.registry.client_settings if pipeline.registry else None,
        adopt=adopt,
        checkpoint=pipeline.checkpoint,
        of_one_record=makes_rows_of_one_record(pipeline),
    )
    errors = pipeline.errors
    letters = None
    if errors.topic is not None and with_targets:
        letters = LettersTopic(
            pipeline.name, errors.topic, pipeline.kafka, pipeline.topics, errors.headers, errors.mask, errors.log
        )
    source = open_source(spark, pipeline)
    decoders = {
        name: decoder_of(source.parts, name, partial(record_measures, _named(source, name)))
        for name in ("", *pipeline.streams)
    }
    return Opened(
        pipeline=pipeline,
        spark=spark,
        source=source,
        decoders=decoders,
        sinks=tuple(sinks.open_sink(spec, context) for spec in pipeline.all_sinks) if with_targets else (),
        gate=QualityGate(pipeline.quality) if pipeline.quality else None,
        letters=letters,
        tables=Tables(spark, pipeline.tables, _refreshes(pipeline)),
        cautions=cautions,
    )


def _refuse_broken(decoded: DataFrame) -> None:
    """Raise BrokenRecord for the first record that cannot be decoded."""
    for first in decoded.where(F.col("error").isNotNull()).limit(1).collect():
        place = first[POSITION]
        raise BrokenRecord(
            first["error"]["reason"],
            f"topic {place['topic']}, partition {place['partition']}, offset {place['offset']}",
        )


def _refreshes(pipeline: Pipeline) -> dict[str, timedelta]:
    """The interval at which each table is read again: the shortest one of the steps that join it."""
    joined: dict[str, list[timedelta]] = {}
    for step in pipeline.steps:
        if isinstance(step, Join) and step.table is not None:
            joined.setdefault(step.table, []).append(step.refresh)
    return {name: min(joined.get(name, [DEFAULT_REFRESH])) for name in pipeline.tables}


def _check_object_stores(pipeline: Pipeline, spark: SparkSession) -> tuple[str, ...]:
    """Refuse sinks whose promise does not hold in their object store, and return the cautions about the others."""
    found = list(store_findings(pipeline, _properties(spark)))
    if refused := [item.finding for item in found if item.refused]:
        raise PipelineError(refused)
    return tuple(str(item.finding) for item in found)


def _properties(spark: SparkSession) -> Properties:
    """The properties of a session, as those who use them read them: Hadoop's, Delta's log stores', and the others."""
    hadoop: Any = spark._jsc.hadoopConfiguration()  # noqa: SLF001 - PySpark's way to Hadoop's settings
    context = spark.sparkContext.getConf()

    def get(name: str) -> str | None:
        value: str | None
        if name.startswith("spark.hadoop."):
            value = hadoop.get(name.removeprefix("spark.hadoop."))
        elif name.startswith("spark.delta."):
            value = context.get(name)
        else:
            value = spark.conf.get(name, None)
        return value

    return get


def prepare(opened: Opened, *, check_targets: bool = True) -> Prepared:
    """Work out the columns with the registry's schemas, and check the targets; writes nothing.

    Args:
        opened: The parts.
        check_targets: Whether the sinks check their targets.

    Raises:
        PipelineError: a step, check or sink does not fit the columns; names the place in the file.
        RegistryUnavailable: the registry does not answer.
        SinkRefused: a target cannot take the rows.
    """
    registry = opened.pipeline.registry
    for plans in opened.source.plans.values():
        patiently(plans.refresh, registry.patience) if registry else plans.refresh()
    records = opened.source.empty()
    rows = record_columns(opened.decoded(records), opened.source)
    written = passed(opened, tagged(opened, opened.context(records))(rows))
    statements: tuple[tuple[str, ...], ...] = ()
    if check_targets:
        statements = tuple(sink.prepare(written.schema) for sink in opened.sinks)
    return Prepared(opened, rows.schema, written.schema, statements)


def _named(source: Source, name: str) -> list[Part]:
    return [part for part in source.parts if part.name == name]


def record_columns(decoded: DataFrame, source: Source, name: str = "") -> DataFrame:
    """The columns of decoded records: the fields of the value or `value` itself, `_key` and `_kafka`.

    Args:
        decoded: The records.
        source: The source.
        name: The name of the parts that the records are of.
    """
    if "decoded" not in decoded.columns:
        return decoded
    value = (
        "decoded.*" if isinstance(decoded.schema["decoded"].dataType, StructType) else F.col("decoded").alias("value")
    )
    key = [F.col("decoded_key").alias(KEY)] if "decoded_key" in decoded.columns else []
    versions = [(part.topics, part.plans["value"].versions) for part in _named(source, name)]
    return decoded.select(value, *key, with_version(versions))


def tagged(opened: Opened, context: StepContext) -> Callable[[DataFrame], DataFrame]:
    """The function that carries records through the steps, and tags the rows with the checks that they fail."""

    def apply(rows: DataFrame) -> DataFrame:
        rows = apply_steps(rows, opened.pipeline.steps, context)
        return rows if opened.gate is None else opened.gate.tag(rows)

    return apply


def passed(opened: Opened, rows: DataFrame) -> DataFrame:
    """The tagged rows for the sinks."""
    return rows if opened.gate is None else opened.gate.passed(rows)
