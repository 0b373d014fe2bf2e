"""Steps that remember rows, over a real broker: their results."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import spark_avro
from spark_avro.pipeline.file.place import PipelineError
from spark_avro.pipeline.run.running import Running
from tests.spark.pipeline.flights import ListSink
from tests.spark.pipeline.state.events import GROUPS

pytestmark = pytest.mark.usefixtures("strict")


@pytest.mark.slow
def test_a_repeat_of_a_later_run_is_dropped(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    file = pipeline_file(topic, "steps: [{deduplicate: {by: k, time: at, within: 1h}}]")
    events(topic, (1, "a", 0), (2, "b", 1), (3, "a", 2))
    first = spark_avro.pipeline(file).run(spark)
    events(topic, (4, "a", 3), (5, "c", 4))
    second = spark_avro.pipeline(file).run(spark)
    assert sorted(row["k"] for row in sink.rows) == ["a", "b", "c"]
    assert [(run.read, run.written, run.dead) for run in (first, second)] == [(3, 2, 0), (2, 1, 0)]


def test_a_window_is_written_once_when_the_watermark_has_passed_it(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    window = "{time: at, size: 10m, late: 5m, group: k, aggregate: [count(*) as n, sum(id) as ids]}"
    file = pipeline_file(topic, f"steps: [{{window: {window}}}, {{select: [window_start, k, n, ids]}}]", GROUPS)
    events(topic, (1, "a", 1), (2, "a", 2), (3, "b", 9), (4, "a", 12))
    spark_avro.pipeline(file).run(spark)
    assert sink.rows == []
    # 8 is late by less than 5 minutes; 16 moves the watermark to 11.
    events(topic, (5, "a", 8), (6, "a", 16))
    spark_avro.pipeline(file).run(spark)
    # No row of the closed window may come back.
    events(topic, (7, "a", 3), (8, "a", 30))
    spark_avro.pipeline(file).run(spark)
    rows = sorted((row["window_start"].minute, row["k"], row["n"], row["ids"]) for row in sink.rows)
    assert rows == [(0, "a", 3, 8), (0, "b", 1, 3), (10, "a", 2, 10)]


@pytest.mark.slow
def test_a_key_that_an_earlier_run_had_fails_its_check(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, dead = topics.create(), topics.create()
    check = "{name: one, unique: {key: k, within: 1h}, else: dead-letter}"
    file = pipeline_file(topic, f"quality: [{check}]\nerrors: {{tolerance: all, topic: {dead}}}")
    events(topic, (1, "a", 0), (2, "b", 1), (3, "a", 2))
    first = spark_avro.pipeline(file).run(spark)
    events(topic, (4, "a", 3), (5, "c", 4))
    second = spark_avro.pipeline(file).run(spark)
    assert sorted(row["k"] for row in sink.rows) == ["a", "b", "c"]
    assert [(run.written, run.dead) for run in (first, second)] == [(2, 1), (1, 1)]


@pytest.mark.slow
def test_groups_of_each_batch_replace_those_before_and_a_letter_has_their_key(
    spark: SparkSession, topics: Any, events: Any, pipeline_file: Any, tmp_path: Path
) -> None:
    topic, dead = topics.create(), topics.create()
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute("create table t (k text primary key check (k <> 'bad'), n integer, total integer)")
    sink = f"{{sql: {{url: 'sqlite:///{tmp_path}/t.db', table: t, mode: {{upsert: {{key: [k]}}}}}}}}"
    steps = "steps: [{aggregate: {group: k, aggregate: [count(*) as n, sum(id) as total]}}]"
    file = pipeline_file(topic, f"{steps}\nerrors: {{tolerance: all, topic: {dead}}}", sink)
    for rows in (((1, "a", 0), (2, "b", 0)), ((3, "a", 0), (9, "bad", 0)), ((4, "b", 0), (5, "a", 0))):
        events(topic, *rows)
        spark_avro.pipeline(file).run(spark)
    with sqlite3.connect(tmp_path / "t.db") as connection:
        assert connection.execute("select k, n, total from t order by k").fetchall() == [("a", 3, 9), ("b", 2, 6)]
    [letter] = topics.consume(dead, 1)
    assert json.loads(letter.key())["k"] == "bad"
    assert letter.value() is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ("sql: 'select *, row_number() over (partition by k order by id) as r from this'", "write deduplicate"),
        ("sql: select * from this order by id", "leave the order to whoever reads the target"),
        ("sql: select * from this limit 5", "write where, or sample"),
        ("sql: 'select distinct k, id, at from this'", "write window with time and late"),
        ("sql: 'select k, count(*) as n from this group by k'", "write window with time and late"),
        ("python: 'tests.spark.pipeline.state.functions:counted'", "may not count or collect rows of a stream"),
        (
            "window: {time: at, size: 5m, aggregate: count(distinct k) as n}",
            "write approx_count_distinct",
        ),
    ],
)
def test_a_step_that_spark_refuses_in_a_stream_is_told_with_its_place(
    step: str, reason: str, spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    events(topic, (1, "a", 0))
    steps = f"steps: [{{{step}}}, {{deduplicate: {{by: k, time: at, within: 1h}}}}]"
    if step.startswith("window"):
        steps = f"steps: [{{{step}}}]"
    elif "group by" in step:
        steps = f"steps: [{{deduplicate: {{by: k, time: at, within: 1h}}}}, {{{step}}}]"
    place = r"steps\[1\]" if "group by" in step else r"steps\[0\]"
    with pytest.raises(PipelineError, match=f"{place}.*{reason}"):
        spark_avro.pipeline(pipeline_file(topic, steps, GROUPS)).run(spark)
    assert sink.rows == []


@pytest.mark.slow
def test_a_batch_without_records_reads_none(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    steps = "steps: [{window: {time: at, size: 5m, group: k, aggregate: count(*) as n}}]"
    events(topic, (1, "a", 10), (2, "b", 100))
    result = spark_avro.pipeline(pipeline_file(topic, steps, GROUPS)).run(spark)
    assert (result.read, result.written) == (2, 1)


@pytest.mark.slow
def test_four_sinks_checks_and_letters_read_the_state_once(
    spark: SparkSession, topics: Any, events: Any, pipeline_file: Any, tmp_path: Path
) -> None:
    topic, dead = topics.create(), topics.create()
    files = [f"{{files: {{path: {tmp_path}/{name}, partition: []}}}}" for name in "ab"]
    tables = [f"{{sql: {{url: 'sqlite:///{tmp_path}/{name}.db', table: t}}}}" for name in "cd"]
    rest = (
        "steps: [{deduplicate: {by: k, time: at, within: 1h}}]\n"
        f"quality: [{{name: small, expect: id < 5, else: dead-letter}}]\nerrors: {{tolerance: all, topic: {dead}}}"
    )
    file = pipeline_file(topic, rest, f"[{', '.join(files + tables)}]")
    file.write_text(file.read_text().replace("\nsink: ", "\nsinks: "))
    events(topic, (1, "a", 0), (2, "b", 1), (3, "a", 2), (4, "c", 3), (9, "d", 4), (4, "b", 5))
    topics.produce(topic, b"no record")
    queries: list[Any] = []
    pipeline = spark_avro.pipeline(file).file
    result = Running(pipeline, spark, on_batch=lambda _: queries.extend(spark.streams.active)).run()
    assert (result.read, result.written, result.dead) == (7, 3, 2)
    operators = [progress["stateOperators"][0] for progress in queries[0].recentProgress]
    assert sum(operator["numRowsUpdated"] for operator in operators) == 4
    for name in "ab":
        assert spark.read.parquet(f"{tmp_path}/{name}").count() == 3
    for name in "cd":
        with closing(sqlite3.connect(tmp_path / f"{name}.db")) as connection:
            assert connection.execute("select count(*) from t").fetchone() == (3,)
