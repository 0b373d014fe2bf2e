"""1,000 planted faults of five kinds: each is a letter that says what and where, and replay brings back those alone."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from pyspark.sql import SparkSession

import spark_avro
from magicbyte.cli.dead_letter import main as dead_letter
from serdes.codec import compile_codec
from serdes.letters.headers import read_letter
from serdes.message import wire
from spark_avro.pipeline.batch.writer import BatchStopped

FLIGHT = json.dumps(
    {
        "type": "record",
        "name": "Flight",
        "fields": [
            {"name": "id", "type": "int"},
            {"name": "delay", "type": "int"},
            {"name": "carrier", "type": "string"},
        ],
    }
)
CODEC = compile_codec(FLIGHT)
SINK = '{{sql: {{url: "sqlite:///{}/flights.db", table: flights}}}}'
#: Records of each kind of fault, and sound ones.
PER_KIND, SOUND = 200, 600
UNKNOWN_ID = 999_999
REFUSED_DELAY, WRONG_DELAY = 666, 9999

#: Kind of fault -> the stage that tells it, and how the reason begins.
KINDS = {
    "magic": ("VALUE_CONVERTER", "wrong magic byte: 0x09"),
    "unknown": ("VALUE_CONVERTER", f"unknown schema id: {UNKNOWN_ID}"),
    "cut": ("VALUE_CONVERTER", "malformed payload"),
    "constraint": ("TASK_PUT", "CHECK constraint failed"),
    "check": ("TRANSFORMATION", "failed the checks: delay in range"),
}

FIX = """
from serdes.codec import compile_codec
CODEC = compile_codec('''{schema}''')
HEAD = {head!r}

def fix(value, letter):
    said = letter.failure
    if said.stage != "VALUE_CONVERTER":
        return HEAD + CODEC.encode({{**CODEC.decode(value, 5), "delay": 0}})
    if said.message.startswith("malformed"):
        return value + b"A"
    return HEAD + value[5:]
"""


def record(schema_id: int, number: int, kind: str | None) -> bytes:
    delay = {"constraint": REFUSED_DELAY, "check": WRONG_DELAY}.get(kind or "", 0)
    value = wire.prefix(schema_id) + CODEC.encode({"id": number, "delay": delay, "carrier": "UA"})
    match kind:
        case "magic":
            return b"\x09" + value[1:]
        case "unknown":
            return wire.prefix(UNKNOWN_ID) + value[5:]
        case "cut":
            return value[:-1]
    return value


@pytest.mark.slow
def test_planted_faults_are_told_and_replayed(
    spark: SparkSession, topics: Any, avro: Any, pipeline_file: Any, tmp_path: Path, capsys: Any
) -> None:
    topic = topics.create()
    dead = f"{topic}-dead"
    [schema_id] = avro.register(f"{topic}-value", FLIGHT)
    kinds = [kind for kind in KINDS for _ in range(PER_KIND)] + [None] * SOUND
    # 7 has no factor in common with their number: the kinds are mixed.
    order = [kinds[number * 7 % len(kinds)] for number in range(len(kinds))]
    producer = Producer({"bootstrap.servers": topics.servers, "linger.ms": 20})
    for number, kind in enumerate(order):
        producer.produce(topic, record(schema_id, number, kind), b"k%d" % number, partition=number % 2)
    assert producer.flush(30) == 0
    database = sqlite3.connect(tmp_path / "flights.db")
    database.execute(f"CREATE TABLE flights (id INTEGER, delay INTEGER CHECK (delay <> {REFUSED_DELAY}), carrier TEXT)")
    database.commit()
    file = pipeline_file(
        topic,
        f"""
errors: {{tolerance: all, topic: {dead}}}
quality: [{{name: delay in range, expect: "delay between 0 and 3000", else: dead-letter}}]
""",
        SINK.format(tmp_path),
    )
    result = spark_avro.pipeline(file).run(spark)
    assert (result.read, result.written, result.dead) == (len(order), SOUND, len(KINDS) * PER_KIND)

    letters = {
        number_of(message): read_letter(message.headers()) for message in topics.consume(dead, len(KINDS) * PER_KIND)
    }
    assert sorted(letters) == [number for number, kind in enumerate(order) if kind is not None]
    for number, letter in letters.items():
        assert letter is not None
        stage, reason = KINDS[str(order[number])]
        assert (letter.topic, letter.partition, letter.offset) == (topic, number % 2, number // 2), letter
        assert (letter.stage, letter.connector) == (stage, "flights"), letter
        assert reason in str(letter.message), letter

    def command(name: str, *arguments: str, code: int = 0) -> dict[str, Any]:
        where = ["--bootstrap-server", topics.servers, "--output", "json"]
        where += [] if name == "list" else ["--schema-registry-url", avro.url]
        assert dead_letter.main([name, dead, *where, *arguments]) == code
        return dict(json.loads(capsys.readouterr().out))

    groups = command("list")["groups"]
    assert sorted(group["stage"] for group in groups) == sorted(stage for stage, _ in KINDS.values())
    assert [(group["letters"], group["replayed"]) for group in groups] == [(PER_KIND, 0)] * len(KINDS)
    script = tmp_path / "fix.py"
    script.write_text(FIX.format(schema=FLIGHT, head=wire.prefix(schema_id)))
    assert command("replay", "--fix-with", str(script))["sent"] == {topic: len(KINDS) * PER_KIND}
    result = spark_avro.pipeline(file).run(spark)
    assert (result.read, result.written, result.dead) == (len(KINDS) * PER_KIND,) * 2 + (0,)
    assert sorted(database.execute("SELECT id, delay, carrier FROM flights")) == [
        (number, 0, "UA") for number in range(len(order))
    ]
    database.close()

    assert command("replay", "--fix-with", str(script))["stay"] == {"replayed before": len(KINDS) * PER_KIND}
    copy = topics.create()
    again = ("--again", "--fix-with", str(script), "--to-topic", copy)
    assert command("replay", *again)["sent"] == {copy: len(KINDS) * PER_KIND}
    refused = command("replay", *again, code=100)
    assert (refused["sent"], refused["stay"]) == ({}, {"replayed too often": len(KINDS) * PER_KIND})


def number_of(message: Any) -> int:
    return int(message.key()[1:])


def test_a_batch_in_which_everything_fails_is_not_written(
    spark: SparkSession, topics: Any, avro: Any, pipeline_file: Any, tmp_path: Path
) -> None:
    topic = topics.create()
    [schema_id] = avro.register(f"{topic}-value", FLIGHT)
    topics.produce(topic, *(record(schema_id, number, "cut") for number in range(20)))
    file = pipeline_file(topic, f"errors: {{tolerance: all, topic: {topic}-dead, at-most: 0.5}}", SINK.format(tmp_path))
    with pytest.raises(
        BatchStopped, match=r"errors.at-most: 20 of the 20 records of this batch failed; at most 0.5 may"
    ):
        spark_avro.pipeline(file).run(spark)
    admin = AdminClient({"bootstrap.servers": topics.servers})
    assert f"{topic}-dead" in admin.list_topics(timeout=30).topics
    topics.produce(f"{topic}-dead", b"the first record")
    [first] = topics.consume(f"{topic}-dead", 1)
    assert (first.value(), first.headers()) == (b"the first record", None)
    database = sqlite3.connect(tmp_path / "flights.db")
    assert database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'flights'").fetchone() == (0,)
    database.close()
