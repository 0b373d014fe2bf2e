"""The columns that Spark's state has: their names and types stay as they were when the query began.

A newer schema of the records may have a wider type or a new field. State cannot take either, and a pipeline must not
wait for a person because of it. So a column that an operator keeps is cast to its first type, and a value that does not
fit there is the fault of its record. A new column passes by an operator that does not keep it. An operator that keeps
whole rows, a join of streams, leaves it out.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import DataType, NumericType, _parse_datatype_json_string

from spark_avro.pipeline.file.section import Section
from spark_avro.pipeline.state.operators import WAY_OUT

log = logging.getLogger(__name__)

#: The least and the greatest number of a type.
_BOUNDS = {"byte": (-(2**7), 2**7 - 1), "short": (-(2**15), 2**15 - 1), "integer": (-(2**31), 2**31 - 1)}


@dataclass(slots=True)
class KeptColumns:
    """The columns that operators keep.

    Attributes:
        numbers: The number of each operator by its place in the file; a step that is added before it keeps the number.
        before: The columns of the checkpoint's state, with their types in Spark's JSON, by number.
        same_steps: Whether the file has the steps that it had when the query began.
        now: The columns of this plan, in the form of `before`; each call adds its own.
    """

    numbers: Mapping[str, str] = field(default_factory=dict)
    before: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    same_steps: bool = True
    now: dict[str, dict[str, str]] = field(default_factory=dict)

    def rows(self, operator: str, rows: DataFrame, names: Collection[str]) -> DataFrame:
        """Rows whose columns that an operator keeps have their first types; other columns pass by.

        Args:
            operator: The operator.
            rows: The rows.
            names: The columns that it keeps.
        """
        kept = self._kept(operator, {item.name: item.dataType for item in rows.schema.fields if item.name in names})
        for name, kind in kept.items():
            if name in rows.columns and rows.schema[name].dataType != kind:
                rows = rows.withColumn(name, _fitted(F.col(f"`{name}`"), rows.schema[name].dataType, kind))
        return rows

    def whole_rows(self, operator: str, rows: DataFrame, step: Section) -> DataFrame:
        """Rows with the columns that an operator keeps, and no others.

        Raises:
            PipelineError: the steps before were changed, and make other columns now.
        """
        kept = self._kept(operator, {item.name: item.dataType for item in rows.schema.fields})
        if not self.same_steps and (changed := set(kept) ^ set(rows.columns)):
            names = ", ".join(sorted(changed))
            raise step.error(
                "", f"the steps before were changed, and its state has not these columns: {names}. {WAY_OUT}"
            )
        if left_out := [name for name in rows.columns if name not in kept]:
            log.warning(
                "%s: new columns are left out, since its state has none: %s",
                operator,
                ", ".join(left_out),
                extra={"event": "columns_left_out"},
            )
        if kept == {item.name: item.dataType for item in rows.schema.fields}:
            return rows
        present = {item.name: item.dataType for item in rows.schema.fields}
        columns = {
            name: _fitted(F.col(f"`{name}`"), present[name], kind) if name in present else F.lit(None).cast(kind)
            for name, kind in kept.items()
        }
        return rows.select(*(column.alias(name) for name, column in columns.items()))

    def key(self, operator: str, name: str, column: Column, kind: DataType) -> Column:
        """The column of a key, in its first type."""
        first = self._kept(operator, {name: kind}).get(name, kind)
        return _fitted(column, kind, first)

    def _kept(self, operator: str, now: Mapping[str, DataType]) -> dict[str, DataType]:
        place, space, stream = operator.partition(" ")
        operator = f"{self.numbers.get(place, place)}{space}{stream}"
        types = {name: kind.json() for name, kind in now.items()}
        noted = self.now.setdefault(operator, {})
        before = self.before.get(operator)
        if before is None:
            noted |= types
            return dict(now)
        noted |= before
        return {name: _parse_datatype_json_string(text) for name, text in before.items()}


def _fitted(column: Column, kind: DataType, first: DataType) -> Column:
    """A column in its first type; a number that does not fit there fails, also where Spark would cut it (3.5)."""
    if kind == first:
        return column
    cast = column.cast(first)
    if not isinstance(kind, NumericType) or not isinstance(first, NumericType):
        return cast
    problem = F.concat(
        F.lit("CAST_OVERFLOW: "), column.cast("string"), F.lit(f" is no {first.simpleString()} of the state")
    )
    least, most = _BOUNDS.get(first.typeName(), (None, None))
    fits = F.lit(True) if least is None else column.between(F.lit(least), F.lit(most))
    return F.when(column.isNull() | fits, cast).otherwise(F.raise_error(problem).cast(first))
