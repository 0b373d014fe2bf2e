"""Delta and Iceberg tables, in a session of their own; test_lake_tables runs this file in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.sql import DataFrame, SparkSession

from spark_avro.pipeline.file.field_path import FieldPath
from spark_avro.pipeline.file.sinks import IcebergSink, Upsert
from spark_avro.pipeline.file.sql_text import Sql
from spark_avro.pipeline.ports import BatchIdentity, SinkContext, SinkRefused
from spark_avro.pipeline.sinks import open_sink
from spark_avro.pipeline.sinks.tables.delta_marker import DeltaMarkers
from spark_avro.pipeline.sinks.tables.iceberg import IcebergTarget
from spark_avro.pipeline.sinks.tables.iceberg_marker import IcebergMarkers
from tests.spark.pipeline.sinks.lake import Lake
from tests.spark.pipeline.sinks.lake_session import lake_session

Rows = Callable[..., DataFrame]
Batch = Callable[..., BatchIdentity]
ID = FieldPath(("id",))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    with lake_session(tmp_path_factory.mktemp("warehouse")) as session:
        yield session


@pytest.fixture(params=["delta", "iceberg"])
def lake(
    request: pytest.FixtureRequest, tmp_path: Path, spark: SparkSession, context: Callable[..., SinkContext]
) -> Lake:
    return Lake(request.param, tmp_path, spark, context)


def test_a_repeated_batch_is_there_once(lake: Lake, numbers: Rows, batch: Batch) -> None:
    assert lake.sink(keep_position=True).write(numbers(0, 5), batch(0, 0, 5)).written == 5
    again = lake.sink(keep_position=True).write(numbers(0, 5), batch(0, 0, 5))
    assert (again.written, again.repeated) == (5, True)
    sink = lake.sink(keep_position=True)
    assert sink.write(numbers(5, 7), batch(1, 5, 7)).repeated is False
    assert sink.write(numbers(5, 7), batch(1, 5, 7)).repeated is True
    assert lake.rows("n", "_kafka.offset") == [(n, n) for n in range(7)]
    # A second checkpoint loses nothing of the first.
    assert sink.write(numbers(7, 8), batch(0, 7, 8, "q2")).repeated is False
    assert lake.rows("n") == [(n,) for n in range(8)]


@pytest.mark.parametrize("mode", ["append", Upsert(key=(ID,))], ids=["append", "upsert"])
def test_a_restored_checkpoint_is_refused_and_a_renamed_pipeline_goes_on(
    lake: Lake, numbers: Rows, batch: Batch, mode: Any
) -> None:
    columns = ("n as id",)
    lake.sink(mode=mode).write(numbers(0, 5, *columns), batch(0, 0, 5))
    # An empty batch has a marker too; so has a batch without changes.
    lake.sink(mode=mode).write(numbers(5, 5, *columns), batch(1, 5, 8))
    again = lake.sink(mode=mode).write(numbers(5, 5, *columns), batch(1, 5, 8, pipeline="renamed"))
    assert again.repeated is True
    lake.sink(mode=mode).write(numbers(8, 10, *columns), batch(2, 8, 10, pipeline="renamed"))
    for number, start, end, why in (
        (0, 0, 5, r"runs batch q1-0, and the target has batch 2"),
        (1, 5, 10, r"runs batch q1-1, and the target has batch 2"),
        (2, 8, 12, r"q1-2 was written from other offsets.*source.start: \{flights: \{0: 10\}\}"),
        (3, 9, 12, r"q1-3 begins at offset 9"),
        (3, 11, 12, r"offsets 10 to 10 are in no batch"),
    ):
        with pytest.raises(SinkRefused, match=why):
            lake.sink(mode=mode).write(numbers(start, end, *columns), batch(number, start, end))
    assert lake.sink({"adopt": True}, mode=mode).write(numbers(11, 12, *columns), batch(3, 11, 12)).written == 1
    assert lake.rows("id") == [(n,) for n in (0, 1, 2, 3, 4, 8, 9, 11)]


def test_a_delta_table_without_the_commit_of_its_last_batch_knows_the_batchs_number(
    tmp_path: Path, spark: SparkSession, context: Callable[..., SinkContext], numbers: Rows, batch: Batch
) -> None:
    lake = Lake("delta", tmp_path, spark, context)
    options = {"txnAppId": "magicbyte/q1/0", "txnVersion": "3"}
    numbers(0, 5).select("n").write.format("delta").mode("append").options(**options).save(f"{lake.folder}/t")
    with pytest.raises(SinkRefused, match="the target has batch 3"):
        lake.sink().write(numbers(0, 2), batch(2, 0, 2))
    assert lake.sink().write(numbers(0, 5), batch(3, 0, 5)).repeated is True
    assert lake.sink().write(numbers(5, 6), batch(4, 5, 6)).repeated is False
    assert lake.sink().write(numbers(5, 6), batch(4, 5, 6)).repeated is True
    assert lake.rows("n") == [(n,) for n in range(6)]


def test_maintenance_between_crash_and_repeat_loses_no_marker(
    lake: Lake, spark: SparkSession, numbers: Rows, batch: Batch
) -> None:
    lake.sink().write(numbers(0, 5), batch(0, 0, 5))
    lake.sink().write(numbers(5, 8), batch(1, 5, 8))
    lake.append_by_hand(100)
    if lake.kind == "delta":
        spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
        spark.sql(f"VACUUM {lake.table} RETAIN 0 HOURS")
    else:
        lake.expire_snapshots()
        assert spark.table(f"{lake.table}.snapshots").count() == 2
    assert lake.sink().write(numbers(5, 8), batch(1, 5, 8)).repeated is True
    assert lake.sink().write(numbers(8, 9), batch(2, 8, 9)).repeated is False
    assert lake.rows("n") == [(n,) for n in (*range(9), 100)]


def test_an_attempt_whose_snapshot_was_expired_before_its_tag_moved_is_refused(
    tmp_path: Path,
    spark: SparkSession,
    context: Callable[..., SinkContext],
    numbers: Rows,
    batch: Batch,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lake = Lake("iceberg", tmp_path, spark, context)
    lake.sink().write(numbers(0, 5), batch(0, 0, 5))
    with monkeypatch.context() as patch:
        patch.setattr(IcebergMarkers, "note", lambda *_: None)
        lake.sink().write(numbers(5, 8), batch(1, 5, 8))
    # The snapshot has the marker before the tag moves.
    assert lake.sink().write(numbers(5, 8), batch(1, 5, 8)).repeated is True
    with monkeypatch.context() as patch:
        patch.setattr(IcebergMarkers, "note", lambda *_: None)
        lake.sink().write(numbers(8, 9), batch(2, 8, 9))
    lake.append_by_hand(100)
    lake.append_by_hand(101)
    lake.expire_snapshots()
    attempted = replace(batch(2, 8, 9), attempted=True)
    with pytest.raises(SinkRefused, match=r"earlier attempt at batch q1-2 may have written it.*--adopt"):
        lake.sink().write(numbers(8, 9), attempted)
    # A batch that was never attempted is written: snapshots of other writers may be expired at any time.
    assert lake.sink().write(numbers(9, 10), batch(3, 8, 10)).repeated is False
    assert lake.rows("n") == [(n,) for n in (*range(10), 100, 101)]
    # --adopt says that its rows are not there.
    spark.sql(f"DELETE FROM {lake.table} WHERE n >= 9")
    lake.append_by_hand(102)
    lake.expire_snapshots()
    again = replace(batch(4, 10, 11), attempted=True)
    with pytest.raises(SinkRefused, match=r"earlier attempt at batch q1-4 may have written it"):
        lake.sink().write(numbers(10, 11), again)
    assert lake.sink({"adopt": True}).write(numbers(10, 11), again).repeated is False
    assert lake.sink().write(numbers(10, 11), again).repeated is True
    assert lake.rows("n") == [(n,) for n in (*range(9), 10, 102)]


@pytest.mark.parametrize("is_empty", [True, False])
def test_a_first_attempt_whose_snapshot_was_expired_is_refused(
    tmp_path: Path,
    spark: SparkSession,
    context: Callable[..., SinkContext],
    numbers: Rows,
    batch: Batch,
    monkeypatch: pytest.MonkeyPatch,
    is_empty: bool,
) -> None:
    lake = Lake("iceberg", tmp_path, spark, context)
    before = [] if is_empty else [50]
    if not is_empty:
        lake.sink().write(numbers(50, 51), batch(0, 50, 51, "other"))
    with monkeypatch.context() as patch:
        patch.setattr(IcebergMarkers, "note", lambda *_: None)
        lake.sink().write(numbers(0, 5), batch(0, 0, 5))
    attempted = replace(batch(0, 0, 5), attempted=True)
    assert lake.sink().write(numbers(0, 5), attempted).repeated is True
    # The same of another query: its tag is at the last batch of the first one, or of none.
    with monkeypatch.context() as patch:
        patch.setattr(IcebergMarkers, "note", lambda *_: None)
        lake.sink().write(numbers(5, 8), batch(0, 5, 8, "q2"))
    lake.append_by_hand(100)
    lake.append_by_hand(101)
    lake.expire_snapshots()
    with pytest.raises(SinkRefused, match=r"attempt at batch q2-0 may have written it, but snapshots since its start"):
        lake.sink().write(numbers(5, 8), replace(batch(0, 5, 8, "q2"), attempted=True))
    assert lake.rows("n") == [(n,) for n in (*range(8), *before, 100, 101)]
    assert lake.sink({"adopt": True}).write(numbers(5, 8), replace(batch(0, 5, 8, "q2"), attempted=True)).written == 3


def test_a_first_attempt_that_wrote_nothing_is_written(
    tmp_path: Path,
    spark: SparkSession,
    context: Callable[..., SinkContext],
    numbers: Rows,
    batch: Batch,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The driver died after the tag, or after the table was made."""
    lake = Lake("iceberg", tmp_path, spark, context)

    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    for owner, point in ((IcebergMarkers, "begin"), (IcebergTarget, "_append")):
        sink = lake.sink()
        with monkeypatch.context() as patch:
            patch.setattr(owner, point, die)
            with pytest.raises(KeyboardInterrupt):
                sink.write(numbers(0, 5), batch(0, 0, 5))
    assert lake.sink().write(numbers(0, 5), replace(batch(0, 0, 5), attempted=True)).repeated is False
    assert lake.rows("n") == [(n,) for n in range(5)]


def test_a_delta_table_that_a_killed_driver_began_is_created(
    spark: SparkSession, tmp_path: Path, context: Callable[..., SinkContext], numbers: Rows, batch: Batch
) -> None:
    log = tmp_path / "t/_delta_log"
    (log / "_staged_commits").mkdir(parents=True)
    # The first commit is written under this name, and then renamed.
    (log / ".00000000000000000000.json.3a8e4a7e-5c1a-4d0e-9c36-5f6d7a1f9c11.tmp").write_text('{"commitInfo"')
    lake = Lake("delta", tmp_path, spark, context)
    rows = numbers(0, 5, "n", "n % 2 as odd")
    assert lake.sink(partition=(Sql("odd"),)).write(rows, batch(0, 0, 5)).written == 5
    assert lake.rows("n", "odd") == [(n, n % 2) for n in range(5)]


def lacks_wide_types(lake: Lake) -> bool:
    """Whether the format is Delta 3, which widens whole numbers of up to 32 bits alone."""
    return lake.kind == "delta" and pyspark.__version__.startswith("3.")


def test_delta_of_spark_3_stops_at_a_type_that_it_cannot_widen(lake: Lake, numbers: Rows, batch: Batch) -> None:
    if not lacks_wide_types(lake):
        pytest.skip("of Delta on Spark 3 alone")
    lake.sink().write(numbers(0, 1, "cast(n as short) as n"), batch(0, 0, 1))
    lake.sink().write(numbers(1, 2, "cast(n as int) as n"), batch(1, 1, 2))
    assert lake.types() == {"n": "int"}
    with pytest.raises(SinkRefused, match="column n is int in the target and bigint in the rows"):
        lake.sink().write(numbers(2, 3, "n"), batch(2, 2, 3))


def test_columns_evolve(lake: Lake, numbers: Rows, batch: Batch) -> None:
    if lacks_wide_types(lake):
        pytest.skip("see the test above")
    first = ("cast(n as int) as n", "cast(n as float) as x", "named_struct('a', n) as s")
    wider = ("n + 3000000000 as n", "cast(n as double) as x", "named_struct('a', n, 'b', 'x') as s", "'new' as t")
    lake.sink().write(numbers(0, 1, *first), batch(0, 0, 1))
    with pytest.raises(SinkRefused, match=r"column s.b \(string\) is not in the target|column n is int in the target"):
        lake.sink({"columns": "fail"}).write(numbers(1, 2, *wider), batch(1, 1, 2))
    lake.sink({"columns": "ignore"}).write(numbers(1, 2, *first, "'new' as t"), batch(1, 1, 2))
    changes = lake.sink().prepare(numbers(2, 3, *wider).schema)
    assert [change for change in changes if "TBLPROPERTIES" not in change] == [
        f"ALTER TABLE {lake.table} ALTER COLUMN `n` TYPE bigint",
        f"ALTER TABLE {lake.table} ALTER COLUMN `x` TYPE double",
        f"ALTER TABLE {lake.table} ADD COLUMNS (`s`.`b` string)",
        f"ALTER TABLE {lake.table} ADD COLUMNS (`t` string)",
    ]
    sink = lake.sink()
    sink.write(numbers(2, 3, *wider), batch(2, 2, 3))
    sink.write(numbers(3, 4, *first[:1]), batch(3, 3, 4))
    assert lake.types() == {"n": "bigint", "x": "double", "s": "struct<a:bigint,b:string>", "t": "string"}
    assert lake.rows("n", "x", "s.a", "s.b", "t") == [
        (0, 0.0, 0, None, None),
        (1, 1.0, 1, None, None),
        (3, None, None, None, None),
        (3000000002, 2.0, 2, "x", "new"),
    ]
    with pytest.raises(SinkRefused, match=r"column n is bigint in the target and string in the rows"):
        sink.write(numbers(4, 5, "'x' as n"), batch(4, 4, 5))


def test_a_delta_transaction_is_written_once_by_delta_itself(
    tmp_path: Path,
    spark: SparkSession,
    context: Callable[..., SinkContext],
    numbers: Rows,
    batch: Batch,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two drivers that look up the last batch at the same time."""
    for name, mode in (("append", "append"), ("upsert", Upsert(key=(ID,)))):
        lake = Lake("delta", tmp_path / name, spark, context)
        sink = lake.sink(mode=mode)
        sink.write(numbers(0, 3, "n as id", "n as v"), batch(0, 0, 3))
        with monkeypatch.context() as patch:
            patch.setattr(DeltaMarkers, "last_number", lambda *_: -1)
            sink.write(numbers(0, 3, "n as id", "n + 1 as v"), batch(0, 0, 3))
        assert lake.rows("id", "v") == [(0, 0), (1, 1), (2, 2)], name


def test_iceberg_tables_are_partitioned_by_hours_and_their_catalog_caches_nothing(
    tmp_path: Path, spark: SparkSession, context: Callable[..., SinkContext], numbers: Rows, batch: Batch
) -> None:
    lake = Lake("iceberg", tmp_path, spark, context)
    at = "timestamp'2026-01-01 22:00:00' + make_interval(0, 0, 0, 0, n) as at"
    lake.sink(time=FieldPath(("at",))).write(numbers(0, 3, "n", at), batch(0, 0, 3))
    assert spark.table(f"{lake.table}.partitions").count() == 3
    spark.conf.set("spark.sql.catalog.cached", "org.apache.iceberg.spark.SparkCatalog")
    with pytest.raises(SinkRefused, match=r"set spark.sql.catalog.cached.cache-enabled=false"):
        open_sink(IcebergSink(table="cached.db.t"), context())
    with pytest.raises(SinkRefused, match=r"sink.iceberg.table: db.t is no catalog.namespace.table"):
        open_sink(IcebergSink(table="db.t"), context())
