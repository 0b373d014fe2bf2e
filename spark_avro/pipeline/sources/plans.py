"""The sources of a record's plans for key and value: the registry, or the file for formats without ids."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark
from pyspark.sql.types import _parse_datatype_string

from compat.schema import AVRO, JSON, PROTOBUF
from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.policies import Pin
from spark_avro.pipeline.file.source import Format, Topics
from spark_avro.plan.frames import Guids, Message
from spark_avro.plan.parts import ColumnPlan, Decoded
from spark_avro.plan.reasons import MALFORMED
from spark_avro.plan.rules.reading import NO_RULES, ReadRules
from spark_avro.streams.followers import AUTO, Follower, Plans, RecordsFollower, SchemaName
from spark_avro.valid_text import HALF_PAIR, has_half_pair, utf8_text

#: Formats with ids -> the type of their schemas.
SCHEMA_TYPES = {"auto": AUTO, "avro": AVRO, "json": JSON, "protobuf": PROTOBUF}
_CORRUPT = "corrupt_"


@dataclass(frozen=True, slots=True)
class RawPlan:
    """A payload as it is, as bytes or text."""

    kind: str
    ids: Sequence[int] = ()
    unreadable: Mapping[int, str] = field(default_factory=dict)
    guids: Guids = field(default_factory=dict)
    rules: ReadRules = NO_RULES
    has_indexes: ClassVar[bool] = False

    def parts(self, message: Message) -> Decoded:
        """The parts of a message; each is sound."""
        value, nothing = message.payload.cast(self.kind), F.lit(None)
        return Decoded(value, F.lit(True), nothing.cast("string"), nothing.cast("long"))


@dataclass(frozen=True, slots=True)
class PlainJsonPlan:
    """A payload that is JSON without a schema id, read as columns that the file names."""

    columns: str
    ids: Sequence[int] = ()
    unreadable: Mapping[int, str] = field(default_factory=dict)
    guids: Guids = field(default_factory=dict)
    rules: ReadRules = NO_RULES
    has_indexes: ClassVar[bool] = False

    def parts(self, message: Message) -> Decoded:
        """The parts of a message."""
        kind = _parse_datatype_string(self.columns)
        assert isinstance(kind, spark.StructType)
        around = spark.StructType([*kind.fields, spark.StructField(_CORRUPT, spark.StringType())])
        options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}
        text = utf8_text(message.payload)
        is_half = has_half_pair(text)
        whole = F.from_json(F.when(~is_half, text), around, options)
        parsed = whole.isNotNull() & whole[_CORRUPT].isNull()
        value = F.when(parsed, F.struct(*(whole[name].alias(name) for name in kind.names)))
        sound = message.payload.isNull() | F.coalesce(parsed, F.lit(False))
        unfit = F.lit(f"{MALFORMED}: this is no JSON object in UTF-8 with the columns {self.columns}")
        why = F.when(is_half, F.lit(f"{MALFORMED}: {HALF_PAIR}")).otherwise(unfit)
        return Decoded(value, sound, why, F.lit(None).cast("long"))


@dataclass(frozen=True, slots=True)
class FixedPlan:
    """A plan that never changes."""

    plan: ColumnPlan
    versions: Mapping[int, int] = field(default_factory=dict)

    def refresh(self) -> ColumnPlan:
        """The plan."""
        return self.plan

    def read(self) -> ColumnPlan:
        """The plan."""
        return self.plan

    def find(self, unknown: Collection[SchemaName]) -> None:
        """Learns nothing."""


def part_plans(spec: Topics, pipeline: Pipeline) -> Mapping[str, Plans]:
    """The sources of the plans for the values of a part, and for its keys if they are decoded."""
    plans = {"value": _value_plans(spec, pipeline)}
    if spec.key is not None:
        plans["key"] = plans_for(spec.key, pipeline, spec.first_topic, is_key=True)
    return plans


def _value_plans(spec: Topics, pipeline: Pipeline) -> Plans:
    if spec.records is None:
        return plans_for(spec.value, pipeline, spec.first_topic)
    assert pipeline.registry is not None
    settings = pipeline.registry.client_settings
    return RecordsFollower(settings, subjects=spec.records.subjects, topics=spec.topics, rules=spec.records.rules)


def plans_for(spec: Format, pipeline: Pipeline, topic: str | None, *, is_key: bool = False) -> Plans:
    """The source of the plans of a key or value."""
    if spec.format == "json-plain":
        assert spec.type is not None
        return FixedPlan(PlainJsonPlan(spec.type))
    if not spec.is_by_id:
        return FixedPlan(RawPlan({"string": "string", "bytes": "binary"}[spec.format]))
    assert pipeline.registry is not None
    pin = pipeline.evolve.new_version
    return Follower(
        pipeline.registry.client_settings,
        subject=spec.subject,
        topic=None if spec.subject else topic,
        fields=spec.fields or None,
        is_key=is_key,
        schema_type=SCHEMA_TYPES[spec.format],
        message=spec.message,
        validate=spec.validate,
        rules=spec.rules,
        reader_version=pin.pin if isinstance(pin, Pin) and not is_key else None,
    )
