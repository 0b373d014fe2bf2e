"""Joins with a compacted topic as a table, over a real broker: newest values, tombstones, waiting, restarts, lint."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import spark_avro
from magicbyte.cli.main import main
from spark_avro.pipeline.file import topic_rules
from spark_avro.pipeline.file.place import PipelineError
from spark_avro.pipeline.local_folder import LocalFolder
from spark_avro.pipeline.run.progress import progress_of
from spark_avro.pipeline.run.running import Running
from spark_avro.pipeline.sources.time_range import range_id, ranges_between
from tests.spark.pipeline.flights import ListSink
from tests.spark.pipeline.state.events import EVENT

pytestmark = [pytest.mark.usefixtures("strict")]

CITY = json.dumps({"type": "record", "name": "City", "fields": [{"name": "city", "type": "string"}]})
LARGER_CITY = json.dumps(
    {
        "type": "record",
        "name": "City",
        "fields": [{"name": "city", "type": "string"}, {"name": "land", "type": "string", "default": "?"}],
    }
)
KEY = "key: {format: string}"


@pytest.fixture
def cities(avro: Any, topics: Any) -> Callable[..., None]:
    """Produces pairs of key and city; None deletes a key."""

    def produce(topic: str, *rows: tuple[str | None, str | None]) -> None:
        [schema_id] = avro.register(f"{topic}-value", CITY)
        for key, city in rows:
            value = None if city is None else avro.message(schema_id, CITY, {"city": city})
            if key is None:
                topics.produce(topic, value)
            else:
                topics.produce_keyed(topic, key.encode(), value)

    return produce


def steps_of(table: str, rest: str = "", *, how: str = "left", more: str = "") -> str:
    join = f"{{join: {{topic: cities, on: [k], how: {how}{rest}}}}}"
    return f"steps: [{join}{more}]\nstreams: {{cities: {{topics: [{table}], {KEY}}}}}"


def found(sink: ListSink) -> list[tuple[Any, ...]]:
    return sorted(((row["id"], row["k"], row["city"]) for row in sink.rows), key=str)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("left", [(1, "a", "Oslo"), (2, "b", None), (3, "c", None)]),
        ("inner", [(1, "a", "Oslo")]),
    ],
)
def test_rows_have_the_newest_value_of_their_key(
    *,
    how: str,
    expected: list[Any],
    spark: SparkSession,
    topics: Any,
    events: Any,
    cities: Any,
    sink: ListSink,
    pipeline_file: Any,
    tmp_path: Path,
) -> None:
    topic, table = topics.create(), topics.create(partitions=2)
    file = pipeline_file(topic, f"{steps_of(table, how=how)}\ntrigger: {{available: now}}")
    events(topic, (1, "a", 1), (2, "b", 1), (3, "c", 1))
    cities(table, ("a", "Bergen"), ("b", "Rome"), ("a", "Oslo"), ("b", None))
    spark_avro.pipeline(file).run(spark)
    assert found(sink) == expected
    progress = progress_of(LocalFolder(f"{tmp_path}/checkpoint"), spark_avro.pipeline(file).file)
    assert progress.state is not None
    assert progress.state.unmatched == {"steps[0].join": 2}
    assert [(operator.name, operator.rows) for operator in progress.state.operators] == [
        ("transformWithStateInPandasExec", 1)
    ]


@pytest.mark.slow
def test_updates_and_deletions_count_from_the_next_batch_on(
    spark: SparkSession, topics: Any, events: Any, cities: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, table = topics.create(), topics.create()
    file = pipeline_file(topic, steps_of(table))
    cities(table, ("a", "Bergen"))
    for number, city in enumerate([None, "Oslo", "Rome", None], 1):
        events(topic, (number, "a", number))
        if number > 1:
            cities(table, ("a", city))
        spark_avro.pipeline(file).run(spark)
    assert found(sink) == [(1, "a", "Bergen"), (2, "a", "Oslo"), (3, "a", "Rome"), (4, "a", None)]


@pytest.mark.slow
def test_the_table_is_loaded_before_the_first_row_is_joined(
    spark: SparkSession, topics: Any, events: Any, cities: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, table = topics.create(), topics.create()
    events(topic, *((number, f"k{number}", 1) for number in range(6)))
    cities(table, *((f"k{number}", "old") for number in range(6)), *((f"k{number}", "new") for number in range(6)))
    file = pipeline_file(topic, steps_of(table))
    pipeline = spark_avro.pipeline(file, overrides=["source.limit.records=5"])
    pipeline.run(spark)
    assert found(sink) == [(number, f"k{number}", "new") for number in range(6)]
    # 12 records of the table and 6 of the topic, at most 5 in a batch.
    has_rows = [bool(batch.ranges) for batch in sink.identities]
    assert has_rows == sorted(has_rows)
    assert (has_rows.count(False) >= 3, has_rows.count(True) >= 2) == (True, True)
    loading = [part for batch in sink.identities if not batch.ranges for part in batch.table_ranges]
    assert sum(part.end - part.start for part in loading) == 12


@pytest.mark.slow
def test_a_row_waits_for_its_key(
    spark: SparkSession, topics: Any, events: Any, cities: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, table = topics.create(), topics.create()
    cities(table, ("z", "Nome"))
    events(topic, (1, "a", 1), (2, "b", 1))
    spark_avro.pipeline(pipeline_file(topic, steps_of(table, ", wait: 1h"))).run(spark)
    assert found(sink) == []
    cities(table, ("a", "Oslo"))
    events(topic, (3, "z", 1))
    # The time to wait may change; rows that wait already keep theirs.
    file = pipeline_file(topic, steps_of(table, ", wait: 1ms"))
    spark_avro.pipeline(file).run(spark)
    assert found(sink) == [(1, "a", "Oslo"), (3, "z", "Nome")]
    events(topic, (4, "c", 1))
    spark_avro.pipeline(file).run(spark)
    time.sleep(0.01)
    events(topic, (5, "z", 1))
    spark_avro.pipeline(file).run(spark)
    assert found(sink) == [(1, "a", "Oslo"), (3, "z", "Nome"), (4, "c", None), (5, "z", "Nome")]


@pytest.mark.slow
def test_a_repeated_batch_has_the_same_rows(
    spark: SparkSession,
    topics: Any,
    events: Any,
    cities: Any,
    sink: ListSink,
    pipeline_file: Any,
    tmp_path: Path,
) -> None:
    topic, table = topics.create(), topics.create()
    file = pipeline_file(topic, steps_of(table))
    cities(table, ("a", "Oslo"))
    events(topic, (1, "a", 1), (2, "b", 1))
    spark_avro.pipeline(file).run(spark)
    last = max(int(name.name) for name in (tmp_path / "checkpoint" / "commits").iterdir() if name.name.isdecimal())
    before = dict(sink.batches)
    # As after a kill before the commit: the batch is planned, and its rows are not in the target.
    (tmp_path / "checkpoint" / "commits" / str(last)).unlink()
    (tmp_path / "checkpoint" / "commits" / f".{last}.crc").unlink(missing_ok=True)
    key = next(name for name in before if name.endswith(f"-{last}"))
    del sink.batches[key]
    cities(table, ("a", "Rome"), ("b", "Bonn"))
    events(topic, (3, "b", 1))
    spark_avro.pipeline(file).run(spark)
    assert sink.batches[key] == before[key] != []
    assert found(sink) == [(1, "a", "Oslo"), (2, "b", None), (3, "b", "Bonn")]


@pytest.mark.slow
def test_new_state_has_the_table_before_an_unfinished_batch_is_repeated(
    spark: SparkSession, topics: Any, events: Any, cities: Any, sink: ListSink, pipeline_file: Any, tmp_path: Path
) -> None:
    topic, table = topics.create(), topics.create()
    deduplicate = "{deduplicate: {by: id, time: at, within: 1h}}"
    file = pipeline_file(topic, steps_of(table).replace("steps: [", f"steps: [{deduplicate}, "))
    cities(table, ("a", "Bergen"), ("a", "Oslo"))
    events(topic, (1, "a", 1), (1, "a", 1))
    spark_avro.pipeline(file).run(spark)
    unfinished = sink.identities[-2 if not sink.identities[-1].ranges else -1]
    for name in (tmp_path / "checkpoint" / "commits").iterdir():
        if (
            name.name.strip(".").split(".")[0].isdecimal()
            and int(name.name.strip(".").split(".")[0]) >= unfinished.number
        ):
            name.unlink()
    for name in (tmp_path / "checkpoint" / "offsets").iterdir():
        if (
            name.name.strip(".").split(".")[0].isdecimal()
            and int(name.name.strip(".").split(".")[0]) > unfinished.number
        ):
            name.unlink()
    del sink.batches[str(unfinished)]
    sink.identities.clear()
    spark_avro.pipeline(file).run(spark, new_state=True)
    repeated = sink.identities[0]
    assert (repeated.number, repeated.ranges) == (unfinished.number, unfinished.ranges)
    assert sum(part.end - part.start for part in repeated.table_ranges) == 2
    events(topic, (2, "a", 2))
    spark_avro.pipeline(file).run(spark)
    assert found(sink) == [(1, "a", "Oslo"), (2, "a", "Oslo")]


@pytest.mark.slow
def test_a_run_that_is_killed_while_it_loads_goes_on(
    spark: SparkSession, topics: Any, events: Any, cities: Any, pipeline_file: Any, tmp_path: Path
) -> None:
    topic, table = topics.create(), topics.create()
    events(topic, *((number, f"k{number}", 1) for number in range(4)))
    cities(table, *((f"k{number % 4}", f"city {number}") for number in range(40)))
    sink = f"{{files: {{path: {tmp_path}/out, time: _kafka.timestamp}}}}"
    file = pipeline_file(topic, f"{steps_of(table)}\nspark: {{spark.master: 'local[2]'}}", sink=sink)
    command = [sys.executable, "-P", "-m", "magicbyte.cli.main", "pipeline", "run", str(file)]
    process = subprocess.Popen([*command, "--set", "source.limit.records=5"], cwd=Path(__file__).parents[4])
    commits = tmp_path / "checkpoint" / "commits"
    while not (commits / "1").exists():
        assert process.poll() is None, "the run must be loading"
        time.sleep(0.05)
    process.kill()
    process.wait()
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").rglob("*.parquet"))
    spark_avro.pipeline(file).run(spark)
    rows = spark.read.parquet(f"{tmp_path}/out").select("id", "city").orderBy("id").collect()
    assert [tuple(row) for row in rows] == [(number, f"city {36 + number}") for number in range(4)]


@pytest.mark.slow
def test_broken_records_of_the_table_become_dead_letters(
    spark: SparkSession, topics: Any, events: Any, cities: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, table, letters = topics.create(), topics.create(), topics.create()
    file = pipeline_file(topic, f"{steps_of(table)}\nerrors: {{tolerance: all, topic: {letters}}}")
    cities(table, ("a", "Oslo"), (None, "Nowhere"))
    topics.produce_keyed(table, b"a", b"broken")
    events(topic, (1, "a", 1))
    result = spark_avro.pipeline(file).run(spark)
    assert (result.dead, found(sink)) == (2, [(1, "a", "Oslo")])
    reasons = [b" ".join(value or b"" for _, value in letter.headers()) for letter in topics.consume(letters, 2)]
    assert any(b"the record has no key" in reason for reason in reasons)


@pytest.mark.slow
def test_new_fields_of_the_table_are_left_out_until_the_state_is_new(
    spark: SparkSession,
    topics: Any,
    avro: Any,
    events: Any,
    cities: Any,
    sink: ListSink,
    pipeline_file: Any,
) -> None:
    topic, table = topics.create(), topics.create()
    file = pipeline_file(topic, steps_of(table))
    cities(table, ("a", "Oslo"), ("b", "Bonn"))
    events(topic, (1, "a", 1))
    spark_avro.pipeline(file).run(spark)
    [schema_id] = avro.register(f"{table}-value", LARGER_CITY)
    topics.produce_keyed(table, b"a", avro.message(schema_id, LARGER_CITY, {"city": "Rome", "land": "it"}))
    events(topic, (2, "a", 1))
    spark_avro.pipeline(file).run(spark)
    assert [(row["city"], row.get("land")) for row in sink.rows] == [("Oslo", None), ("Rome", None)]
    events(topic, (3, "a", 1), (4, "b", 1))
    spark_avro.pipeline(file).run(spark, new_state=True)
    assert sorted((row["id"], row["city"], row.get("land")) for row in sink.rows[2:]) == [
        (3, "Rome", "it"),
        (4, "Bonn", "?"),
    ]


@pytest.mark.slow
def test_two_topics_are_joined_and_then_counted_in_windows(
    spark: SparkSession, topics: Any, events: Any, cities: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, table = topics.create(), topics.create()
    window = "{window: {time: at, size: 10m, group: [city, other], aggregate: [count(*) as n]}}"
    more = f", {{rename: {{city: other}}}}, {{join: {{topic: cities, on: [k]}}}}, {window}"
    file = pipeline_file(topic, steps_of(table, more=more), sink="{files: {path: unused, time: window_start}}")
    cities(table, ("a", "Oslo"), ("b", "Bonn"))
    events(topic, (1, "a", 1), (2, "a", 2), (3, "b", 3), (4, "a", 30))
    spark_avro.pipeline(file).run(spark)
    assert sorted((row["city"], row["other"], row["n"]) for row in sink.rows) == [
        ("Bonn", "Bonn", 1),
        ("Oslo", "Oslo", 2),
    ]


@pytest.mark.slow
def test_a_range_is_joined_with_the_whole_topic(
    spark: SparkSession, topics: Any, events: Any, cities: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, table = topics.create(), topics.create(partitions=2)
    file = pipeline_file(topic, steps_of(table))
    cities(table, ("a", "Bergen"), ("b", "Rome"), ("a", "Oslo"), ("b", None))
    events(topic, (1, "a", 1), (2, "b", 1))
    pipeline = spark_avro.pipeline(file)
    pipeline.run(spark)
    as_stream = found(sink)
    sink.batches.clear()
    ranges = ranges_between(spark, pipeline.file, None, None)
    result = Running(pipeline.file, spark).run_range(ranges, range_id(ranges))
    assert (found(sink), result.read) == (as_stream, 2)
    assert as_stream == [(1, "a", "Oslo"), (2, "b", None)]


@pytest.mark.slow
def test_cases_have_records_of_tables(
    spark: SparkSession, pipeline_file: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = tmp_path / "cases" / "joined"
    case.mkdir(parents=True)
    (case / "orders.avsc").write_text(EVENT)
    (case / "towns.avsc").write_text(CITY)
    records: list[dict[str, Any]] = [
        {"topic": "orders", "value": {"id": 1, "k": "a", "at": "1970-01-01T00:00:00Z"}},
        {"topic": "orders", "value": {"id": 2, "k": "b", "at": "1970-01-01T00:00:00Z"}},
        {"topic": "towns", "key": "a", "value": {"city": "Bergen"}},
        {"topic": "towns", "key": "a", "value": {"city": "Oslo"}},
        {"topic": "towns", "key": "b", "value": {"city": "Rome"}},
        {"topic": "towns", "key": "b", "value": None},
    ]
    (case / "records.jsonl").write_text("\n".join(map(json.dumps, records)))
    (case / "rows.jsonl").write_text('{"id": 1, "city": "Oslo"}\n{"id": 2, "city": null}\n')
    file = pipeline_file("orders", steps_of("towns", more=", {select: [id, city]}"))
    command = ["pipeline", "test", str(file), "--cases", str(tmp_path / "cases")]
    assert main(command) == 0, capsys.readouterr()
    (case / "records.jsonl").write_text(json.dumps({"topic": "towns", "value": None}))
    assert main(command) != 0
    assert "record 1 of the case has no key, and towns is joined by its key" in capsys.readouterr().err


def lint(file: Path, capsys: pytest.CaptureFixture[str]) -> str:
    code = main(["pipeline", "lint", str(file)])
    answer = capsys.readouterr()
    return f"{code}: {answer.out}{answer.err}"


DEDUPLICATE = "{deduplicate: {by: k, time: at, within: 1h}}"
WINDOW = "{window: {time: at, size: 10m, group: city, aggregate: [count(*) as n]}}"


@pytest.mark.parametrize(
    ("steps", "streams", "expected"),
    [
        ("{join: {topic: cities, on: [k]}}", "topics: [c]", "key: is missing: steps[0].join finds the newest value"),
        (
            "{join: {topic: towns, on: [k]}}",
            f"topics: [c], {KEY}",
            "steps[0].join.topic: there is no stream towns; use one of cities",
        ),
        ("{join: {topic: cities, on: [k], how: full}}", f"topics: [c], {KEY}", "a topic takes inner or left"),
        ("{join: {topic: cities, on: this.k = cities.k}}", f"topics: [c], {KEY}", "must be a list of the fields"),
        ("{join: {topic: cities, on: [k], within: 1h}}", f"topics: [c], {KEY}", "is for joins with a stream"),
        (
            "{join: {topic: cities, table: t, on: [k]}}",
            f"topics: [c], {KEY}",
            "must have one of table, stream and topic",
        ),
        (
            f"{{join: {{topic: cities, on: [k], wait: 1m}}}}, {WINDOW}",
            f"topics: [c], {KEY}",
            "wait: stands beside steps[1].window, which goes by a watermark",
        ),
        (
            f"{DEDUPLICATE}, {{join: {{topic: cities, on: [k]}}}}, {WINDOW}",
            f"topics: [c], {KEY}",
            "goes by the watermark of steps[0].deduplicate, which rows lose in steps[1].join",
        ),
    ],
)
def test_lint_refuses(
    steps: str, streams: str, expected: str, pipeline_file: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    sink = "{files: {path: unused, time: window_start}}"
    answer = lint(pipeline_file("o", f"steps: [{steps}]\nstreams: {{cities: {{{streams}}}}}", sink=sink), capsys)
    assert answer.startswith("2:")
    assert expected in answer


def test_pyspark_3_5_is_refused(
    pipeline_file: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topic_rules, "spark_version", lambda: (3, 5))
    file = pipeline_file("o", steps_of("c"))
    assert "needs PySpark 4.0 or newer, and 3.5 is installed" in lint(file, capsys)
    with pytest.raises(PipelineError, match=r"Install PySpark 4\.0 or newer; or write the topic to a table"):
        spark_avro.pipeline(file)
