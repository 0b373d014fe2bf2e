"""The health of the cluster: the brokers' shares of the partitions, partitions in trouble, log directories."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from magicbyte.kit.errors import ApiError
from rest_proxy.admin import configs
from rest_proxy.admin.client import AdminClient, error_of
from rest_proxy.admin.configs import Kind, Owner
from rest_proxy.admin.connection.nodes import Node
from rest_proxy.admin.topics import Partition, Topic, all_topics

_MIN_IN_SYNC = "min.insync.replicas"
#: How many topics are asked for one property in one request.
_TOPICS_AT_ONCE = 1000
#: The topic of KRaft's metadata, whose leader is the controller.
_METADATA_TOPIC = "__cluster_metadata"


@dataclass(frozen=True, slots=True)
class LogDirectory:
    """A directory of a broker's logs.

    Attributes:
        path: Its path.
        error: Why the broker cannot use it; empty if it can.
        size: The bytes of the partitions in it.
        total: The bytes of its volume; None if the broker is too old to tell.
        usable: The free bytes of its volume; None as before.
    """

    path: str
    error: str
    size: int
    total: int | None
    usable: int | None


@dataclass(frozen=True, slots=True)
class BrokerHealth:
    """A broker and its share of the partitions.

    Attributes:
        id: Its id.
        node: Its address; None if partitions name it and the cluster does not have it now.
        replicas: How many replicas it holds.
        out_of_sync: How many of these lack records.
        leaders: How many partitions it leads.
        preferred: How many partitions name it first, so that it should lead them.
        preferred_led: How many of these it leads.
        log_directories: Its log directories; None if it does not tell them.
    """

    id: int
    node: Node | None
    replicas: int
    out_of_sync: int
    leaders: int
    preferred: int
    preferred_led: int
    log_directories: tuple[LogDirectory, ...] | None


@dataclass(frozen=True, slots=True)
class PartitionHealth:
    """A partition with its topic's `min.insync.replicas`; None if that is not known."""

    topic: str
    partition: Partition
    min_in_sync: int | None

    @property
    def is_offline(self) -> bool:
        """Whether it has no leader, so that nobody can read or write it."""
        return self.partition.leader is None

    @property
    def is_under_replicated(self) -> bool:
        """Whether a replica lacks records."""
        return len(self.partition.in_sync) < len(self.partition.replicas)

    @property
    def is_under_min_in_sync(self) -> bool:
        """Whether too few replicas are in sync for a write with `acks=all`."""
        return self.min_in_sync is not None and len(self.partition.in_sync) < self.min_in_sync

    @property
    def is_led_by_another(self) -> bool:
        """Whether another replica than the preferred one leads it."""
        return self.partition.leader is not None and self.partition.leader != self.partition.replicas[0]


@dataclass(frozen=True, slots=True)
class ClusterHealth:
    """The cluster: its controller's id, None if there is none, its brokers and the partitions of all topics."""

    controller: int | None
    brokers: tuple[BrokerHealth, ...]
    topics: int
    partitions: tuple[PartitionHealth, ...]


async def cluster_health(admin: AdminClient) -> ClusterHealth:
    """The health of the cluster now.

    Raises:
        ApiError: The broker's error.
    """
    topics = await all_topics(admin)
    nodes = await admin.nodes()
    controller, minima, directories = await asyncio.gather(
        _controller(admin), _min_in_sync(admin, topics), _directories_of_all(admin, nodes)
    )
    partitions = tuple(
        PartitionHealth(topic.name, partition, minima.get(topic.name))
        for topic in topics
        for partition in topic.partitions
        if partition.replicas
    )
    return ClusterHealth(controller, _brokers(nodes, partitions, directories), len(topics), partitions)


async def _controller(admin: AdminClient) -> int | None:
    """The controller's id: with KRaft the leader of the metadata, which need not be a broker."""
    topic = {"topic_name": _METADATA_TOPIC, "partitions": [{"partition_index": 0}]}
    try:
        response = await admin.ask("describe_quorum", {"topics": [topic]})
    except ApiError:
        return await admin.controller()  # The brokers are too old for the request, or have no KRaft.
    leaders = [
        int(partition.leader_id)
        for topic in response.topics
        for partition in topic.partitions
        if not partition.error_code and partition.leader_id >= 0
    ]
    return leaders[0] if leaders and not response.error_code else await admin.controller()


async def _min_in_sync(admin: AdminClient, topics: Sequence[Topic]) -> dict[str, int]:
    """The topics' `min.insync.replicas`, without topics whose configuration the proxy may not see."""
    minima: dict[str, int] = {}
    for start in range(0, len(topics), _TOPICS_AT_ONCE):
        owners = [Owner(Kind.TOPIC, topic.name) for topic in topics[start : start + _TOPICS_AT_ONCE]]
        described = await configs.describe_all(admin, owners, names=(_MIN_IN_SYNC,))
        for owner, entries in zip(owners, described, strict=True):
            if not isinstance(entries, ApiError):
                minima.update((owner.name, int(config.value)) for config in entries if config.value)
    return minima


async def _directories_of_all(
    admin: AdminClient, nodes: Mapping[int, Node]
) -> dict[int, tuple[LogDirectory, ...] | None]:
    found = await asyncio.gather(*(_directories(admin, node) for node in nodes))
    return dict(zip(nodes, found, strict=True))


async def _directories(admin: AdminClient, node: int) -> tuple[LogDirectory, ...] | None:
    try:
        response = await admin.ask("describe_log_dirs", {"topics": None}, node=node)
    except ApiError:
        return None
    if getattr(response, "error_code", 0):
        return None
    return tuple(
        LogDirectory(
            result.log_dir,
            str(error_of(result).body()["message"]) if result.error_code else "",
            sum(partition.partition_size for topic in result.topics for partition in topic.partitions),
            _known(getattr(result, "total_bytes", -1)),
            _known(getattr(result, "usable_bytes", -1)),
        )
        for result in response.results
    )


def _known(size: int) -> int | None:
    return None if size < 0 else int(size)


@dataclass(slots=True)
class _Share:
    """The shares of one broker, as in `BrokerHealth`."""

    replicas: int = 0
    out_of_sync: int = 0
    leaders: int = 0
    preferred: int = 0
    preferred_led: int = 0


def _brokers(
    nodes: Mapping[int, Node],
    partitions: Iterable[PartitionHealth],
    directories: Mapping[int, tuple[LogDirectory, ...] | None],
) -> tuple[BrokerHealth, ...]:
    """The brokers of the cluster and those that partitions name, by id."""
    shares = {broker: _Share() for broker in nodes}
    for health in partitions:
        partition = health.partition
        first = partition.replicas[0]
        for broker in partition.replicas:
            share = shares.setdefault(broker, _Share())
            is_leader = broker == partition.leader
            share.replicas += 1
            share.out_of_sync += broker not in partition.in_sync
            share.leaders += is_leader
            share.preferred += broker == first
            share.preferred_led += is_leader and broker == first
    return tuple(
        BrokerHealth(
            broker,
            nodes.get(broker),
            replicas=shares[broker].replicas,
            out_of_sync=shares[broker].out_of_sync,
            leaders=shares[broker].leaders,
            preferred=shares[broker].preferred,
            preferred_led=shares[broker].preferred_led,
            log_directories=directories.get(broker),
        )
        for broker in sorted(shares)
    )
