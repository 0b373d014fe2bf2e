from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import spark_avro
from compat.schema import JSON, PROTOBUF, SchemaText
from serdes.letters.headers import read_letter
from spark_avro.errors import BrokenRecord
from spark_avro.pipeline.batch.counts import BatchCounts, RowsMissing
from spark_avro.pipeline.batch.refusals import SchemaRefused
from spark_avro.pipeline.batch.writer import BatchStopped
from spark_avro.pipeline.ports import SourceRange
from spark_avro.pipeline.run.running import Running
from tests.spark.pipeline.flights import V1, V2, ListSink, messages


def test_steps_run_over_batches_and_the_next_run_goes_on(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    [one] = avro.register(f"{topic}-value", V1)
    flights = [{"id": n, "carrier": "UA", "delay": n - 5 if n else None} for n in range(10)]
    topics.produce(topic, *(avro.message(one, V1, flight) for flight in flights))
    file = pipeline_file(
        topic,
        """
steps:
  - where: delay is not null
  - mask: {carrier: sha256}
  - select: [id, carrier, "delay * 60 as seconds"]
  - sql: "select *, seconds > 0 as late from this"
""",
    )
    result = spark_avro.pipeline(file).run(spark)
    assert (result.batches, result.read, result.written, result.dropped, result.dead) == (1, 10, 9, 1, 0)
    rows = sorted(sink.rows, key=lambda row: row["id"])
    assert [(row["id"], row["seconds"], row["late"]) for row in rows[:6]] == [
        (1, -240, False),
        (2, -180, False),
        (3, -120, False),
        (4, -60, False),
        (5, 0, False),
        (6, 60, True),
    ]
    assert {row["_kafka"]["topic"] for row in rows} == {topic}
    assert {row["_kafka"]["schema_id"] for row in rows} == {one}
    [two] = avro.register(f"{topic}-value", V2)
    topics.produce(topic, avro.message(two, V2, {"id": 10, "carrier": "B6", "delay": 1, "tail": "N1"}))
    result = spark_avro.pipeline(file).run(spark)
    assert (result.batches, result.read, result.written) == (1, 1, 1)
    assert [row["id"] for row in sink.rows][9:] == [10]


@pytest.mark.parametrize(
    ("steps", "written", "dropped", "grouped", "line"),
    [
        ("{sql: 'select count(*) as n from this group by id % 2'}", 2, 0, 8, "0 dropped, 8 grouped by steps"),
        ("{sql: 'select distinct id % 2 as n from this'}", 2, 0, 8, "0 dropped, 8 grouped by steps"),
        (
            "{window: {time: _kafka.timestamp, size: 9999d, aggregate: count(*) as n}}",
            1,
            0,
            9,
            "0 dropped, 9 grouped by steps",
        ),
        ("{sql: 'select * from this where id < 3'}", 3, 7, 0, "7 dropped"),
        ("{sql: 'select explode(array(1, 2)) as n, * from this'}", 20, 0, 0, "0 dropped, 10 made"),
        ("{deduplicate: {by: carrier, within: 1h}}", 1, 9, 0, "9 dropped"),
    ],
)
def test_rows_in_groups_of_a_range_are_not_dropped(  # noqa: PLR0917
    steps: str,
    written: int,
    dropped: int,
    grouped: int,
    line: str,
    spark: SparkSession,
    topics: Any,
    avro: Any,
    sink: ListSink,
    pipeline_file: Any,
) -> None:
    topic = topics.create(1)
    [one] = avro.register(f"{topic}-value", V1)
    topics.produce(topic, *messages(avro, one, 10))
    settings = pipeline_file(topic, f"steps: [{steps}]")
    file = spark_avro.pipeline(settings, overrides=["sink.files.partition=[]", "sink.files.time=x"]).file
    result = Running(file, spark).run_range([SourceRange(topic, 0, 0, 10)], "range")
    assert (result.read, result.written, result.dropped, result.grouped) == (10, written, dropped, grouped)
    assert result.line() == f"10 read, {written} written, 0 dead, {line}"


def test_without_tolerance_a_broken_record_stops_with_its_place(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    [one] = avro.register(f"{topic}-value", V1)
    topics.produce(topic, *messages(avro, one, 3), b"broken")
    with pytest.raises(BrokenRecord, match=rf"wrong magic byte: 0x62 .* at topic {topic}, partition \d, offset \d"):
        spark_avro.pipeline(pipeline_file(topic, "")).run(spark)
    assert sink.rows == []


@pytest.mark.slow
def test_records_that_fail_become_dead_letters_and_everything_is_counted(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, dead = topics.create(), topics.create()
    [one] = avro.register(f"{topic}-value", V1)
    topics.produce(topic, *messages(avro, one, 10), b"broken", b"\x00\x00\x0f\x42\x40!")
    rest = f"""
steps:
  - select: [id, "if(id = 3, raise_error('three'), id) as checked"]
quality:
  - {{name: small, expect: id < 9, else: dead-letter}}
  - {{name: not four, expect: id <> 4, else: drop}}
errors: {{tolerance: all, topic: {dead}}}
"""
    counts: list[BatchCounts] = []
    file = spark_avro.pipeline(pipeline_file(topic, rest)).file
    result = Running(file, spark, on_batch=counts.append).run()
    assert (result.read, result.written, result.dead, result.dropped) == (12, 7, 4, 1)
    assert sorted(row["id"] for row in sink.rows) == [0, 1, 2, 5, 6, 7, 8]
    assert dict(counts[0].failed) == {"small": 1, "not four": 1}
    assert dict(counts[0].ids) == {one: 10}
    letters = {letter.value(): read_letter(letter.headers()) for letter in topics.consume(dead, 4)}
    assert {value for value in letters if len(value) < 7} == {b"broken", b"\x00\x00\x0f\x42\x40!"}
    stages = sorted(letter.stage for letter in letters.values() if letter is not None)
    assert stages == ["TRANSFORMATION", "TRANSFORMATION", "VALUE_CONVERTER", "VALUE_CONVERTER"]
    third = letters[messages(avro, one, 1, 3)[0]]
    assert third is not None
    assert "three" in str(third.message)


@pytest.mark.slow
def test_too_many_errors_stop_before_anything_is_written(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, dead = topics.create(), topics.create()
    [one] = avro.register(f"{topic}-value", V1)
    topics.produce(topic, *messages(avro, one, 3), b"broken", b"broken")
    rest = f"errors: {{tolerance: all, topic: {dead}, at-most: 0.1}}"
    with pytest.raises(BatchStopped, match=r"errors.at-most: 2 of the 5 records of this batch failed; at most 0.1 may"):
        spark_avro.pipeline(pipeline_file(topic, rest)).run(spark)
    assert sink.rows == []


def test_a_sink_that_loses_rows_is_found(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    [one] = avro.register(f"{topic}-value", V1)
    topics.produce(topic, *messages(avro, one, 5))
    sink.lose = 1
    with pytest.raises(RowsMissing, match="ListSink got 5 rows, wrote 4 and rejected 0; the batch is not committed"):
        spark_avro.pipeline(pipeline_file(topic, "")).run(spark)


@pytest.mark.slow
def test_an_id_of_another_subject_stops_unless_the_file_says_otherwise(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, dead = topics.create(), topics.create()
    [one] = avro.register(f"{topic}-value", V1)
    [other] = avro.register(f"{topic}-other", V1.replace("Flight", "Other"))
    topics.produce(topic, *messages(avro, one, 2), *messages(avro, other, 1))
    errors = f"errors: {{tolerance: all, topic: {dead}}}"
    with pytest.raises(SchemaRefused, match=f"unknown schema id: {other} .*: it is of another subject"):
        spark_avro.pipeline(pipeline_file(topic, errors)).run(spark)
    file = pipeline_file(topic, f"{errors}\nevolve: {{unreadable: dead-letter}}")
    assert spark_avro.pipeline(file).run(spark).dead == 1
    assert len(sink.rows) == 2


@pytest.mark.slow
def test_formats_without_ids_and_keys(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    topics.produce(topic, b'{"id": 1, "name": "a"}', None)
    file = pipeline_file(topic, "")
    settings = ["source.value.format=json-plain", "source.value.type='id int, name string'", "source.key.format=string"]
    result = spark_avro.pipeline(file, overrides=settings).run(spark)
    assert (result.read, result.written) == (2, 2)
    assert sorted((str(row["id"]), row["name"], row["_key"]) for row in sink.rows) == [
        ("1", "a", None),
        ("None", None, None),
    ]


@pytest.mark.slow
def test_rows_of_files_and_of_rate(spark: SparkSession, sink: ListSink, tmp_path: Path) -> None:
    folder = str(tmp_path / "in")
    spark.range(5).write.parquet(folder)
    common = f"version: 1\nsink: {{files: {{path: {tmp_path}/out}}}}\n"
    file = tmp_path / "files.yaml"
    file.write_text(f"{common}name: files\ncheckpoint: {tmp_path}/a\nsource: {{files: {{path: {folder}}}}}\n")
    assert spark_avro.pipeline(file).run(spark).written == 5
    assert spark_avro.pipeline(file).run(spark).written == 0
    spark.range(5, 7).write.mode("append").parquet(folder)
    assert spark_avro.pipeline(file).run(spark).written == 2
    assert sorted(row["id"] for row in sink.rows) == [0, 1, 2, 3, 4, 5, 6]
    sink.batches.clear()
    file.write_text(f"{common}name: rate\ncheckpoint: {tmp_path}/b\nsource: {{rate: {{rows: 3}}}}\n")
    assert [spark_avro.pipeline(file).run(spark).written for _ in range(2)] == [3, 3]
    assert len(sink.batches) == 2


@pytest.mark.slow
def test_rows_that_the_target_refuses_become_letters_before_it_commits(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, dead = topics.create(), topics.create()
    [one] = avro.register(f"{topic}-value", V1)
    topics.produce(topic, *messages(avro, one, 10))
    sink.refuses = "id >= 8"
    with pytest.raises(BatchStopped, match=r"the target does not like it at topic .*; errors.tolerance is none"):
        spark_avro.pipeline(pipeline_file(topic, "")).run(spark)
    errors = f"tolerance: all, topic: {dead}"
    with pytest.raises(BatchStopped, match=r"2 of the 10 records of this batch failed; at most 0.1 may"):
        spark_avro.pipeline(pipeline_file(topic, f"errors: {{{errors}, at-most: 0.1}}")).run(spark)
    assert sink.batches == {}
    result = spark_avro.pipeline(pipeline_file(topic, f"errors: {{{errors}}}")).run(spark)
    assert (result.read, result.written, result.dead) == (10, 8, 2)
    letters = [read_letter(letter.headers()) for letter in topics.consume(dead, 2)]
    assert {(letter.stage, letter.message) for letter in letters if letter} == {
        ("TASK_PUT", "the target does not like it")
    }


@pytest.mark.slow
def test_a_failed_quality_check_ends_the_run_after_its_batch_is_written(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    [one] = avro.register(f"{topic}-value", V1)
    topics.produce(topic, *messages(avro, one, 10))
    rest = "trigger: {every: 100ms}\nquality: [{name: small, expect: id < 8, else: drop, at-most: 0.1}]"
    result = spark_avro.pipeline(pipeline_file(topic, rest)).run(spark)
    assert (result.written, result.dropped) == (8, 2)
    assert len(result.findings) == 1
    assert "small" in result.findings[0]


#: A schema and the payload of one record, behind the id.
BY_ID = [
    (SchemaText(JSON, '{"type": "object", "properties": {"a": {"type": "integer"}}}'), b'{"a": 5}'),
    (SchemaText(PROTOBUF, 'syntax = "proto3"; message R { int64 a = 1; }'), b"\x00\x08\x05"),
]


@pytest.mark.parametrize("by_id", BY_ID, ids=["json", "protobuf"])
@pytest.mark.slow
def test_formats_by_id(
    spark: SparkSession,
    topics: Any,
    registry: Any,
    sink: ListSink,
    pipeline_file: Any,
    by_id: tuple[SchemaText, bytes],
) -> None:
    schema, payload = by_id
    topic, dead = topics.create(), topics.create()
    schema_id = registry.register(f"{topic}-value", schema).id
    prefix = b"\x00" + schema_id.to_bytes(4, "big")
    topics.produce(topic, prefix + payload, prefix + b"\xff", None)
    result = spark_avro.pipeline(pipeline_file(topic, f"errors: {{tolerance: all, topic: {dead}}}")).run(spark)
    assert (result.read, result.written, result.dead) == (3, 2, 1)
    assert sorted(str(row["a"]) for row in sink.rows) == ["5", "None"]


@pytest.mark.slow
def test_the_state_of_a_step_outlives_the_run(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    [one] = avro.register(f"{topic}-value", V1)
    file = pipeline_file(topic, "steps: [{deduplicate: {by: id, within: 1h}}]")
    topics.produce(topic, *messages(avro, one, 5), *messages(avro, one, 5))
    first = spark_avro.pipeline(file).run(spark)
    topics.produce(topic, *messages(avro, one, 5, 3))
    second = spark_avro.pipeline(file).run(spark)
    # A step that remembers rows holds those that it leaves out; `dropped` has those of checks.
    assert [(run.read, run.written, run.dropped) for run in (first, second)] == [(10, 5, 0), (5, 3, 0)]
    assert [run.line() for run in (first, second)] == [
        "10 read, 5 written, 0 dead, 0 dropped, 5 held by steps",
        "5 read, 3 written, 0 dead, 0 dropped, 2 held by steps",
    ]
    assert sorted(row["id"] for row in sink.rows) == list(range(8))


@pytest.mark.slow
def test_a_repeated_batch_reports_the_rows_that_were_refused_the_first_time(
    spark: SparkSession, topics: Any, avro: Any, pipeline_file: Any, tmp_path: Path
) -> None:
    topic, dead = topics.create(), topics.create()
    [one] = avro.register(f"{topic}-value", V1)
    topics.produce(topic, *messages(avro, one, 10))
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute("create table t (id integer check (id <> 7), carrier text, delay integer)")
    sink = f"{{sql: {{url: 'sqlite:///{tmp_path}/t.db', table: t}}}}"
    file = pipeline_file(topic, f"errors: {{tolerance: all, topic: {dead}}}", sink)
    first = spark_avro.pipeline(file).run(spark)
    # A crash before Spark notes the batch as done.
    for commit in (tmp_path / "checkpoint/commits").iterdir():
        commit.unlink()
    again = spark_avro.pipeline(file).run(spark)
    assert [(run.read, run.written, run.dead) for run in (first, again)] == [(10, 9, 1), (10, 9, 1)]
    # The letter was sent once.
    assert len(topics.consume(dead, 1)) == 1
