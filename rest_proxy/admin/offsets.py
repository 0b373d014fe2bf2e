"""Offsets of partitions, and the deletion of records before an offset: requests to the leaders."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from magicbyte.kit.errors import ApiError
from rest_proxy.admin.client import AdminClient, PartitionId, error_of
from rest_proxy.admin.topics import Topic, topics
from rest_proxy.errors import KAFKA_RETRIABLE, from_broker

#: Special times of ListOffsets.
LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED = -1, -2, -3, -4, -5
_UNKNOWN_PARTITION = 3
#: Errors: the partition has no leader, or the broker is not its leader.
_LEADER_MOVES = frozenset((5, 6, 74, 75))
_PAUSE_SECONDS = 0.1
_ATTEMPTS = 5


class OffsetAt(NamedTuple):
    """An offset and its record's timestamp in ms; None if there is none."""

    offset: int | None
    timestamp: int | None


async def list_offsets(
    admin: AdminClient, times: Mapping[PartitionId, int], *, read_committed: bool = False
) -> dict[PartitionId, OffsetAt | ApiError]:
    """The offsets at some times (ms since 1970, or special values); an error for a partition without one.

    Args:
        admin: The admin client.
        times: The time for each partition.
        read_committed: Whether LATEST is the last stable offset instead of the log's end.
    """

    def partition(place: PartitionId) -> dict[str, Any]:
        return {"partition_index": place.partition, "current_leader_epoch": -1, "timestamp": times[place]}

    answers = await _ask_leaders(
        admin,
        times,
        "list_offsets",
        partition,
        {"replica_id": -1, "isolation_level": int(read_committed), "timeout": admin.broker_timeout},
        repeatable=True,
    )
    return {
        place: answer
        if isinstance(answer, ApiError)
        else OffsetAt(*(None if value < 0 else int(value) for value in (answer.offset, answer.timestamp)))
        for place, answer in answers.items()
    }


async def delete_records(admin: AdminClient, before: Mapping[PartitionId, int]) -> dict[PartitionId, int | ApiError]:
    """Delete the records of partitions before an offset, -1 for all; returns the first remaining offsets."""

    def partition(place: PartitionId) -> dict[str, Any]:
        return {"partition_index": place.partition, "offset": before[place]}

    answers = await _ask_leaders(
        admin, before, "delete_records", partition, {"timeout": admin.broker_timeout}, repeatable=True
    )
    return {
        place: answer if isinstance(answer, ApiError) else int(answer.low_watermark)
        for place, answer in answers.items()
    }


async def _ask_leaders(
    admin: AdminClient,
    places: Collection[PartitionId],
    name: str,
    partition: Callable[[PartitionId], dict[str, Any]],
    values: Mapping[str, Any],
    *,
    repeatable: bool,
) -> dict[PartitionId, Any]:
    """Ask the leaders in parallel, and retry while they move; returns an answer or an error for each partition."""
    answers: dict[PartitionId, Any] = {}
    left = list(places)
    for attempt in range(_ATTEMPTS):
        by_leader, errors = await _leaders(admin, left)
        answers |= errors
        started = time.monotonic()
        responses = await asyncio.gather(
            *(
                admin.ask(
                    name,
                    {**values, "topics": _topics(group, partition)},
                    node=leader,
                    optional=("timeout",),
                    repeatable=repeatable,
                )
                for leader, group in by_leader.items()
            ),
            return_exceptions=True,
        )
        left = []
        for group, response in zip(by_leader.values(), responses, strict=True):
            if isinstance(response, BaseException):
                if not isinstance(response, ApiError):
                    raise response
                if response.kind is KAFKA_RETRIABLE and attempt + 1 < _ATTEMPTS:
                    left += group
                else:
                    answers |= dict.fromkeys(group, response)
                continue
            for topic in response.topics:
                for answer in topic.partitions:
                    place = PartitionId(topic.name, answer.partition_index)
                    if answer.error_code in _LEADER_MOVES and attempt + 1 < _ATTEMPTS:
                        left.append(place)
                    else:
                        answers[place] = error_of(answer) if answer.error_code else answer
        if not left:
            break
        await asyncio.sleep(max(0.0, _PAUSE_SECONDS - (time.monotonic() - started)))
    return answers


def _topics(
    places: Collection[PartitionId], partition: Callable[[PartitionId], dict[str, Any]]
) -> list[dict[str, Any]]:
    by_topic: dict[str, list[dict[str, Any]]] = {}
    for place in places:
        by_topic.setdefault(place.topic, []).append(partition(place))
    return [{"name": topic, "partitions": partitions} for topic, partitions in by_topic.items()]


async def _leaders(
    admin: AdminClient, places: Collection[PartitionId]
) -> tuple[dict[int, list[PartitionId]], dict[PartitionId, ApiError]]:
    """Group partitions by leader; an error for each partition that does not exist or has no leader."""
    described = await topics(admin, (place.topic for place in places))
    by_leader: dict[int, list[PartitionId]] = {}
    errors: dict[PartitionId, ApiError] = {}
    for place in places:
        topic = described[place.topic]
        if isinstance(topic, ApiError):
            errors[place] = topic
            continue
        leader = _leader(topic, place.partition)
        if isinstance(leader, ApiError):
            errors[place] = leader
        else:
            by_leader.setdefault(leader, []).append(place)
    return by_leader, errors


def _leader(topic: Topic, number: int) -> int | ApiError:
    partition = next((partition for partition in topic.partitions if partition.number == number), None)
    if partition is None:
        return from_broker(_UNKNOWN_PARTITION, None, is_retriable=False)
    if partition.leader is None:
        return KAFKA_RETRIABLE(detail=f"Partition {number} of topic {topic.name} has no leader.")
    return partition.leader
