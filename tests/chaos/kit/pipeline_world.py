"""The servers of killed pipelines, and the flights that are produced while the pipelines run."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from compat.schema import AVRO, SchemaText
from magicbyte.cli.demo import flights
from serdes.client.clients import RegistryClient
from serdes.codec import compile_codec
from tests.chaos.kit.pipeline_targets import Outcome, PostgreSQL

PARTITIONS = 4
#: The fields that a version has besides those of the version before.
ADDED: tuple[dict[str, str], ...] = ({}, {"source": "string"}, {"gate": "string"}, {"belt": "int"})


@dataclass(slots=True)
class World:
    """The servers of a run, and the flights that are produced while pipelines run."""

    folder: Path
    servers: str
    registry: str
    postgresql: PostgreSQL
    rows: int
    records: int
    kills: int
    chance: random.Random
    all_flights: list[dict[str, Any]] = field(default_factory=list)

    def load(self) -> Outcome:
        """Read the flights; what has to be in a target."""
        for row in islice(flights.read(), self.rows):
            numbers = flights._NUMBERS
            optional = flights._OPTIONAL_NUMBERS
            flight = {
                **{name: int(row[name]) for name in numbers},
                **{name: int(row[name]) if row[name] else None for name in optional},
                **{name: row[name] for name in flights._TEXTS},
                "tailnum": row["tailnum"] or None,
            }
            self.all_flights.append(flight)
        delays = sum(flight["dep_delay"] or 0 for flight in self.all_flights)
        return Outcome(len(self.all_flights), delays, 0)


class Feed:
    """The flights in four parts, each in the next version of the schema."""

    def __init__(self, world: World, topic: str) -> None:
        self._world, self._topic = world, topic
        self._client = RegistryClient(world.registry)
        self._fields: list[dict[str, Any]] = []
        self._values: dict[str, Any] = {}
        self._part = 0
        self.produced = 0
        admin = AdminClient({"bootstrap.servers": world.servers})
        admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result(30)

    def produce(self, parts: int = 1) -> None:
        """Register the next version, and produce the next part; nothing after the last."""
        for _ in range(parts):
            if self._part == len(ADDED):
                return
            for name, kind in ADDED[self._part].items():
                default: Any = "?" if kind == "string" else 0
                self._fields.append({"name": name, "type": kind, "default": default})
                self._values[name] = default
            schema = flights.schema(*self._fields)
            prefix = b"\0" + self._client.register(f"{self._topic}-value", SchemaText(AVRO, schema)).id.to_bytes(4)
            encode = compile_codec(schema).encode
            producer = Producer({"bootstrap.servers": self._world.servers, "linger.ms": 20})
            part = self._world.all_flights[self._part :: len(ADDED)]
            for number, flight in enumerate(part):
                producer.produce(
                    self._topic, prefix + encode({**flight, **self._values}), partition=number % PARTITIONS
                )
                if number % 10_000 == 0:
                    producer.poll(0)
            assert producer.flush(60) == 0
            self._part += 1
            self.produced += len(part)
