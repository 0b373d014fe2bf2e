"""The changes of a target's columns for new rows: columns are added, types widened, and none is ever dropped."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.pipeline.ports import SinkRefused
from spark_avro.plan.column_fit import alike

log = logging.getLogger(__name__)

#: Whether a target can change a column's type from the first to the second.
Widens = Callable[[spark.DataType, spark.DataType], bool]

_WHOLE = (spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType)


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """A change of the target: a new column if `old` is None, else a wider type. `path` has dots between names."""

    path: str
    old: spark.DataType | None
    new: spark.DataType

    def __str__(self) -> str:
        if self.old is None:
            return f"add column {self.path} {self.new.simpleString()}"
        return f"widen column {self.path} from {self.old.simpleString()} to {self.new.simpleString()}"


@dataclass(frozen=True, slots=True)
class ColumnFit:
    """The fit of rows to a target.

    Attributes:
        rows: The schema of the rows.
        schema: The schema in which they are written.
        changes: The changes that the target needs first.
    """

    rows: spark.StructType
    schema: spark.StructType
    changes: tuple[ColumnChange, ...] = ()

    def columns(self) -> list[Column]:
        """The columns to select from the rows: fields that the target lacks are left out, missing ones are NULL."""
        present = {field.name.lower(): field for field in self.rows.fields}
        return [
            _conformed(F.col(quoted(source.name)), source.dataType, field.dataType).alias(field.name)
            if (source := present.get(field.name.lower())) is not None
            else F.lit(None).cast(field.dataType).alias(field.name)
            for field in self.schema.fields
        ]

    def completed(self, target: spark.StructType) -> ColumnFit:
        """The fit with all columns of the target, for targets that refuse rows without a column."""
        return ColumnFit(self.rows, merged(target, self.changes), self.changes)


def _conformed(column: Column, rows: spark.DataType, target: spark.DataType) -> Column:
    if alike(rows, target):
        return column
    if isinstance(rows, spark.StructType) and isinstance(target, spark.StructType):
        present = {field.name.lower(): field for field in rows.fields}
        fields = [
            _conformed(column.getField(source.name), source.dataType, field.dataType).alias(field.name)
            if (source := present.get(field.name.lower())) is not None
            else F.lit(None).cast(field.dataType).alias(field.name)
            for field in target.fields
        ]
        return F.when(column.isNotNull(), F.struct(*fields))
    if isinstance(rows, spark.ArrayType) and isinstance(target, spark.ArrayType):
        return F.transform(column, lambda item: _conformed(item, rows.elementType, target.elementType))
    if isinstance(rows, spark.MapType) and isinstance(target, spark.MapType):
        return F.transform_values(column, lambda _, value: _conformed(value, rows.valueType, target.valueType))
    return column.cast(target)


def log_changes(target: str, changes: Iterable[object]) -> None:
    """Log the changes made to a target for new columns."""
    for change in changes:
        log.info("%s: %s", target, change, extra={"event": "target_changed"})


def can_widen(old: spark.DataType, new: spark.DataType) -> bool:
    """Whether the type `new` has all values of the type `old`: int to long, float to double, a decimal that grows."""
    if isinstance(old, _WHOLE) and isinstance(new, _WHOLE):
        return _WHOLE.index(type(old)) < _WHOLE.index(type(new))
    if isinstance(old, spark.DecimalType) and isinstance(new, spark.DecimalType):
        digits = (new.precision - new.scale) - (old.precision - old.scale)
        return digits >= 0 and new.scale >= old.scale and (digits, new.scale) != (0, old.scale)
    return isinstance(old, spark.FloatType) and isinstance(new, spark.DoubleType)


def never(_old: spark.DataType, _new: spark.DataType) -> bool:
    """False: for targets that cannot change a column's type."""
    return False


def fit_columns(
    target: spark.StructType | None,
    rows: spark.StructType,
    *,
    columns: Literal["add", "ignore", "fail"],
    widens: Widens,
    name: str,
) -> ColumnFit:
    """Fit rows to a target; narrower values are cast to the target's types.

    Args:
        target: The target's columns; None if it does not exist yet.
        rows: The rows' columns.
        columns: What happens to columns that the target does not have.
        widens: Which types the target can change.
        name: The target's name in errors.

    Raises:
        SinkRefused: A column has another type than in the target, or is new and `columns` is `fail`.
    """
    if target is None:
        return ColumnFit(rows, rows)
    fitting = _Fitting(columns, widens, name)
    schema = fitting.struct(target, rows, "")
    return ColumnFit(rows, schema, tuple(fitting.changes))


class _Fitting:
    def __init__(self, columns: str, widens: Widens, name: str) -> None:
        self.changes: list[ColumnChange] = []
        self._columns, self._widens, self._name = columns, widens, name

    def struct(self, target: spark.StructType, rows: spark.StructType, path: str) -> spark.StructType:
        present = {field.name.lower(): field for field in target.fields}
        fields = []
        for field in rows.fields:
            place = f"{path}.{field.name}" if path else field.name
            match = present.get(field.name.lower())
            if match is not None:
                kind = self._type(match.dataType, field.dataType, place)
                fields.append(spark.StructField(field.name, kind, field.nullable))
            elif self._columns == "add":
                self.changes.append(ColumnChange(place, None, field.dataType))
                fields.append(field)
            elif self._columns == "fail":
                raise SinkRefused(
                    f"{self._name}: column {place} ({field.dataType.simpleString()}) is not in the target;"
                    " add it there, or set evolve.columns to add"
                )
        return spark.StructType(fields)

    def _type(self, target: spark.DataType, rows: spark.DataType, path: str) -> spark.DataType:
        if isinstance(target, spark.StructType) and isinstance(rows, spark.StructType):
            return self.struct(target, rows, path)
        if isinstance(target, spark.ArrayType) and isinstance(rows, spark.ArrayType):
            element = self._type(target.elementType, rows.elementType, f"{path}[]")
            return spark.ArrayType(element, rows.containsNull)
        if isinstance(target, spark.MapType) and isinstance(rows, spark.MapType):
            value = self._type(target.valueType, rows.valueType, f"{path}[]")
            return spark.MapType(rows.keyType, value, rows.valueContainsNull)
        if target == rows or can_widen(rows, target):
            return target
        if can_widen(target, rows) and self._widens(target, rows) and self._columns == "add":
            self.changes.append(ColumnChange(path, target, rows))
            return rows
        raise SinkRefused(
            f"{self._name}: column {path} is {target.simpleString()} in the target and {rows.simpleString()} in the"
            " rows; cast it in a step, or change the target"
        )


def merged(target: spark.StructType, changes: Iterable[ColumnChange]) -> spark.StructType:
    """The target's columns after changes of top-level columns and of fields in structs."""
    for change in changes:
        target = _changed(target, change.path.split("."), change.new)
    return target


def _changed(target: spark.StructType, path: list[str], new: spark.DataType) -> spark.StructType:
    name, *below = path
    fields, seen = [], False
    for field in target.fields:
        if field.name.lower() != name.removesuffix("[]").lower():
            fields.append(field)
            continue
        seen = True
        fields.append(spark.StructField(field.name, _inside(field.dataType, name, below, new)))
    if not seen:
        fields.append(spark.StructField(name, new))
    return spark.StructType(fields)


def _inside(kind: spark.DataType, name: str, below: list[str], new: spark.DataType) -> spark.DataType:
    if name.endswith("[]"):
        inner = name.removesuffix("[]")
        if isinstance(kind, spark.ArrayType):
            return spark.ArrayType(_inside(kind.elementType, inner, below, new))
        assert isinstance(kind, spark.MapType)
        return spark.MapType(kind.keyType, _inside(kind.valueType, inner, below, new))
    if not below:
        return new
    assert isinstance(kind, spark.StructType)
    return _changed(kind, below, new)


def quoted(name: str) -> str:
    """A column's name in backquotes, for SQL and for `col`."""
    return "`" + name.replace("`", "``") + "`"
