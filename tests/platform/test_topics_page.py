"""The commands of docs/topics.md, in their order, on a real broker."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

PAGE = (Path(__file__).parents[2] / "docs" / "topics.md").read_text(encoding="utf-8")


def commands(title: str) -> list[list[str]]:
    section = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("magicbyte ")]
    assert len(lines) > 4
    return [shlex.split(line)[1:] for line in lines]


def test_the_commands_of_the_page_run(run: Any, topic: str, kafka: str):
    names = {"orders": topic, "billing": f"{topic}-group", "orders:0,2": f"{topic}:0,2"}
    at = ("--bootstrap-servers", kafka)
    for command in commands("Topics"):
        done = run(*(names.get(word, word) for word in command), *at)
        assert (done.code, done.err) == (0, ""), command
    assert run("topics", "create", topic, "--partitions", "3", *at).code == 0
    producer = Producer({"bootstrap.servers": kafka})
    for partition in (0, 2):
        producer.produce(topic, b"x", partition=partition)
    assert producer.flush(20) == 0
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": names["billing"]})
    consumer.commit(offsets=[TopicPartition(topic, partition, 0) for partition in (0, 1, 2)], asynchronous=False)
    consumer.close()
    for command in commands("Groups"):
        done = run(*(names.get(word, word) for word in command), *at)
        assert done.code == 0, (command, done.err)
