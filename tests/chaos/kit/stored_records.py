"""The records in a topic after its brokers or writers were killed."""

from __future__ import annotations

import json

from confluent_kafka import Consumer, TopicPartition


def stored(bootstrap: str, topic: str, partitions: int) -> dict[tuple[int, int], int]:
    """All numbers in a topic by partition and offset."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": f"check-{topic}", "enable.partition.eof": True})
    consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
    numbers: dict[tuple[int, int], int] = {}
    ended = 0
    while ended < partitions:
        message = consumer.poll(30)
        assert message is not None
        if message.error() is not None:
            ended += 1
        else:
            numbers[message.partition(), message.offset()] = json.loads(message.value())
    consumer.close()
    return numbers
