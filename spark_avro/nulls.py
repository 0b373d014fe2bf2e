"""NULL where the schema has none: found before `to_avro`, whose error for it is the JVM's NullPointerException."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import and_

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.tree import Tree, describe, is_nullable, is_record


def refuse_nulls(column: Column, source: spark.DataType | None, schema: Tree, encoded: Column) -> Column:
    """What was encoded, or an error that names the first field that is NULL where the schema has no null.

    Fields of records are looked at, and of records in records; for elements of arrays and maps the error stays Spark's,
    since looking at each would cost every row.

    Args:
        column: What is to be written.
        source: Its Spark type; None where it is unknown.
        schema: The writer's tree.
        encoded: The column's encoding.
    """
    found = list(_nulls(column, source, schema, ""))
    if not found:
        return encoded
    first = F.coalesce(*(F.when(is_null, F.lit(problem)) for problem, is_null in found))
    sound = column.isNull() | reduce(and_, (~is_null for _, is_null in found))
    message = F.concat(F.lit("the column does not fit the schema: "), first)
    return F.when(sound, encoded).otherwise(F.raise_error(message))


def _nulls(column: Column, source: spark.DataType | None, schema: Tree, path: str) -> Iterator[tuple[str, Column]]:
    """What is wrong where a column is NULL, for each such place in a record, outer ones first."""
    if not is_record(schema):
        return
    given = {field.name.lower(): field for field in source.fields} if isinstance(source, spark.StructType) else None
    for field in schema["fields"]:
        found = None if given is None else given.get(field["name"].lower())
        if given is not None and found is None:
            continue
        part = column[field["name"] if found is None else found.name]
        inside, kind = f"{path}.{field['name']}" if path else field["name"], None if found is None else found.dataType
        if is_nullable(field["type"]):
            for branch in field["type"] if isinstance(field["type"], list) and len(field["type"]) == 2 else ():
                yield from ((text, part.isNotNull() & null) for text, null in _nulls(part, kind, branch, inside))
            continue
        if found is None or found.nullable:
            yield f"{inside} is NULL, and {describe(field['type'])} in the schema", part.isNull()
        yield from _nulls(part, kind, field["type"], inside)
