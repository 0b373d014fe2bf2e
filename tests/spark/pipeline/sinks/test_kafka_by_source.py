"""Writers on executors whose records go by source partition: nothing is stored, and a repeat needs no stored rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.batch.writer import BatchStopped
from spark_avro.pipeline.file.sinks import Payload
from spark_avro.pipeline.file.sql_text import Sql
from spark_avro.pipeline.ports import BatchIdentity, SinkContext, SinkRefused, SourceRange
from spark_avro.pipeline.sinks.kafka.stage import Stage
from tests.spark.pipeline.sinks.executors_tasks import Crash, crash_after, first_task
from tests.spark.pipeline.sinks.kafka_topic import Topic
from tests.waiting import until

pytestmark = pytest.mark.slow

WRITERS, PARTS = 3, 5
ALL = 200

POSITION = f"""
    named_struct('topic', nullif('flights', ''), 'partition', cast(n % {PARTS} as int), 'offset', n div {PARTS},
        'timestamp', timestamp'2026-01-01 05:00:00',
        'headers', cast(null as array<struct<key: string, value: binary>>), 'key', cast(null as binary),
        'schema_id', 7) as _kafka
"""

Rows = Callable[..., DataFrame]


def batch_of(topic: Topic, number: int, start: int, end: int, query: str = "q1") -> BatchIdentity:
    """The batch of the numbers from start to end, which both are multiples of PARTS."""
    ranges = tuple(SourceRange("flights", part, start // PARTS, end // PARTS) for part in range(PARTS))
    return BatchIdentity(topic.pipeline, query, number, ranges)


@pytest.fixture
def rows(spark: SparkSession) -> Rows:
    """Rows of several source partitions, mixed, from start to end: SQL of the number n."""

    def make(start: int, end: int, column: str = "n") -> DataFrame:
        return spark.range(start, end, 1, 4).toDF("n").selectExpr(f"{column} as v", POSITION)

    return make


@pytest.fixture
def topic(kafka: str, registry_url: str, context: Callable[..., SinkContext], tmp_path: Path) -> Iterator[Topic]:
    settings = {"checkpoint": str(tmp_path / "checkpoint"), "of_one_record": True}
    made = Topic(kafka, registry_url, partial(context, **settings), via="executors", writers=WRITERS)
    yield made
    made.close()


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The writers whose records were stored, of each time that some were."""
    calls: list[tuple[int, ...]] = []
    store = Stage.store

    def noted(*arguments: Any, writers: Any, **settings: Any) -> Any:
        calls.append(tuple(writers))
        return store(*arguments, writers=writers, **settings)

    monkeypatch.setattr(Stage, "store", noted)
    return calls


def texts(numbers: Any, attempt: int) -> list[bytes]:
    return [b"%d of %d" % (number, attempt) for number in numbers]


@pytest.mark.parametrize("committed", [0, 1, 2])
def test_a_repeat_writes_the_records_that_are_missing(
    topic: Topic, rows: Rows, stored: list[Any], monkeypatch: pytest.MonkeyPatch, committed: int
) -> None:
    crash_after(monkeypatch, committed)
    batch = batch_of(topic, 0, 0, ALL)
    with pytest.raises(Crash):
        topic.sink().write(rows(0, ALL, "concat(n, ' of ', 1)"), batch)
    before = topic.values()
    # The largest and first partitions go to the first writer: 0 and 3, then 1 and 4, then 2.
    done = [n for n in range(ALL) if n % PARTS % WRITERS < committed]
    assert before == sorted(texts(done, 1))
    # By now the steps give other rows: a schema was registered, a table changed.
    sink = topic.sink()
    result = sink.write(rows(0, ALL, "concat(n, ' of ', 2)"), batch)
    assert (result.written, result.refused, result.repeated) == (ALL, 0, committed > 0)
    rest = [n for n in range(ALL) if n not in set(done)]
    assert topic.values() == sorted([*texts(done, 1), *texts(rest, 2)])
    assert sink.write(rows(ALL, ALL + 5, "concat(n, ' of ', 3)"), batch_of(topic, 1, ALL, ALL + 5)).written == 5
    assert topic.sink().write(rows(ALL, ALL + 5), batch_of(topic, 1, ALL, ALL + 5)).repeated is True
    assert len(topic.values()) == ALL + 5
    assert stored == []


def test_the_records_of_a_source_partition_keep_their_order(topic: Topic, rows: Rows) -> None:
    topic.create(1)
    topic.sink().write(rows(0, ALL).repartition(7), batch_of(topic, 0, 0, ALL))
    found = [int(message.value()) for message in topic.messages()]
    assert len(found) == ALL
    for part in range(PARTS):
        assert [n for n in found if n % PARTS == part] == list(range(part, ALL, PARTS))


LARGE = "if(n = 4, repeat('x', 2000), cast(n as string))"


def test_only_the_records_of_writers_with_a_refused_one_are_stored(
    topic: Topic, rows: Rows, positions: Any, stored: list[Any]
) -> None:
    topic.create(2, **{"max.message.bytes": "1000"})
    sink = topic.sink()
    result = sink.write(rows(0, 20, LARGE), batch_of(topic, 0, 0, 20))
    assert (result.written, result.refused, result.repeated) == (19, 0, False)
    [(offset, reason)] = positions(result.rejected)
    assert (offset, reason) == (0, "the record has 2000 bytes, and the topic takes 1000")
    # Number 4 is of partition 4, which is the second writer's.
    assert stored == [(2,)]
    assert topic.values() == sorted(b"%d" % n for n in range(20) if n != 4)
    sink = topic.sink()
    repeated = sink.write(rows(0, 20, LARGE), batch_of(topic, 0, 0, 20))
    assert (repeated.written, repeated.refused, repeated.repeated, repeated.rejected) == (19, 1, True, None)
    assert sink.write(rows(20, 25), batch_of(topic, 1, 20, 25)).written == 5
    assert stored == [(2,)]


@pytest.mark.parametrize(("committed", "again"), [(0, True), (1, False)])
def test_letters_are_written_again_until_a_writer_of_stored_records_has_committed(
    topic: Topic, rows: Rows, positions: Any, monkeypatch: pytest.MonkeyPatch, committed: int, again: bool
) -> None:
    topic.create(2, **{"max.message.bytes": "1000"})
    large = "if(n in (4, 7), repeat('x', 2000), cast(n as string))"
    crash_after(monkeypatch, committed, has_letters=True)
    with pytest.raises(Crash):
        topic.sink().write(rows(0, 20, large), batch_of(topic, 0, 0, 20))
    result = topic.sink().write(rows(0, 20, large), batch_of(topic, 0, 0, 20))
    assert (result.written, result.refused, result.repeated) == (18, 2, True)
    assert (result.rejected is not None) == again
    if again:
        assert [offset for offset, _ in positions(result.rejected)] == [0, 1]
    assert topic.values() == sorted(b"%d" % n for n in range(20) if n not in (4, 7))


def test_a_refused_record_that_an_earlier_attempt_found(
    topic: Topic, rows: Rows, positions: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic.create(2, **{"max.message.bytes": "1000"})
    # The second writer finds number 4, and the driver ends before its records are stored.
    crash_after(monkeypatch, 2, has_letters=False)
    with pytest.raises(Crash):
        topic.sink().write(rows(0, 20, LARGE), batch_of(topic, 0, 0, 20))
    assert topic.values() == sorted(b"%d" % n for n in range(20) if n % PARTS in (0, 3))
    result = topic.sink().write(rows(0, 20, LARGE), batch_of(topic, 0, 0, 20))
    assert (result.written, result.refused, result.repeated) == (19, 1, True)
    assert [offset for offset, _ in positions(result.rejected)] == [0]
    assert topic.values() == sorted(b"%d" % n for n in range(20) if n != 4)


def test_what_stopped_a_batch_is_mended(topic: Topic, rows: Rows) -> None:
    topic.create(2, **{"max.message.bytes": "1000"})
    batch = batch_of(topic, 0, 0, 20)

    def stop(_: DataFrame) -> None:
        raise BatchStopped("errors.tolerance is none")

    with pytest.raises(BatchStopped):
        topic.sink()._sink.write(rows(0, 20, LARGE), batch, reject=stop)
    assert topic.values() == sorted(b"%d" % n for n in range(20) if n % PARTS not in (1, 4))
    topic.set_config(topic.name, "max.message.bytes", "9000")
    until(lambda: topic.sink()._topic.opened().size == 9000)
    result = topic.sink().write(rows(0, 20, LARGE), batch)
    assert (result.written, result.refused, result.repeated, result.rejected) == (20, 0, True, None)
    assert len(topic.values()) == 20


def test_a_repeat_recreates_a_lost_stage(
    topic: Topic, rows: Rows, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    topic.create(2, **{"max.message.bytes": "1000"})
    # Of partitions 2 and 4, which two writers have.
    large = "if(n in (4, 7), repeat('x', 2000), cast(n as string))"
    crash_after(monkeypatch, 1, has_letters=True)
    with pytest.raises(Crash):
        topic.sink().write(rows(0, 20, large), batch_of(topic, 0, 0, 20))
    [stage] = (tmp_path / "checkpoint" / "kafka" / topic.name / "q1").iterdir()
    stage.rename(tmp_path / "lost")
    result = topic.sink().write(rows(0, 20, large), batch_of(topic, 0, 0, 20))
    assert (result.written, result.refused, result.repeated) == (18, 2, True)
    assert topic.values() == sorted(b"%d" % n for n in range(20) if n not in (4, 7))


def test_steps_that_look_at_other_records_begin_a_batch_anew(
    topic: Topic, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = batch_of(topic, 0, 0, 20)
    late = first_task(topic.sink(), rows(0, 20), batch, monkeypatch)
    crash_after(monkeypatch, 0)
    with pytest.raises(Crash):
        topic.sink({"of_one_record": False}).write(rows(0, 20, "n + 100"), batch)
    # A task of the first attempt, by source, begins when the batch is divided by key.
    assert late()["error"] == "it has divided the batch anew"
    assert topic.sink({"of_one_record": False}).write(rows(0, 20), batch).written == 20
    assert topic.values() == sorted(b"%d" % n for n in range(100, 120))


def test_a_task_of_another_number_of_writers_writes_nothing(
    topic: Topic, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = batch_of(topic, 0, 0, 20)
    late = first_task(topic.sink(), rows(0, 20), batch, monkeypatch)
    crash_after(monkeypatch, 0)
    with pytest.raises(Crash):
        topic.sink(writers=2).write(rows(0, 20), batch)
    assert late()["error"] == "it has other writers"
    assert topic.sink(writers=2).write(rows(0, 20), batch).written == 20
    assert topic.values() == sorted(b"%d" % n for n in range(20))


def test_topics_with_gaps_and_rows_that_say_no_place(topic: Topic, spark: SparkSession, monkeypatch: Any) -> None:
    """The writer of each row follows from its place alone, whatever attempt it is."""
    places = [("a", 0), ("a", 7), ("b", 0), ("b", 2), ("b", 3), ("c", 0), (None, None), ("b", None)]
    rows = spark.createDataFrame(
        [(n, (*places[n % len(places)], n)) for n in range(80)],
        "v bigint, _kafka struct<topic: string, partition: int, offset: bigint>",
    )
    ranges = tuple(SourceRange(name, part, 0, 80) for name, part in places[:5] if name and part is not None)
    batch = BatchIdentity(topic.pipeline, "q1", 0, ranges)
    crash_after(monkeypatch, 1)
    with pytest.raises(Crash):
        topic.sink().write(rows, batch)
    # The first writer has a-0 and b-2, and what is of no partition of the batch.
    assert topic.values() == sorted(b"%d" % n for n in range(80) if n % 8 in (0, 3, 5, 6, 7))
    assert topic.sink().write(rows.selectExpr("v + 100 as v", "_kafka"), batch).written == 80
    assert topic.values() == sorted(b"%d" % (n if n % 8 in (0, 3, 5, 6, 7) else n + 100) for n in range(80))


def test_partitions_that_the_topic_lacks_are_rejected(topic: Topic, rows: Rows, positions: Any) -> None:
    topic.create(2)
    part = Sql("cast(if(v = 3, 7, v % 2) as int)")
    result = topic.sink(partition=part).write(rows(0, 20), batch_of(topic, 0, 0, 20))
    assert positions(result.rejected) == [(0, "partition 7, and the topic has 2")]
    assert {(int(m.value()) % 2, m.partition()) for m in topic.messages()} == {(0, 0), (1, 1)}


def test_steps_that_look_at_other_records_do_not_finish_such_a_batch(
    topic: Topic, rows: Rows, stored: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = batch_of(topic, 0, 0, 20)
    crash_after(monkeypatch, 1)
    with pytest.raises(Crash):
        topic.sink().write(rows(0, 20), batch)
    with pytest.raises(SinkRefused, match=r"some of 3 writers have written batch q1-0 by source partition.*--adopt"):
        topic.sink({"of_one_record": False}).write(rows(0, 20), batch)
    assert topic.sink({"of_one_record": False, "adopt": True}).write(rows(0, 20), batch).written == 20
    assert topic.values() == sorted(b"%d" % n for n in range(20))
    topic.sink({"of_one_record": False}).write(rows(20, 30), batch_of(topic, 1, 20, 30))
    assert stored == [(1, 2, 3)]


def test_a_batch_whose_records_went_by_key_is_finished_by_key(
    topic: Topic, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = batch_of(topic, 0, 0, ALL)
    crash_after(monkeypatch, 1)
    with pytest.raises(Crash):
        topic.sink({"of_one_record": False}).write(rows(0, ALL), batch)
    assert topic.sink().write(rows(0, ALL, "n + 1000"), batch).repeated is True
    assert topic.values() == sorted(b"%d" % n for n in range(ALL))


@pytest.mark.parametrize(
    "changed",
    [
        lambda rows: rows.withColumn("v", F.expr("row_number() over (order by v)")),
        lambda rows: rows.groupBy("v").agg(F.max("_kafka").alias("_kafka")),
        lambda rows: rows.withColumn("_kafka", F.expr("named_struct('timestamp', _kafka.timestamp)")),
    ],
    ids=["a window function", "an aggregate", "no position"],
)
def test_rows_that_do_not_go_by_source_are_stored(
    topic: Topic, rows: Rows, stored: list[Any], changed: Callable[[DataFrame], DataFrame]
) -> None:
    assert topic.sink().write(changed(rows(0, 20)), batch_of(topic, 0, 0, 20)).written == 20
    assert stored == [(1, 2, 3)]


def test_a_task_that_runs_again_writes_nothing(topic: Topic, rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = batch_of(topic, 0, 0, ALL)
    task = first_task(topic.sink(), rows(0, ALL), batch, monkeypatch)
    first, again = task(), task()
    assert (first["error"], first["written"]) == (again["error"], again["written"]) == (None, 2 * ALL // PARTS)
    assert topic.sink().write(rows(0, ALL), batch).written == ALL
    assert topic.values() == sorted(b"%d" % n for n in range(ALL))


def test_a_task_of_a_former_driver_whose_successor_went_on_writes_nothing(
    topic: Topic, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = first_task(topic.sink(), rows(0, ALL), batch_of(topic, 0, 0, ALL), monkeypatch)
    successor = topic.sink()
    successor.write(rows(0, ALL), batch_of(topic, 0, 0, ALL))
    assert task()["error"] is None
    successor.write(rows(ALL, ALL + 5), batch_of(topic, 1, ALL, ALL + 5))
    late = task()
    assert (late["code"], late["error"]) == (KafkaError._FENCED, "batch 1 is written")
    assert len(topic.values()) == ALL + 5


def test_records_with_headers_and_json(topic: Topic, rows: Rows) -> None:
    made = rows(0, 20).withColumn(
        "_headers", F.expr("array(named_struct('key', 'h', 'value', cast(cast(v as string) as binary)))")
    )
    topic.sink(value=Payload(format="json-plain")).write(made, batch_of(topic, 0, 0, 20))
    found = {message.value(): message.headers() for message in topic.messages()}
    assert found.keys() == {b'{"v":%d}' % n for n in range(20)}
    assert all([name for name, _ in headers] == ["h"] for headers in found.values())
