"""Topics and their partitions: their metadata, and how they are created, grown and deleted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from magicbyte.kit.errors import ApiError
from rest_proxy.admin.client import AdminClient, error_of, require

_NONE = 0
_UNKNOWN_TOPIC = 3
#: Error: the proxy may not describe the topic, so it cannot see whether a broker shows a change.
_HIDDEN = 29
#: The error of older brokers for a topic with a partition that has no leader.
_NO_LEADER = 5
_INVALID_TOPIC = 17
_ABSENT = (_UNKNOWN_TOPIC, _INVALID_TOPIC)
#: The value of `authorized_operations` if the broker was not asked for them.
NOT_ASKED = -(2**31)
#: Operations by their number in Kafka's protocol.
OPERATIONS = (
    *("UNKNOWN", "ANY", "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "CLUSTER_ACTION"),
    *("DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE", "CREATE_TOKENS", "DESCRIBE_TOKENS"),
    "TWO_PHASE_COMMIT",
)
#: How long to wait until all brokers show a change, in seconds.
_SHOWN_SECONDS = 5.0
_PAUSE_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition as the metadata shows it.

    Attributes:
        number: Its number in the topic.
        leader: The leader's id; None if it has none.
        replicas: The brokers in the order of assignment.
        in_sync: The brokers whose replicas are in sync.
    """

    number: int
    leader: int | None
    replicas: tuple[int, ...]
    in_sync: frozenset[int]


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as the metadata shows it."""

    name: str
    is_internal: bool
    partitions: tuple[Partition, ...]
    authorized_operations: tuple[str, ...] = ()

    @property
    def replication_factor(self) -> int:
        """The number of replicas of the first partition."""
        return len(self.partitions[0].replicas) if self.partitions else 0


async def all_topics(admin: AdminClient, *, authorized_operations: bool = False) -> list[Topic]:
    """All topics by name, internal ones too; a topic that is deleted meanwhile is left out."""
    response = await admin.metadata(None, authorized_operations=authorized_operations)
    topics = [_topic(topic) for topic in response.topics if topic.error_code not in _ABSENT and topic.name]
    return sorted(topics, key=lambda topic: topic.name)


async def topic(admin: AdminClient, name: str, *, authorized_operations: bool = False) -> Topic:
    """One topic.

    Raises:
        ApiError: UNKNOWN_TOPIC_OR_PARTITION; an error of the broker.
    """
    described = (await topics(admin, (name,), authorized_operations=authorized_operations))[name]
    if isinstance(described, ApiError):
        raise described
    return described


async def topics(
    admin: AdminClient, names: Iterable[str], *, authorized_operations: bool = False
) -> dict[str, Topic | ApiError]:
    """Some topics by name, with an error in place of each topic that cannot be described."""
    distinct = dict.fromkeys(names)
    if not distinct:
        return {}
    response = await admin.metadata(distinct, authorized_operations=authorized_operations)
    return {
        topic.name: _topic(topic) if topic.error_code in (_NONE, _NO_LEADER) else error_of(topic)
        for topic in response.topics
    }


def _topic(topic: Any) -> Topic:
    partitions = (
        Partition(
            partition.partition_index,
            partition.leader_id if partition.leader_id >= 0 else None,
            partition.replica_nodes,
            frozenset(partition.isr_nodes),
        )
        for partition in topic.partitions
    )
    return Topic(
        topic.name,
        topic.is_internal,
        tuple(sorted(partitions, key=lambda partition: partition.number)),
        authorized_operations_of(getattr(topic, "topic_authorized_operations", NOT_ASKED)),
    )


def authorized_operations_of(bits: int) -> tuple[str, ...]:
    """The operations that a broker says the proxy may do, by name; none if it was not asked."""
    return () if bits == NOT_ASKED else tuple(operations_in(bits))


def operations_in(bits: int) -> list[str]:
    """The operations of a bit field, by name."""
    return sorted(name for number, name in enumerate(OPERATIONS) if bits >> number & 1)


@dataclass(frozen=True, slots=True)
class NewTopic:
    """A topic to create.

    Attributes:
        name: Its name.
        partitions: The number of partitions; None for the broker's default.
        replication_factor: The number of replicas; None for the broker's default.
        assignments: The brokers of each partition; they override both numbers.
        configs: Its configuration.
    """

    name: str
    partitions: int | None
    replication_factor: int | None
    assignments: Mapping[int, Sequence[int]]
    configs: Sequence[tuple[str, str | None]]


async def create(admin: AdminClient, new: NewTopic, *, validate_only: bool) -> tuple[int, int]:
    """Create a topic, or only check whether it could be created; wait until all brokers show it.

    Returns:
        The number of partitions and the replication factor; 0 if neither the request nor the broker names it.

    Raises:
        ApiError: The broker's error.
    """
    assigned = new.assignments
    values = {
        "name": new.name,
        "num_partitions": -1 if assigned or new.partitions is None else new.partitions,
        "replication_factor": -1 if assigned or new.replication_factor is None else new.replication_factor,
        "assignments": [
            {"partition_index": partition, "broker_ids": brokers} for partition, brokers in assigned.items()
        ],
        "configs": [{"name": name, "value": value} for name, value in new.configs],
    }
    response = await admin.ask_controller(
        "create_topics", {"topics": [values], "timeout": admin.broker_timeout, "validate_only": validate_only}
    )
    (result,) = response.topics
    require(result)
    told = (getattr(result, "num_partitions", -1), getattr(result, "replication_factor", -1))
    asked = (
        (len(assigned), len(next(iter(assigned.values())))) if assigned else (new.partitions, new.replication_factor)
    )
    partitions, factor = (
        answer if answer >= 0 else question or 0 for answer, question in zip(told, asked, strict=True)
    )
    if not validate_only:
        await _until_shown(admin, new.name, lambda shown: _is_complete(shown, max(1, partitions)))
    return partitions, factor


async def grow(admin: AdminClient, name: str, count: int) -> None:
    """Raise the number of a topic's partitions, and wait until all brokers show it.

    Raises:
        ApiError: The broker's error.
    """
    response = await admin.ask_controller(
        "create_partitions",
        {
            "topics": [{"name": name, "count": count, "assignments": None}],
            "timeout": admin.broker_timeout,
            "validate_only": False,
        },
    )
    require(response.results[0])
    await _until_shown(admin, name, lambda shown: _is_complete(shown, count))


async def delete(admin: AdminClient, name: str) -> None:
    """Delete a topic, and wait until no broker shows it.

    Raises:
        ApiError: The broker's error.
    """
    response = await admin.ask_controller(
        "delete_topics",
        {"topics": [{"name": name}], "topic_names": [name], "timeout": admin.broker_timeout},
        optional=("topics", "topic_names"),
    )
    require(response.responses[0])
    await _until_shown(admin, name, lambda shown: shown.error_code in _ABSENT)


def _is_complete(topic: Any, partitions: int) -> bool:
    return (
        topic.error_code == _NONE
        and len(topic.partitions) >= partitions
        and all(partition.leader_id >= 0 for partition in topic.partitions)
    )


async def _until_shown(admin: AdminClient, name: str, is_shown: Callable[[Any], bool]) -> None:
    """Wait until each broker shows a change, but not forever: brokers learn of it one after the other."""
    deadline = time.monotonic() + _SHOWN_SECONDS
    for node in list(await admin.nodes()):
        while time.monotonic() < deadline:
            try:
                response = await admin.metadata((name,), node=node)
            except ApiError:
                break  # The change is made; a broker that cannot be asked does not undo it.
            shown = response.topics[0]
            if shown.error_code == _HIDDEN or is_shown(shown):
                break
            await asyncio.sleep(_PAUSE_SECONDS)
