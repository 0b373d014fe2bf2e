"""The steps cast, rename, drop, flatten and explode."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import ArrayType, DataType, StructType

from spark_avro.pipeline.file.field_path import FieldPath, quoted
from spark_avro.pipeline.file.place import error_at
from spark_avro.pipeline.file.steps import Cast, Drop, Explode, Flatten, Rename
from spark_avro.pipeline.steps.fields_at import Change, change, change_parent, column_at, type_at
from spark_avro.pipeline.steps.step import StepContext, passed_on


def cast(rows: DataFrame, step: Cast, _context: StepContext) -> DataFrame:
    """Fields with another type."""
    for path, name in step.types.items():
        type_at(path, rows.schema)
        try:
            rows = change(rows, path, _cast(name))
        except (ParseException, AnalysisException) as error:
            reason = str(error).split("\n", 1)[0]
            raise error_at(path.place, path.setting, f"{path} cannot be cast to {name}: {reason}") from None
    return rows


def rename(rows: DataFrame, step: Rename, _context: StepContext) -> DataFrame:
    """Fields with another name; they keep their place."""
    for path, name in step.names.items():
        type_at(path, rows.schema)
        old = path.parts[-1]
        if len(path.parts) == 1:
            rows = rows.withColumnRenamed(old, name)
        else:
            rows = change_parent(rows, path, partial(_renamed, old=old, new=name))
    return rows


def _cast(name: str) -> Change:
    return lambda column, _kind: column.cast(name)


def _without(name: str) -> Change:
    return lambda column, _kind: column.dropFields(quoted((name,)))


def _renamed(column: Column, kind: DataType, *, old: str, new: str) -> Column:
    assert isinstance(kind, StructType)
    fields = [column.getField(name).alias(new if name == old else name) for name in kind.names]
    return F.when(column.isNotNull(), F.struct(*fields))


def drop(rows: DataFrame, step: Drop, _context: StepContext) -> DataFrame:
    """Fields left out."""
    for path in step.paths:
        type_at(path, rows.schema)
        last = path.parts[-1]
        rows = rows.drop(last) if len(path.parts) == 1 else change_parent(rows, path, _without(last))
    return rows


def flatten(rows: DataFrame, step: Flatten, _context: StepContext) -> DataFrame:
    """The fields of structs as columns of their own."""
    for path in step.paths:
        if not isinstance(type_at(path, rows.schema), StructType):
            raise error_at(path.place, path.setting, f"{path} is no struct")
    chosen = {path.parts for path in step.paths}
    kept = passed_on(rows)
    columns: list[Column] = []
    for field in rows.schema.fields:
        if field.name in kept:
            continue
        leaves = _leaves((field.name,), field.dataType, chosen)
        columns += [F.col(quoted(parts)).alias(step.separator.join(parts)) for parts in leaves]
    return rows.select(*columns, *kept)


def _leaves(parts: tuple[str, ...], kind: DataType, chosen: set[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """The paths below a path that are no structs to flatten."""
    opened = not chosen or any(path[: len(parts)] == parts or parts[: len(path)] == path for path in chosen)
    if isinstance(kind, StructType) and opened:
        for field in kind.fields:
            yield from _leaves((*parts, field.name), field.dataType, chosen)
    else:
        yield parts


def explode(rows: DataFrame, step: Explode, _context: StepContext) -> DataFrame:
    """A row for each item of an array."""
    path: FieldPath = step.path
    if not isinstance(type_at(path, rows.schema), ArrayType):
        raise error_at(path.place, path.setting, f"{path} is no array")
    item = (F.explode_outer if step.empty == "keep" else F.explode)(column_at(path, rows.schema))
    name = step.name or path.parts[-1]
    others = [F.col(quoted((column,))) for column in rows.columns if column != name]
    return rows.select(*others, item.alias(name))
