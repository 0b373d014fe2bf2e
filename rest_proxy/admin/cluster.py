"""Metadata of the Kafka cluster: brokers, topics, partitions and their offsets."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, OffsetSpec, ResourceType

from magicbyte.kit.errors import ApiError
from magicbyte.kit.kafka import client_settings as kafka
from rest_proxy.errors import (
    INVALID_ENTITY,
    PARTITION_NOT_FOUND,
    UNKNOWN_TOPIC_OR_PARTITION,
    from_kafka,
    is_silence,
    refuses,
)

log = logging.getLogger("rest_proxy.admin.cluster")

#: Topics that Kafka keeps for itself (org.apache.kafka.common.internals.Topic).
INTERNAL_TOPICS = frozenset(("__consumer_offsets", "__transaction_state", "__share_group_state"))
#: How long a topic's number of partitions is cached, in seconds; the number only grows.
_PARTITIONS_SECONDS = 30.0
#: How often to check whether the brokers refuse this client, and for how long a refusal may still be overcome.
_LISTEN_SECONDS = 0.1
_REFUSED_SECONDS = 0.5


_TOPIC_NAME = re.compile(r"(?!\.{1,2}\Z)[a-zA-Z0-9._-]{1,249}")


def is_topic_name(name: str) -> bool:
    """Tell whether a topic may have this name (org.apache.kafka.common.internals.Topic)."""
    return _TOPIC_NAME.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class Replica:
    """A copy of a partition on a broker."""

    broker: int
    leader: bool
    in_sync: bool


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition; the leader is -1 if it has none."""

    partition: int
    leader: int
    replicas: tuple[Replica, ...]


class Cluster:
    """Requests to the brokers through an admin client."""

    def __init__(self, config: kafka.Config, *, timeout_seconds: float = 10.0) -> None:
        self._admin = AdminClient({**config, "error_cb": self._on_error}, logger=log)
        self._timeout = timeout_seconds
        self._refused: KafkaError | None = None
        self._partition_counts: dict[str, tuple[float, int]] = {}

    async def broker_ids(self) -> list[int]:
        """The ids of all brokers."""
        description = await self._ask(lambda: self._admin.describe_cluster(request_timeout=self._timeout))
        return sorted(node.id for node in description.nodes)

    async def topic_names(self) -> list[str]:
        """The names of all topics except Kafka's internal ones."""
        loop = asyncio.get_running_loop()
        metadata = await self._ask(
            lambda: loop.run_in_executor(None, lambda: self._admin.list_topics(timeout=self._timeout))
        )
        return sorted(name for name in metadata.topics if name not in INTERNAL_TOPICS)

    async def partitions(self, topic: str) -> list[Partition]:
        """A topic's partitions by number.

        Raises:
            ApiError: UNKNOWN_TOPIC_OR_PARTITION, or another error from the brokers.
        """
        names = TopicCollection([topic])
        answer = await self._ask(lambda: self._admin.describe_topics(names, request_timeout=self._timeout)[topic])
        partitions = [_partition(info) for info in answer.partitions]
        self._partition_counts[topic] = (time.monotonic(), len(partitions))
        return sorted(partitions, key=lambda partition: partition.partition)

    async def configs(self, topic: str) -> dict[str, str | None]:
        """A topic's configuration."""
        resource = ConfigResource(ResourceType.TOPIC, topic)
        entries = await self._ask(
            lambda: self._admin.describe_configs([resource], request_timeout=self._timeout)[resource]
        )
        return {name: entry.value for name, entry in sorted(entries.items())}

    async def offsets(self, topic: str, partition: int) -> tuple[int, int]:
        """A partition's first offset and its log end offset, with aborted and open transactions."""
        place = TopicPartition(topic, partition)

        async def offset_at(spec: OffsetSpec) -> int:
            answer = await self._ask(
                lambda: self._admin.list_offsets(
                    {place: spec}, isolation_level=IsolationLevel.READ_UNCOMMITTED, request_timeout=self._timeout
                )[place]
            )
            return int(answer.offset)

        beginning, end = await asyncio.gather(offset_at(OffsetSpec.earliest()), offset_at(OffsetSpec.latest()))
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

    async def reachable(self, seconds: float) -> bool:
        """Tell whether a broker answers within `seconds`."""
        try:
            await asyncio.wait_for(
                self._ask(lambda: self._admin.describe_cluster(request_timeout=seconds)), timeout=seconds + 1
            )
        except (ApiError, TimeoutError):
            return False
        return True

    async def _ask(self, request: Callable[[], Any]) -> Any:
        """Wait for a request's future and return its result.

        Raises:
            ApiError: The request failed; KAFKA_AUTHENTICATION comes soon if the brokers refuse this client.
        """
        started = time.monotonic()
        try:
            answer = asyncio.wrap_future(request())
            while not (await asyncio.wait((answer,), timeout=_LISTEN_SECONDS))[0]:
                self._admin.poll(0)  # only this calls the error callback
                if self._refused is not None and time.monotonic() - started > _REFUSED_SECONDS:
                    answer.add_done_callback(asyncio.Future.exception)  # its error is not needed any more
                    raise from_kafka(self._refused)
            result = answer.result()
        except KafkaException as error:
            if not is_silence(error.args[0]):
                self._refused = None
            raise from_kafka(self._refused or error.args[0]) from None
        except ValueError as error:  # the client library refuses a name
            raise INVALID_ENTITY(detail=str(error)) from None
        self._refused = None
        return result

    def _on_error(self, error: KafkaError) -> None:
        if refuses(error):
            self._refused = error
        log.warning("admin: %s", error.str())


def _partition(info: Any) -> Partition:
    leader = info.leader.id if info.leader is not None else -1
    in_sync = {node.id for node in info.isr}
    replicas = tuple(Replica(node.id, node.id == leader, node.id in in_sync) for node in info.replicas)
    return Partition(info.id, leader, replicas)


def partition_body(partition: Partition) -> Mapping[str, object]:
    """A partition in the form of v1 and v2."""
    return {
        "partition": partition.partition,
        "leader": partition.leader,
        "replicas": [
            {"broker": replica.broker, "leader": replica.leader, "in_sync": replica.in_sync}
            for replica in partition.replicas
        ],
    }
