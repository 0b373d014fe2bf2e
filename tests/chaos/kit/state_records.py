"""Records for pipelines that remember rows: what is produced, and what plain Python makes of it.

Times grow by ten seconds a record, and a record is at most five minutes older than the one before it, so no record is
late for pipelines that wait for half an hour.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from compat.schema import AVRO, SchemaText
from serdes.client.clients import RegistryClient
from serdes.codec import compile_codec

PARTITIONS = 2
STEP, JITTER, WINDOW, NEAR = 10, 300, 600, 600
#: The first time in seconds, a multiple of WINDOW.
_FIRST = 1_700_000_400 - 1_700_000_400 % WINDOW
#: The key of the records that move the watermark past all others.
LAST = "zz"
_FAR = 1_000_000
#: A record's kinds: a row, a repeat of an earlier one, one that makes a step fail, and one whose id is unknown.
ROW, REPEAT, FAULTY, UNKNOWN = "row", "repeat", "faulty", "unknown"

Place = tuple[str, int, int]


@dataclass(slots=True)
class Record:
    """A record that was produced.

    Attributes:
        values: Its fields.
        kind: Its kind.
        place: Topic, partition and offset.
        is_dead: Whether it must be a dead letter, and no row; None as long as it depends on what comes.
        is_either: Whether it may be one or the other: its batch was begun when its id became known.
    """

    values: dict[str, Any]
    kind: str
    place: Place
    is_dead: bool | None
    is_either: bool = False


@dataclass(slots=True)
class Ids:
    """The registry's ids: it counts them, so the id of a schema is known before the schema is registered.

    Attributes:
        client: The registry.
        unknown: Topics with records whose id the registry lacks, in the order of these ids.
    """

    client: RegistryClient
    unknown: list[Topic] = field(default_factory=list)
    _last: int = 0

    def register(self, topic: str, schema: str) -> int:
        """Register a schema, and return its id; no id may be unknown."""
        assert not self.unknown
        self._last = self.client.register(f"{topic}-value", SchemaText(AVRO, schema)).id
        return self._last

    def reserve(self, topic: Topic) -> int:
        """An id that the registry will give to a schema of a topic."""
        self.unknown.append(topic)
        return self._last + len(self.unknown)

    def make_known(self) -> None:
        """Register the schemas of all unknown ids."""
        topics, self.unknown = self.unknown, []
        for topic in topics:
            assert self.register(topic.name, topic.unknown_schema) == topic.unknown_id
            topic.unknown_id = 0
            topic.versions += 1


@dataclass(slots=True)
class Topic:
    """A topic of records, whose schema gets newer versions.

    Attributes:
        records: The records that were produced.
        versions: The number of registered schemas.
        unknown_schema, unknown_id: A schema that is used before it is registered; 0 if there is none.
    """

    name: str
    servers: str
    ids: Ids
    chance: random.Random
    records: list[Record] = field(default_factory=list)
    versions: int = 0
    unknown_schema: str = ""
    unknown_id: int = 0
    _id: int = 0
    _schema: str = ""
    _ends: list[int] = field(default_factory=lambda: [0] * PARTITIONS)
    _waiting: list[Record] = field(default_factory=list)

    def create(self) -> None:
        """Make the topic, and register the first schema."""
        admin = AdminClient({"bootstrap.servers": self.servers})
        admin.create_topics([NewTopic(self.name, PARTITIONS, 1)])[self.name].result(60)
        self.register()

    def register(self) -> None:
        """Register a newer schema, which the next records use: it has one more field; the third has a wider type."""
        self._schema = self._next_schema()
        self._id = self.ids.register(self.name, self._schema)
        self.versions += 1

    def _next_schema(self) -> str:
        more = [{"name": f"more{n}", "type": ["null", "string"], "default": None} for n in range(self.versions)]
        # The topic is in the name: two subjects with one schema would have one id.
        fields = [
            {"name": "id", "type": "int"},
            {"name": "k", "type": "string"},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "v", "type": "long" if self.versions >= 2 else "int"},
            {"name": "t", "type": "string"},
        ]
        return json.dumps({"type": "record", "name": f"Of_{self.name}", "fields": [*fields, *more]})

    def produce(self, count: int, *, key: str | None = None, repeats: bool = True, odd: bool = True) -> None:
        """Produce records.

        Args:
            count: How many.
            key: What the keys begin with, before the record's number; by default a record has one of a few keys.
            repeats: Whether some are repeats.
            odd: Whether some make a step fail, at least one of them, or have an id that the registry lacks.
        """
        for place in range(count):
            number = len(self.records)
            draw = self.chance.random()
            kind = FAULTY if odd and (place == 5 or draw < 0.01) else UNKNOWN if odd and draw < 0.08 else ROW
            values = {
                "id": number,
                "k": f"{key}{number}" if key is not None else self.chance.choice("abcde"),
                "at": (_FIRST + number * STEP - self.chance.randint(0, JITTER) + JITTER) * 1000,
                "v": self.chance.randint(-50, 500),
                "t": "no number" if kind == FAULTY else str(number % 7),
            }
            earlier = [record for record in self.records[-60:] if record.kind == ROW] if repeats else []
            if kind == ROW and earlier and draw > 0.8:
                kind, values = REPEAT, dict(self.chance.choice(earlier).values)
            self._append(values, kind)
        self._flush()

    def produce_last(self) -> None:
        """Produce the records that move the watermark past all others, one into each partition."""
        for number in range(PARTITIONS):
            at = (_FIRST + _FAR) * 1000
            self._append({"id": -1 - number, "k": f"{LAST}{self.name}{number}", "at": at, "v": 0, "t": "0"}, ROW)
        self._flush()

    def _append(self, values: dict[str, Any], kind: str) -> None:
        partition = len(self.records) % PARTITIONS
        place = (self.name, partition, self._ends[partition])
        self._ends[partition] += 1
        self.records.append(Record(values, kind, place, {FAULTY: True, UNKNOWN: None}.get(kind, False)))
        self._waiting.append(self.records[-1])

    def _flush(self) -> None:
        producer = Producer({"bootstrap.servers": self.servers, "linger.ms": 5})
        for record in self._waiting:
            schema, schema_id = self._schema, self._id
            if record.kind == UNKNOWN:
                if not self.unknown_id:
                    self.unknown_schema, self.unknown_id = self._next_schema(), self.ids.reserve(self)
                schema, schema_id = self.unknown_schema, self.unknown_id
            more = {f"more{number}": None for number in range(schema.count('"more'))}
            data = b"\0" + schema_id.to_bytes(4) + compile_codec(schema).encode({**record.values, **more})
            producer.produce(self.name, data, partition=record.place[1])
        assert producer.flush(60) == 0
        self._waiting.clear()

    def settle(self, committed: Mapping[int, int], begun: Mapping[int, int]) -> dict[str, int]:
        """Decide the records with an unknown id, just before it is made known; returns how many are what.

        Args:
            committed: The end of each partition in the last batch that Spark has noted as done. Records before it are
                dead letters.
            begun: The end of each partition in the last batch that is begun. Records behind it will be rows.
        """
        counts: Counter[str] = Counter()
        for record in self.records:
            if record.is_dead is None and not record.is_either:
                _, partition, offset = record.place
                if offset < committed.get(partition, 0):
                    record.is_dead = True
                elif offset < begun.get(partition, 0):
                    record.is_either = True
                else:
                    record.is_dead = False
                counts["either" if record.is_either else "dead" if record.is_dead else "rows"] += 1
        return dict(counts)

    def decide(self, letters: Collection[Place]) -> None:
        """Decide the records that may be rows or dead letters: what is no letter must be a row in each target."""
        for record in self.records:
            if record.is_either:
                record.is_dead = record.place in letters

    def rows(self) -> list[dict[str, Any]]:
        """The values of the records that are rows, without repeats and without those that move the watermark."""
        sound = [record for record in self.records if not record.is_dead and record.kind != REPEAT]
        return [record.values for record in sound if not record.values["k"].startswith(LAST)]

    def dead(self) -> set[Place]:
        """The places of the records that must be dead letters."""
        return {record.place for record in self.records if record.is_dead}


def windows(rows: Collection[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """Start, key, count and sums of each window."""
    groups: dict[tuple[int, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        second = row["at"] // 1000
        groups[second - second % WINDOW, row["k"]].append(row)
    return sorted(
        (start, key, len(group), sum(row["v"] for row in group), sum(int(row["t"]) for row in group))
        for (start, key), group in groups.items()
    )


def joined(rows: Collection[Mapping[str, Any]], others: Collection[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """Id of each row and of the one with its key in the other stream that is near in time; None if there is none."""
    by_key: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for other in others:
        by_key[other["k"]].append(other)
    pairs = []
    for row in rows:
        near = [other for other in by_key[row["k"]] if abs(other["at"] - row["at"]) <= NEAR * 1000]
        pairs += [(row["id"], other["id"]) for other in near] or [(row["id"], None)]
    return sorted(pairs, key=str)


def letters(servers: str, topic: str) -> list[Place]:
    """The places of the records in a topic of dead letters, by their headers."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "letters", "enable.partition.eof": True})
    topics = consumer.list_topics(timeout=30).topics
    partitions = topics[topic].partitions if topic in topics else {}
    consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
    places: list[Place] = []
    ended = 0
    while ended < len(partitions):
        message = consumer.poll(60)
        assert message is not None
        if message.error() is not None:
            ended += 1
            continue
        headers = {name: value.decode() for name, value in message.headers() or () if value is not None}
        topic_name, partition, offset = (
            headers[f"__connect.errors.{name}"] for name in ("topic", "partition", "offset")
        )
        places.append((topic_name, int(partition), int(offset)))
    consumer.close()
    return places
