"""The files sink: event-time partitions, a crash at each step of a batch, late rows, and new columns."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from spark_avro.pipeline.file.field_path import FieldPath
from spark_avro.pipeline.file.sinks import FilesSink
from spark_avro.pipeline.file.sql_text import Sql
from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.ports import BatchIdentity, SinkContext, SinkRefused
from spark_avro.pipeline.sinks.files import FilesTarget
from spark_avro.pipeline.sinks.manifest import read_manifests
from tests.spark.pipeline.sinks.recorded_sink import RecordedSink

Rows = Callable[..., DataFrame]
Batch = Callable[..., BatchIdentity]

#: Three rows an hour from 22:00 on.
AT = "timestamp'2026-01-01 22:00:00' + make_interval(0, 0, 0, 0, 0, 20 * n) as at"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "lake"


@pytest.fixture
def sink(folder: Path, context: Callable[..., SinkContext]) -> Callable[..., RecordedSink]:
    def make(settings: dict[str, Any] | None = None, **spec: Any) -> RecordedSink:
        if "time" in spec:
            spec["time"] = FieldPath(tuple(spec["time"].split(".")))
        if "partition" in spec:
            spec["partition"] = tuple(map(Sql, spec["partition"]))
        return RecordedSink(FilesTarget(FilesSink(path=str(folder), **spec), context(**(settings or {}))))

    return make


def layout(folder: Path) -> list[str]:
    """The folders with files that readers see."""
    files = [path.relative_to(folder) for path in folder.rglob("*.*") if path.is_file()]
    return sorted({str(path.parent) for path in files if not path.name.startswith(".") and path.parts[0][0] != "_"})


def staged(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "_magicbyte/staging").glob("*"))


@pytest.mark.parametrize(
    "kind", ["parquet", pytest.param("avro", marks=pytest.mark.slow), pytest.param("json", marks=pytest.mark.slow)]
)
def test_a_repeated_batch_is_there_once(
    spark: SparkSession, folder: Path, sink: Any, numbers: Rows, batch: Batch, kind: str
) -> None:
    def target() -> RecordedSink:
        made: RecordedSink = sink(format=kind, time="at", keep_position=True)
        return made

    first = target().write(numbers(0, 5, "n", AT), batch(0, 0, 5))
    assert (first.written, first.repeated, first.rejected) == (5, False, None)
    again = target().write(numbers(0, 5, "n", AT), batch(0, 0, 5))
    assert (again.written, again.repeated) == (5, True)
    assert target().write(numbers(5, 8, "n", AT), batch(1, 5, 8)).written == 3
    assert layout(folder) == [
        "dt=2026-01-01/hour=22/batch=q1-0",
        "dt=2026-01-01/hour=23/batch=q1-0",
        "dt=2026-01-01/hour=23/batch=q1-1",
        "dt=2026-01-02/hour=00/batch=q1-1",
    ]
    rows = spark.read.format(kind).load(str(folder)).orderBy("n").collect()
    assert [(row.n, row["_kafka"]["offset"]) for row in rows] == [(n, n) for n in range(8)]
    assert staged(folder) == []


@pytest.mark.parametrize("partitioned", [False, True])
def test_a_batch_is_counted_by_the_job_that_writes_it(
    spark: SparkSession, folder: Path, sink: Any, numbers: Rows, batch: Batch, partitioned: bool
) -> None:
    target = sink(time="at") if partitioned else sink(partition=[])
    # The file's columns are noted with the first batch.
    target.write(numbers(0, 5, "n", AT), batch(0, 0, 5))
    group = str(folder)
    spark.sparkContext.setJobGroup(group, "")
    try:
        assert target.write(numbers(5, 12, "n", AT), batch(1, 5, 12)).written == 7
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
    jobs = spark.sparkContext.statusTracker().getJobIdsForGroup(group)
    # With a shuffle, Spark runs each of its two stages as a job.
    assert len(jobs) == (2 if partitioned else 1)


def test_a_batch_without_rows_leaves_nothing(folder: Path, sink: Any, numbers: Rows, batch: Batch) -> None:
    assert sink(partition=[]).write(numbers(0, 0), batch(0, 0, 0)).written == 0
    assert sink(time="at").write(numbers(0, 0, "n", AT), batch(1, 0, 0)).written == 0
    assert (layout(folder), staged(folder)) == ([], [])


def test_a_second_checkpoint_on_one_folder_loses_nothing(
    spark: SparkSession, folder: Path, sink: Any, numbers: Rows, batch: Batch
) -> None:
    sink().write(numbers(0, 5), batch(0, 0, 5))
    assert sink().write(numbers(5, 8), batch(0, 5, 8, "q2")).repeated is False
    assert sorted(row.n for row in spark.read.parquet(str(folder)).collect()) == list(range(8))


def test_a_batch_that_was_staged_and_not_committed_is_written_again(
    spark: SparkSession, folder: Path, sink: Any, numbers: Rows, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("spark_avro.pipeline.sinks.files.write_manifest", crash)
        with pytest.raises(Crash):
            sink(partition=["n % 2 as odd"]).write(numbers(0, 5), batch(0, 0, 5))
    assert staged(folder) == ["q1-0"]
    assert layout(folder) == []
    # The next attempt has another plan, and places the rows elsewhere.
    assert sink(partition=["n % 3 as third"]).write(numbers(0, 5), batch(0, 0, 5)).written == 5
    assert layout(folder) == ["third=0/batch=q1-0", "third=1/batch=q1-0", "third=2/batch=q1-0"]
    assert sorted(row.n for row in spark.read.parquet(str(folder)).collect()) == list(range(5))


def test_a_batch_that_was_committed_and_moved_in_part_is_moved_to_the_end(
    spark: SparkSession, folder: Path, sink: Any, numbers: Rows, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[str] = []

    def rename_once(self: Folder, old: str, new: str) -> None:
        if "batch=" in new:
            if moved:
                raise Crash
            moved.append(new)
        rename(self, old, new)

    rename = Folder.rename
    with monkeypatch.context() as patch:
        patch.setattr(Folder, "rename", rename_once)
        with pytest.raises(Crash):
            sink(partition=["n % 2 as odd"]).write(numbers(0, 5), batch(0, 0, 5))
    assert layout(folder) == ["odd=0/batch=q1-0"]
    # The plan of the next attempt does not matter: what was committed is moved.
    result = sink(partition=["n % 3 as third"]).write(numbers(0, 5), batch(0, 0, 5))
    assert (result.written, result.repeated) == (5, True)
    assert layout(folder) == ["odd=0/batch=q1-0", "odd=1/batch=q1-0"]
    assert sorted(row.n for row in spark.read.parquet(str(folder)).collect()) == list(range(5))
    assert staged(folder) == []


def test_a_move_that_an_object_store_did_in_part(
    folder: Path, sink: Any, numbers: Rows, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(FilesTarget, "_move", crash)
        with pytest.raises(Crash):
            sink(partition=[]).write(numbers(0, 5), batch(0, 0, 5))
    [one, _] = sorted((folder / "_magicbyte/staging/q1-0").glob("*/*.parquet"))
    (folder / "batch=q1-0").mkdir()
    (folder / "batch=q1-0" / one.name).write_bytes(b"half")
    assert sink(partition=[]).write(numbers(0, 5), batch(0, 0, 5)).repeated
    assert (folder / "batch=q1-0" / one.name).read_bytes()[:4] == b"PAR1"
    assert len(list((folder / "batch=q1-0").glob("*.parquet"))) == 2


def test_of_two_drivers_at_once_one_has_written(
    spark: SparkSession, folder: Path, sink: Any, numbers: Rows, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first driver is stopped before its manifest, and goes on after its successor has written the batch."""

    def replaced(*_: Any) -> None:
        patch.undo()
        sink(partition=[]).write(numbers(0, 5), batch(0, 0, 5))

    with monkeypatch.context() as patch:
        patch.setattr("spark_avro.pipeline.sinks.files.write_manifest", replaced)
        assert sink(partition=["n % 2 as odd"]).write(numbers(0, 5), batch(0, 0, 5)).written == 5
    assert layout(folder) == ["batch=q1-0"]
    assert sorted(row.n for row in spark.read.parquet(str(folder)).collect()) == list(range(5))
    assert staged(folder) == []


class Crash(Exception):
    pass


def crash(*_: Any) -> None:
    raise Crash


def test_a_manifest_names_offsets_and_files(
    spark: SparkSession, folder: Path, sink: Any, numbers: Rows, batch: Batch
) -> None:
    sink(time="at").write(numbers(0, 5, "n", AT), batch(0, 0, 5))
    sink(time="at").write(numbers(5, 6, "n", AT), batch(1, 5, 6))
    manifests = list(read_manifests(Folder(spark, str(folder))))
    assert [(str(manifest.batch), manifest.rows) for manifest in manifests] == [("q1-0", 5), ("q1-1", 1)]
    assert manifests[0].batch == batch(0, 0, 5)
    for file in (file for manifest in manifests for file in manifest.files):
        assert (folder / file.path).stat().st_size == file.size
    (folder / "_magicbyte/batches/q1-0.json").write_text("{}")
    with pytest.raises(SinkRefused, match=r"_magicbyte/batches/q1-0.json is no manifest of version 1"):
        list(read_manifests(Folder(spark, str(folder))))


def test_a_number_that_was_written_from_other_offsets_is_refused(sink: Any, numbers: Rows, batch: Batch) -> None:
    sink().write(numbers(0, 5), batch(0, 0, 5))
    with pytest.raises(SinkRefused, match=r"batch q1-0 was written from other offsets"):
        sink().write(numbers(5, 9), batch(0, 5, 9))


def test_an_older_copy_of_the_checkpoint_is_refused(
    spark: SparkSession, folder: Path, sink: Any, numbers: Rows, batch: Batch
) -> None:
    sink(partition=[]).write(numbers(0, 5), batch(0, 0, 5))
    # No row, and so no manifest.
    sink(partition=[]).write(numbers(5, 5), batch(1, 5, 8))
    assert sink(partition=[]).write(numbers(5, 5), batch(1, 5, 8)).repeated is True
    with pytest.raises(SinkRefused, match=r"runs batch q1-0, .*has batch 1.*source.start: \{flights: \{0: 8\}\}"):
        sink(partition=[]).write(numbers(0, 5), batch(0, 0, 5))
    with pytest.raises(SinkRefused, match=r"q1-2 begins at offset 5 of flights partition 0"):
        sink(partition=[]).write(numbers(5, 9), batch(2, 5, 9))
    assert sink(partition=[]).write(numbers(8, 9), batch(2, 8, 9)).written == 1
    # A backfill that replaces the last batch deletes its manifest, and the stream goes on.
    (folder / "_magicbyte/batches/q1-2.json").unlink()
    assert sink(partition=[]).write(numbers(9, 10), batch(3, 9, 10)).repeated is False
    assert spark.read.parquet(str(folder)).count() == 7


def test_a_renamed_pipeline_finds_its_manifest(
    spark: SparkSession, folder: Path, sink: Any, numbers: Rows, batch: Batch
) -> None:
    sink(partition=[]).write(numbers(0, 5), batch(0, 0, 5))
    # The driver was killed before the marker followed the manifest.
    (folder / "_magicbyte/markers/q1/0.json").unlink()
    again = sink(partition=[]).write(numbers(0, 5), batch(0, 0, 5, pipeline="renamed"))
    assert (again.written, again.repeated) == (5, True)
    assert sink(partition=[]).write(numbers(5, 6), batch(1, 5, 6, pipeline="renamed")).written == 1
    assert spark.read.parquet(str(folder)).count() == 6


def test_a_repeated_batch_reports_the_rejected_rows_of_the_first_time(sink: Any, numbers: Rows, batch: Batch) -> None:
    rows = numbers(0, 10, "n", "if(n = 7, null, timestamp'2026-01-01 22:00:00') as at")
    first = sink(time="at").write(rows, batch(0, 0, 10))
    again = sink(time="at").write(rows, batch(0, 0, 10))
    assert (first.written, again.written, again.refused, again.repeated) == (9, 9, 1, True)


def test_rows_without_a_time_are_rejected(
    spark: SparkSession, folder: Path, sink: Any, numbers: Rows, batch: Batch, positions: Any
) -> None:
    at = "if(n = 2, null, timestamp'2026-01-01 22:00:00') as at"
    result = sink(time="at").write(numbers(0, 5, "n", at), batch(0, 0, 5))
    assert result.written == 4
    assert positions(result.rejected) == [(2, "no event time: at is NULL")]
    none = sink(time="at").write(numbers(5, 6, "n", "cast(null as timestamp) as at"), batch(1, 5, 6))
    assert (none.written, positions(none.rejected)) == (0, [(5, "no event time: at is NULL")])
    assert spark.read.parquet(str(folder)).count() == 4


#: Moments, and the numbers of those that have a folder in no zone.
MOMENTS = [
    "timestamp_micros(-9223372036854775807L - 1L)",
    "timestamp'-0001-06-01 00:00:00'",
    "timestamp'0001-01-01'",
    "timestamp'9999-12-31 23:59:59.999999'",
    "timestamp_micros(9223372036854775807L)",
    "timestamp'+294247-01-02'",
    "timestamp'+294246-12-31 00:00:00' + interval 23 hours",
]
OUTSIDE = [0, 1, 4, 5]


@pytest.mark.parametrize(
    ("zone", "folders", "rejected"),
    [
        ("UTC", ["dt=+294246-12-31", "dt=0001-01-01", "dt=9999-12-31"], OUTSIDE),
        # On clocks of New York, the year 1 begins later.
        ("America/New_York", ["dt=+294246-12-31", "dt=9999-12-31"], [0, 1, 2, 4, 5]),
        ("Asia/Tokyo", ["dt=+10000-01-01", "dt=+294247-01-01", "dt=0001-01-01"], OUTSIDE),
    ],
)
def test_rows_whose_time_has_no_folder_are_rejected(
    folder: Path, sink: Any, numbers: Rows, positions: Any, zone: str, folders: list[str], rejected: list[int]
) -> None:
    at = " ".join(f"when {number} then {moment}" for number, moment in enumerate(MOMENTS))
    target = sink(time="at", zone=zone, partition=["dt"])
    count = len(MOMENTS)
    result = target.write(numbers(0, count, "n", f"case n {at} end as at"), BatchIdentity("p", "q1", 0))
    assert sorted(path.partition("/")[0] for path in layout(folder)) == folders
    reasons = positions(result.rejected)
    assert [place for place, _ in reasons] == rejected
    assert reasons[0][1] == "no folder: at is outside of the years 1 to 294246: -290308-12-21 19:59:05.224192"
    # The last date is millions of years after the last timestamp.
    days = sink(time="day").write(numbers(7, 8, "date_from_unix_date(2147483647) as day"), BatchIdentity("p", "q1", 1))
    assert (days.written, len(positions(days.rejected))) == (0, 1)


@pytest.mark.parametrize(
    ("on_late", "counts", "folders"),
    [
        ("late", (3, 2), ["dt=late/hour=__HIVE_DEFAULT_PARTITION__/batch=q1-0", "now"]),
        ("dead-letter", (1, 0), ["now"]),
        ("keep", (3, 0), ["ahead", "dt=2026-01-01/hour=22/batch=q1-0", "now"]),
    ],
)
def test_late_rows(
    folder: Path, sink: Any, numbers: Rows, batch: Batch, on_late: str, counts: tuple[int, int], folders: list[str]
) -> None:
    now = dt.datetime.now(dt.UTC).replace(microsecond=0)
    ahead = now + dt.timedelta(hours=2)
    at = f"case n when 0 then timestamp'2026-01-01 22:00:00' when 1 then timestamp'{now}' else timestamp'{ahead}' end"
    target = sink(time="at", late=dt.timedelta(days=7), on_late=on_late)
    result = target.write(numbers(0, 3, "n", f"{at} as at"), batch(0, 0, 3))
    assert (result.written, result.late) == counts
    again = target.write(numbers(0, 3, "n", f"{at} as at"), batch(0, 0, 3))
    assert (again.written, again.late, again.repeated) == (*counts, True)
    names = {f"{time:dt=%Y-%m-%d/hour=%H}/batch=q1-0": name for name, time in (("now", now), ("ahead", ahead))}
    assert sorted(names.get(path, path) for path in layout(folder)) == folders
    if on_late == "dead-letter":
        assert result.rejected is not None
        reasons = sorted(row["_error"] for row in result.rejected.collect())
        assert reasons[0] == "late: at is 2026-01-01 22:00:00"


def test_partitions_by_zone_columns_and_sql(
    spark: SparkSession, folder: Path, sink: Any, numbers: Rows, batch: Batch
) -> None:
    target = sink(time="at", zone="America/New_York", partition=["year", "hour", "upper(c) as letter", "d"])
    target.write(numbers(0, 1, "n", AT, "'a' as c", "'x' as d"), batch(0, 0, 1))
    assert layout(folder) == ["year=2026/hour=17/letter=A/d=x/batch=q1-0"]
    [row] = spark.read.parquet(str(folder)).collect()
    assert (row.n, row.c, row.letter, row.d) == (0, "a", "A", "x")


@pytest.mark.parametrize(
    ("spec", "column", "error"),
    [
        ({"time": "att"}, "n as at", r"sink.files.time: att: "),
        ({"time": "n"}, "n as at", r"sink.files.time: n is bigint, not a timestamp or date; cast it in a step"),
        ({}, "n as hour", r"sink.files.partition: hour: the rows have a column hour already; name the partition"),
        ({"partition": ["carier"]}, "n as carrier", r"sink.files.partition: carier: .*carrier"),
        ({}, "n as batch", r"sink.files: a column batch is in the rows"),
    ],
)
def test_settings_that_do_not_fit_the_rows_are_refused_beforehand(
    folder: Path, sink: Any, numbers: Rows, spec: dict[str, Any], column: str, error: str
) -> None:
    with pytest.raises(SinkRefused, match=error):
        sink(**spec).prepare(numbers(0, 1, "n", column).schema)
    assert not folder.exists()


def test_columns_evolve(spark: SparkSession, folder: Path, sink: Any, numbers: Rows, batch: Batch) -> None:
    nested = "named_struct('a', n{}) as s"
    sink().write(numbers(0, 1, "cast(n as int) as n", nested.format("")), batch(0, 0, 1))
    wider = ("cast(n as int) as n", nested.format(", 'b', 'x'"), "'new' as t")
    refused = {"columns": "fail"}
    with pytest.raises(SinkRefused, match=r"column s.b \(string\) is not in the target"):
        sink(refused).write(numbers(1, 2, *wider), batch(1, 1, 2))
    sink({"columns": "ignore"}).write(numbers(1, 2, *wider), batch(1, 1, 2))
    assert sink().prepare(numbers(2, 3, *wider).schema) == (
        f"{folder}: add column s.b string",
        f"{folder}: add column t string",
    )
    target = sink()
    target.write(numbers(2, 3, *wider), batch(2, 2, 3))
    target.write(numbers(3, 4, "cast(n as smallint) as n"), batch(3, 3, 4))
    rows = spark.read.option("mergeSchema", "true").parquet(str(folder)).orderBy("n")
    assert [(row.n, row.s and row.s.asDict(), row.t) for row in rows.collect()] == [
        (0, {"a": 0, "b": None}, None),
        (1, {"a": 1, "b": None}, None),
        (2, {"a": 2, "b": "x"}, "new"),
        (3, None, None),
    ]
    with pytest.raises(SinkRefused, match=r"column n is int in the target and bigint in the rows; cast it"):
        sink().write(numbers(4, 5, "n"), batch(4, 4, 5))


def test_files_of_another_writer_have_columns_too(spark: SparkSession, folder: Path, sink: Any, numbers: Rows) -> None:
    spark.range(3).selectExpr("id as n", "'x' as t").write.parquet(f"{folder}/batch=earlier-0")
    assert sink(partition=[]).prepare(numbers(0, 1, "n", "1 as m").schema) == (f"{folder}: add column m int",)
    with pytest.raises(SinkRefused, match=r"column t is string in the target and int in the rows"):
        sink(partition=[]).prepare(numbers(0, 1, "n", "1 as t").schema)


def test_files_have_the_size_that_is_aimed_at(folder: Path, sink: Any, numbers: Rows, batch: Batch) -> None:
    target = sink(target=20_000)
    target.write(numbers(0, 10_000), batch(0, 0, 10_000))
    target.write(numbers(10_000, 40_000), batch(1, 10_000, 40_000))
    manifest = json.loads((folder / "_magicbyte/batches/q1-1.json").read_text())
    sizes = [file["size"] for file in manifest["files"]]
    assert len(sizes) > 3
    assert max(sizes) < 30_000
