"""The columns that decode records and count them. They are made when a plan changes, and not for each batch."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.plan.parts import ColumnPlan
from spark_avro.plan.reasons import unknown_name
from spark_avro.streams.dead_letters import split_columns
from spark_avro.streams.followers import Plans

#: The names of the measures that each batch has.
ALL, DEAD, UNKNOWN_IDS = "all_", "dead_", "unknown_"

#: The most unknown ids and guids of one batch that are looked up.
_LOOKED_UP = 1000


@dataclass(frozen=True, slots=True)
class _Made:
    """Columns, and the records and plans that they were made for."""

    names: Sequence[str]
    plans: Sequence[ColumnPlan]
    selections: Sequence[Sequence[Column]]
    measures: Sequence[Column]


class RecordDecoder(Protocol):
    """Decodes records with the last plans of their columns."""

    @property
    def plans(self) -> Mapping[str, Plans]:
        """The sources of all plans."""

    def rows(self, records: DataFrame) -> DataFrame:
        """Decoded records: `decoded`, perhaps `decoded_key`, `error`, `error_column`, and the records' kept columns."""

    def measures(self, records: DataFrame) -> Sequence[Column]:
        """The aggregates over the decoded rows of some records."""


@dataclass(slots=True)
class Decoder:
    """Decodes records with the last plans of their columns.

    Each operator of a column is made in Spark's JVM by a call of its own, so a batch of small records may be decoded in
    less time than the thousand calls for its columns take.

    Attributes:
        plans: The sources of the columns' plans. The first column's value is `decoded`, another one's
            `decoded_NAME`; `error` is that of the first column that has one, and `error_column` its name.
        kept: The columns of the records that the rows have besides those of decoding; all if None.
        further: Returns aggregates over the rows, by name, besides those that each batch has.
        keys: The columns that have keys of records.
    """

    plans: Mapping[str, Plans]
    kept: Sequence[str] | None = None
    further: Callable[[], Mapping[str, Column]] = dict
    keys: Collection[str] = ("key",)
    _made: _Made | None = field(default=None, init=False, repr=False)

    def rows(self, records: DataFrame) -> DataFrame:
        """Decoded records, not persisted; without plans, the records as they are."""
        if self.plans:
            for columns in self._for(records).selections:
                records = records.select(*columns)
        return records

    def measures(self, records: DataFrame) -> Sequence[Column]:
        """The aggregates over the decoded rows of some records."""
        return self._for(records).measures

    def _for(self, records: DataFrame) -> _Made:
        names, plans = tuple(records.columns), tuple(source.plan for source in self.plans.values())
        if self._made is None or (self._made.names, self._made.plans) != (names, plans):
            self._made = _Made(names, plans, self._selections(names, plans), self._measures())
        return self._made

    def _selections(self, names: Sequence[str], plans: Sequence[ColumnPlan]) -> list[list[Column]]:
        """The columns to select, one selection after the other."""
        kept = [name for name in names if (name != self._first if self.kept is None else name in self.kept)]
        selections: list[list[Column]] = []
        waiting = list(self.plans)
        decoded: list[str] = []
        for column, plan in zip(self.plans, plans, strict=True):
            waiting.remove(column)
            results = self.results(column)
            needed = [name for name in names if name in kept or name in waiting or (waiting and name == "headers")]
            selections += split_columns(
                [*names, *decoded], plan, column, [*needed, *decoded], results, is_key=column in self.keys
            )
            decoded += results
        if len(plans) == 1:
            selections[-1].append(F.lit(self._first).alias("error_column"))
        else:
            selections.append([*map(_named, kept), *self._merged()])
        return selections

    @property
    def _first(self) -> str:
        return next(iter(self.plans))

    def results(self, column: str) -> tuple[str, str]:
        """The names of a decoded column and of its errors; these become `error` if there are several."""
        if len(self.plans) == 1:
            return "decoded", "error"
        return ("decoded" if column == self._first else f"decoded_{column}"), f"error_{column}"

    def _merged(self) -> list[Column]:
        """The values of all columns, and the first error."""
        values, errors = zip(*map(self.results, self.plans), strict=True)
        cases = (
            F.when(F.col(error).isNotNull(), F.lit(column)) for column, error in zip(self.plans, errors, strict=True)
        )
        error = F.coalesce(*map(F.col, errors)).alias("error")
        return [*map(F.col, values), error, F.coalesce(*cases).alias("error_column")]

    def _measures(self) -> list[Column]:
        ids = F.collect_set(unknown_name(F.col("error")))
        standard = {ALL: F.count(F.lit(1)), DEAD: F.count("error"), UNKNOWN_IDS: F.slice(ids, 1, _LOOKED_UP)}
        return [measure.alias(name) for name, measure in {**standard, **self.further()}.items()]


def _named(name: str) -> Column:
    return F.col(f"`{name}`")
