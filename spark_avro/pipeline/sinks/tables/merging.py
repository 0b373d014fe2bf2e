"""The shared parts of Delta and Iceberg tables: their guarantee, the newest row of each key, and an upsert's MERGE."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.file.sinks import Upsert
from spark_avro.pipeline.ports import POSITION, Delivery, Guarantee
from spark_avro.pipeline.sinks.columns import ColumnFit, quoted

_VIEW = "magicbyte_batch"
_DELETED = "_deleted_"


def table_guarantee(table_format: str, how: str, upsert: Upsert | None) -> Guarantee:
    """The guarantee of a table.

    Args:
        table_format: The name of the format, as in the file.
        how: Why each batch is in the table once.
        upsert: The upsert; None for appending.
    """
    if upsert is None:
        foreign, sink = "rows of the old checkpoint stay, and the overlap is written again", table_format
    else:
        foreign, sink = "harmless: the newest row of each key stays", f"{table_format}-upsert"
    return Guarantee(Delivery.EXACTLY_ONCE, how, foreign, f"tests/chaos/pipeline_killed.py --sink {sink}")


def orders_by_position(upsert: Upsert | None) -> bool:
    """Whether rows are ordered by a field of `_kafka`, which the table then has to keep."""
    return upsert is not None and upsert.order.parts[0] == POSITION


def newest_rows(rows: DataFrame, fit: ColumnFit, upsert: Upsert) -> DataFrame:
    """The newest row of each key, with a column that says whether it deletes its key.

    Args:
        rows: The rows of a batch.
        fit: The columns in which they are written.
        upsert: The key, the order, and the rows that delete their key.
    """
    key = [str(path) for path in upsert.key]
    rank = F.row_number().over(Window.partitionBy(*key).orderBy(F.col(str(upsert.order)).desc_nulls_last()))
    deleted = F.lit(False) if upsert.deletes is None else F.coalesce(F.expr(str(upsert.deletes)), F.lit(False))
    ranked = rows.select(*fit.columns(), deleted.alias(_DELETED)).withColumn("newest_", rank)
    return ranked.where("newest_ = 1").drop("newest_")


def merge_statement(table: str, newest: DataFrame, fit: ColumnFit, upsert: Upsert) -> str:
    """The MERGE of rows into a table; the rows become a view of the session.

    Args:
        table: The table's name in SQL.
        newest: The result of `newest_rows`.
        fit: The columns in which they are written.
        upsert: The key and the order.
    """
    newest.createOrReplaceTempView(_VIEW)
    order = str(upsert.order)
    same = " AND ".join(f"target.{path} <=> new.{path}" for path in upsert.key)
    is_newer = f"(target.{order} IS NULL OR new.{order} >= target.{order})"
    names = [quoted(field.name) for field in fit.schema.fields]
    changes = ", ".join(f"target.{name} = new.{name}" for name in names)
    values = ", ".join(f"new.{name}" for name in names)
    return (
        f"MERGE INTO {table} AS target USING {_VIEW} AS new ON {same}"  # noqa: S608 - quoted names
        f" WHEN MATCHED AND {is_newer} AND new.{_DELETED} THEN DELETE"
        f" WHEN MATCHED AND {is_newer} THEN UPDATE SET {changes}"
        f" WHEN NOT MATCHED AND NOT new.{_DELETED} THEN INSERT ({', '.join(names)}) VALUES ({values})"
    )
