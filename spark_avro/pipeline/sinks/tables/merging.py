"""The shared parts of Delta and Iceberg tables: their guarantee, the newest row of each key, and an upsert's MERGE."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import reduce
from operator import and_

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.file.sinks import Upsert
from spark_avro.pipeline.ports import POSITION, Delivery, Guarantee
from spark_avro.pipeline.sinks.columns import ColumnFit, quoted
from spark_avro.pipeline.sinks.newest import (
    BY_PLACE,
    CLOCK,
    DELETED_KEYS,
    DELETED_STAY,
    KEY_PLACES,
    FieldName,
    is_earlier_clock,
    is_newer,
    last_query,
    newest_query,
)

#: The view of the rows of an upsert.
BATCH_VIEW = "magicbyte_batch"
#: The column of rows that delete their key.
DELETED = "_deleted_"

#: Where the places of keys are, as `explain` tells it.
_PLACES = f"the places of keys are kept in a table TABLE{KEY_PLACES}, unless the table has a column {POSITION}"
_DELETED_PLACES_STAY = (
    f"deleted keys are kept there, too, or in a table TABLE{DELETED_KEYS}, so that no older record brings them back"
)


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
        how = f"{how}; {BY_PLACE}" if upsert.is_by_offset else how
        by_position = orders_by_position(upsert)
        how = f"{how}; {_PLACES}" if by_position else how
        stay = _DELETED_PLACES_STAY if by_position else DELETED_STAY
        how = f"{how}; {stay}" if upsert.deletes is not None else how
    return Guarantee(Delivery.EXACTLY_ONCE, how, foreign, f"tests/chaos/pipeline_killed.py --sink {sink}")


def orders_by_position(upsert: Upsert | None) -> bool:
    """Whether rows are ordered by a field of `_kafka`, which is not one of the user's columns."""
    return upsert is not None and upsert.order.parts[0] == POSITION


def newest_rows(
    rows: DataFrame,
    fit: ColumnFit,
    upsert: Upsert,
    tables: Sequence[str] = (),
    replaced: Collection[str] = (),
    *,
    with_position: bool = False,
) -> DataFrame:
    """The newest row of each key, with a column that says whether it deletes its key.

    Args:
        rows: The rows of a batch.
        fit: The columns in which they are written.
        upsert: The key, the order, and the rows that delete their key.
        tables: The tables that have older rows of the keys, in SQL.
        replaced: Topics of the source that were deleted and made again.
        with_position: Whether they get `_kafka`, which is not among the columns of `fit`.
    """
    key = [str(path) for path in upsert.key]
    deleted = F.lit(False) if upsert.deletes is None else F.coalesce(F.expr(str(upsert.deletes)), F.lit(False))
    place = [F.col(POSITION)] if with_position else []
    fitted = rows.select(*fit.columns(), *place, deleted.alias(DELETED))
    if upsert.is_by_offset:
        return _newest_by_place(fitted, ", ".join(key), upsert, tables, replaced)
    rank = F.row_number().over(Window.partitionBy(*key).orderBy(F.col(str(upsert.order)).desc_nulls_last()))
    return fitted.withColumn("newest_", rank).where("newest_ = 1").drop("newest_")


def _newest_by_place(
    rows: DataFrame, key: str, upsert: Upsert, tables: Sequence[str], replaced: Collection[str]
) -> DataFrame:
    """The newest row of each key by the order of newest.py, with its clock in the place of its timestamp."""
    session, place = rows.sparkSession, _field(POSITION)
    last = session.sql(last_query("{rows}", key, place), rows=rows).drop("last_")
    clocked = last.withColumn(POSITION, F.col(POSITION).withField("timestamp", F.col(CLOCK))).localCheckpoint()
    first = clocked.agg(F.expr(f"unix_micros(min({CLOCK}))")).collect()[0][0]
    older = is_earlier_clock(_field(f"new.{POSITION}"), _field(f"target.{POSITION}"), replaced)
    for table in tables if first is not None else ():
        # Few files have rows that are later than the batch's first one.
        clocks = session.sql(
            f"SELECT {', '.join(f'new.{path} AS key{n}_' for n, path in enumerate(upsert.key))},"  # noqa: S608
            f" new.{place('topic')} AS topic_, new.{place('partition')} AS partition_,"
            f" max(target.{place('timestamp')}) AS earlier_ FROM {{new}} AS new JOIN {table} AS target"
            f" ON {same_key(upsert)} AND {older} WHERE target.{place('timestamp')} > timestamp_micros({first})"
            " GROUP BY ALL",
            new=clocked,
        ).localCheckpoint()
        if clocks.isEmpty():
            continue
        same = [F.col(str(path)).eqNullSafe(F.col(f"key{n}_")) for n, path in enumerate(upsert.key)]
        same += [F.col(place(name)) == F.col(f"{name}_") for name in ("topic", "partition")]
        clock = F.greatest(CLOCK, "earlier_")
        clocked = (
            clocked.join(clocks, reduce(and_, same), "left")
            .withColumn(CLOCK, clock)
            .withColumn(POSITION, F.col(POSITION).withField("timestamp", F.col(CLOCK)))
            .select(*clocked.columns)
            .localCheckpoint()
        )
    newest = session.sql(newest_query("{rows}", key, place), rows=clocked)
    return newest.drop("newest_", CLOCK)


def merge_statement(table: str, rows: str, fit: ColumnFit, upsert: Upsert, newer: str | None = None) -> str:
    """The MERGE of rows into a table.

    Args:
        table: The table's name in SQL.
        rows: The query of the rows, which have DELETED.
        fit: The columns in which they are written.
        upsert: The key.
        newer: The condition that the row `new` takes the place of the row `target`; None if all rows do.
    """
    names = [quoted(field.name) for field in fit.schema.fields]
    changes = ", ".join(f"target.{name} = new.{name}" for name in names)
    values = ", ".join(f"new.{name}" for name in names)
    chosen = f" AND {newer}" if newer is not None else ""
    return (
        f"MERGE INTO {table} AS target USING ({rows}) AS new ON {same_key(upsert)}"  # noqa: S608 - quoted names
        f" WHEN MATCHED{chosen} AND new.{DELETED} THEN DELETE"
        f" WHEN MATCHED{chosen} THEN UPDATE SET {changes}"
        f" WHEN NOT MATCHED AND NOT new.{DELETED} THEN INSERT ({', '.join(names)}) VALUES ({values})"
    )


def same_key(upsert: Upsert) -> str:
    """The condition that the rows `target` and `new` have the same key."""
    return " AND ".join(f"target.{path} <=> new.{path}" for path in upsert.key)


def is_newer_row(upsert: Upsert, replaced: Collection[str]) -> str:
    """The condition that the row `new` takes the place of the row `target` of its key."""
    if upsert.is_by_offset:
        return is_newer(_field(f"new.{POSITION}"), _field(f"target.{POSITION}"), replaced)
    return f"(target.{upsert.order} IS NULL OR new.{upsert.order} >= target.{upsert.order})"


def _field(struct: str) -> FieldName:
    return lambda name: f"{struct}.{name}"
