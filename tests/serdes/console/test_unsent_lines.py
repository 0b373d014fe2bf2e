"""The words of `magicbyte produce` on delivered and unsent lines after an error; and topics that do not exist."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import fastavro
import pytest
from confluent_kafka import Consumer, KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.testing import temporary_broker
from serdes.console.consume.loop import Records, Selection
from serdes.console.kafka import consumer_config
from serdes.console.outcome import Ended
from tests.topics import create_topics

MAGICBYTE = [sys.executable, "-P", "-m", "magicbyte.cli.main"]
TEXT = ("--value-format", "string")
RECORDS = (*TEXT, "--input", "records")
#: A record that the client refuses.
BIG = json.dumps({"value": "b" * 2000})
LIMIT = ("--command-property", "message.max.bytes=1000")


@pytest.mark.parametrize(
    ("lines", "arguments", "code", "said"),
    [
        (
            ['{"value": "a"}', '{"value": "b"}', '{"valu": "c"}', '{"value": "d"}'],
            [],
            1,
            [
                "line 3, column 10: valu is no member of a record",
                "delivered: 2 records; never sent: 2 lines, from line 3 on",
            ],
        ),
        (
            ["x"],
            [],
            1,
            [
                "line 1, column 1: it is not JSON: unexpected character",
                "delivered: 0 records; never sent: 1 line, from line 1 on",
            ],
        ),
        (
            ['{"value": "a"}', BIG, '{"value": "c"}', '{"value": "d"}'],
            [],
            3,
            [
                "line 2 was not delivered: Unable to produce message: Broker: Message size too large",
                "delivered: 1 record; not delivered: 1 record; never sent: 2 lines, from line 3 on",
            ],
        ),
        (
            ['{"value": "a"}', "bad", BIG],
            ["--on-error", "skip"],
            3,
            [
                "line 2, column 1: it is not JSON: unexpected character",
                "line 3 was not delivered: Unable to produce message: Broker: Message size too large",
                "delivered: 1 record; not delivered: 1 record; never sent: 0 lines",
            ],
        ),
        (
            ['{"value": "a"}', "bad", BIG],
            ["--on-error", "dlq", "--dlq-topic", "{}-dlq"],
            3,
            [
                "line 2, column 1: it is not JSON: unexpected character",
                "line 3 was not delivered: Unable to produce message: Broker: Message size too large",
                "delivered: 1 record; not delivered: 1 record; never sent: 0 lines",
            ],
        ),
    ],
    ids=["bad line", "first line", "delivery", "skip", "dlq"],
)
def test_an_error_counts_the_sent_lines(
    tools: Any, topic: str, tmp_path: Path, lines: list[str], arguments: list[str], code: int, said: list[str]
):
    assert tools.magicbyte("produce", topic, *TEXT, lines="first\n").code == 0
    file = tmp_path / "lines"
    file.write_text("".join(f"{line}\n" for line in lines))
    done = tools.magicbyte(
        "produce", topic, *RECORDS, *LIMIT, "--file", str(file), *(word.format(topic) for word in arguments)
    )
    told = [line.removeprefix("magicbyte produce: ") for line in done.err.splitlines()]
    assert (done.code, done.out) == (code, "")
    assert len(told) == len(said)
    assert all(line.startswith(start) for line, start in zip(told, said, strict=True)), told
    # What is counted is in the topic.
    shown = tools.magicbyte("consume", topic, "--until-end", *TEXT, "--output", "values")
    delivered = int(told[-1].split()[1])
    assert len(shown.out.splitlines()) == 1 + delivered


def test_lines_of_a_pipe_are_not_counted(tools: Any, topic: str):
    lines = '{"value": "a"}\nbad\n{"value": "b"}\n'
    done = tools.magicbyte("produce", topic, *RECORDS, lines=lines)
    assert done.code == 1
    assert done.err.endswith("magicbyte produce: delivered: 1 record; never sent: line 2 and all after it\n")


def test_the_records_of_a_container_file_are_counted(tools: Any, topic: str, tmp_path: Path):
    file = tmp_path / "values.avro"
    with file.open("wb") as container:
        fastavro.writer(container, "string", ["a", "b" * 2000, "c", "d"])
    done = tools.magicbyte("produce", topic, "--input", str(file), *LIMIT)
    assert done.code == 3
    first, second = done.err.splitlines()
    assert first.startswith("magicbyte produce: record 2 was not delivered: ")
    assert second == (
        "magicbyte produce: delivered: 1 record; not delivered: 1 record; never sent: 2 records, from record 3 on"
    )


def test_a_broker_that_goes_away_leaves_a_count(topic: str, tmp_path: Path):
    fifo = tmp_path / "lines"
    os.mkfifo(fifo)
    with temporary_broker() as broker:
        at = broker.bootstrap_servers
        admin = AdminClient({"bootstrap.servers": at})
        create_topics(admin, NewTopic(topic, 1, 1))
        command = [*MAGICBYTE, "produce", topic, *TEXT, "--file", str(fifo), "--bootstrap-server", at]
        process = subprocess.Popen(
            [*command, "--command-property", "delivery.timeout.ms=2000"], stderr=subprocess.PIPE, text=True
        )
        with fifo.open("w") as lines:
            lines.write("a\nb\nc\n")
            lines.flush()
            consumer = Consumer({"bootstrap.servers": at, "group.id": "reader", "auto.offset.reset": "earliest"})
            consumer.assign([TopicPartition(topic, 0, 0)])
            assert len(consumer.consume(3, 60)) == 3
            consumer.close()
            broker.kill()
            lines.write("d\ne\n")
        _, said = process.communicate(timeout=60)
    assert process.returncode == 3
    first, second = said.splitlines()
    assert first.startswith("magicbyte produce: 2 records were not delivered (the first: line 4): ")
    assert second == "magicbyte produce: delivered: 3 records; not delivered: 2 records; never sent: 0 lines"


@pytest.mark.parametrize("end", [("--until-end",), ("--last", "3"), ("--until-end", "--partition", "0")])
def test_a_missing_topic_ends_a_consumer_that_reads_to_the_end(tools: Any, topic: str, end: tuple[str, ...]):
    done = tools.magicbyte("consume", topic, *end, *TEXT)
    assert (done.code, done.out, done.err) == (3, "", f"magicbyte consume: topic {topic} does not exist\n")


def test_a_topic_that_is_deleted_ends_a_consumer_that_reads_to_the_end(kafka: str, topic: str):
    class Gone:
        def error(self) -> Any:
            return KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)

        def topic(self) -> str:
            return topic

        def partition(self) -> int:
            return 0

    config = consumer_config(kafka, {}, group="g", committing=False)
    records = Records("p", config, Selection(topic, until_end=True), 5)
    with pytest.raises(Ended, match=f"^topic {topic} does not exist$"):
        records._is_record(Gone())
    records.close()


def test_a_consumer_without_an_end_waits_for_the_topic(tools: Any, topic: str):
    command = [*MAGICBYTE, "consume", topic, *TEXT, "--from-beginning", "--max-messages", "1"]
    process = subprocess.Popen(
        [*command, "--bootstrap-server", tools.kafka], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    killer = threading.Timer(60, process.kill)
    killer.start()
    assert process.stderr is not None
    assert process.stderr.readline() == f"magicbyte consume: topic {topic} does not exist; waiting for it\n"
    assert tools.magicbyte("produce", topic, *TEXT, lines="a\n").code == 0
    out, _ = process.communicate(timeout=60)
    killer.cancel()
    assert (process.returncode, '"value":"a"' in out) == (0, True)
