"""A source topic on a real broker, and letters of its records."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from compat.schema import AVRO, SchemaText
from serdes.client.clients import RegistryClient
from serdes.codec import compile_codec
from serdes.letters.headers import FORMS, DeadLetter, Header
from tests.topics import create_topics

#: 2026-10-01T00:00:00Z.
OCTOBER = 1_790_812_800_000
FLIGHT = json.dumps(
    {
        "type": "record",
        "name": "Flight",
        "fields": [{"name": "id", "type": "int"}, {"name": "carrier", "type": "string"}],
    }
)
VALUE = compile_codec(FLIGHT).encode({"id": 7, "carrier": "UA"})


class LetterTopic:
    """A source topic with two partitions, and its topic of letters with one."""

    def __init__(self, kafka: str, registry: RegistryClient, source: str) -> None:
        self.kafka, self.registry, self.source = kafka, registry, source
        self.letters = f"{source}-dead"
        self.producer = Producer({"bootstrap.servers": kafka, "linger.ms": 5})
        self.admin = AdminClient({"bootstrap.servers": kafka})
        # The broker would delete what is older than a week.
        kept = {"retention.ms": "-1"}
        new = [NewTopic(source, 2, config=kept), NewTopic(self.letters, 1, config=kept)]
        create_topics(self.admin, *new)

    def register(self, text: str = FLIGHT, schema_type: str = AVRO) -> int:
        return self.registry.register(f"{self.source}-value", SchemaText(schema_type, text)).id

    def bury(
        self, value: bytes | None, offset: int, form: str = "connect", own: Sequence[Header] = (), **said: Any
    ) -> None:
        letter = DeadLetter(
            self.source, offset % 2, offset, **{"stage": "VALUE_CONVERTER", "connector": "app", "exception": "E"} | said
        )
        headers = [("own", b"h"), *own, *letter.headers(FORMS[form])]
        self.put(value, b"k%d" % offset, headers, OCTOBER + offset)

    def put(self, value: bytes | None, key: bytes | None, headers: Sequence[Header], time: int) -> None:
        """Write a record to the topic of letters as it is."""
        self.producer.produce(self.letters, value, key, headers=list(headers), timestamp=time)
        assert self.producer.flush(20) == 0

    def records(self, topic: str | None = None) -> list[Any]:
        """All committed records of a topic, in the order of partitions and offsets."""
        config = {
            "bootstrap.servers": self.kafka,
            "group.id": "read",
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
        }
        consumer = Consumer(config)
        name = topic or self.source
        partitions = consumer.list_topics(name).topics[name].partitions
        consumer.assign([TopicPartition(name, partition, 0) for partition in partitions])
        records, left = [], len(partitions)
        while left:
            message = consumer.poll(10)
            assert message is not None
            if message.error() is None:
                records.append(message)
            else:
                left -= 1
        consumer.close()
        return sorted(records, key=lambda record: (record.partition(), record.offset()))
