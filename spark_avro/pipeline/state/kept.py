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
from pyspark.sql.types import DataType, StructField, StructType, _parse_datatype_json_string

from spark_avro.pipeline.file.section import Section
from spark_avro.pipeline.state.operators import WAY_OUT

log = logging.getLogger(__name__)


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
        if kept == {name: rows.schema[name].dataType for name in kept if name in rows.columns}:
            return rows
        fields = [StructField(item.name, kept.get(item.name, item.dataType)) for item in rows.schema.fields]
        return rows.to(StructType(fields))

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
            log.warning("%s: new columns are left out, since its state has none: %s", operator, ", ".join(left_out))
        if kept == {item.name: item.dataType for item in rows.schema.fields}:
            return rows
        return rows.to(StructType([StructField(name, kind) for name, kind in kept.items()]))

    def key(self, operator: str, name: str, column: Column, kind: DataType) -> Column:
        """The column of a key, in its first type."""
        first = self._kept(operator, {name: kind}).get(name, kind)
        return column if first == kind else column.cast(first)

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
