"""A schemas topic that is compacted all the time, and keeps tombstones for seconds only."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from typing import Any

import httpx
from confluent_kafka import Consumer, KafkaError, TopicPartition

RETENTION_SECONDS = 2.0
#: Settings of a broker whose cleaner looks for work all the time.
BROKER = {"log.cleaner.backoff.ms": "100", "log.cleanup.policy": "compact"}
#: Settings of a topic that is cleaned as soon as a segment is full or a few moments old.
TOPIC = {
    "kafkastore.topic.config.delete.retention.ms": str(int(RETENTION_SECONDS * 1000)),
    "kafkastore.topic.config.segment.ms": "200",
    "kafkastore.topic.config.min.cleanable.dirty.ratio": "0.0",
    "kafkastore.topic.config.max.compaction.lag.ms": "100",
}


def compacted_cluster() -> dict[str, str]:
    """Settings of a cluster on such a topic."""
    own = {"kafkastore.topic": f"_schemas-{uuid.uuid4()}", "schema.registry.group.id": str(uuid.uuid4())}
    return {**own, **TOPIC}


def wait_until_forgotten(bootstrap_servers: str, topic: str, subject: str, write: Callable[[], Any]) -> None:
    """Wait until the topic has neither records nor tombstones of a subject's versions.

    Args:
        bootstrap_servers: The broker.
        topic: The topic.
        subject: The subject.
        write: Writes something: a segment ends only when a record comes after it.

    Raises:
        TimeoutError: The topic still has some after a minute.
    """
    deadline = time.monotonic() + 60
    while any(key.get("subject") == subject for key in _schema_keys(bootstrap_servers, topic)):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{topic} still has records of {subject}")
        write()
        time.sleep(0.2)


def _schema_keys(bootstrap_servers: str, topic: str) -> list[dict[str, Any]]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": str(uuid.uuid4()),
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
        }
    )
    keys = []
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            message = consumer.poll(1)
            if message is None:
                continue
            if message.error() is None:
                keys.append(json.loads(message.key()))
            elif message.error().code() == KafkaError._PARTITION_EOF:
                return [key for key in keys if key["keytype"] == "SCHEMA"]
        raise TimeoutError(f"{topic} was not read to its end")
    finally:
        consumer.close()


def register(url: str, subject: str, text: str) -> httpx.Response:
    """Register a schema."""
    return httpx.post(f"{url}/subjects/{subject}/versions", json={"schema": text}, timeout=30)


def delete_for_good(url: str, subject: str) -> None:
    """Delete a subject with all its versions."""
    for query in ("", "?permanent=true"):
        httpx.delete(f"{url}/subjects/{subject}{query}", timeout=30).raise_for_status()
