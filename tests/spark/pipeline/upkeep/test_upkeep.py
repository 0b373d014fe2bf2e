"""Backfills and compaction of files: sums stay the same, after crashes, too."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

import spark_avro
from serdes.codec import compile_codec
from serdes.message import wire
from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.ports import SinkRefused, SourceRange
from spark_avro.pipeline.sources.time_range import ranges_between
from spark_avro.pipeline.upkeep import compact_files, file_batches
from spark_avro.pipeline.upkeep.backfill import ReplaceFiles, backfill
from spark_avro.pipeline.upkeep.compact import compact
from spark_avro.pipeline.upkeep.ranges import overlap, parse_range, union, words

FLIGHT = json.dumps(
    {
        "type": "record",
        "name": "Flight",
        "fields": [{"name": "id", "type": "int"}, {"name": "delay", "type": "int"}],
    }
)
CODEC = compile_codec(FLIGHT)
#: Not long ago: the broker deletes what is older than a week.
MIDNIGHT = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=2)
HOUR = timedelta(hours=1)
#: Records of each of three hours.
PER_HOUR = 40


class Lake:
    """A folder or table that a pipeline wrote in several batches."""

    def __init__(self, spark: SparkSession, folder: Path, text: Callable[[str], str], table: str) -> None:
        self.spark, self.folder, self.table = spark, folder, table
        self._text = text

    def file(self, delay: str = "delay", where: str = "true") -> Pipeline:
        path = self.folder / "pipeline.yaml"
        path.write_text(self._text(f'steps: [{{select: [id, "{delay} as delay"]}}, {{where: "{where}"}}]'))
        return spark_avro.pipeline(path).file

    def hour(self, number: int) -> tuple[SourceRange, ...]:
        begin = MIDNIGHT + number * HOUR
        return ranges_between(self.spark, self.file(), begin, begin + HOUR)

    def rows(self) -> list[tuple[int, int, int]]:
        """Hour, id and delay of all rows that a reader sees."""
        rows = self.spark.sql(f"SELECT id, delay FROM {self.table}").collect()
        return sorted((row["id"] // PER_HOUR, row["id"], row["delay"]) for row in rows)

    def files(self) -> list[str]:
        root = self.folder / "out"
        paths = root.rglob("*.parquet")
        return sorted(str(path.relative_to(root)) for path in paths if "_magicbyte" not in path.parts)


ROWS = sorted((number // PER_HOUR, number, number % 7) for number in range(3 * PER_HOUR))


def written(spark: SparkSession, topics: Any, avro: Any, folder: Path, sink: str, table: str) -> Lake:
    """The target of a pipeline after four batches."""
    topic = topics.create()
    [schema_id] = avro.register(f"{topic}-value", FLIGHT)
    producer = Producer({"bootstrap.servers": topics.servers, "linger.ms": 20})
    for number in range(3 * PER_HOUR):
        value = wire.prefix(schema_id) + CODEC.encode({"id": number, "delay": number % 7})
        moment = MIDNIGHT + number * HOUR / PER_HOUR
        producer.produce(topic, value, partition=number % 2, timestamp=int(moment.timestamp() * 1000))
    assert producer.flush(30) == 0

    def text(rest: str) -> str:
        return f"""
version: 1
name: flights
kafka: {{bootstrap.servers: "{topics.servers}"}}
registry: {{url: "{avro.url}"}}
checkpoint: {folder}/checkpoint
source: {{topics: [{topic}], limit: {{records: 30}}}}
sink: {sink}
{rest}
"""

    made = Lake(spark, folder, text, table)
    made.file()
    assert spark_avro.pipeline(folder / "pipeline.yaml").run(spark).batches == 4
    return made


@pytest.fixture
def lake(spark: SparkSession, topics: Any, avro: Any, tmp_path: Path) -> Lake:
    sink = f'{{files: {{path: "{tmp_path}/out", late: 10d, on-late: keep}}}}'
    return written(spark, topics, avro, tmp_path, sink, f"parquet.`{tmp_path}/out`")


@pytest.mark.slow
def test_an_hour_is_replaced_twice_with_the_same_sums(lake: Lake) -> None:
    assert lake.rows() == ROWS
    with pytest.raises(
        SinkRefused, match=r"the pipeline has written \S+ 0:20-39, \S+ 1:20-39 already; --replace writes"
    ):
        backfill(lake.file(), lake.spark, lake.hour(1))
    for _ in range(2):
        result = backfill(lake.file(), lake.spark, lake.hour(1), replace=True)
        # The whole batches that have some of the hour's records.
        assert (result.batches, result.read, result.written) == (1, 60, 60)
        assert lake.rows() == ROWS
    backfill(lake.file("delay + 100"), lake.spark, lake.hour(1), replace=True)
    assert {delay // 100 for hour, _, delay in lake.rows() if hour == 1} == {1}
    assert [row[:2] for row in lake.rows()] == [row[:2] for row in ROWS]
    # Steps that leave out all rows of the range remove what is there.
    backfill(lake.file(where="id < 0"), lake.spark, lake.hour(1), replace=True)
    assert [row[1] for row in lake.rows()] == [number for number in range(3 * PER_HOUR) if not 30 <= number < 90]
    # The stream continues from its last offset.
    assert spark_avro.pipeline(lake.folder / "pipeline.yaml").run(lake.spark).batches == 0


@pytest.mark.slow
def test_a_backfill_that_ends_before_the_old_files_are_deleted(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(_self: ReplaceFiles) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(ReplaceFiles, "finish", crash)
        with pytest.raises(KeyboardInterrupt):
            backfill(lake.file(), lake.spark, lake.hour(1), replace=True)
    assert len(lake.rows()) > len(ROWS)
    backfill(lake.file(), lake.spark, lake.hour(1), replace=True)
    assert lake.rows() == ROWS


@pytest.mark.slow
def test_compacted_hours_have_fewer_files_and_the_same_rows(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    before = lake.files()
    now = MIDNIGHT + timedelta(days=10) + 4 * HOUR
    with pytest.raises(SinkRefused, match="stop the readers and give --offline"):
        compact(lake.file(), lake.spark, timedelta(days=10), now=now)
    with pytest.raises(SinkRefused, match=r"--older-than: rows may come until 10 days, 0:00:00 after their time"):
        compact(lake.file(), lake.spark, HOUR, offline=True, now=now)
    # The second hour has been over for long enough by then, the third not.
    now -= HOUR + timedelta(minutes=30)

    def crash(_self: Folder, old: str, new: str) -> None:
        if "staging" in old:
            raise KeyboardInterrupt
        rename(_self, old, new)

    rename = Folder.rename
    with monkeypatch.context() as patched:
        patched.setattr(Folder, "rename", crash)
        with pytest.raises(KeyboardInterrupt):
            compact(lake.file(), lake.spark, timedelta(days=10), offline=True, now=now)
    [line] = compact(lake.file(), lake.spark, timedelta(days=10), offline=True, now=now)
    assert line.startswith(f"{lake.folder}/out: 1 partitions, ")
    assert lake.rows() == ROWS
    after = lake.files()
    assert len(after) < len(before)
    for hour in ("00", "01"):
        assert len([path for path in after if f"hour={hour}" in path]) == 1
    assert [path for path in after if "hour=02" in path] == [path for path in before if "hour=02" in path]
    [line] = compact(lake.file(), lake.spark, timedelta(days=10), offline=True, now=now)
    assert line == f"{lake.folder}/out: 0 partitions, 0 files became 0"
    # What was compacted can still be replaced.
    backfill(lake.file(), lake.spark, lake.hour(0), replace=True)
    assert lake.rows() == ROWS
    assert not Folder(lake.spark, f"{lake.folder}/out").names(file_batches._REPLACING)


@pytest.mark.slow
def test_old_files_stay_for_their_readers(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    old = lake.files()
    now = MIDNIGHT + timedelta(days=20)

    def compacted(at: datetime, grace: timedelta | None = HOUR) -> str:
        [line] = compact(lake.file(), lake.spark, timedelta(days=10), grace=grace, offline=grace is None, now=at)
        return line.removeprefix(f"{lake.folder}/out: ")

    def crash(*_: Any, **_settings: Any) -> None:
        raise KeyboardInterrupt

    # A crash before the manifest leaves a note, which deletes nothing.
    with monkeypatch.context() as patched:
        patched.setattr(compact_files, "write_manifest", crash)
        with pytest.raises(KeyboardInterrupt):
            compacted(now - 3 * HOUR)
    # A crash after it leaves the new files to be moved.
    with monkeypatch.context() as patched:
        patched.setattr(file_batches, "_finish_compaction", crash)
        with pytest.raises(KeyboardInterrupt):
            compacted(now)
    assert lake.rows() == ROWS
    words = f"; the old files stay until {(now + HOUR).isoformat()}, and the first compaction after that deletes them"
    assert re.fullmatch(rf"2 partitions, \d+ files became 2{re.escape(words)}", compacted(now))
    # Who has listed the folder reads on, and who lists it now sees rows twice.
    assert set(old) < set(lake.files())
    assert lake.rows() == sorted([*ROWS, *ROWS])
    assert compacted(now + HOUR / 2) == "0 partitions, 0 files became 0"
    assert len(lake.rows()) == 2 * len(ROWS)
    line = f"0 partitions, 0 files became 0; {len(old)} files of earlier compactions were deleted"
    assert compacted(now + HOUR, None) == line
    assert lake.rows() == ROWS
    assert len(lake.files()) == 3
    assert compacted(now + HOUR) == "0 partitions, 0 files became 0"


@pytest.mark.slow
def test_the_commands(lake: Lake) -> None:
    """As a user runs them, each with a session of its own."""

    def command(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        program = [sys.executable, "-P", "-m", "magicbyte.cli.main", "pipeline", name, f"{lake.folder}/pipeline.yaml"]
        whole = [*program, *arguments, "--master", "local[2]"]
        return subprocess.run(whole, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[4])

    hour = ("--from", (MIDNIGHT + HOUR).isoformat(), "--to", (MIDNIGHT + 2 * HOUR).isoformat())
    refused = command("backfill", *hour)
    assert refused.returncode == 1
    assert "already; --replace writes it anew" in refused.stderr
    done = command("backfill", *hour, "--replace")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(" 1:15-44: 60 read, 60 written, 0 dead, 0 dropped\n")
    assert lake.rows() == ROWS
    for arguments, said in (
        ((*hour, "--offsets", "0:1-2"), "name the range"),
        (("--offsets", "x"), "must be PARTITION"),
    ):
        wrong = command("backfill", *arguments)
        assert (wrong.returncode, said in wrong.stderr) == (2, True), wrong.stderr
    for option, said in (
        (("--grace", "soon"), "--grace: must be a time such as 1h, not 'soon'"),
        (("--grace", "1h", "--offline"), "--grace keeps files for readers, and --offline says that there are none"),
    ):
        wrong = command("compact", "--older-than", "10d", *option)
        assert (wrong.returncode, said in wrong.stderr) == (2, True), wrong.stderr
    compacted = command("compact", "--older-than", "10d", "--offline", "--target", "64MB")
    assert compacted.returncode == 0, compacted.stderr
    # Rows of the lake's time may still be late.
    assert compacted.stdout == f"{lake.folder}/out: 0 partitions, 0 files became 0\n"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_delta_and_iceberg_tables() -> None:
    """In a process of their own: the extensions are those of a session from its start."""
    file = Path(__file__).with_name("lake_upkeep.py")
    command = [sys.executable, "-P", "-m", "pytest", str(file), "-q", "-p", "no:cacheprovider"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=file.parents[4])
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-2000:]
    assert "4 passed" in run.stdout


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("0:100-0:999", SourceRange("flights", 0, 100, 1000)),
        ("3:100-100", SourceRange("flights", 3, 100, 101)),
        ("other:0:1-2", SourceRange("other", 0, 1, 3)),
    ],
)
def test_ranges_are_read(text: str, part: SourceRange) -> None:
    assert parse_range(text, ("flights",)) == part


def test_wrong_ranges_and_their_words() -> None:
    for text in ("0", "0:5-1:6", "a b:0:1-2", "0:9-1"):
        with pytest.raises(ValueError, match=r"must be PARTITION|begins behind its end"):
            parse_range(text, ("flights",))
    with pytest.raises(ValueError, match="must name its topic, as in a:0:1-2"):
        parse_range("0:1-2", ("a", "b"))
    parts = [SourceRange("a", 0, 5, 9), SourceRange("a", 0, 0, 5), SourceRange("a", 1, 0, 2), SourceRange("a", 1, 3, 4)]
    assert union(parts) == (SourceRange("a", 0, 0, 9), SourceRange("a", 1, 0, 2), SourceRange("a", 1, 3, 4))
    assert words(union(parts)) == "a 0:0-8, a 1:0-1, a 1:3-3"
    assert overlap(parts[0], SourceRange("a", 0, 8, 10))
    assert not overlap(parts[0], parts[1])
