"""Joins of two streams, over a real broker: rows, times, watermarks and cases."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import spark_avro
from magicbyte.cli.main import main
from spark_avro.pipeline.batch.prepared import open_pipeline
from spark_avro.pipeline.local_folder import LocalFolder
from spark_avro.pipeline.run.progress import progress_of
from spark_avro.pipeline.state.explained import state_words
from tests.spark.pipeline.flights import ListSink
from tests.spark.pipeline.state.events import EVENT, MINUTE

pytestmark = pytest.mark.usefixtures("strict")

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


@pytest.mark.slow
def test_progress_has_the_state_and_the_stream_that_holds_the_watermark_back(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any, tmp_path: Path
) -> None:
    topic, pays = topics.create(), topics.create()
    rest = f"steps: [{{rename: {{id: order}}}}, {JOIN.format(how='left')}]\nstreams: {{pays: {{topics: [{pays}]}}}}"
    file = pipeline_file(topic, rest)
    events(topic, (1, "a", 1), (2, "b", 60))
    events(pays, (2, "a", 5))
    spark_avro.pipeline(file).run(spark)
    progress = progress_of(LocalFolder(f"{tmp_path}/checkpoint"), spark_avro.pipeline(file).file)
    assert progress.state is not None
    assert progress.holders[0] == ("steps[1].join pays", "1970-01-01T00:05:00.000Z")
    assert [operator.name for operator in progress.state.operators] == ["symmetricHashJoin"]
    assert progress.state.watermark == "1970-01-01T00:05:00.000Z"


@pytest.mark.slow
def test_explain_shows_the_state_of_steps_and_the_stream_that_holds_the_watermark_back(
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
