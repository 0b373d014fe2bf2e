"""A topic of a broker that a pipeline's sink writes to, and its batches."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

from serdes.client.clients import RegistryClient
from spark_avro.pipeline.file.sinks import KafkaSink, Payload
from spark_avro.pipeline.file.sql_text import Sql
from spark_avro.pipeline.ports import BatchIdentity, SinkContext, SourceRange
from spark_avro.pipeline.sinks.opening import open_sink
from tests.spark.pipeline.sinks.recorded_sink import RecordedSink
from tests.topics import create_topics

STRING = Payload(format="string")


class Topic:
    """A topic that a sink writes to, and its pipeline."""

    def __init__(self, servers: str, registry: str, context: Callable[..., SinkContext], **spec: Any) -> None:
        self.servers, self.registry_url, self.context, self.spec = servers, registry, context, spec
        self.registry = RegistryClient(registry)
        self.admin = AdminClient({"bootstrap.servers": servers})
        self.name = f"sink-{uuid.uuid4()}"
        self.pipeline = f"p-{uuid.uuid4()}"
        self._opened: list[Any] = []

    def sink(self, settings: dict[str, Any] | None = None, **spec: Any) -> Any:
        sink = KafkaSink(**{"topic": Sql(self.name), "value": STRING, **self.spec, **spec})
        context = self.context(kafka={"bootstrap.servers": self.servers}, registry=self.registry, **(settings or {}))
        self._opened.append(RecordedSink(open_sink(sink, context)))
        return self._opened[-1]

    def batch(self, number: int, start: int, end: int, query: str = "q1") -> BatchIdentity:
        return BatchIdentity(self.pipeline, query, number, (SourceRange("flights", 0, start, end),))

    def messages(self, topic: str | None = None) -> list[Any]:
        """All committed records."""
        consumer = Consumer(
            {"bootstrap.servers": self.servers, "group.id": "g", "isolation.level": "read_committed"}
            | {"enable.partition.eof": True, "enable.auto.commit": False}
        )
        name = topic or self.name
        partitions = consumer.list_topics(name, timeout=30).topics[name].partitions
        consumer.assign([TopicPartition(name, number, 0) for number in partitions])
        read, ended = [], 0
        while ended < len(partitions):
            message = consumer.poll(30)
            assert message is not None
            if message.error() is None:
                read.append(message)
            else:
                ended += 1
        consumer.close()
        return read

    def values(self) -> list[bytes]:
        return sorted(message.value() for message in self.messages())

    def create(self, partitions: int = 2, **config: str) -> None:
        create_topics(self.admin, NewTopic(self.name, partitions, 1, config=config))

    def add_partitions(self, topic: str, count: int) -> None:
        self.admin.create_partitions([NewPartitions(topic, count)])[topic].result(30)
        while len(self.admin.list_topics(topic, timeout=30).topics[topic].partitions) < count:
            time.sleep(0.05)

    def set_config(self, topic: str, name: str, value: str) -> None:
        entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        self.admin.incremental_alter_configs([resource])[resource].result(30)

    def close(self) -> None:
        for sink in self._opened:
            sink.close()


def murmur2(data: bytes) -> int:
    """The hash of Java's DefaultPartitioner, made positive."""
    m, mask = 0x5BD1E995, 0xFFFFFFFF
    h = (0x9747B28C ^ len(data)) & mask
    for start in range(0, len(data) // 4 * 4, 4):
        k = int.from_bytes(data[start : start + 4], "little") * m & mask
        k = (k ^ (k >> 24)) * m & mask
        h = (h * m & mask) ^ k
    rest = data[len(data) // 4 * 4 :]
    if rest:
        h = (h ^ int.from_bytes(rest, "little")) * m & mask
    h = (h ^ (h >> 13)) * m & mask
    return (h ^ (h >> 15)) & 0x7FFFFFFF
