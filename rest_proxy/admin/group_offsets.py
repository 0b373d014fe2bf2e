"""Offsets that consumer groups have committed: reading, altering and deleting them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from magicbyte.kit.errors import ApiError
from rest_proxy.admin.client import AdminClient, PartitionId, error_of, require
from rest_proxy.errors import CONFLICT

#: The coordinator's errors for a commit without a member id while the group has members.
_HAS_MEMBERS = frozenset((22, 25, 27))


@dataclass(frozen=True, slots=True)
class Commit:
    """An offset to commit."""

    offset: int
    metadata: str


async def committed(admin: AdminClient, group: str) -> dict[PartitionId, int]:
    """The offsets that a group has committed.

    Raises:
        ApiError: The broker's error.
    """
    values = {
        "groups": [{"group_id": group, "topics": None, "member_id": None, "member_epoch": -1}],
        "group_id": group,
        "topics": None,
        "require_stable": False,
    }
    response = await admin.ask_coordinator(
        group, "offset_fetch", values, optional=("groups", "group_id", "topics", "require_stable")
    )
    answer = response.groups[0] if hasattr(response, "groups") else response
    require(answer)
    return {
        PartitionId(topic.name, partition.partition_index): int(partition.committed_offset)
        for topic in answer.topics
        for partition in topic.partitions
        if not partition.error_code and partition.committed_offset >= 0
    }


async def commit(admin: AdminClient, group: str, commits: Mapping[PartitionId, Commit]) -> dict[PartitionId, ApiError]:
    """Commit offsets of a group without members; returns the errors of partitions.

    Raises:
        ApiError: CONFLICT if the group has members.
    """
    by_topic: dict[str, list[dict[str, object]]] = {}
    for place, new_offset in commits.items():
        by_topic.setdefault(place.topic, []).append(
            {
                "partition_index": place.partition,
                "committed_offset": new_offset.offset,
                "committed_leader_epoch": -1,
                "committed_metadata": new_offset.metadata,
            }
        )
    values = {
        "group_id": group,
        "generation_id_or_member_epoch": -1,
        "member_id": "",
        "topics": [{"name": topic, "partitions": partitions} for topic, partitions in by_topic.items()],
    }
    response = await admin.ask_coordinator(group, "offset_commit", values)
    errors: dict[PartitionId, ApiError] = {}
    for topic in response.topics:
        for partition in topic.partitions:
            if partition.error_code in _HAS_MEMBERS:
                raise CONFLICT(detail=f"Consumer Group {group} has members; alter its offsets when it has none.")
            if partition.error_code:
                errors[PartitionId(topic.name, partition.partition_index)] = error_of(partition)
    return errors


async def delete(admin: AdminClient, group: str, places: Iterable[PartitionId]) -> None:
    """Delete the committed offsets of partitions.

    Raises:
        ApiError: CONFLICT if a member is subscribed to the topic; the broker's error.
    """
    by_topic: dict[str, list[dict[str, int]]] = {}
    for place in places:
        by_topic.setdefault(place.topic, []).append({"partition_index": place.partition})
    topics = [{"name": topic, "partitions": partitions} for topic, partitions in by_topic.items()]
    response = await admin.ask_coordinator(group, "offset_delete", {"group_id": group, "topics": topics})
    require(response)
    for topic in response.topics:
        for partition in topic.partitions:
            require(partition)
