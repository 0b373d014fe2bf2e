"""The parts of a join with a topic: rows as bytes, and which record is the newest."""

from __future__ import annotations

from itertools import permutations
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from spark_avro.pipeline.file.place import PipelineError
from spark_avro.pipeline.file.steps import Join
from spark_avro.pipeline.steps.newest_value import Newest, NewestValue
from spark_avro.pipeline.steps.row_bytes import row_bytes, row_columns

STEP = Join(topic="cities", condition=())

VALUES = """
    select cast(null as bigint) as nothing, 9007199254740993L as big, 2Y as tiny, 3S as small, 1.5f as f,
    cast('NaN' as double) as nan, -0.0D as minus, 12.340BD as money, true as yes, 'ü' as `a.b c`, x'00ff' as raw,
    date'1500-01-01' as day, timestamp'9999-12-31 23:59:59.999999' as late, timestamp_ntz'0001-01-01 00:00:00' as early,
    named_struct('x y', 1Y, 'items', array(1S, null)) as nested, map('k', array(named_struct('v', 2.0BD))) as by_text,
    map(1, map(2L, 'deep')) as by_number, cast(null as map<int, string>) as no_map,
    cast(null as struct<a: tinyint>) as no_struct, array(map(1, cast(null as int))) as maps
"""


def test_rows_pass_as_bytes_unchanged(spark: SparkSession) -> None:
    rows = spark.sql(VALUES)
    fields = rows.schema.fields
    packed = rows.select(row_bytes(fields, STEP).alias("packed"))
    back = packed.select(*row_columns(F.col("packed"), fields, STEP))
    assert [field.dataType.simpleString() for field in back.schema.fields] == [
        field.dataType.simpleString() for field in fields
    ]
    assert str(back.collect()) == str(rows.collect())
    nothing = packed.select(F.lit(None).cast("binary").alias("packed"))
    assert set(nothing.select(*row_columns(F.col("packed"), fields, STEP)).collect()[0]) == {None}


def test_a_type_without_bytes_is_refused(spark: SparkSession) -> None:
    rows = spark.sql("select named_struct('pause', make_interval(1)) as x")
    with pytest.raises(PipelineError, match=r"x\.pause is interval, which cannot be kept"):
        row_bytes(rows.schema.fields, STEP)


@pytest.mark.parametrize(
    ("records", "newest"),
    [
        ([(0, 1, 5, b"a"), (0, 2, 4, b"b")], b"b"),
        ([(0, 1, 5, b"a"), (1, 1, 6, b"b")], b"b"),
        ([(0, 1, 5, b"a"), (0, 2, 1, b"b"), (1, 1, 4, b"c")], b"b"),
        ([(0, 1, 5, b"a"), (1, 9, 5, b"b")], b"b"),
        ([(0, 1, 5, b"a"), (1, 1, 6, None), (1, 2, 7, b"c")], b"c"),
        ([(0, 1, 5, b"a"), (0, 2, 6, None)], None),
    ],
)
def test_the_newest_record_does_not_depend_on_the_order_of_partitions(
    records: list[tuple[int, int, int, bytes | None]], newest: bytes | None
) -> None:
    for order in permutations(records):
        places = [place[:2] for place in order]
        if any(
            places[one] > places[other] and places[one][0] == places[other][0]
            for one in range(len(places))
            for other in range(one + 1, len(places))
        ):
            continue  # Kafka keeps the order within a partition
        state = Newest()
        for record in order:
            state = state.after(*record)
        assert state.payload == newest, order


def map_state(kept: dict[Any, Any]) -> Any:
    """Spark's map state over a dictionary."""
    return SimpleNamespace(getValue=kept.get, updateValue=kept.__setitem__, removeKey=kept.__delitem__)


def test_rows_wait_as_long_as_their_batch_says() -> None:
    timers: list[int] = []
    states: dict[str, dict[Any, Any]] = {"values": {}, "due": {}}
    handle = SimpleNamespace(getMapState=lambda name, *_: map_state(states[name]), registerTimer=timers.append)
    operator = NewestValue(100)
    operator.init(handle)
    names = ("join_key", "is_table", "partition", "offset", "millis", "payload")

    def batch(at: int, *rows: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        frame = pd.DataFrame([(0, *row) for row in rows], columns=["bucket", *names])
        time = SimpleNamespace(getCurrentProcessingTimeInMs=lambda: at)
        return [tuple(row) for out in operator.handleInputRows((0,), iter([frame]), time) for row in out.to_numpy()]

    def expired(until: int) -> list[tuple[Any, ...]]:
        info = SimpleNamespace(getExpiryTimeInMs=lambda: until)
        return [tuple(row) for out in operator.handleExpiredTimer((0,), None, info) for row in out.to_numpy()]

    row, record = (False, 0, 0, 0), (True, 0, 1, 0)
    assert batch(1000, (b"a", *row, b"1"), (b"b", *row, b"2"), (None, *row, b"3")) == [(b"3", None, False)]
    assert batch(1050, (b"a", *row, b"4")) == []
    assert timers == [1100, 1150]
    assert batch(1060, (b"b", *record, b"B")) == [(b"2", b"B", True)]
    assert expired(1100) == [(b"1", None, False)]
    assert batch(1120, (b"b", True, 0, 2, 0, None), (b"b", *row, b"5")) == []
    assert expired(1150) == [(b"4", None, False)]
    assert expired(1220) == [(b"5", None, False)]
    assert states == {"values": {}, "due": {}}
