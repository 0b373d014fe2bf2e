"""Upserts into Delta and Iceberg tables; test_lake_tables runs this file in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.file.field_path import FieldPath
from spark_avro.pipeline.file.sinks import Upsert
from spark_avro.pipeline.file.sql_text import Sql
from spark_avro.pipeline.ports import BatchIdentity, SinkContext
from spark_avro.pipeline.sinks.tables.key_places import KeyPlaces
from tests.spark.pipeline.sinks.lake import Lake
from tests.spark.pipeline.sinks.lake_session import lake_session
from tests.spark.pipeline.sinks.test_newest import records_of
from tests.spark.pipeline.sinks.upsert_order import (
    DELETED,
    DELETED_BACKWARDS,
    LEFT,
    LEFT_BACKWARDS,
    REPLACED,
    Record,
    batch_of,
    rounds,
    rows_of,
    winners,
)

Rows = Callable[..., DataFrame]
Batch = Callable[..., BatchIdentity]
ID = FieldPath(("id",))
MODE = Upsert(key=(ID,), deletes=Sql("v = 'd'"))
#: Records of one key: the newest, one before it from another partition, and an older one.
NEW, MIDDLE, OLD = Record("f", 0, 9, 30, "new"), Record("f", 1, 1, 20, "middle"), Record("f", 0, 1, 10, "old")


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    with lake_session(tmp_path_factory.mktemp("warehouse")) as session:
        yield session


@pytest.fixture(params=["delta", "iceberg"])
def lake(
    request: pytest.FixtureRequest, tmp_path: Path, spark: SparkSession, context: Callable[..., SinkContext]
) -> Lake:
    return Lake(request.param, tmp_path, spark, context)


def test_an_upsert_keeps_the_newest_row_of_each_key(lake: Lake, numbers: Rows, batch: Batch) -> None:
    columns = ("n % 3 as id", "n * 10 as v", "if(n = 10, 'd', 'u') as op")
    sink = lake.sink(mode=Upsert(key=(ID,), deletes=Sql("op = 'd'")))
    sink.write(numbers(0, 10, *columns), batch(0, 0, 10))
    assert lake.rows("id", "v") == [(0, 90), (1, 70), (2, 80)]
    assert sink.write(numbers(0, 10, *columns), batch(0, 0, 10)).repeated is True
    # An older row, read again by another checkpoint, does not win; the row of 10 deletes key 1.
    sink.write(numbers(0, 6, *columns), batch(0, 0, 6, "q2"))
    sink.write(numbers(10, 11, *columns), batch(1, 10, 11))
    assert lake.rows("id", "v") == [(0, 90), (2, 80)]
    # Decoded columns are not deterministic for Spark.
    random = ("n % 3 as id", "n * 10 + cast(rand() as bigint) as v", "'u' as op")
    sink.write(numbers(11, 12, *random), batch(2, 11, 12))
    assert lake.rows("id", "v") == [(0, 90), (2, 110)]


@pytest.mark.parametrize("order", ["_kafka.offset", "s"])
def test_an_older_record_does_not_bring_a_deleted_key_back(lake: Lake, spark: SparkSession, order: str) -> None:
    mode = Upsert(key=(ID,), order=FieldPath(tuple(order.split("."))), deletes=Sql("v = 'd'"))
    for number, records in enumerate(DELETED):
        rows = rows_of(spark, records).withColumn("s", F.unix_seconds("_kafka.timestamp"))
        lake.sink(mode=mode).write(rows, batch_of(number))
    assert lake.rows("id", "v") == LEFT
    where = "there, too, or " if mode.is_by_offset else ""
    assert f"deleted keys are kept {where}in a table TABLE_deleted_keys" in lake.sink(mode=mode).guarantee.reason
    assert set(lake.types()) == {"id", "v", "s"}


def test_a_deletion_with_an_earlier_timestamp_stays(lake: Lake, spark: SparkSession) -> None:
    mode = Upsert(key=(ID,), deletes=Sql("v = 'd'"))
    for number, records in enumerate(DELETED_BACKWARDS):
        lake.sink(mode=mode).write(rows_of(spark, records), batch_of(number))
    assert lake.rows("id", "v") == LEFT_BACKWARDS


def test_an_upsert_knows_the_newest_record_of_a_key(lake: Lake, spark: SparkSession) -> None:
    sink = lake.sink(mode=Upsert(key=(ID,)))
    for number, records in enumerate(rounds()):
        sink.write(rows_of(spark, records), batch_of(number))
    assert lake.rows("id", "v") == winners()


def test_a_topic_made_again_begins_at_offset_0(lake: Lake, spark: SparkSession) -> None:
    sink = lake.sink(mode=Upsert(key=(ID,)))
    for number, records in enumerate(REPLACED):
        sink.write(rows_of(spark, [(1, one) for one in records]), batch_of(number, replaced=True))
    assert lake.rows("id", "v") == [(1, "new")]


def die(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


#: Where a driver dies: before the places are written, between them and the table, or nowhere.
DEATHS = ("_note", "still_newest", None)


def test_the_newest_record_of_each_key_is_left_whatever_batches_and_crashes_there_are(
    lake: Lake, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = Random(38)
    batches: list[list[tuple[int, Record]]] = [[] for _ in DEATHS]
    left = []
    for key in range(60):
        drawn = [(chance.randrange(3), chance.randrange(5), chance.random() < 0.3) for _ in range(chance.randint(1, 8))]
        of_key = records_of(drawn)
        numbers = sorted(chance.randrange(len(batches)) for _ in of_key)
        values = [f"{one.topic}-{one.partition}-{one.offset}" for one in of_key]
        for number, one, value in zip(numbers, of_key, values, strict=True):
            v = "d" if one.deletes else value
            batches[number].append((key, Record(one.topic, one.partition, one.offset, one.timestamp, v)))
        newest, value = max(zip(of_key, values, strict=True), key=lambda pair: pair[0].rank)
        left += [] if newest.deletes else [(key, value)]
    for number, (records, death) in enumerate(zip(batches, DEATHS, strict=True)):
        rows = rows_of(spark, records)
        with monkeypatch.context() as patch:
            if death is not None:
                patch.setattr(KeyPlaces, death, die)
                with pytest.raises(KeyboardInterrupt):
                    lake.sink(mode=MODE).write(rows, batch_of(number))
        attempted = replace(batch_of(number), attempted=death is not None)
        assert lake.sink(mode=MODE).write(rows, attempted).repeated is False
        assert lake.sink(mode=MODE).write(rows, attempted).repeated is True
    assert lake.rows("id", "v") == left
    assert lake.types() == {"id": "int", "v": "string"}
    # Another checkpoint reads all again.
    for number, records in enumerate(batches):
        lake.sink(mode=MODE).write(rows_of(spark, records), replace(batch_of(number), query_id="q2"))
    assert lake.rows("id", "v") == left


def test_a_record_that_the_repeat_leaves_out_holds_nothing_back(
    lake: Lake, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.sink(mode=MODE).write(rows_of(spark, [(1, OLD), (2, OLD)]), batch_of(0))
    # Key 1 has a place already, and key 3 has none.
    deletes = replace(NEW, v="d")
    sink = lake.sink(mode=MODE)
    for once_more in (False, True):
        with monkeypatch.context() as patch:
            patch.setattr(KeyPlaces, "still_newest", die)
            with pytest.raises(KeyboardInterrupt):
                sink.write(rows_of(spark, [(1, NEW), (2, deletes), (3, deletes)]), batch_of(1))
        if not once_more:
            sink = lake.sink(mode=MODE)
    # The steps were changed. The same sink knows that it has begun the batch.
    sink.write(rows_of(spark, []), batch_of(1))
    sink.write(rows_of(spark, [(key, MIDDLE) for key in (1, 2, 3)]), batch_of(2))
    assert lake.rows("id", "v") == [(1, "middle"), (2, "middle"), (3, "middle")]


def test_a_newer_row_that_another_query_writes_meanwhile_stays(
    lake: Lake, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.sink(mode=MODE).write(rows_of(spark, [(1, OLD), (2, OLD)]), batch_of(0))
    applied = KeyPlaces.applied

    def overtaken(self: KeyPlaces, newest: DataFrame, batch: BatchIdentity) -> DataFrame:
        chosen = applied(self, newest, batch)
        if batch.query_id == "q1":
            lake.sink(mode=MODE).write(rows_of(spark, [(1, NEW)]), replace(batch_of(0), query_id="q2"))
        return chosen

    monkeypatch.setattr(KeyPlaces, "applied", overtaken)
    lake.sink(mode=MODE).write(rows_of(spark, [(1, MIDDLE), (2, MIDDLE)]), batch_of(1))
    assert lake.rows("id", "v") == [(1, "new"), (2, "middle")]


def test_a_row_that_somebody_deleted_is_forgotten_and_so_are_the_places_of_a_dropped_table(
    lake: Lake, spark: SparkSession
) -> None:
    sink = lake.sink(mode=MODE)
    sink.write(rows_of(spark, [(1, NEW), (2, NEW), (3, replace(NEW, v="d"))]), batch_of(0))
    spark.sql(f"DELETE FROM {lake.table} WHERE id = 1")
    sink.write(rows_of(spark, [(key, OLD) for key in (1, 2, 3)]), batch_of(1))
    assert lake.rows("id", "v") == [(1, "old"), (2, "new")]
    sink.write(rows_of(spark, [(key, MIDDLE) for key in (1, 2, 3)]), batch_of(2))
    assert lake.rows("id", "v") == [(1, "middle"), (2, "new")]
    lake.drop()
    lake.sink(mode=MODE).write(rows_of(spark, [(key, OLD) for key in (1, 2, 3)]), batch_of(3))
    assert lake.rows("id", "v") == [(1, "old"), (2, "old"), (3, "old")]


def test_a_table_with_the_column_keeps_it_and_keep_position_makes_it(lake: Lake, spark: SparkSession) -> None:
    created, beside = lake.sink(mode=MODE).prepare(rows_of(spark, []).schema)[-2:]
    assert "_kafka" not in created
    assert beside.startswith(f"CREATE TABLE {lake.beside('_key_places')} (`id` int, `_kafka` struct<")
    lake.sink(mode=MODE, keep_position=True).write(rows_of(spark, [(1, NEW), (2, NEW)]), batch_of(0))
    lake.sink(mode=MODE).write(rows_of(spark, [(1, OLD), (2, replace(NEW, offset=10, v="d"))]), batch_of(1))
    lake.sink(mode=MODE).write(rows_of(spark, [(2, OLD)]), batch_of(2))
    assert lake.rows("id", "v", "_kafka.offset") == [(1, "new", 9)]
    assert lake.sink(mode=MODE).prepare(rows_of(spark, []).schema) == ()
    assert lake.rows_of_beside("_key_places") is None
    assert lake.rows_of_beside("_deleted_keys") == 1


def test_places_move_into_the_column_if_the_file_asks_for_it_later(lake: Lake, spark: SparkSession) -> None:
    rows = rows_of(spark, [(1, NEW), (2, replace(NEW, v="d")), (3, OLD)])
    lake.sink(mode=MODE).write(rows, batch_of(0))
    assert lake.types() == {"id": "int", "v": "string"}
    sink = lake.sink(mode=MODE, keep_position=True)
    sink.write(rows_of(spark, [(key, MIDDLE) for key in (1, 2, 3)]), batch_of(1))
    assert lake.rows("id", "v", "_kafka.offset") == [(1, "new", 9), (3, "middle", 1)]
    assert lake.rows_of_beside("_key_places") == 0
