"""Dead letters of a pipeline: their headers, their topic, and when the pipeline stops instead."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from serdes.letters.headers import DeadLetter, original_headers, read_letter
from spark_avro.pipeline.file.policies import PerHour, Retry
from spark_avro.pipeline.letters.isolate import TooManyFaults, failures, find_faults, without
from spark_avro.pipeline.letters.limit import ErrorLimit
from spark_avro.pipeline.letters.retry import retried
from spark_avro.pipeline.letters.rows import failed_checks, letters, rejected
from spark_avro.pipeline.letters.topic import LettersTopic
from spark_avro.pipeline.ports import FAILED, POSITION, BatchIdentity, SinkRefused, SourceRange
from tests.topics import create_topics
from tests.waiting import until

BATCH = BatchIdentity("lake", "1f3a", 3)
AT = datetime(2026, 10, 1, tzinfo=UTC)
RECORDS = (
    "key binary, value binary, headers array<struct<key:string,value:binary>>, topic string, partition int,"
    " offset bigint, timestamp timestamp"
)


@pytest.fixture(scope="module")
def records(spark: SparkSession) -> DataFrame:
    """100 records of two partitions: the offset is the value's text."""
    rows = [
        (
            b"k%d" % offset,
            b"%d" % offset,
            [("own", b"h"), ("__errors.replay", b"1")] if offset == 3 else None,
            "flights",
            partition,
            offset,
            AT,
        )
        for partition in (0, 1)
        for offset in range(50)
    ]
    return spark.createDataFrame(rows, RECORDS).persist()


def positioned(records: DataFrame) -> DataFrame:
    names = ("topic", "partition", "offset")
    return records.select(
        F.col("value").cast("string").cast("int").alias("n"),
        F.struct(*names, F.lit(7).alias("schema_id")).alias(POSITION),
    )


def topic_of(topics: Any, **more: Any) -> LettersTopic:
    source = topics.create()
    kafka = {"bootstrap.servers": topics.servers}
    target = LettersTopic("lake", f"{source}-dead", kafka, (source,), **more)
    target.prepare()
    return target


def test_letters_have_the_original_bytes_and_say_why(records: DataFrame, topics: Any) -> None:
    rows = positioned(records)
    bad = rows.where("n = 3").withColumn("_error", F.lit("violates not-null"))
    checked = rows.where(f"n = 4 and {POSITION}.partition = 1").withColumn(FAILED, F.array(F.lit("a"), F.lit("b")))
    target = topic_of(topics)
    dead = letters(rejected(bad, "TASK_PUT"), records)
    assert target.write(dead, BATCH) == 2
    assert target.write(letters(failed_checks(checked), records), BATCH) == 1
    said = {}
    for message in topics.consume(target.topic, 3):
        letter = read_letter(message.headers())
        assert letter is not None
        said[letter.partition, letter.offset] = (
            message.key(),
            message.value(),
            original_headers(message.headers()),
            letter,
        )
    place = {"connector": "lake", "executing": "spark_avro.pipeline", "task": 0, "stacktrace": "", "schema_id": 7}
    place |= {"timestamp": int(AT.timestamp()) * 1000, "batch": "1f3a-3"}
    rejection = {"stage": "TASK_PUT", "exception": "spark_avro.pipeline.RowRejected", "message": "violates not-null"}
    for partition in (0, 1):
        expected = DeadLetter("flights", partition, 3, **place, **rejection, attempt=2)
        assert said[partition, 3] == (b"k3", b"3", [("own", b"h")], expected)
    assert said[1, 4] == (
        b"k4",
        b"4",
        [],
        DeadLetter(
            "flights", 1, 4, **place, stage="TRANSFORMATION", exception="spark_avro.pipeline.StepFailed",
            message="failed the checks: a; b", quality="a; b", attempt=1,
        ),
    )  # fmt: skip


@pytest.mark.parametrize("form", ["streams", "spring"])
def test_letters_in_other_forms(records: DataFrame, topics: Any, form: str) -> None:
    target = topic_of(topics, form=form)
    bad = positioned(records).where(f"n = 49 and {POSITION}.partition = 1").withColumn("_error", F.lit("no"))
    assert target.write(letters(rejected(bad, "TASK_PUT"), records), BATCH) == 1
    (message,) = topics.consume(target.topic, 1)
    names = {name for name, _ in message.headers()}
    assert {"streams": "__streams.errors.topic", "spring": "kafka_dlt-original-topic"}[form] in names
    letter = read_letter(message.headers())
    assert letter is not None
    assert (letter.topic, letter.partition, letter.offset, letter.stage) == ("flights", 1, 49, "TASK_PUT")
    assert (letter.connector, letter.timestamp, letter.message) == ("lake", int(AT.timestamp()) * 1000, "no")


def test_masked_letters_have_neither_bytes_nor_details(records: DataFrame, topics: Any) -> None:
    target = topic_of(topics, masked=True)
    reason = "duplicate key\nDETAIL: Key (name)=(Alice)"
    bad = positioned(records).where(f"n = 3 and {POSITION}.partition = 0").withColumn("_error", F.lit(reason))
    target.write(letters(rejected(bad, "TASK_PUT"), records), BATCH)
    (message,) = topics.consume(target.topic, 1)
    letter = read_letter(message.headers())
    assert letter is not None
    assert (message.key(), message.value(), original_headers(message.headers())) == (None, None, [])
    assert (letter.offset, letter.message, letter.masked) == (3, "duplicate key", True)


def test_the_topic_keeps_letters_four_times_as_long_and_is_no_source(topics: Any) -> None:
    admin = AdminClient({"bootstrap.servers": topics.servers})
    source = topics.create()
    named = f"{source}-short"
    create_topics(admin, NewTopic(named, 3, config={"retention.ms": "1000"}))

    def retention_of(topic: str) -> str:
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
        return str(admin.describe_configs([resource])[resource].result()["retention.ms"].value)

    until(lambda: retention_of(named) == "1000")
    for sources, retention, partitions in (
        ((named,), "4000", 3),
        ((source, named), str(4 * 604_800_000), 2),
        ((), "-1", 1),
    ):
        target = LettersTopic("lake", f"{source}-dead-{len(sources)}", {"bootstrap.servers": topics.servers}, sources)
        target.prepare()
        target.prepare()
        until(lambda topic=target.topic, expected=retention: retention_of(topic) == expected)
        assert len(admin.list_topics(target.topic).topics[target.topic].partitions) == partitions
    with pytest.raises(SinkRefused, match=f"errors.topic: {source} is a source of the pipeline"):
        LettersTopic("lake", source, {"bootstrap.servers": topics.servers}, (source,)).prepare()


def test_the_share_and_the_number_of_errors_that_stop_a_pipeline() -> None:
    share = ErrorLimit(0.01)
    assert share.problem(1, 100) is None
    assert share.problem(2, 100) == "errors.at-most: 2 of the 100 records of this batch failed; at most 0.01 may"
    assert ErrorLimit(None).problem(100, 100) is None
    now = [0.0]
    hourly = ErrorLimit(PerHour(10), clock=lambda: now[0])
    assert hourly.problem(6, 100) is None
    # A batch that is tried again is counted once.
    assert hourly.problem(6, 100) is None
    hourly.note(6)
    assert hourly.problem(5, 100) == (
        "errors.at-most: 11 records failed within an hour, 5 of them in this batch; at most 10 per hour may"
    )
    now[0] = 3600
    assert hourly.problem(10, 100) is None


def test_the_pipeline_retries_transient_errors_but_no_data_errors() -> None:
    tries: list[int] = []
    pauses: list[float] = []

    def fail(error: Exception, times: int) -> str:
        tries.append(1)
        if len(tries) <= times:
            raise error
        return "done"

    retry = Retry(total=timedelta(seconds=60), max_delay=timedelta(seconds=0.5))
    busy = KafkaException(KafkaError(KafkaError.NOT_LEADER_FOR_PARTITION, "moved", retriable=True))
    assert retried(lambda: fail(busy, 3), retry, pauses.append) == "done"
    assert (len(tries), pauses) == (4, [0.2, 0.4, 0.5])
    tries.clear()
    with pytest.raises(ValueError, match="bad row"):
        retried(lambda: fail(ValueError("bad row"), 1), retry, pauses.append)
    assert len(tries) == 1
    tries.clear()
    with pytest.raises(TimeoutError):
        retried(lambda: fail(TimeoutError(), 1), Retry(total=timedelta(0)), pauses.append)
    assert len(tries) == 1


@pytest.mark.slow
def test_records_that_make_a_step_raise_are_found(records: DataFrame) -> None:
    def steps(rows: DataFrame) -> DataFrame:
        number = F.col("value").cast("string").cast("int")
        wrong = ((number == 17) & (F.col("partition") == 0)) | ((number >= 48) & (F.col("partition") == 1))
        return rows.select(
            F.when(wrong, F.raise_error(F.concat(F.lit("no "), number.cast("string")))).alias("x"), number
        )

    ranges = (SourceRange("flights", 0, 0, 50), SourceRange("flights", 1, 0, 50))
    faults = find_faults(records, steps, ranges)
    assert sorted((fault.topic, fault.partition, fault.offset) for fault in faults) == [
        ("flights", 0, 17), ("flights", 1, 48), ("flights", 1, 49),
    ]  # fmt: skip
    assert all(f"no {fault.offset}" in fault.reason and "\n\tat " not in fault.reason for fault in faults)
    assert without(records, faults).count() == 97
    assert find_faults(without(records, faults), steps, ranges) == []
    dead = letters(failures(records, faults), records).select("value", "stage").collect()
    assert sorted(bytes(row["value"]) for row in dead) == [b"17", b"48", b"49"]
    with pytest.raises(TooManyFaults, match="more than 0 records make the steps fail, for example: "):
        find_faults(records, steps, ranges, most_jobs=4)
    with pytest.raises(AnalysisException):
        find_faults(records, lambda rows: rows.select("nothing"), ranges)
