"""Parts of a source: topics whose records are decoded in the same way.

Spark reads the topics of all parts as one stream. The name of a part is empty for the pipeline's rows, and otherwise
the name of a stream that a step joins; several parts may have the empty name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.pipeline.file.section import Section
from spark_avro.pipeline.ports import KEY, POSITION
from spark_avro.plan.parts import ColumnPlan
from spark_avro.plan.united_type import TypesDoNotFit, as_type, united_type
from spark_avro.streams.decoder import Decoder, RecordDecoder
from spark_avro.streams.followers import Plans

#: The topic of records with `_kafka`.
_TOPIC = f"{POSITION}.topic"


@dataclass(frozen=True, slots=True)
class Part:
    """Topics whose records are decoded in the same way.

    Attributes:
        name: Empty for the pipeline's rows, otherwise the name of the stream.
        topics: The topics; none if a pattern finds them, or if the source is not Kafka.
        plans: The sources of the plans that decode the column `value`, and `key` if it is decoded.
        section: The part in the file.
        by_id: Whether values name their schemas by id.
    """

    name: str
    topics: tuple[str, ...]
    plans: Mapping[str, Plans]
    section: Section
    by_id: bool = False

    @property
    def label(self) -> str:
        """The topics in words."""
        return ", ".join(self.topics)


def plans_of(parts: Sequence[Part]) -> Mapping[str, Plans]:
    """The sources of all plans, by column; with several parts, by column and topics."""
    if len(parts) == 1:
        return parts[0].plans
    return {f"{column} of {part.label}": plans for part in parts for column, plans in part.plans.items()}


def decoder_of(
    parts: Sequence[Part], name: str = "", further: Callable[[], Mapping[str, Column]] = dict
) -> RecordDecoder:
    """The decoder of the records of all parts with a name, which have `_kafka`, value, key and headers.

    Args:
        parts: The parts of a source; none if its records are rows already.
        name: The name.
        further: Returns aggregates over the rows, by name, besides those that each batch has.
    """
    named = [part for part in parts if part.name == name]
    if len(named) > 1:
        return PartsDecoder(named, further)
    return Decoder(named[0].plans if named else {}, kept=(POSITION,), further=further)


def records_of(records: DataFrame, parts: Sequence[Part], name: str) -> DataFrame:
    """The records of all parts with a name; no filter if there are no others."""
    if all(part.name == name for part in parts):
        return records
    topics = [topic for part in parts if part.name == name for topic in part.topics]
    return records.where(F.col("topic").isin(*topics))


@dataclass(frozen=True, slots=True)
class _Made:
    """Columns, and the records and plans that they were made for."""

    names: Collection[str]
    plans: Sequence[ColumnPlan]
    separated: Sequence[Column]
    united: Sequence[Column]
    measures: Sequence[Column]


@dataclass(slots=True)
class PartsDecoder:
    """Decodes records of several parts; their rows have the columns of all parts, by name.

    The records are read once: each part has columns of its own, which are NULL in the records of other parts.

    Attributes:
        parts: The parts, at least two.
        further: Returns aggregates over the rows, by name, besides those that each batch has.
    """

    parts: Sequence[Part]
    further: Callable[[], Mapping[str, Column]] = dict
    plans: Mapping[str, Plans] = field(init=False)
    _inner: Decoder = field(init=False, repr=False)
    _made: _Made | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self.plans = plans_of(self.parts)
        columns = {
            f"{column}_{number}": plans
            for number, part in enumerate(self.parts)
            for column, plans in part.plans.items()
        }
        keys = [column for column in columns if column.startswith("key_")]
        self._inner = Decoder(columns, kept=(POSITION,), further=self.further, keys=keys)

    def rows(self, records: DataFrame) -> DataFrame:
        """Decoded records, not persisted.

        Raises:
            PipelineError: a column has types in two parts that no type holds.
        """
        made = self._for(records)
        return self._inner.rows(records.select(*made.separated)).select(*made.united)

    def measures(self, records: DataFrame) -> Sequence[Column]:
        """The aggregates over the decoded rows of some records."""
        return self._for(records).measures

    def _for(self, records: DataFrame) -> _Made:
        names, plans = tuple(records.columns), tuple(source.plan for source in self.plans.values())
        if self._made is None or (self._made.names, self._made.plans) != (names, plans):
            separated = self._separated(names)
            apart = records.select(*separated)
            united = self._united(self._inner.rows(apart).schema, _is_case_sensitive(records))
            self._made = _Made(names, plans, separated, united, self._inner.measures(apart))
        return self._made

    def _separated(self, names: Collection[str]) -> list[Column]:
        """The records' columns, with a value and a key of its own for each part."""
        kept = [F.col(name) for name in (POSITION, "headers") if name in names]
        is_of = [F.col(_TOPIC).isin(*part.topics) for part in self.parts]
        return kept + [
            F.when(is_of[number], F.col(column)).alias(f"{column}_{number}")
            for number, part in enumerate(self.parts)
            for column in part.plans
        ]

    def _united(self, decoded: spark.StructType, case_sensitive: bool) -> list[Column]:  # noqa: FBT001 - of Spark
        """The columns of a Decoder, made of the parts' columns."""
        # The names are value_N and key_N.
        column = F.substring_index("error_column", "_", 1).alias("error_column")
        values = self._together("value", decoded, "decoded", case_sensitive=case_sensitive)
        keys = self._together("key", decoded, "decoded_key", case_sensitive=case_sensitive)
        return [F.col(POSITION), *values, *keys, F.col("error"), column]

    def _together(self, column: str, decoded: spark.StructType, alias: str, *, case_sensitive: bool) -> list[Column]:
        """One column for the parts' values or keys; none if no part decodes them."""
        found: list[tuple[Part, Column, spark.DataType]] = []
        for number, part in enumerate(self.parts):
            if column in part.plans:
                name, _ = self._inner.results(f"{column}_{number}")
                found.append((part, *_whole(F.col(name), decoded[name].dataType, is_value=column == "value")))
        if not found:
            return []
        kind = found[0][2]
        for number, (part, _, other) in enumerate(found[1:], 1):
            try:
                kind = united_type(kind, other, case_sensitive=case_sensitive)
            except TypesDoNotFit as misfit:
                before = {earlier.label: own for earlier, _, own in found[:number]}
                raise _misfit(column, before, part, other, misfit, case_sensitive=case_sensitive) from None
        columns = [as_type(value, own, kind, case_sensitive=case_sensitive) for _, value, own in found]
        return [reduce(F.coalesce, columns).alias(alias)]


def _misfit(
    column: str,
    before: Mapping[str, spark.DataType],
    part: Part,
    kind: spark.DataType,
    misfit: TypesDoNotFit,
    *,
    case_sensitive: bool,
) -> Exception:
    """The error for a type that does not fit those of earlier parts; it names the first of them that differs."""
    labels = ", ".join(before)
    for label, earlier in before.items():
        try:
            united_type(earlier, kind, case_sensitive=case_sensitive)
        except TypesDoNotFit as of_one:
            labels, misfit = label, of_one
            break
    path = misfit.path if column == "value" else ".".join(filter(None, (KEY, misfit.path)))
    return part.section.error(
        "topics",
        f"column {path} is {misfit.other.simpleString()} in {part.label}, and {misfit.one.simpleString()} in {labels};"
        f" no type has the values of both. Leave the column out with {column}.fields, or use a pipeline for each",
    )


def _whole(column: Column, kind: spark.DataType, *, is_value: bool) -> tuple[Column, spark.DataType]:
    """A part's values as structs; a value that is no record is the column `value`."""
    if not is_value or isinstance(kind, spark.StructType):
        return column, kind
    wrapped = F.when(column.isNotNull(), F.struct(column.alias("value")))
    return wrapped, spark.StructType([spark.StructField("value", kind)])


def _is_case_sensitive(records: DataFrame) -> bool:
    setting: str | None = records.sparkSession.conf.get("spark.sql.caseSensitive", "false")
    return setting == "true"
