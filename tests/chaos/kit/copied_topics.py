"""Copies of a schemas topic as MirrorMaker makes them: other offsets, aborted records as if they were committed."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

_SECONDS = 60.0


class Record(NamedTuple):
    """A record of a topic."""

    key: bytes | None
    value: bytes | None
    timestamp: int = 0


def new_topic(servers: str, topic: str) -> None:
    """Make an empty topic as a schemas topic has to be."""
    settings = {"cleanup.policy": "compact", "max.message.bytes": str(8 << 20)}
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(topic, 1, 1, config=settings)])[topic].result()


def records_of(servers: str, topic: str, isolation: str) -> list[Record]:
    """The records of a topic, as a consumer with an isolation level gets them."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "copier",
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        found, deadline = list[Record](), time.monotonic() + _SECONDS
        while time.monotonic() < deadline:
            message = consumer.poll(1)
            if message is None:
                continue
            if message.error() is not None:
                return found
            found.append(Record(message.key(), message.value(), message.timestamp()[1]))
        raise AssertionError(f"the end of {topic} was not reached")
    finally:
        consumer.close()


def write(servers: str, topic: str, records: Sequence[Record], *, committed: bool | None = None) -> None:
    """Write records with their times; in a transaction that is committed or aborted, if that is given."""
    transactional = {} if committed is None else {"transactional.id": f"copier-{topic}"}
    producer = Producer({"bootstrap.servers": servers, "message.max.bytes": 8 << 20, **transactional})
    if committed is not None:
        producer.init_transactions()
        producer.begin_transaction()
    for record in records:
        producer.produce(topic, key=record.key, value=record.value, partition=0, timestamp=record.timestamp)
    producer.flush()
    if committed is not None:
        (producer.commit_transaction if committed else producer.abort_transaction)()


def compacted(records: Sequence[Record], chance: random.Random) -> list[Record]:
    """The records that compaction of most of the topic leaves, with only some of the tombstones."""
    end = chance.randint(len(records) * 3 // 4, len(records))
    last = {record.key: index for index, record in enumerate(records[:end])}
    return [
        record
        for index, record in enumerate(records)
        if index >= end or (last[record.key] == index and (record.value is not None or chance.random() < 0.5))
    ]


class Copier:
    """A copy that goes on: records arrive with a pause between them until it is stopped."""

    def __init__(self, servers: str, topic: str, records: Iterable[Record], pause: float) -> None:
        self._producer = Producer({"bootstrap.servers": servers, "linger.ms": 0})
        self._topic, self._records, self._pause = topic, records, pause
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._copy)
        self.copied = 0
        self._thread.start()

    def _copy(self) -> None:
        for record in self._records:
            if self._stopped.wait(self._pause):
                return
            self._producer.produce(self._topic, key=record.key, value=record.value, partition=0)
            self._producer.flush()
            self.copied += 1

    def stop(self) -> None:
        """Stop after the record that is under way."""
        self._stopped.set()
        self._thread.join()
