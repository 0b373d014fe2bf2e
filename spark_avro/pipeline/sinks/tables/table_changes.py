"""The statements that change the columns of a Delta or Iceberg table."""

from __future__ import annotations

from pyspark.sql import types as spark

from spark_avro.pipeline.sinks.columns import ColumnChange, quoted


def change_statement(table: str, change: ColumnChange) -> str:
    """The ALTER TABLE for a change."""
    # Both formats call the elements of an array the field `element`.
    path = ".".join(quoted(part) for part in change.path.replace("[]", ".element").split("."))
    if change.old is None:
        return f"ALTER TABLE {table} ADD COLUMNS ({path} {type_text(change.new)})"
    return f"ALTER TABLE {table} ALTER COLUMN {path} TYPE {type_text(change.new)}"


def type_text(kind: spark.DataType) -> str:
    """A type as SQL, with field names in quotes."""
    if isinstance(kind, spark.StructType):
        fields = (f"{quoted(field.name)}: {type_text(field.dataType)}" for field in kind.fields)
        return f"struct<{', '.join(fields)}>"
    if isinstance(kind, spark.ArrayType):
        return f"array<{type_text(kind.elementType)}>"
    if isinstance(kind, spark.MapType):
        return f"map<{type_text(kind.keyType)}, {type_text(kind.valueType)}>"
    return str(kind.simpleString())
