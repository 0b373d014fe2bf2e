"""The Kafka cluster's metadata for v1 and v2, and the check that a partition exists before producing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

from magicbyte.kit.errors import ApiError
from rest_proxy.admin import configs, offsets, topics
from rest_proxy.admin.client import PartitionId
from rest_proxy.admin.configs import Kind, Owner
from rest_proxy.admin.lazy_client import LazyAdminClient
from rest_proxy.admin.topics import Partition
from rest_proxy.errors import PARTITION_NOT_FOUND, UNKNOWN_TOPIC_OR_PARTITION

#: How long a topic's number of partitions is cached, in seconds; the number only grows.
_PARTITIONS_SECONDS = 30.0
_NO_LEADER = -1


class Cluster:
    """Answers questions about the cluster through the admin client."""

    def __init__(self, admin: LazyAdminClient) -> None:
        self._admin = admin
        self._partition_counts: dict[str, tuple[float, int]] = {}

    async def broker_ids(self) -> list[int]:
        """The ids of all brokers."""
        return sorted(await (await self._admin()).nodes())

    async def topic_names(self) -> list[str]:
        """The names of all topics except Kafka's internal ones."""
        return [topic.name for topic in await topics.all_topics(await self._admin()) if not topic.is_internal]

    async def partitions(self, topic: str) -> tuple[Partition, ...]:
        """A topic's partitions by number.

        Raises:
            ApiError: UNKNOWN_TOPIC_OR_PARTITION, or another error from the brokers.
        """
        partitions = (await topics.topic(await self._admin(), topic)).partitions
        self._partition_counts[topic] = (time.monotonic(), len(partitions))
        return partitions

    async def configs(self, topic: str) -> dict[str, str | None]:
        """A topic's configuration."""
        described = await configs.describe(await self._admin(), Owner(Kind.TOPIC, topic))
        return {config.name: config.value for config in described}

    async def offsets(self, topic: str, partition: int) -> tuple[int, int]:
        """A partition's first offset and its log end offset, with aborted and open transactions."""
        admin, place = await self._admin(), PartitionId(topic, partition)

        async def offset_at(special_time: int) -> int:
            answer = (await offsets.list_offsets(admin, {place: special_time}))[place]
            if isinstance(answer, ApiError):
                raise answer
            return answer.offset or 0

        beginning, end = await asyncio.gather(offset_at(offsets.EARLIEST), offset_at(offsets.LATEST))
        return beginning, end

    async def require_partition(self, topic: str, partition: int, *, topic_may_be_missing: bool = False) -> None:
        """Check that a partition exists.

        Raises:
            ApiError: PARTITION_NOT_FOUND; UNKNOWN_TOPIC_OR_PARTITION, unless `topic_may_be_missing` because a producer
                may create it.
        """
        counted_at, count = self._partition_counts.get(topic, (0.0, 0))
        if partition < count and time.monotonic() - counted_at < _PARTITIONS_SECONDS:
            return
        try:
            count = len(await self.partitions(topic))
        except ApiError as error:
            if topic_may_be_missing and error.kind is UNKNOWN_TOPIC_OR_PARTITION:
                return
            raise
        if partition >= count:
            raise PARTITION_NOT_FOUND()

    async def has_topic(self, topic: str) -> bool:
        """Tell whether a topic exists, without creating it; an answer is cached while it is yes."""
        try:
            await self.require_partition(topic, 0)
        except ApiError as error:
            if error.kind is UNKNOWN_TOPIC_OR_PARTITION:
                return False
            raise
        return True

    async def reachable(self, seconds: float) -> bool:
        """Tell whether a broker answers within `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await (await self._admin()).nodes()
        except (ApiError, TimeoutError):
            return False
        return True


def partition_body(partition: Partition) -> Mapping[str, object]:
    """A partition in the form of v1 and v2; the leader is -1 if it has none."""
    return {
        "partition": partition.number,
        "leader": _NO_LEADER if partition.leader is None else partition.leader,
        "replicas": [
            {"broker": broker, "leader": broker == partition.leader, "in_sync": broker in partition.in_sync}
            for broker in partition.replicas
        ],
    }
