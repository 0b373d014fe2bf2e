"""The SQL sink on PostgreSQL and SQLite: once, newest row per key, rows that the database refuses, new columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import sqlalchemy as sa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from spark_avro.pipeline.file.field_path import FieldPath
from spark_avro.pipeline.file.sinks import SqlSink, Upsert
from spark_avro.pipeline.file.sql_text import Sql
from spark_avro.pipeline.ports import BatchIdentity, ForeignCheckpoint, SinkContext, SinkRefused
from spark_avro.pipeline.sinks.sql import stage
from spark_avro.pipeline.sinks.sql.stage import StageLoader, sender
from spark_avro.pipeline.sinks.sql.target import SqlTarget
from tests.spark.pipeline.sinks.recorded_sink import RecordedSink
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

UPSERT = Upsert(key=(FieldPath(("id",)),))


class Database:
    def __init__(self, url: str, via: str = "driver") -> None:
        self.url, self.via = url, via
        self._engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))

    @property
    def is_postgresql(self) -> bool:
        return self.url.startswith("postgresql")

    def run(self, statement: str) -> None:
        with self._engine.begin() as connection:
            connection.exec_driver_sql(statement)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with self._engine.connect() as connection:
            return [tuple(row) for row in connection.exec_driver_sql(query)]

    def columns(self, table: str) -> dict[str, str]:
        return {column["name"]: str(column["type"]) for column in sa.inspect(self._engine).get_columns(table)}

    def tables(self) -> list[str]:
        return sorted(sa.inspect(self._engine).get_table_names())

    def close(self) -> None:
        self._engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql", pytest.param("executors", marks=pytest.mark.slow)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    url = f"sqlite:///{tmp_path}/t.db" if request.param == "sqlite" else request.getfixturevalue("postgresql")
    made = Database(url, via="executors" if request.param == "executors" else "driver")
    yield made
    made.close()


@pytest.fixture
def sink(database: Database, context: Callable[..., SinkContext]) -> Iterator[Callable[..., RecordedSink]]:
    opened: list[RecordedSink] = []

    def make(settings: dict[str, Any] | None = None, **spec: Any) -> RecordedSink:
        section = SqlSink(url=database.url, table="t", via=database.via, **spec)
        opened.append(RecordedSink(SqlTarget(section, context(**(settings or {})))))
        return opened[-1]

    yield make
    for target in opened:
        target.close()


def twice(send: Any) -> Any:
    """Two attempts of a task that both send its rows, as a stage without the number of the task would have them."""

    def send_twice(batches: Iterator[Any]) -> Iterator[Any]:
        kept = list(batches)
        for number in (0, 1):
            patched = patch.object(TaskContext, "partitionId", lambda _self, number=number: number)
            with patched:
                [result] = send(iter(kept))
        yield result

    return send_twice


Rows = Callable[..., DataFrame]
Batch = Callable[..., BatchIdentity]


def test_a_repeated_batch_is_there_once(database: Database, sink: Any, numbers: Rows, batch: Batch) -> None:
    assert sink().write(numbers(0, 5), batch(0, 0, 5)).written == 5
    again = sink().write(numbers(0, 5), batch(0, 0, 5))
    assert (again.written, again.repeated, again.rejected) == (5, True, None)
    following = sink().write(numbers(5, 8), batch(1, 5, 8))
    assert (following.written, following.repeated) == (3, False)
    assert database.rows("select count(*), sum(n) from t") == [(8, 28)]


def test_another_checkpoint_is_refused_unless_it_is_adopted(
    database: Database, sink: Any, numbers: Rows, batch: Batch
) -> None:
    sink().write(numbers(0, 5), batch(0, 0, 5))
    with pytest.raises(ForeignCheckpoint, match=r"table t was written by query q1 of pipeline flights.*--adopt"):
        sink().write(numbers(0, 5), batch(0, 0, 5, "q2"))
    assert sink({"adopt": True}).write(numbers(5, 7), batch(0, 5, 7, "q2")).written == 2
    assert sink().write(numbers(7, 8), batch(1, 7, 8, "q2")).written == 1
    # The query whose table was taken over is refused now.
    with pytest.raises(ForeignCheckpoint, match=r"written by query q2"):
        sink().write(numbers(5, 9), batch(1, 5, 9))
    assert database.rows("select count(*), sum(n) from t") == [(8, 28)]


def test_another_pipeline_may_append_to_the_table(database: Database, sink: Any, numbers: Rows, batch: Batch) -> None:
    sink().write(numbers(0, 5), batch(0, 0, 5))
    sink().write(numbers(5, 8), batch(0, 5, 8, "q2", "others"))
    assert database.rows("select count(*), sum(n) from t") == [(8, 28)]


def test_a_number_that_was_written_from_other_offsets_is_refused(sink: Any, numbers: Rows, batch: Batch) -> None:
    sink().write(numbers(0, 5), batch(0, 0, 5))
    with pytest.raises(SinkRefused, match=r"batch q1-0 was written from other offsets: the checkpoint was changed"):
        sink().write(numbers(5, 9), batch(0, 5, 9))


def test_an_older_copy_of_the_checkpoint_is_refused(database: Database, sink: Any, numbers: Rows, batch: Batch) -> None:
    for number, start in enumerate((0, 5, 10)):
        sink().write(numbers(start, start + 5), batch(number, start, start + 5))
    older = r"runs batch q1-1, .*has batch 2.*source.start: \{flights: \{0: 15\}\}.*--adopt"
    with pytest.raises(SinkRefused, match=older):
        sink().write(numbers(5, 12), batch(1, 5, 12))
    with pytest.raises(SinkRefused, match=r"q1-3 begins at offset 12 of flights partition 0"):
        sink().write(numbers(12, 20), batch(3, 12, 20))
    assert database.rows("select count(*), sum(n) from t") == [(15, 105)]


def test_a_renamed_pipeline_finds_its_marker(database: Database, sink: Any, numbers: Rows, batch: Batch) -> None:
    sink().write(numbers(0, 5), batch(0, 0, 5))
    again = sink().write(numbers(0, 5), batch(0, 0, 5, pipeline="renamed"))
    assert (again.written, again.repeated) == (5, True)
    assert sink().write(numbers(5, 6), batch(1, 5, 6, pipeline="renamed")).written == 1
    assert database.rows("select count(*) from t") == [(6,)]


def test_a_repeated_batch_reports_the_refused_rows_of_the_first_time(
    database: Database, sink: Any, numbers: Rows, batch: Batch
) -> None:
    database.run("create table t (id bigint primary key check (id <> 7))")
    first = sink(keep_position=False).write(numbers(0, 10, "n as id"), batch(0, 0, 10))
    again = sink(keep_position=False).write(numbers(0, 10, "n as id"), batch(0, 0, 10))
    assert (first.written, again.written, again.refused, again.repeated) == (9, 9, 1, True)


@pytest.mark.parametrize("mode", ["append", UPSERT], ids=["append", "upsert"])
def test_a_batch_whose_rows_are_all_refused_leaves_its_marker(
    database: Database, sink: Any, numbers: Rows, batch: Batch, positions: Any, mode: Any
) -> None:
    # SQLite has no NaN, and PostgreSQL's COPY no such year.
    rows = numbers(0, 3, "n as id", "double('NaN') as x", "date_from_unix_date(11248738) as d")
    first = sink(mode=mode).write(rows, batch(0, 0, 3))
    assert (first.written, [offset for offset, _ in positions(first.rejected)]) == (0, [0, 1, 2])
    again = sink(mode=mode).write(rows, batch(0, 0, 3))
    assert (again.written, again.refused, again.repeated) == (0, 3, True)
    assert database.rows("select * from t") == []


def test_an_upsert_keeps_the_newest_row_of_each_key(database: Database, sink: Any, numbers: Rows, batch: Batch) -> None:
    target = sink(mode=UPSERT)
    assert target.prepare(numbers(0, 1, "n % 3 as id", "n * 10 as v").schema)[0].startswith('CREATE TABLE "t"')
    target.write(numbers(0, 10, "n % 3 as id", "n * 10 as v"), batch(0, 0, 10))
    # The table has the rows' columns alone; what decides which row is newer is beside it.
    assert database.rows("select * from t order by id") == [(0, 90), (1, 70), (2, 80)]
    assert database.rows("select id, _kafka_offset from t_key_places order by id") == [(0, 9), (1, 7), (2, 8)]
    # An older row, read again by another checkpoint, does not win.
    target.write(numbers(0, 6, "n % 3 as id", "n * 10 as v"), batch(0, 0, 6, "q2"))
    target.write(numbers(10, 11, "n % 3 as id", "n * 10 as v"), batch(1, 10, 11))
    assert database.rows("select id, v from t order by id") == [(0, 90), (1, 100), (2, 80)]


@pytest.mark.parametrize("keep", [False, True], ids=["beside", "in the table"])
def test_an_upsert_knows_the_newest_record_of_a_key(
    spark: SparkSession, database: Database, sink: Any, keep: bool
) -> None:
    for number, records in enumerate(rounds()):
        # The columns stay where they are, also if the file does not ask for them any more.
        target = sink(mode=UPSERT, keep_position=keep and number == 0)
        target.write(rows_of(spark, records), batch_of(number))
    assert database.rows("select id, v from t order by id") == winners()
    [columns] = database.rows("select * from t limit 1")
    assert len(columns) == (6 if keep else 2)


def test_a_table_that_was_dropped_begins_without_places(spark: SparkSession, database: Database, sink: Any) -> None:
    sink(mode=UPSERT).write(rows_of(spark, [(1, Record("f", 0, 5, 10, "a"))]), batch_of(0))
    database.run("drop table t")
    sink(mode=UPSERT).write(rows_of(spark, [(1, Record("f", 0, 1, 10, "b"))]), batch_of(1))
    assert database.rows("select id, v from t") == [(1, "b")]
    assert database.rows("select _kafka_offset from t_key_places") == [(1,)]


def test_an_existing_table_gets_no_column(spark: SparkSession, database: Database, sink: Any) -> None:
    database.run("create table t (id bigint primary key, v varchar(9))")
    database.run("insert into t values (1, 'mine')")
    target = sink({"columns": "fail"}, mode=UPSERT)
    target.write(rows_of(spark, [(1, Record("f", 0, 5, 10, "a"))]), batch_of(0))
    target.write(rows_of(spark, [(1, Record("f", 0, 4, 11, "older"))]), batch_of(1))
    assert database.rows("select * from t") == [(1, "a")]


@pytest.mark.parametrize("deletes", [None, Sql("v = 'd'")], ids=["upsert", "deletes"])
def test_places_move_into_the_table_when_the_file_asks_for_them(
    spark: SparkSession, database: Database, sink: Any, deletes: Sql | None
) -> None:
    mode = Upsert(key=(FieldPath(("id",)),), deletes=deletes)
    first = [(1, Record("f", 0, 5, 10, "a")), (2, Record("f", 0, 6, 10, "d"))]
    older = [(1, Record("f", 0, 4, 10, "older")), (2, Record("f", 0, 3, 10, "older"))]
    sink(mode=mode).write(rows_of(spark, first), batch_of(0))
    sink(mode=mode, keep_position=True).write(rows_of(spark, older), batch_of(1))
    left = [(1, "a", 5)] if deletes else [(1, "a", 5), (2, "d", 6)]
    assert database.rows("select id, v, _kafka_offset from t order by id") == left
    # The places stay in the table from now on.
    sink(mode=mode).write(rows_of(spark, older), batch_of(2))
    assert database.rows("select id, v, _kafka_offset from t order by id") == left


def test_deletes_may_be_added_later(spark: SparkSession, database: Database, sink: Any) -> None:
    sink(mode=UPSERT).write(rows_of(spark, [(1, Record("f", 0, 5, 10, "a"))]), batch_of(0))
    mode = Upsert(key=(FieldPath(("id",)),), deletes=Sql("v = 'd'"))
    for number, record in enumerate(
        [Record("f", 0, 4, 10, "d"), Record("f", 0, 6, 10, "d"), Record("f", 0, 5, 10, "a")]
    ):
        sink(mode=mode).write(rows_of(spark, [(1, record)]), batch_of(1 + number))
        assert len(database.rows("select * from t")) == (1 if number == 0 else 0)


@pytest.mark.parametrize("keep", [False, True], ids=["beside", "in the table"])
def test_a_topic_made_again_begins_at_offset_0(spark: SparkSession, database: Database, sink: Any, keep: bool) -> None:
    for number, records in enumerate(REPLACED):
        sink(mode=UPSERT, keep_position=keep).write(
            rows_of(spark, [(1, one) for one in records]), batch_of(number, replaced=True)
        )
    assert database.rows("select id, v from t") == [(1, "new")]


def test_a_table_with_offsets_alone_gets_the_other_columns(spark: SparkSession, database: Database, sink: Any) -> None:
    by_value = Upsert(key=(FieldPath(("id",)),), order=FieldPath(("v",)))
    before = rows_of(spark, [(1, Record("f", 0, 5, 10, "a"))]).withColumn("_kafka_offset", F.lit(5).cast("bigint"))
    sink(mode=by_value).write(before, batch_of(0))
    rows = rows_of(spark, [(1, Record("f", 0, 6, 10, "new"))])
    with pytest.raises(SinkRefused, match=r"needs the columns _kafka_topic, .*evolve.columns: add"):
        sink({"columns": "ignore"}, mode=UPSERT).prepare(rows.schema)
    sink(mode=UPSERT).write(rows, batch_of(1))
    assert database.rows("select id, v, _kafka_partition from t") == [(1, "new", 0)]


def test_rows_that_delete_their_key(database: Database, sink: Any, numbers: Rows, batch: Batch) -> None:
    target = sink(mode=Upsert(key=(FieldPath(("id",)),), deletes=Sql("op = 'd'")))
    columns = ("n % 3 as id", "if(n in (4, 5), 'd', 'u') as op")
    target.write(numbers(0, 3, *columns), batch(0, 0, 3))
    # 1 is deleted; 2 is deleted and comes back.
    target.write(numbers(3, 6, *columns), batch(1, 3, 6))
    target.write(numbers(8, 9, *columns), batch(2, 6, 9))
    assert database.rows("select * from t order by id") == [(0, "u"), (2, "u")]
    assert database.rows("select id, _kafka_offset from t_key_places order by id") == [(0, 3), (1, 4), (2, 8)]


def test_a_deletion_with_an_earlier_timestamp_stays(spark: SparkSession, database: Database, sink: Any) -> None:
    mode = Upsert(key=(FieldPath(("id",)),), deletes=Sql("v = 'd'"))
    for number, records in enumerate(DELETED_BACKWARDS):
        sink(mode=mode).write(rows_of(spark, records), batch_of(number))
    assert database.rows("select id, v from t order by id") == LEFT_BACKWARDS


@pytest.mark.parametrize(
    ("order", "keep", "deleted"),
    [
        # The table of all keys notes that a key has a row again; the table of deleted keys has an older deletion, too.
        ("_kafka.offset", False, ["1 true", "2 false", "3 false"]),
        ("_kafka.offset", True, ["1", "2", "3"]),
        ("s", False, ["1", "2", "3"]),
    ],
)
def test_an_older_record_does_not_bring_a_deleted_key_back(
    spark: SparkSession, database: Database, sink: Any, order: str, keep: bool, deleted: list[str]
) -> None:
    mode = Upsert(key=(FieldPath(("id",)),), order=FieldPath(tuple(order.split("."))), deletes=Sql("v = 'd'"))
    for number, records in enumerate(DELETED):
        rows = rows_of(spark, records).withColumn("s", F.unix_seconds("_kafka.timestamp"))
        # Each batch by a driver of its own, and the batch with the deletion twice.
        for query in ("q1", "q2") if number == 1 else ("q1",):
            sink(mode=mode, keep_position=keep).write(rows, replace(batch_of(number), query_id=query))
    assert database.rows("select id, v from t order by id") == LEFT
    state = "select id, case when _deleted_ then 'true' else 'false' end from t_key_places order by id"
    keys = database.rows("select id from t_deleted_keys order by id" if " " not in deleted[0] else state)
    assert [" ".join(map(str, key)) for key in keys] == deleted
    assert "deleted keys are kept in a table TABLE_deleted_keys" in sink(mode=mode).guarantee.reason


@pytest.mark.parametrize("mode", ["append", UPSERT], ids=["append", "upsert"])
def test_rows_that_the_database_refuses_are_rejected_and_the_rest_is_written(
    database: Database, sink: Any, numbers: Rows, batch: Batch, positions: Any, mode: Any
) -> None:
    database.run("create table t (id bigint primary key, v bigint not null check (v < 1000), _kafka_offset bigint)")
    rows = numbers(0, 100, "n as id", "case when n = 7 then 1000 when n != 42 then n end as v")
    result = sink(mode=mode).write(rows, batch(0, 0, 100))
    assert result.written == 98
    refused = positions(result.rejected)
    assert [offset for offset, _ in refused] == [7, 42]
    assert "check" in refused[0][1].lower()
    assert "null" in refused[1][1].lower()
    assert database.rows("select count(*), sum(v) from t") == [(98, 4950 - 7 - 42)]


def test_a_text_that_is_no_text_of_the_database_is_rejected(
    database: Database, sink: Any, numbers: Rows, batch: Batch, positions: Any
) -> None:
    if not database.is_postgresql:
        pytest.skip("SQLite takes U+0000")
    result = sink().write(numbers(0, 4, "n", "if(n = 2, 'a\\u0000b', '') as s"), batch(0, 0, 4))
    assert [offset for offset, _ in positions(result.rejected)] == [2]
    assert database.rows("select n, s from t order by n") == [(0, ""), (1, ""), (3, "")]


TYPES = {
    "cast(n as int) as i": 1,
    "n as l": 1,
    "cast(n as double) / 4 as d": 0.25,
    "n > 0 as b": True,
    "concat('a,\"b\\n', n) as s": 'a,"b\n1',
    "cast(null as string) as none": None,
    "'' as empty": "",
    "cast('xy' as binary) as bytes": b"xy",
    "named_struct('x', array(n)) as nested": {"x": [1]},
    "cast(1.10 as decimal(30, 2)) as money": "1.10",
    "date'2026-01-02' as day": "2026-01-02",
    "timestamp'2026-01-02 03:04:05.123456' as at": "2026-01-02 03:04:05.123456",
}


def test_values_of_each_type(database: Database, sink: Any, numbers: Rows, batch: Batch) -> None:
    assert sink().write(numbers(1, 2, *TYPES), batch(0, 1, 2)).written == 1
    [row] = database.rows("select i, l, d, b, s, none, empty, bytes, nested, money, day, at from t")
    values = [bytes(value) if isinstance(value, memoryview) else value for value in row]
    shown = [str(value).removesuffix("+00:00") if n > 8 else value for n, value in enumerate(values)]
    expected = list(TYPES.values())
    if not database.is_postgresql:
        expected[8] = '{"x":[1]}'
    assert shown == expected
    if database.is_postgresql:
        assert database.columns("t") == {
            "i": "INTEGER",
            "l": "BIGINT",
            "d": "DOUBLE PRECISION",
            "b": "BOOLEAN",
            "s": "TEXT",
            "none": "TEXT",
            "empty": "TEXT",
            "bytes": "BYTEA",
            "nested": "JSONB",
            "money": "NUMERIC(30, 2)",
            "day": "DATE",
            "at": "TIMESTAMP",
        }


def test_new_columns_are_added_and_types_are_widened(
    database: Database, sink: Any, numbers: Rows, batch: Batch
) -> None:
    target = sink()
    target.write(numbers(0, 1, "cast(n as int) as n", "cast(n as float) as x"), batch(0, 0, 1))
    wider = numbers(1, 2, "n + 3000000000 as n", "cast(n as double) as x", "'new' as s")
    changes = ['ALTER TABLE "t" ADD COLUMN "s" text']
    if database.is_postgresql:
        changes = [
            'ALTER TABLE "t" ALTER COLUMN "n" TYPE bigint',
            'ALTER TABLE "t" ALTER COLUMN "x" TYPE double precision',
            *changes,
        ]
    assert [change.replace(" TEXT", " text") for change in target.prepare(wider.schema)] == changes
    target.write(wider, batch(1, 1, 2))
    # A column that is gone stays, and narrower values are taken.
    target.write(numbers(2, 3, "cast(n as int) as n"), batch(2, 2, 3))
    assert database.rows("select n, x, s from t order by n") == [
        (0, 0.0, None),
        (2, None, None),
        (3000000001, 1.0, "new"),
    ]


def test_new_columns_are_ignored_or_refused(database: Database, sink: Any, numbers: Rows, batch: Batch) -> None:
    sink().write(numbers(0, 1), batch(0, 0, 1))
    with pytest.raises(SinkRefused, match=r"column s \(string\) is not in the target; add it there, or set evolve"):
        sink({"columns": "fail"}).write(numbers(1, 2, "n", "'new' as s"), batch(1, 1, 2))
    sink({"columns": "ignore"}).write(numbers(1, 2, "n", "'new' as s"), batch(1, 1, 2))
    assert database.rows("select * from t order by n") == [(0,), (1,)]


def test_a_type_that_does_not_fit_is_refused(sink: Any, numbers: Rows, batch: Batch) -> None:
    sink().write(numbers(0, 1), batch(0, 0, 1))
    with pytest.raises(SinkRefused, match=r"column n is bigint in the target and string in the rows; cast it"):
        sink().write(numbers(1, 2, "cast(n as string) as n"), batch(1, 1, 2))


def test_a_preparation_writes_nothing(database: Database, sink: Any, numbers: Rows, tmp_path: Path) -> None:
    before = sorted(path.name for path in tmp_path.iterdir())
    kind = "bigint" if database.is_postgresql else "INTEGER"
    assert (
        sink(keep_position=True)
        .prepare(numbers(0, 1).schema)[0]
        .startswith(f'CREATE TABLE "t" ("n" {kind}, "_kafka_topic"')
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert database.tables() == []
    with pytest.raises(SinkRefused, match=r"there is no such table; create it, or set sink.sql.create"):
        sink(create=False).prepare(numbers(0, 1).schema)


def test_executors_leave_no_stage_behind(
    database: Database, sink: Any, numbers: Rows, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    if database.via != "executors":
        pytest.skip("only executors fill a stage")

    def crash(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(StageLoader, "load", crash)
        with pytest.raises(KeyboardInterrupt):
            sink().write(numbers(0, 5), batch(0, 0, 5))
    assert [table.startswith("magicbyte_rows_") for table in database.tables()] == [False, False, True]
    # The next attempt drops it.
    assert sink().write(numbers(0, 5), batch(0, 0, 5)).written == 5
    assert database.tables() == ["magicbyte_markers", "magicbyte_owners", "t"]
    assert database.rows("select count(*), sum(n) from t") == [(5, 10)]


def test_a_task_that_ran_twice_stops_the_batch(
    database: Database, sink: Any, numbers: Rows, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    if database.via != "executors":
        pytest.skip("only executors fill a stage")
    monkeypatch.setattr(stage, "sender", lambda *settings: twice(sender(*settings)))
    with pytest.raises(SinkRefused, match="executors sent 5 rows, and 10 are there: a task ran twice"):
        sink().write(numbers(0, 5).coalesce(1), batch(0, 0, 5))
    assert "t" not in database.tables()


def test_types_of_the_table_that_rows_do_not_have(database: Database, sink: Any, numbers: Rows, batch: Batch) -> None:
    if not database.is_postgresql:
        pytest.skip("SQLite has no such types")
    database.run("create table t (id uuid, code varchar(3))")
    codes = "if(n = 2, 'long', 'abc') as code"
    result = sink().write(numbers(0, 4, "'00000000-0000-0000-0000-00000000000' || n as id", codes), batch(0, 0, 4))
    assert result.written == 3
    assert [str(row[0])[-1] for row in database.rows("select id from t order by id")] == ["0", "1", "3"]


def test_an_upsert_needs_a_unique_key(database: Database, sink: Any, numbers: Rows) -> None:
    database.run("create table t (id bigint, _kafka_offset bigint)")
    with pytest.raises(SinkRefused, match=r'an upsert needs a unique key on \("id"\)'):
        sink(mode=UPSERT).prepare(numbers(0, 1, "n as id").schema)
    with pytest.raises(SinkRefused, match=r"the rows have no column id, but nr"):
        sink(mode=UPSERT).prepare(numbers(0, 1, "n as nr").schema)


def test_other_databases_and_unreachable_ones_are_refused(
    spark: SparkSession, context: Callable[..., SinkContext], numbers: Rows
) -> None:
    with pytest.raises(SinkRefused, match=r"oracle is not PostgreSQL or SQLite; sink.jdbc writes it at least once"):
        SqlTarget(SqlSink(url="oracle://host/db", table="t"), context())
    target = SqlTarget(SqlSink(url="postgresql://me:secret@127.0.0.1:1/db", table="t"), context())
    with pytest.raises(SinkRefused, match=r"postgresql\+psycopg://me:\*\*\*@127.0.0.1:1/db, table t: .*refused"):
        target.prepare(numbers(0, 1).schema)
