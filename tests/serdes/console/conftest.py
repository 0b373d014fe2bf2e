"""The tools as a user runs them, against a real broker and a real registry."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Message, Producer, TopicPartition

from magicbyte.testing import running_registry

BIN = Path(sys.executable).parent
_numbers = itertools.count()


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Tools:
    """Runs the commands with the broker and the registry of this run."""

    kafka: str
    registry: str

    def run(self, program: str, *arguments: str, lines: str | bytes = b"") -> Result:
        command = [str(BIN / program.split(maxsplit=1)[0]), *program.split()[1:], *arguments]
        given = lines.encode() if isinstance(lines, str) else lines
        done = subprocess.run(command, input=given, capture_output=True, check=False, timeout=60)
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    def produce(self, form: str, topic: str, *arguments: str, lines: str | bytes, **properties: str) -> Result:
        where = ["--broker-list", self.kafka, "--topic", topic, *self._properties("--property", properties)]
        return self.run(f"kafka-{form}-console-producer", *where, *arguments, lines=lines)

    def consume(self, form: str, topic: str | None, *arguments: str, **properties: str) -> Result:
        where = ["--bootstrap-server", self.kafka, *(() if topic is None else ("--topic", topic))]
        where += self._properties("--property", properties)
        return self.run(f"kafka-{form}-console-consumer", *where, *arguments)

    def magicbyte(self, command: str, topic: str, *arguments: str, lines: str = "") -> Result:
        where = ["--bootstrap-server", self.kafka, "--schema-registry-url", self.registry]
        return self.run(f"magicbyte {command}", topic, *where, *arguments, lines=lines)

    def _properties(self, flag: str, properties: dict[str, str]) -> list[str]:
        given = {"schema.registry.url": self.registry}
        given |= {name.replace("_", "."): value for name, value in properties.items()}
        return [word for name, value in given.items() for word in (flag, f"{name}={value}")]


@pytest.fixture(scope="session")
def registry_url() -> Iterator[str]:
    with running_registry() as server:
        yield server.url


@pytest.fixture(scope="session")
def tools(kafka: str, registry_url: str) -> Tools:
    return Tools(kafka, registry_url)


@pytest.fixture
def topic() -> str:
    return f"console-{os.getpid()}-{next(_numbers)}"


@pytest.fixture
def send(kafka: str) -> Callable[..., None]:
    """Sends a record past every tool."""
    producer = Producer({"bootstrap.servers": kafka})

    def one(topic: str, value: bytes | None, key: bytes | None = None, **more: object) -> None:
        producer.produce(topic, value, key, **more)
        assert producer.flush(20) == 0

    return one


@pytest.fixture
def stored(kafka: str) -> Callable[[str], list[Message]]:
    """The records of a topic's first partition, past every tool."""

    def read(topic: str) -> list[Message]:
        consumer = Consumer({"bootstrap.servers": kafka, "group.id": "stored", "enable.partition.eof": True})
        consumer.assign([TopicPartition(topic, 0, 0)])
        found: list[Message] = []
        while True:
            message = consumer.poll(10)
            assert message is not None
            if message.error() is not None:
                consumer.close()
                return found
            found.append(message)

    return read
