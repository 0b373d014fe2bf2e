"""Steps that remember rows, over a real broker: their results, and what happens to records that fail."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import spark_avro
from magicbyte.cli.main import main
from spark_avro.pipeline.file.place import PipelineError
from spark_avro.pipeline.ports import SourceRange
from spark_avro.pipeline.run.prepared import open_pipeline
from spark_avro.pipeline.run.progress import progress_of
from spark_avro.pipeline.run.running import Running
from spark_avro.pipeline.sources.topic_ids import TopicReplaced
from spark_avro.pipeline.state.batch import StateBatch
from spark_avro.pipeline.state.batches import StateLost
from spark_avro.pipeline.state.explained import state_words
from spark_avro.pipeline.state.refused import StepFailed
from spark_avro.pipeline.upkeep.backfill import backfill
from tests.spark.pipeline.flights import ListSink

EVENT = json.dumps(
    {
        "type": "record",
        "name": "Event",
        "fields": [
            {"name": "id", "type": "int"},
            {"name": "k", "type": "string"},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        ],
    }
)
MINUTE = 60_000


@pytest.fixture(autouse=True)
def strict(spark: SparkSession) -> Iterator[None]:
    """Spark 3.5 makes NULL of a text that is no number, unless it is told not to."""
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", "true")
    yield
    spark.conf.set("spark.sql.ansi.enabled", str(before))


#: The sink of pipelines whose rows are groups; the fixture `sink` takes its place.
GROUPS = "{files: {path: unused, time: window_start}}"


@pytest.fixture
def events(avro: Any, topics: Any) -> Callable[..., None]:
    """Produces events of (id, key, minute)."""

    def produce(topic: str, *rows: tuple[int, str, float]) -> None:
        [schema_id] = avro.register(f"{topic}-value", EVENT)
        made = [{"id": number, "k": key, "at": int(minute * MINUTE)} for number, key, minute in rows]
        topics.produce(topic, *(avro.message(schema_id, EVENT, row) for row in made))

    return produce


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


def test_a_broken_record_goes_round_the_state(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, dead = topics.create(), topics.create()
    rest = f"steps: [{{deduplicate: {{by: k, time: at, within: 1h}}}}]\nerrors: {{tolerance: all, topic: {dead}}}"
    events(topic, (1, "a", 0))
    topics.produce(topic, b"no record")
    events(topic, (2, "a", 1))
    result = spark_avro.pipeline(pipeline_file(topic, rest)).run(spark)
    assert (result.read, result.written, result.dead) == (3, 1, 1)
    assert [letter.value() for letter in topics.consume(dead, 1)] == [b"no record"]


def test_a_record_that_makes_a_step_fail_goes_round_the_state(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, dead = topics.create(), topics.create()
    steps = "[{select: [id, at, cast(k as int) as k]}, {deduplicate: {by: k, time: at, within: 1h}}]"
    rest = f"steps: {steps}\nerrors: {{tolerance: all, topic: {dead}}}"
    events(topic, (1, "7", 0), (2, "seven", 1), (3, "7", 2), (4, "8", 3))
    result = spark_avro.pipeline(pipeline_file(topic, rest)).run(spark)
    assert (result.read, result.written, result.dead) == (4, 2, 1)
    [letter] = topics.consume(dead, 1)
    assert b"seven" in letter.value()
    assert sorted(row["k"] for row in sink.rows) == [7, 8]


def test_a_repeat_leaves_out_an_id_that_was_unknown_when_the_batch_was_first_written(
    spark: SparkSession, topics: Any, events: Any, avro: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, dead = topics.create(), topics.create()
    events(topic, (1, "a", 1))
    newer = json.dumps({**json.loads(EVENT), "doc": topic})
    [other_id] = avro.register(f"{topic}-other", json.dumps({**json.loads(EVENT), "doc": f"{topic}, other"}))
    topics.produce(topic, avro.message(other_id + 1, newer, {"id": 2, "k": "b", "at": MINUTE}))

    first: list[dict[str, Any]] = []

    class CrashesOnce(ListSink):
        def write(self, rows: Any, batch: Any, *, reject: Any) -> Any:
            result = super().write(rows, batch, reject=reject)
            if len(self.identities) == 1:
                first.extend(self.rows)
                self.batches.clear()
                raise ZeroDivisionError
            return result

    sink.__class__ = CrashesOnce
    steps = "steps: [{deduplicate: {by: k, time: at, within: 1h}}]"
    file = pipeline_file(topic, f"{steps}\nerrors: {{tolerance: all, topic: {dead}}}")
    with pytest.raises(ZeroDivisionError):
        spark_avro.pipeline(file).run(spark)
    assert avro.register(f"{topic}-value", newer) == [other_id + 1]
    events(topic, (3, "c", 2))
    topics.produce(topic, avro.message(other_id + 1, newer, {"id": 4, "k": "d", "at": MINUTE}))
    spark_avro.pipeline(file).run(spark)
    # The repeat has the same rows; the next batch knows the id.
    assert [row["id"] for row in first] == [1]
    assert sorted(row["id"] for row in sink.rows) == [1, 3, 4]


def test_an_id_that_becomes_known_while_its_batch_runs_stops_nothing(
    spark: SparkSession,
    topics: Any,
    events: Any,
    avro: Any,
    sink: ListSink,
    pipeline_file: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    topic, dead = topics.create(), topics.create()
    events(topic, (1, "a", 1))
    newer = json.dumps({**json.loads(EVENT), "doc": topic})
    [other_id] = avro.register(f"{topic}-other", json.dumps({**json.loads(EVENT), "doc": f"{topic}, other"}))

    def produce(number: int, key: str) -> None:
        topics.produce(topic, avro.message(other_id + 1, newer, {"id": number, "k": key, "at": MINUTE}))

    produce(2, "b")
    materialised = StateBatch.materialised

    def registers(opened: Any, frame: Any, batch: Any) -> StateBatch:
        result = materialised(opened, frame, batch)
        if batch.number == 1:
            avro.register(f"{topic}-value", newer)
        return result

    monkeypatch.setattr(StateBatch, "materialised", staticmethod(registers))
    rest = f"errors: {{tolerance: all, topic: {dead}}}\ntrigger: {{every: 100ms}}"
    file = pipeline_file(topic, f"steps: [{{deduplicate: {{by: k, time: at, within: 1h}}}}]\n{rest}")
    running = Running(spark_avro.pipeline(file).file, spark)

    def after(counts: Any) -> None:
        if counts.number == 0:
            produce(3, "c")
        elif counts.read:
            running.stop()

    running.on_batch = after
    running.run()
    # The first batch asked for the id in vain, less than a minute before.
    assert sorted(row["id"] for row in sink.rows) == [1, 3]


def test_a_changed_window_is_refused_and_new_state_goes_on(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    steps = "steps: [{{window: {{time: at, size: {size}, group: k, aggregate: count(*) as n}}}}]"
    events(topic, (1, "a", 1), (2, "a", 12))
    spark_avro.pipeline(pipeline_file(topic, steps.format(size="10m"), GROUPS)).run(spark)
    file = pipeline_file(topic, steps.format(size="20m"), GROUPS)
    with pytest.raises(PipelineError, match=r"steps\[0\].*size was 10m, which the state in .* depends on.*--new-state"):
        spark_avro.pipeline(file).run(spark)
    events(topic, (3, "a", 15), (4, "a", 50))
    spark_avro.pipeline(file).run(spark, new_state=True)
    # 1 and 12 were read before.
    assert [(row["window_start"].minute, row["n"]) for row in sink.rows if row["window_start"].minute % 20 == 0][
        1:
    ] == [(0, 1)]
    numbers = [batch.number for batch in sink.identities]
    assert numbers == sorted(set(numbers))
    assert len({batch.query_id for batch in sink.identities}) == 1


@pytest.mark.slow
def test_a_stateless_checkpoint_is_refused_for_a_step_that_remembers_and_back(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    events(topic, (1, "a", 1))
    plain = pipeline_file(topic, "steps: []")
    spark_avro.pipeline(plain).run(spark)
    with pytest.raises(PipelineError, match=r"has no state of this deduplicate.*--new-state"):
        spark_avro.pipeline(pipeline_file(topic, "steps: [{deduplicate: {by: k, within: 1h}}]")).run(spark)
    file = pipeline_file(topic, "steps: [{deduplicate: {by: k, within: 1h}}]")
    spark_avro.pipeline(file).run(spark, new_state=True)
    events(topic, (2, "b", 1))
    spark_avro.pipeline(file).run(spark)
    with pytest.raises(PipelineError, match=r"has the state of deduplicate, which the file no longer has.*--new-state"):
        spark_avro.pipeline(pipeline_file(topic, "steps: []")).run(spark)
    spark_avro.pipeline(pipeline_file(topic, "steps: []")).run(spark, new_state=True)
    assert sorted(row["k"] for row in sink.rows) == ["a", "b"]


def test_a_record_of_a_new_schema_is_decoded_in_the_same_run(
    spark: SparkSession, topics: Any, events: Any, avro: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    events(topic, (1, "a", 1))
    newer = json.loads(EVENT)
    newer["fields"].append({"name": "more", "type": "string", "default": "?"})
    newer["fields"][0]["type"] = "long"

    class Registers(ListSink):
        def write(self, rows: Any, batch: Any, *, reject: Any) -> Any:
            result = super().write(rows, batch, reject=reject)
            if batch.number == 0:
                [new] = avro.register(f"{topic}-value", json.dumps(newer))
                value = {"id": 2, "k": "b", "at": MINUTE, "more": "x"}
                topics.produce(topic, avro.message(new, json.dumps(newer), value))
            return result

    sink.__class__ = Registers
    file = pipeline_file(topic, "steps: [{deduplicate: {by: [id, k], time: at, within: 1h}}]\ntrigger: {every: 100ms}")
    running = Running(spark_avro.pipeline(file).file, spark)
    running.on_batch = lambda counts: running.stop() if counts.read and counts.number else None
    result = running.run()
    assert (result.read, result.written) == (2, 2)
    assert sorted((row["id"], row.get("more")) for row in sink.rows) == [(1, None), (2, "x")]


JOIN = "{{join: {{stream: pays, on: [k], within: 10m, time: at, stream-time: at, how: {how}}}}}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("inner", [(1, "a", 2)]),
        ("left", [(1, "a", 2), (2, "b", None)]),
        ("right", [(1, "a", 2), (None, "c", 3)]),
        ("full", [(1, "a", 2), (2, "b", None), (None, "c", 3)]),
        ("semi", [(1, "a", None)]),
    ],
)
def test_two_streams_are_joined(
    how: str,
    expected: list[Any],
    spark: SparkSession,
    topics: Any,
    events: Any,
    sink: ListSink,
    pipeline_file: Any,
) -> None:
    topic, pays = topics.create(), topics.create()
    steps = f"steps: [{JOIN.format(how=how)}]\nstreams: {{pays: {{topics: [{pays}]}}}}"
    file = pipeline_file(topic, steps.replace("steps: [", "steps: [{rename: {id: order}}, "))
    events(topic, (1, "a", 1), (2, "b", 1))
    events(pays, (2, "a", 5), (3, "c", 5))
    spark_avro.pipeline(file).run(spark)
    # Later rows of both streams move the watermark; they are too far apart to match.
    events(topic, (8, "y", 100))
    events(pays, (9, "z", 200))
    spark_avro.pipeline(file).run(spark)
    rows = [(row["order"], row["k"], row.get("id")) for row in sink.rows if row["k"] not in "yz"]
    assert sorted(rows, key=str) == sorted(expected, key=str)


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
def test_new_state_repeats_an_unfinished_batch_with_its_number_and_offsets(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any, tmp_path: Path
) -> None:
    topic = topics.create()
    file = pipeline_file(topic, "steps: []")
    events(topic, (1, "a", 0), (2, "b", 0))
    spark_avro.pipeline(file).run(spark)
    events(topic, (3, "a", 1))
    spark_avro.pipeline(file).run(spark)
    # A crash before Spark notes the second batch as done; more records come before the next start.
    (tmp_path / "checkpoint/commits/1").unlink()
    events(topic, (4, "c", 1))
    file = pipeline_file(topic, "steps: [{deduplicate: {by: k, time: at, within: 1h}}]")
    for _ in range(2):
        spark_avro.pipeline(file).run(spark, new_state=True)
    numbers = [(batch.number, sum(part.end - part.start for part in batch.ranges)) for batch in sink.identities]
    assert numbers[:4] == [(0, 2), (1, 1), (1, 1), (2, 1)]
    assert sorted(row["id"] for row in sink.rows) == [1, 2, 3, 4]
    assert len({batch.query_id for batch in sink.identities}) == 1


@pytest.mark.slow
def test_the_state_and_who_holds_the_watermark_are_told(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, pays = topics.create(), topics.create()
    rest = f"steps: [{{rename: {{id: order}}}}, {JOIN.format(how='left')}]\nstreams: {{pays: {{topics: [{pays}]}}}}"
    file = pipeline_file(topic, rest)
    events(topic, (1, "a", 1), (2, "b", 60))
    events(pays, (2, "a", 5))
    spark_avro.pipeline(file).run(spark)
    progress = progress_of(spark, spark_avro.pipeline(file).file)
    assert progress.state is not None
    assert progress.holders[0] == ("steps[1].join pays", "1970-01-01T00:05:00.000Z")
    assert [operator.name for operator in progress.state.operators] == ["symmetricHashJoin"]
    assert progress.state.watermark == "1970-01-01T00:05:00.000Z"


@pytest.mark.slow
def test_a_step_that_fails_after_the_state_is_told_with_its_place(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, dead = topics.create(), topics.create()
    steps = "[{deduplicate: {by: k, time: at, within: 1h}}, {select: [cast(k as int) as k, id]}]"
    file = pipeline_file(topic, f"steps: {steps}\nerrors: {{tolerance: all, topic: {dead}}}")
    events(topic, (1, "seven", 10))
    with pytest.raises(StepFailed, match=r"pipeline.yaml:9:\d+: steps\[1\].select: .*CAST_INVALID_INPUT"):
        spark_avro.pipeline(file).run(spark)


@pytest.mark.slow
def test_a_check_that_fails_with_an_error_is_told_with_its_place(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    rest = (
        "steps: [{deduplicate: {by: k, time: at, within: 1h}}]\nquality: [{name: number, expect: cast(k as int) > 0}]"
    )
    events(topic, (1, "seven", 10))
    with pytest.raises(StepFailed, match=r"pipeline.yaml:10:\d+: quality\[0\].*CAST_INVALID_INPUT"):
        spark_avro.pipeline(pipeline_file(topic, rest)).run(spark)


@pytest.mark.slow
def test_explain_tells_what_steps_keep_and_what_holds_the_watermark(
    spark: SparkSession, topics: Any, events: Any, pipeline_file: Any
) -> None:
    topic, pays = topics.create(), topics.create()
    events(topic, (1, "a", 0))
    events(pays, (1, "a", 0))
    steps = f"[{{deduplicate: {{by: k, time: at, within: 1h}}}}, {{rename: {{id: order}}}}, {JOIN.format(how='left')}]"
    file = pipeline_file(topic, f"steps: {steps}\nstreams: {{pays: {{topics: [{pays}]}}}}")
    with closing(open_pipeline(spark_avro.pipeline(file).file, spark)) as opened:
        assert [line for line in state_words(opened) if "RocksDB" not in line] == [
            "state: steps[0].deduplicate keeps each key, until the watermark is the time below after its first row",
            "state: steps[2].join keeps the rows of both sides, until the watermark is 10m after them",
            "watermark: the newest time less 1h, the longest that a step asks for; rows that come later are left out"
            " and counted as late",
            "watermark: the slowest of steps[0].deduplicate, steps[2].join pays holds it; one without new records holds"
            " it where it is",
        ]


@pytest.mark.slow
def test_lost_state_is_told_with_the_way_out(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any, tmp_path: Path
) -> None:
    topic = topics.create()
    file = pipeline_file(topic, "steps: [{deduplicate: {by: k, time: at, within: 1h}}]")
    events(topic, (1, "a", 10))
    spark_avro.pipeline(file).run(spark)
    shutil.rmtree(tmp_path / "checkpoint/state")
    events(topic, (2, "b", 11))
    with pytest.raises(StateLost, match=r"the state in .*/checkpoint/state cannot be read: .*--new-state"):
        spark_avro.pipeline(file).run(spark)
    spark_avro.pipeline(file).run(spark, new_state=True)
    assert sorted(row["k"] for row in sink.rows) == ["a", "b"]


@pytest.mark.slow
def test_a_topic_that_was_made_again_needs_new_state(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    file = pipeline_file(topic, "steps: [{deduplicate: {by: k, time: at, within: 1h}}]")
    events(topic, (1, "a", 10), (2, "b", 10))
    overrides = ["source.on-data-loss=report"]
    spark_avro.pipeline(file, overrides=overrides).run(spark)
    topics.create_again(topic)
    events(topic, (3, "a", 11), (4, "c", 11))
    with pytest.raises(TopicReplaced, match=r"The state has rows of the former topic. Run once with --new-state"):
        spark_avro.pipeline(file, overrides=overrides).run(spark)
    spark_avro.pipeline(file, overrides=overrides).run(spark, new_state=True)
    assert sorted(row["id"] for row in sink.rows) == [1, 2, 3, 4]


@pytest.mark.slow
def test_a_value_that_the_state_has_no_room_for_is_the_fault_of_its_record(
    spark: SparkSession, topics: Any, events: Any, avro: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, dead = topics.create(), topics.create()
    rest = (
        "steps: [{steps}{{deduplicate: {{by: id, time: at, within: 1h}}}}]\nerrors: {{tolerance: all, topic: "
        + dead
        + "}}"
    )
    events(topic, (1, "a", 10))
    spark_avro.pipeline(pipeline_file(topic, rest.format(steps=""))).run(spark)
    wider = EVENT.replace('"id", "type": "int"', '"id", "type": "long"')
    [new] = avro.register(f"{topic}-value", wider)
    rows = [{"id": 2**40, "k": "b", "at": 11 * MINUTE}, {"id": 2, "k": "c", "at": 11 * MINUTE}]
    topics.produce(topic, *(avro.message(new, wider, row) for row in rows))
    # A step that is added before the operator changes its place, but not its number.
    result = spark_avro.pipeline(pipeline_file(topic, rest.format(steps="{where: id > 0}, "))).run(spark)
    assert (result.written, result.dead) == (1, 1)
    assert sorted(row["id"] for row in sink.rows) == [1, 2]
    [letter] = topics.consume(dead, 1)
    assert ("__connect.errors.stage", b"TRANSFORMATION") in letter.headers()
    assert b"CAST_OVERFLOW" in dict(letter.headers())["__connect.errors.exception.message"]


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
def test_a_join_and_a_deduplicate_remember_in_one_pipeline(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, pays = topics.create(), topics.create()
    steps = f"[{{rename: {{id: order}}}}, {JOIN.format(how='inner')}, {{deduplicate: {{by: k, time: at, within: 1h}}}}]"
    file = pipeline_file(topic, f"steps: {steps}\nstreams: {{pays: {{topics: [{pays}]}}}}")
    events(topic, (1, "a", 10), (1, "b", 10))
    events(pays, (7, "a", 11), (8, "a", 12), (9, "b", 12))
    spark_avro.pipeline(file).run(spark)
    assert sorted(row["k"] for row in sink.rows) == ["a", "b"]
    events(topic, (2, "a", 13))
    events(pays, (10, "b", 14))
    spark_avro.pipeline(file).run(spark)
    assert sorted(row["k"] for row in sink.rows) == ["a", "b"]


@pytest.mark.slow
def test_a_later_step_that_uses_another_aggregate_reads_its_own(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    window = "{window: {time: at, size: 5m, aggregate: [max(id) as greatest, min(id) as least]}}"
    files = [
        pipeline_file(topic, f"steps: [{window}, {{select: [window_start, {name} as x]}}]", GROUPS).read_text()
        for name in ("greatest", "least")
    ]
    file = pipeline_file(topic, "", GROUPS)
    events(topic, (3, "a", 10), (7, "a", 11))
    file.write_text(files[0])
    spark_avro.pipeline(file).run(spark)
    events(topic, (5, "a", 12), (1, "a", 100))
    file.write_text(files[1])
    spark_avro.pipeline(file).run(spark)
    assert [row["x"] for row in sink.rows] == [3]


#: The time of row 2 is NULL.
NO_TIME = "{select: [id as order, k, case when id <> 2 then at end as at]}"
#: A step that drops row 2, which Spark may do after what follows.
EXPLODED = "{select: [order, k, at, 'if(order = 2, array(), array(1)) as items']}, {explode: items}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("steps", "how", "expected"),
    [
        ("", "left", (1, [1, 3])),
        ("", "full", (1, [1, 3])),
        ("", "inner", (0, [1])),
        ("", "right", (0, [1])),
        ("", "semi", (0, [1])),
        ("{deduplicate: {by: order, time: at, within: 1h}}, ", "left", (1, [1, 3])),
        (f"{EXPLODED}, ", "left", (0, [1, 3])),
    ],
    ids=["left", "full", "inner", "right", "semi", "after-deduplicate", "after-explode"],
)
def test_a_record_without_a_time_fails_if_the_join_needs_one(
    *,
    steps: str,
    how: str,
    expected: tuple[int, list[int]],
    spark: SparkSession,
    topics: Any,
    events: Any,
    sink: ListSink,
    pipeline_file: Any,
) -> None:
    topic, pays, letters = topics.create(), topics.create(), topics.create()
    rest = f"steps: [{NO_TIME}, {steps}{JOIN.format(how=how)}]\nstreams: {{pays: {{topics: [{pays}]}}}}"
    file = pipeline_file(topic, f"{rest}\nerrors: {{tolerance: all, topic: {letters}}}")
    events(topic, (1, "a", 1), (2, "a", 1), (3, "c", 1))
    events(pays, (7, "a", 5))
    first = spark_avro.pipeline(file).run(spark)
    events(topic, (8, "y", 100))
    events(pays, (9, "z", 200))
    spark_avro.pipeline(file).run(spark)
    orders = sorted(row["order"] for row in sink.rows if row["order"] not in {None, 8})
    assert (first.dead, orders) == expected
    for letter in topics.consume(letters, first.dead) if first.dead else ():
        reasons = b" ".join(value or b"" for _, value in letter.headers() or ())
        assert f"at is NULL, and how: {how} needs a time".encode() in reasons


@pytest.mark.slow
@pytest.mark.parametrize(("how", "dead"), [("right", 1), ("left", 0)])
def test_a_record_of_a_stream_without_a_time_fails_if_the_join_needs_one(
    *, how: str, dead: int, spark: SparkSession, topics: Any, events: Any, avro: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, pays, letters = topics.create(), topics.create(), topics.create()
    paid = {"id": 7, "k": "a", "at": None}
    schema = EVENT.replace('"type": {"type": "long"', '"type": ["null", {"type": "long"').replace("}}]}", "}]}]}")
    [schema_id] = avro.register(f"{pays}-value", schema)
    topics.produce(pays, avro.message(schema_id, schema, paid), avro.message(schema_id, schema, {**paid, "at": MINUTE}))
    rest = f"steps: [{{rename: {{id: order}}}}, {JOIN.format(how=how)}]\nstreams: {{pays: {{topics: [{pays}]}}}}"
    file = pipeline_file(topic, f"{rest}\nerrors: {{tolerance: all, topic: {letters}}}")
    events(topic, (1, "a", 1))
    result = spark_avro.pipeline(file).run(spark)
    assert (result.dead, [row["id"] for row in sink.rows]) == (dead, [7])


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
    events(topic, (1, "a", 0), (2, "b", 1), (3, "a", 2), (4, "c", 3), (9, "d", 4), (5, "b", 5))
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


@pytest.mark.slow
def test_cases_have_records_of_streams(
    spark: SparkSession, pipeline_file: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = f"[{{rename: {{id: order}}}}, {JOIN.format(how='left')}, {{select: [order, id]}}]"
    file = pipeline_file("orders", f"steps: {steps}\nstreams: {{pays: {{topics: [payments]}}}}")
    case = tmp_path / "cases" / "paid"
    case.mkdir(parents=True)
    for topic in ("orders", "payments"):
        (case / f"{topic}.avsc").write_text(EVENT)

    def record(topic: str, number: int, key: str, minute: int) -> str:
        value = {"id": number, "k": key, "at": f"1970-01-01T00:{minute:02}:00Z"}
        return json.dumps({"topic": topic, "value": value})

    def run(*records: str) -> int:
        (case / "records.jsonl").write_text("\n".join(records))
        return main(["pipeline", "test", str(file), "--cases", str(tmp_path / "cases")])

    own = [record("orders", 1, "a", 1), record("payments", 7, "a", 5), record("orders", 2, "b", 1)]
    (case / "rows.jsonl").write_text('{"order": 1, "id": 7}\n{"order": 2, "id": null}\n')
    (case / "dead.jsonl").write_text('{"offset": 3, "stage": "VALUE_CONVERTER", "reason": "x"}')
    broken = '{"topic": "orders", "raw": "ff"}'
    assert run(*own, broken) == 100
    assert 'unexpected {"offset": 3, "reason": "wrong magic byte' in capsys.readouterr().out
    (case / "dead.jsonl").unlink()
    assert run(*own) == 0, capsys.readouterr()
    assert run(*own, record("payments", 8, "b", 20)) == 0, capsys.readouterr()
    assert run(*own, record("payments", 8, "b", 2)) == 100
    assert run(*own, '{"topic": "payments", "raw": "ff", "timestamp": "now"}') != 0
    assert "timestamp must be an integer" in capsys.readouterr().err
    assert run(*own, '{"topic": "payments", "raw": "ff"}') != 0
    assert "topic payments, partition 0, offset 3" in capsys.readouterr().err


@pytest.mark.slow
def test_a_backfill_that_replaces_rows_is_refused_if_a_step_remembers_rows(
    spark: SparkSession, topics: Any, events: Any, pipeline_file: Any
) -> None:
    topic = topics.create()
    file = pipeline_file(topic, "steps: [{deduplicate: {by: k, time: at, within: 1h}}]")
    events(topic, (1, "a", 0))
    pipeline = spark_avro.pipeline(file).file
    Running(pipeline, spark).run()
    ranges = [SourceRange(topic, partition, 0, 1) for partition in range(2)]
    with pytest.raises(
        PipelineError, match=rf"{file.name}:\d+:\d+: steps\[0\].deduplicate: backfill --replace does not know"
    ):
        backfill(pipeline, spark, ranges, replace=True)
