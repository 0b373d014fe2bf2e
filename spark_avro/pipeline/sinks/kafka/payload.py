"""The columns of a Kafka record: topic, key, value and headers, encoded with schemas of the registry."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from compat.schema import AVRO, JSON, PROTOBUF, SchemaText
from serdes.client.clients import LATEST, RegistryClient
from serdes.error import RegistryError, RegistryUnavailable, SchemaNotFound, SubjectNotFound
from spark_avro.errors import PlanError
from spark_avro.json_schema.functions import encode_json
from spark_avro.json_schema.types import json_schema_of
from spark_avro.pipeline.file.sinks import KafkaSink, Mirror, Payload
from spark_avro.pipeline.ports import HEADERS, KEY, POSITION, REASON, SinkContext, SinkRefused
from spark_avro.pipeline.sinks.broken_texts import broken_text
from spark_avro.pipeline.sinks.kafka.mirroring import SchemaMirror
from spark_avro.pipeline.sinks.kafka.murmur2 import offer_murmur2
from spark_avro.pipeline.sinks.positions import NOT_DATA
from spark_avro.plan.derive import derive
from spark_avro.plan.encoding import encode_avro
from spark_avro.plan.outcomes import Encoded
from spark_avro.plan.written_frame import HEADER
from spark_avro.protobuf.functions import encode_protobuf
from spark_avro.registry import client_of
from spark_avro.stored_values import NO_KEYS, has_json, json_text

#: The header with a record's source, `topic:partition:offset`; readers recognise repeated records by it.
SOURCE_HEADER = "__magicbyte.src"

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")

#: The formats that are made by way of JSON; the others have the bytes of a text as they are.
_OF_JSON = ("json", "json-plain", "protobuf")

_TYPES = {"avro": AVRO, "json": JSON, "protobuf": PROTOBUF}
_ENCODERS: dict[str, Callable[..., Encoded]] = {
    "avro": encode_avro,
    "json": encode_json,
    "protobuf": encode_protobuf,
}


def topic_name(spec: KafkaSink) -> str | None:
    """The sink's topic; None if an expression names it."""
    return spec.topic.text if _TOPIC.fullmatch(spec.topic.text) else None


class Encoding:
    """Makes the columns of records, and registers their schemas when the rows' schema is new."""

    def __init__(self, spec: KafkaSink, context: SinkContext) -> None:
        self._spec, self._context = spec, context
        self._made: tuple[spark.StructType, list[Column]] | None = None
        self._registry: RegistryClient | None = None

    def check(self, rows: DataFrame) -> tuple[str, ...]:
        """Compare the schemas with the subjects, without registering any.

        Returns:
            The registrations that the first batch will make.

        Raises:
            SinkRefused: A subject refuses the schema; the text has the registry's reasons.
        """
        if self._spec.mirror:
            self._copied(rows)
            return ()
        self._partition(rows)
        named = [self._check(self._spec.value, self._value(rows), rows, is_key=False)]
        key = self._key(rows)
        if key is not None:
            named.append(self._check(self._spec.key_format, key, rows, is_key=True))
        return tuple(text for text in named if text is not None)

    def records(self, rows: DataFrame, *, source_header: bool) -> DataFrame:
        """The records of rows: `_kafka` if the rows have it, then topic, key, value and headers.

        If keys or values are JSON, or their schemas have rules, the column REASON follows: why a record is rejected, or
        NULL.

        Args:
            rows: The rows.
            source_header: Whether records get SOURCE_HEADER.

        Raises:
            SinkRefused: A column cannot be encoded, or a subject refuses the schema.
        """
        if self._made is None or self._made[0] != rows.schema:
            made = self._copied(rows) if self._spec.mirror else self._columns(rows, source_header=source_header)
            self._made = (rows.schema, made)
        return rows.select(*self._made[1])

    def _columns(self, rows: DataFrame, *, source_header: bool) -> list[Column]:
        topic = topic_name(self._spec)
        key = self._key(rows)
        none = F.lit(None).cast("binary")
        position = [F.col(POSITION)] if POSITION in rows.columns else []
        reasons = [self._broken_text(rows, key)]
        framed_key, key_frame = none, None
        if key is not None:
            framed_key, key_frame, reason = self._framed(self._spec.key_format, key, rows, is_key=True)
            reasons.append(reason)
        value, value_frame, reason = self._framed(self._spec.value, self._value(rows), rows, is_key=False)
        reasons.append(reason)
        rejected = [reason for reason in reasons if reason is not None]
        frames = [frame for frame in (key_frame, value_frame) if frame is not None]
        return [
            *position,
            (F.expr(self._spec.topic.text) if topic is None else F.lit(topic)).alias("topic"),
            framed_key.alias("key"),
            value.alias("value"),
            self._headers(rows, frames, source_header=source_header).alias("headers"),
            *self._partition(rows),
            *([F.coalesce(*rejected).alias(REASON)] if rejected else []),
        ]

    def _broken_text(self, rows: DataFrame, key: Column | None) -> Column | None:
        """The reason to reject a record whose key or value would be changed in JSON; None if there is no JSON."""
        made: list[tuple[str, Column]] = []
        if self._spec.value.format in _OF_JSON:
            made = [(name, F.col(f"`{name}`")) for name in rows.columns if name not in NOT_DATA]
        if key is not None and self._spec.key_format.format in _OF_JSON:
            made.append(("of the key", key))
        kinds = rows.select(*(column.alias(str(number)) for number, (_, column) in enumerate(made))).schema.fields
        columns = [(name, column, field.dataType) for (name, column), field in zip(made, kinds, strict=True)]
        return broken_text(columns, "the record")

    def _copied(self, rows: DataFrame) -> list[Column]:
        """The unchanged records, with their timestamps and partitions."""
        names = [name for name in rows.columns if name not in NOT_DATA]
        if names != ["value"] or not isinstance(rows.schema["value"].dataType, spark.BinaryType):
            raise SinkRefused(
                "sink.kafka.mirror: copies records as they are; set source.value.format to bytes, and no step that"
                " changes columns"
            )
        topic = topic_name(self._spec)
        copied = [F.col(f"{POSITION}.{name}") for name in ("key", "headers", "timestamp", "partition")]
        name = F.expr(self._spec.topic.text) if topic is None else F.lit(topic)
        return [F.col(POSITION), name.alias("topic"), F.col("value"), *copied]

    def _value(self, rows: DataFrame) -> Column:
        names = [name for name in rows.columns if name not in NOT_DATA]
        if self._spec.value.format in ("string", "bytes"):
            if len(names) != 1:
                raise SinkRefused(
                    f"sink.kafka.value: format {self._spec.value.format} takes one column, not {', '.join(names)}"
                )
            return F.col(f"`{names[0]}`")
        return F.struct(*(F.col(f"`{name}`") for name in names))

    def _key(self, rows: DataFrame) -> Column | None:
        """The key: from the sink's fields, the step `key`, or the source record."""
        if self._spec.key:
            columns = [F.col(str(path)).alias(path.parts[-1]) for path in self._spec.key]
            return columns[0] if len(columns) == 1 else F.struct(*columns)
        if KEY in rows.columns:
            return F.col(KEY)
        kind = rows.schema[POSITION].dataType if POSITION in rows.columns else None
        has_key = isinstance(kind, spark.StructType) and "key" in kind.names
        return F.col(f"{POSITION}.key") if has_key else None

    def _framed(
        self, payload: Payload, column: Column, rows: DataFrame, *, is_key: bool
    ) -> tuple[Column, Column | None, Column | None]:
        """The encoded column, the headers that name its schema, if headers do, and why a rule rejects a row, if any."""
        encoded = self._encoded(payload, column, rows, is_key=is_key)
        reason = None if encoded.failure is None else encoded.failure["reason"]
        if payload.schema_id != HEADER:
            return encoded.column, None, reason
        return encoded.column["key" if is_key else "value"], encoded.column["headers"], reason

    def _headers(self, rows: DataFrame, frames: Sequence[Column], *, source_header: bool) -> Column:
        entries = [_header(name, F.expr(sql.text)) for name, sql in self._spec.headers.items()]
        if source_header and POSITION in rows.columns:
            parts = (F.col(f"{POSITION}.{name}").cast("string") for name in ("topic", "partition", "offset"))
            entries.append(_header(SOURCE_HEADER, F.concat_ws(":", *parts)))
        added = [F.array(*entries)] if entries else []
        # Readers take the last header of a name, so the frames come last.
        added += frames
        if HEADERS in rows.columns and added:
            added.insert(0, F.coalesce(HEADERS, F.slice(added[0], 1, 0)))
        if not added:
            return F.col(HEADERS) if HEADERS in rows.columns else F.lit(None)
        return added[0] if len(added) == 1 else F.concat(*added)

    def _partition(self, rows: DataFrame) -> list[Column]:
        """The number of a record's partition, NULL for that of its key; none if no expression names it."""
        if self._spec.partition is None:
            return []
        offer_murmur2(rows.sparkSession)
        number = F.expr(self._spec.partition.text)
        try:
            kind = rows.select(number.alias("partition")).schema["partition"].dataType
        except AnalysisException as error:
            raise SinkRefused(f"sink.kafka.partition: {error}") from error
        if not isinstance(kind, spark.IntegralType):
            raise SinkRefused(f"sink.kafka.partition: the expression gives {kind.simpleString()}, not a whole number")
        return [number.cast("int").alias("partition")]

    def _encoded(self, payload: Payload, column: Column, rows: DataFrame, *, is_key: bool) -> Encoded:
        where = f"sink.kafka.{'key-format' if is_key else 'value'}"
        kind = rows.select(column.alias("payload")).schema["payload"].dataType
        if isinstance(kind, spark.BinaryType) and payload.format in ("string", "bytes"):
            return Encoded(column)
        if payload.format in ("string", "bytes"):
            if isinstance(kind, spark.StructType | spark.ArrayType | spark.MapType):
                raise SinkRefused(f"{where}: format {payload.format} takes one field, not {kind.simpleString()}")
            return Encoded(column.cast("string").cast("binary"))
        _check_json(payload, kind, where)
        if payload.format == "json-plain":
            return Encoded(json_text(column).cast("binary"))
        client, subject = self._client(), self._subject(payload, is_key=is_key)
        settings: dict[str, Any] = {"registry": client, "subject": subject, "register": payload.register}
        settings |= {"schema_id": payload.schema_id, "is_key": is_key, "rules": payload.rules}
        if payload.schema == "derive":
            settings |= {"data": rows}
            if payload.format == "avro":
                settings |= {"record_name": self._record_name(subject)}
        elif payload.schema == "use-latest" and payload.format == "avro":
            settings |= {"version": LATEST, "data": rows}
        else:
            settings |= {"schema": self._schema(payload, kind, subject)}
            settings |= {"data": rows} if payload.format in ("avro", "json") else {}
        try:
            return _ENCODERS[payload.format](column, **settings)
        except RegistryUnavailable:
            raise
        except (PlanError, RegistryError, ValueError) as error:
            raise SinkRefused(f"{where}: {error}") from error

    def _check(self, payload: Payload, column: Column, rows: DataFrame, *, is_key: bool) -> str | None:
        if payload.format not in _TYPES or payload.schema == "use-latest":
            # This only makes the plan: it reads the registry and registers nothing.
            self._encoded(payload, column, rows, is_key=is_key)
            return None
        client, subject = self._client(), self._subject(payload, is_key=is_key)
        kind = rows.select(column.alias("payload")).schema["payload"].dataType
        try:
            text = self._schema(payload, kind, subject)
        except PlanError as error:
            raise SinkRefused(f"sink.kafka.{'key-format' if is_key else 'value'}: {error}") from error
        try:
            client.lookup(subject, text)
        except (SubjectNotFound, SchemaNotFound) as error:
            if not payload.register:
                raise SinkRefused(
                    f"subject {subject}: the schema is not registered, and sink.kafka.value.register is false"
                ) from error
        else:
            # This refuses rules that cannot be carried out.
            self._encoded(payload, column, rows, is_key=is_key)
            return None
        try:
            verdict = client.check_compatibility(subject, text)
        except SubjectNotFound:
            verdict = None
        if verdict is not None and not verdict.compatible:
            raise SinkRefused(
                f"subject {subject} refuses the schema of the rows: {'; '.join(verdict.messages) or 'incompatible'}"
            )
        return f"register under subject {subject}: {text.text}"

    def _schema(self, payload: Payload, kind: spark.DataType, subject: str) -> SchemaText:
        """The schema of the columns, of the file, or of the subject's latest version."""
        schema_type = _TYPES[payload.format]
        if payload.schema.startswith("@"):
            return SchemaText(schema_type, Path(payload.schema[1:]).read_text(encoding="utf-8"))
        if payload.schema == "use-latest":
            return self._client().version(subject).schema
        if payload.format == "avro":
            return SchemaText(schema_type, derive(kind, self._record_name(subject)))
        if payload.format == "json":
            return SchemaText(schema_type, json_schema_of(kind, self._record_name(subject)))
        raise PlanError("a Protobuf schema is not derived; give schema: @FILE or use-latest")

    def schema_mirror(self) -> SchemaMirror | None:
        """The mirror that copies the schemas of mirrored records; None if they are not copied."""
        if not isinstance(self._spec.mirror, Mirror):
            return None
        return SchemaMirror(self._client(), client_of(self._spec.mirror.registry))

    def _client(self) -> RegistryClient:
        if self._context.registry is None:
            raise SinkRefused("sink.kafka.value: the format needs a registry; set registry.url")
        if self._registry is None:
            self._registry = client_of(self._context.registry)
        return self._registry

    def _subject(self, payload: Payload, *, is_key: bool) -> str:
        topic = topic_name(self._spec)
        if payload.subject is not None:
            return payload.subject
        if topic is None:
            raise SinkRefused("sink.kafka.value: the topic is an expression, which names no subject; set value.subject")
        return f"{topic}-{'key' if is_key else 'value'}"

    def _record_name(self, subject: str) -> str:
        """The name of a derived record: the topic's name, with only characters that a name may have."""
        name = re.sub(r"\W", "_", topic_name(self._spec) or subject, flags=re.ASCII)
        return f"_{name}" if name[0].isdigit() else name


def _check_json(payload: Payload, kind: spark.DataType, where: str) -> None:
    """Refuse a type that JSON cannot have, if the format needs it."""
    if payload.format in _OF_JSON and not has_json(kind):
        raise SinkRefused(f"{where}: {NO_KEYS.format(kind=kind.simpleString())}")


def _header(name: str, value: Column) -> Column:
    return F.struct(F.lit(name).alias("key"), value.cast("string").cast("binary").alias("value"))
