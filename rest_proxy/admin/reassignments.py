"""Partition reassignments in progress."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rest_proxy.admin.client import AdminClient, PartitionId, require


@dataclass(frozen=True, slots=True)
class Reassignment:
    """A partition that is being reassigned."""

    place: PartitionId
    adding: tuple[int, ...]
    removing: tuple[int, ...]


async def reassignments(admin: AdminClient, places: Iterable[PartitionId] | None) -> list[Reassignment]:
    """The reassignments of some partitions (None: of all), by topic and partition.

    Raises:
        ApiError: The broker's error.
    """
    by_topic: dict[str, list[int]] = {}
    for place in places or ():
        by_topic.setdefault(place.topic, []).append(place.partition)
    asked = [{"name": topic, "partition_indexes": numbers} for topic, numbers in by_topic.items()]
    if places is not None and not asked:
        return []
    response = await admin.ask_controller(
        "list_partition_reassignments",
        {"timeout": admin.broker_timeout, "topics": None if places is None else asked},
        repeatable=True,
    )
    require(response)
    return sorted(
        (
            Reassignment(
                PartitionId(topic.name, partition.partition_index),
                partition.adding_replicas,
                partition.removing_replicas,
            )
            for topic in response.topics
            for partition in topic.partitions
        ),
        key=lambda reassignment: reassignment.place,
    )
