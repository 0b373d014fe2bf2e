from __future__ import annotations

import json
import os
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from serdes.letters.headers import DeadLetter, read_letter
from spark_avro.sinks import dead_letter_topic, parquet, table
from spark_avro.streams.dead_letters import Counts
from spark_avro.streams.followers import Follower
from spark_avro.streams.following import follow

V1 = json.dumps({"type": "record", "name": "Flight", "fields": [{"name": "n", "type": "int"}]})
V2 = json.dumps(
    {
        "type": "record",
        "name": "Flight",
        "fields": [{"name": "n", "type": "int"}, {"name": "tail", "type": "string", "default": "?"}],
    }
)


def stream(spark: SparkSession, servers: str, topic: str) -> DataFrame:
    options = {"kafka.bootstrap.servers": servers, "subscribe": topic, "startingOffsets": "earliest"}
    return spark.readStream.format("kafka").options(**options, includeHeaders="true").load()


def wait_for(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not done():
        assert time.monotonic() < deadline, "it does not come"
        time.sleep(0.1)


def test_new_versions_are_read_without_a_restart(spark: SparkSession, topics: Any, avro: Any, tmp_path: Path) -> None:
    topic, dead = topics.create(), topics.create()
    subject, folder = f"{topic}-value", str(tmp_path / "flights")
    [one] = avro.register(subject, V1)
    topics.produce(topic, *(avro.message(one, V1, {"n": n}) for n in range(10)), None)
    counts: list[Counts] = []
    query = (
        follow(
            stream(spark, topics.servers, topic),
            parquet(folder),
            follower=Follower(avro.url, topic=topic),
            dead_letters=dead_letter_topic(topics.servers, dead, "flights", subject),
            on_batch=lambda _, counted: counts.append(counted),
        )
        .option("checkpointLocation", f"{folder}.checkpoint")
        .trigger(processingTime="200 milliseconds")
        .start()
    )
    try:
        wait_for(lambda: sum(counted.rows for counted in counts) == 11)
        [two] = avro.register(subject, V2)
        good = avro.message(two, V2, {"n": 10, "tail": "N1"})
        topics.produce(topic, good, b"no message", b"\x00\x00\x0f\x42\x40!", good + b"\n")
        wait_for(lambda: sum(counted.rows for counted in counts) == 15)
        assert query.isActive
    finally:
        query.stop()
    assert sum(counted.decoded for counted in counts) == 12
    assert sum(counted.dead for counted in counts) == 3
    rows = spark.read.option("mergeSchema", "true").parquet(folder).select("n", "tail").collect()
    assert sorted((-1 if row.n is None else row.n, row.tail or "") for row in rows) == [
        (-1, ""),
        *((n, "") for n in range(10)),
        (10, "N1"),
    ]
    letters = topics.consume(dead, 3)
    assert sorted(letter.value() for letter in letters) == sorted(
        [b"no message", b"\x00\x00\x0f\x42\x40!", good + b"\n"]
    )
    said = {letter.value(): read_letter(letter.headers()) for letter in letters}
    malformed = said[good + b"\n"]
    assert malformed is not None
    assert malformed.message == (
        f"malformed payload: the 5 bytes after the header are not one value of schema id {two} (0x{two:08X})"
        " (truncated, left over, or not for this reader)"
    )
    unknown = said[b"\x00\x00\x0f\x42\x40!"]
    assert unknown is not None
    assert str(unknown.message).startswith("unknown schema id: 1000000 (0x000F4240)")
    assert unknown == DeadLetter(
        topic, unknown.partition, unknown.offset, connector="flights", stage="VALUE_CONVERTER",
        executing="spark_avro.from_confluent_avro", task=0, exception="spark_avro.BrokenRecord",
        message=unknown.message, stacktrace="", schema_id=1000000, subject=subject, timestamp=unknown.timestamp,
    )  # fmt: skip


def test_dead_letters_in_a_table_or_an_end(spark: SparkSession, topics: Any, avro: Any, tmp_path: Path) -> None:
    topic = topics.create()
    [one] = avro.register(f"{topic}-value", V1)
    topics.produce(topic, avro.message(one, V1, {"n": 1}), b"broken")
    folder, letters = str(tmp_path / "flights"), str(tmp_path / "letters")

    def run(**more: Any) -> None:
        writer = follow(
            stream(spark, topics.servers, topic), parquet(folder), follower=Follower(avro.url, topic=topic), **more
        )
        checkpoint = f"{folder}.checkpoint{len(more)}"
        writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start().awaitTermination()

    with pytest.raises(
        PySparkException, match=rf"wrong magic byte: 0x62 .* at topic {topic}, partition [01], offset [01]"
    ):
        run()
    run(dead_letters=table(letters, "flights"))
    assert [row.n for row in spark.read.parquet(folder).collect()] == [1]
    [letter] = spark.read.parquet(letters).collect()
    assert (letter.topic, bytes(letter.raw), letter.id, letter.application) == (topic, b"broken", None, "flights")


@pytest.mark.slow
def test_nothing_is_lost_or_there_twice_when_the_query_is_killed(
    spark: SparkSession, topics: Any, avro: Any, tmp_path: Path
) -> None:
    topic, folder = topics.create(), str(tmp_path / "flights")
    [one] = avro.register(f"{topic}-value", V1)
    topics.produce(topic, *(avro.message(one, V1, {"n": n}) for n in range(300)))
    script = Path(__file__).with_name("stream_to_parquet.py")
    settings = (topics.servers, avro.url, topic, folder)
    # Two batches, then a kill in the middle of whatever it does.
    process = subprocess.Popen([sys.executable, script, *settings], stdout=subprocess.PIPE, start_new_session=True)
    try:
        assert process.stdout is not None
        assert all(process.stdout.readline() for _ in range(2))
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(60)
        process.stdout.close()
    # Another process goes on from its checkpoint, and meets a version that is new.
    [two] = avro.register(f"{topic}-value", V2)
    topics.produce(topic, *(avro.message(two, V2, {"n": n, "tail": "N"}) for n in range(300, 350)))
    batches: list[int] = []
    runpy.run_path(str(script))["copy"](spark, *settings, on_batch=lambda number, _: batches.append(number))
    assert batches[0] > 0
    rows = spark.read.option("mergeSchema", "true").parquet(folder).select("n").collect()
    assert sorted(row.n for row in rows) == list(range(350))
