"""Fields at a path: found in a schema, and changed through structs, arrays and maps."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from magicbyte.kit.settings.place import did_you_mean
from spark_avro.pipeline.file.field_path import FieldPath, quoted
from spark_avro.pipeline.file.place import PipelineError, error_at

#: A function from a field and its type to its new value.
Change = Callable[[Column, DataType], Column]


def type_at(path: FieldPath, schema: StructType) -> DataType:
    """The type of the field at a path; that of an array's items if the path goes through the array.

    Raises:
        PipelineError: the schema has no such field; names the nearest.
    """
    kind: DataType = schema
    for number, part in enumerate(path.parts):
        kind = _items(kind)
        if not isinstance(kind, StructType):
            raise _error(path, f"{quoted(path.parts[:number])} is {kind.simpleString()}, and has no field {part}")
        if part not in kind.names:
            inside = f" in {quoted(path.parts[:number])}" if number else ""
            raise _error(path, f"there is no field {part}{inside}{did_you_mean(part, _shown(kind.names))}")
        kind = kind[part].dataType
    return kind


def column_at(path: FieldPath, schema: StructType) -> Column:
    """The field at a path.

    Raises:
        PipelineError: as `type_at`.
    """
    type_at(path, schema)
    return F.col(quoted(path.parts))


def change(rows: DataFrame, path: FieldPath, to: Change) -> DataFrame:
    """The rows with a new value in the field at a path, in all items of the arrays on the way.

    Raises:
        PipelineError: as `type_at`.
    """
    type_at(path, rows.schema)
    first, *rest = path.parts
    column = F.col(quoted((first,)))
    return rows.withColumn(first, _changed(column, rows.schema[first].dataType, tuple(rest), to))


def change_parent(rows: DataFrame, path: FieldPath, to: Change) -> DataFrame:
    """The rows with a new value in the struct that has the field at a path; the field is not a top-level one."""
    type_at(path, rows.schema)
    first, *rest = path.parts[:-1]
    return rows.withColumn(
        first, _changed(F.col(quoted((first,))), rows.schema[first].dataType, tuple(rest), _items_by(to))
    )


def _items_by(to: Change) -> Change:
    """A change of a struct that also takes an array or map of structs."""

    def through(column: Column, kind: DataType) -> Column:
        if isinstance(kind, ArrayType):
            return F.transform(column, lambda item: through(item, kind.elementType))
        if isinstance(kind, MapType):
            return F.transform_values(column, lambda _, item: through(item, kind.valueType))
        return to(column, kind)

    return through


def _changed(column: Column, kind: DataType, parts: tuple[str, ...], to: Change) -> Column:
    if not parts:
        return to(column, kind)

    def inside(struct: Column, struct_kind: DataType) -> Column:
        assert isinstance(struct_kind, StructType)
        name = parts[0]
        inner = _changed(struct.getField(name), struct_kind[name].dataType, parts[1:], to)
        return struct.withField(quoted((name,)), inner)

    return _items_by(inside)(column, kind)


def _items(kind: DataType) -> DataType:
    """The type of the items of an array or map, also of nested arrays; for other types, the type itself."""
    while isinstance(kind, ArrayType | MapType):
        kind = kind.elementType if isinstance(kind, ArrayType) else kind.valueType
    return kind


def _shown(names: list[str]) -> list[str]:
    return [name for name in names if not name.startswith("_")] or names


def _error(path: FieldPath, problem: str) -> PipelineError:
    return error_at(path.place, path.setting, problem)
