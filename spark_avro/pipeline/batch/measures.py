"""The measures of a batch's records: their number, their newest time, and how many have each schema id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.ports import POSITION
from spark_avro.pipeline.sources.parts import Part
from spark_avro.plan.reasons import UNREADABLE
from spark_avro.streams.decoder import ALL, DEAD

#: The names of measures: all rows, the newest time, and the records of refused versions.
ROWS, NEWEST, UNREADABLE_ROWS = "rows_", "newest_", "unreadable_"
_ID = "id_"

#: The most schema ids of a pipeline's plan for which records are counted.
_COUNTED_IDS = 50


def row_measures() -> list[Column]:
    """The aggregates over records that are rows already."""
    return [F.count(F.lit(1)).alias(ROWS), _newest().alias(NEWEST)]


def record_measures(parts: Sequence[Part]) -> dict[str, Column]:
    """The aggregates over the decoded records of some parts, by name."""
    unreadable = F.count_if(F.col("error.reason").startswith(UNREADABLE))
    return {NEWEST: _newest(), UNREADABLE_ROWS: unreadable, **_by_id(parts)}


def passing_measures(parts: Sequence[Part]) -> dict[str, Column]:
    """The aggregates over decoded records that pass to a sink, by name; all are numbers."""
    standard = {ALL: F.count(F.lit(1)), DEAD: F.count("error"), NEWEST: F.unix_micros(_newest())}
    return {**standard, **_by_id(parts)}


def _by_id(parts: Sequence[Part]) -> dict[str, Column]:
    ids = dict.fromkeys(schema_id for part in parts for schema_id in part.plans["value"].plan.ids)
    return {
        f"{_ID}{schema_id}": F.count_if(F.col(f"{POSITION}.schema_id") == schema_id)
        for schema_id in list(ids)[:_COUNTED_IDS]
    }


def counts_by_id(measured: Mapping[str, Any]) -> dict[int, int]:
    """The numbers of records by schema id."""
    return {
        int(name.removeprefix(_ID)): count
        for name, count in measured.items()
        if name.startswith(_ID) and name.removeprefix(_ID).isdecimal() and count
    }


def _newest() -> Column:
    """The newest time; the last day that Python has in all zones, if a producer's clock gave a later one."""
    newest, last = F.max(F.col(f"{POSITION}.timestamp")), F.lit("9999-12-30").cast("timestamp")
    return F.when(newest > last, last).otherwise(newest)
