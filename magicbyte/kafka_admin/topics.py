"""Topics: descriptions and changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from confluent_kafka import KafkaError, TopicCollection
from confluent_kafka.admin import NewPartitions, NewTopic

from magicbyte.kafka_admin.connection import Admin, checked
from magicbyte.kafka_admin.offsets import EARLIEST, LATEST, PartitionId, offsets
from serdes.console.outcome import BAD_USAGE, Ended

#: The broker's own default, for the number of partitions and the replication factor.
DEFAULT = -1


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition.

    Attributes:
        number: Its number in the topic.
        leader: The broker that leads it; None if no replica can lead.
        replicas: The brokers that hold it.
        in_sync: The replicas that have all its records.
        begin: The offset of the first record; None if it is not known.
        end: The offset after the last record; None if it is not known.
    """

    number: int
    leader: int | None
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]
    begin: int | None = None
    end: int | None = None

    @property
    def is_under_replicated(self) -> bool:
        """Whether a replica lacks records."""
        return len(self.in_sync) < len(self.replicas)

    @property
    def count(self) -> int | None:
        """The number of offsets; with compaction or transactions there are fewer records."""
        return None if self.begin is None or self.end is None else self.end - self.begin


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic; `is_internal` says whether Kafka keeps its own state in it."""

    name: str
    is_internal: bool
    partitions: tuple[Partition, ...]

    @property
    def replication_factor(self) -> int:
        """The number of replicas; of the partition with the most, if they differ during a reassignment."""
        return max((len(partition.replicas) for partition in self.partitions), default=0)


def all_topics(admin: Admin) -> list[Topic]:
    """The topics that the client may describe, by name.

    Raises:
        Ended: The brokers refuse the client or do not answer.
    """
    found = existing(admin, admin.topic_names())
    return [topic for topic in found.values() if topic is not None]


def topics(admin: Admin, names: Sequence[str]) -> list[Topic]:
    """Topics by their names.

    Raises:
        Ended: A topic does not exist, or the brokers refuse the client or do not answer.
    """
    return [checked(f"topic {name}", result) for name, result in _described(admin, names).items()]


def existing(admin: Admin, names: Sequence[str]) -> dict[str, Topic | None]:
    """Topics by their names; None for one that does not exist.

    Raises:
        Ended: The brokers refuse the client or do not answer.
    """
    found: dict[str, Topic | None] = {}
    for name, result in _described(admin, names).items():
        is_missing = isinstance(result, KafkaError) and result.code() == KafkaError.UNKNOWN_TOPIC_OR_PART
        found[name] = None if is_missing else checked(f"topic {name}", result)
    return found


def _described(admin: Admin, names: Sequence[str]) -> dict[str, Any]:
    """Topics by their names, or the broker's errors."""
    if not names:
        return {}
    futures = admin.client.describe_topics(TopicCollection(list(names)), request_timeout=admin.timeout)
    results = admin.results(futures)
    return {
        name: result if isinstance(result, KafkaError) else _topic(result)
        for name, result in ((name, results[name]) for name in names)
    }


def _topic(description: Any) -> Topic:
    partitions = tuple(
        Partition(
            partition.id,
            None if partition.leader is None or partition.leader.id < 0 else partition.leader.id,
            tuple(node.id for node in partition.replicas),
            tuple(node.id for node in partition.isr),
        )
        for partition in sorted(description.partitions, key=lambda partition: int(partition.id))
    )
    return Topic(description.name, bool(description.is_internal), partitions)


def with_offsets(admin: Admin, described: Iterable[Topic]) -> list[Topic]:
    """Topics with the first and last offsets of their partitions, as far as the leaders answer."""
    described = list(described)
    places = [
        PartitionId(topic.name, partition.number)
        for topic in described
        for partition in topic.partitions
        if partition.leader is not None
    ]
    begins, ends = (_known(offsets(admin, places, spec)) for spec in (EARLIEST, LATEST))
    return [
        replace(
            topic,
            partitions=tuple(
                replace(
                    partition,
                    begin=begins.get(PartitionId(topic.name, partition.number)),
                    end=ends.get(PartitionId(topic.name, partition.number)),
                )
                for partition in topic.partitions
            ),
        )
        for topic in described
    ]


def _known(found: Mapping[PartitionId, int | KafkaError]) -> dict[PartitionId, int]:
    return {place: offset for place, offset in found.items() if isinstance(offset, int)}


def create(admin: Admin, name: str, partitions: int, replication_factor: int, config: Mapping[str, str]) -> bool:
    """Create a topic; returns False if it exists already.

    Args:
        admin: The admin client.
        name: The topic's name.
        partitions: The number of partitions, or DEFAULT.
        replication_factor: The number of replicas of each partition, or DEFAULT.
        config: The topic's own configs.

    Raises:
        Ended: A config or number is wrong, or the brokers refuse the client or do not answer.
    """
    new = NewTopic(name, partitions, replication_factor, config=dict(config))
    futures = admin.client.create_topics([new], operation_timeout=admin.change_timeout, request_timeout=admin.timeout)
    result = admin.results(futures)[name]
    if isinstance(result, KafkaError) and result.code() == KafkaError.TOPIC_ALREADY_EXISTS:
        return False
    checked(f"topic {name}", result)
    return True


def add_partitions(admin: Admin, topic: Topic, total: int) -> bool:
    """Add partitions to a topic; returns False if it has this number already.

    Raises:
        Ended: The topic has more partitions, or the brokers refuse the client or do not answer.
    """
    check_partitions(topic, total)
    if len(topic.partitions) == total:
        return False
    futures = admin.client.create_partitions(
        [NewPartitions(topic.name, total)], operation_timeout=admin.change_timeout, request_timeout=admin.timeout
    )
    checked(f"topic {topic.name}", admin.results(futures)[topic.name])
    return True


def check_partitions(topic: Topic, total: int) -> None:
    """Check that a topic may have this many partitions.

    Raises:
        Ended: The topic has more.
    """
    count = len(topic.partitions)
    if total < count:
        raise Ended(BAD_USAGE, f"topic {topic.name} has {count} partitions; Kafka cannot reduce them to {total}")


def delete(admin: Admin, names: Sequence[str]) -> dict[str, Ended | None]:
    """Delete topics with their records; returns the error of each topic that was not deleted.

    Raises:
        Ended: The brokers did not answer in time.
    """
    futures = admin.client.delete_topics(
        list(names), operation_timeout=admin.change_timeout, request_timeout=admin.timeout
    )
    results = admin.results(futures)
    errors: dict[str, Ended | None] = {}
    for name in names:
        try:
            checked(f"topic {name}", results[name])
            errors[name] = None
        except Ended as error:
            errors[name] = error
    return errors
