"""The lags of groups by topic, with few requests to the brokers; ours, beyond the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from magicbyte.kit.errors import ApiError
from rest_proxy.admin import group_offsets, offsets
from rest_proxy.admin.client import AdminClient, PartitionId
from rest_proxy.admin.groups import Group
from rest_proxy.admin.offsets import OffsetAt
from rest_proxy.v3.call import Call
from rest_proxy.v3.envelopes import Item

_Ends = Mapping[PartitionId, OffsetAt | ApiError]


async def lags_by_topic(call: Call, admin: AdminClient, groups: Sequence[Group]) -> dict[str, Item]:
    """The members that `include_lags` adds to the items of groups, by group id.

    `lags` has an entry for each topic that a group has committed offsets of or that its members have partitions of, if
    the sender may describe the topic. It is null if the coordinator does not tell the committed offsets.
    """
    committed = await group_offsets.committed_of_groups(admin, groups)
    places = {
        place
        for found in committed.values()
        if not isinstance(found, ApiError)
        for place in found
        if call.visible("DESCRIBE", "TOPIC", place.topic)
    }
    ends = await offsets.list_offsets(admin, dict.fromkeys(places, offsets.LATEST), read_committed=True)
    added: dict[str, Item] = {}
    for group in groups:
        found = committed[group.id]
        lags = None if isinstance(found, ApiError) else _of_topics(call, group, found, ends)
        added[group.id] = {"members_count": len(group.members), "lags": lags}
    return added


def _of_topics(call: Call, group: Group, committed: Mapping[PartitionId, int], ends: _Ends) -> list[Item]:
    by_topic: dict[str, list[int | None]] = {}
    for place in sorted({*committed, *(place for member in group.members for place in member.places)}):
        if call.visible("DESCRIBE", "TOPIC", place.topic):
            by_topic.setdefault(place.topic, []).append(_lag(place, committed, ends))
    items: list[Item] = []
    for topic, lags in by_topic.items():
        known = [lag for lag in lags if lag is not None]
        items.append(
            {
                "topic_name": topic,
                "partitions_count": len(lags),
                "unknown_count": len(lags) - len(known),
                "total_lag": sum(known),
                "max_lag": max(known, default=0),
            }
        )
    return items


def _lag(place: PartitionId, committed: Mapping[PartitionId, int], ends: _Ends) -> int | None:
    """The lag of a partition; None if nothing is committed, or the end of the log is not known."""
    end = ends.get(place)
    if place not in committed or end is None or isinstance(end, ApiError) or end.offset is None:
        return None
    return max(0, end.offset - committed[place])
