"""Offsets that consumer groups have committed: reading, altering and deleting them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from magicbyte.kit.errors import ApiError
from rest_proxy.admin.client import AdminClient, PartitionId, error_of, require
from rest_proxy.admin.groups import Group
from rest_proxy.errors import CONFLICT, KAFKA_BAD_REQUEST

#: The coordinator's errors for a commit without a member id while the group has members.
_HAS_MEMBERS = frozenset((22, 25, 27))
#: The groups of one request: an answer has all their committed offsets.
_GROUPS_AT_ONCE = 500


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
    return _offsets_in(answer)


async def committed_of_groups(
    admin: AdminClient, groups: Sequence[Group]
) -> dict[str, dict[PartitionId, int] | ApiError]:
    """The committed offsets of several groups, or an error, with one request for the groups of a coordinator."""
    by_coordinator: dict[int, list[str]] = {}
    for group in groups:
        by_coordinator.setdefault(group.coordinator, []).append(group.id)
    chunks = [
        (node, names[start : start + _GROUPS_AT_ONCE])
        for node, names in by_coordinator.items()
        for start in range(0, len(names), _GROUPS_AT_ONCE)
    ]
    answers = await asyncio.gather(*(_committed_by(admin, node, names) for node, names in chunks))
    return {name: offsets for answer in answers for name, offsets in answer.items()}


async def _committed_by(
    admin: AdminClient, node: int, names: Sequence[str]
) -> dict[str, dict[PartitionId, int] | ApiError]:
    """The committed offsets of groups of one coordinator; groups that have moved are asked for one by one."""
    values = {
        "groups": [{"group_id": name, "topics": None, "member_id": None, "member_epoch": -1} for name in names],
        "require_stable": False,
    }
    offsets: dict[str, dict[PartitionId, int] | ApiError] = {}
    try:
        response = await admin.ask("offset_fetch", values, node=node, optional=("require_stable",))
        offsets = {answer.group_id: _offsets_in(answer) for answer in response.groups if not answer.error_code}
    except ApiError as error:
        if error.kind is not KAFKA_BAD_REQUEST:  # that kind means that the broker takes one group at a time
            return dict.fromkeys(names, error)
    for name in names:
        if name not in offsets:
            try:
                offsets[name] = await committed(admin, name)
            except ApiError as error:
                offsets[name] = error
    return offsets


def _offsets_in(answer: Any) -> dict[PartitionId, int]:
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
