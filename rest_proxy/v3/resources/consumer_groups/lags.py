"""Lags: how far a group's committed offsets are behind the ends of the partitions; and their sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from magicbyte.http.errors import NOT_FOUND
from magicbyte.http.routing.response import Json, NoContent
from magicbyte.kit.errors import ApiError
from rest_proxy.admin import group_offsets, groups, offsets
from rest_proxy.admin.client import AdminClient, PartitionId
from rest_proxy.admin.groups import Group, Member
from rest_proxy.errors import NOT_FOUND as NOT_FOUND_BECAUSE
from rest_proxy.v3 import models
from rest_proxy.v3.call import Admin, Call, ClusterCall
from rest_proxy.v3.envelopes import Item, answer, collection, item
from rest_proxy.v3.links import relation
from rest_proxy.v3.parameters.paths import GroupId, PartitionPlace


@dataclass(frozen=True, slots=True)
class Lag:
    """The lag of one partition; the end is None if the topic is gone or the partition has no leader."""

    place: PartitionId
    member: Member | None
    current: int
    end: int | None

    @property
    def lag(self) -> int | None:
        """The number of records behind, or None if the end is not known."""
        return None if self.end is None else max(0, self.end - self.current)


async def list_all(call: ClusterCall, *, group: GroupId) -> Json[models.KafkaConsumerLagList]:
    """A group's lags, the longest first, of topics that the sender may describe."""
    url = call.links.url("consumer-groups", group, "lags")
    lags = await _lags(call, await call.admin(), group)
    return answer(collection("KafkaConsumerLag", url, [item_of(call, group, lag) for lag in lags]))


async def get(
    call: ClusterCall, *, place: PartitionPlace, admin: Admin, group: GroupId
) -> Json[models.KafkaConsumerLag]:
    """The lag of one partition."""
    described = await groups.group(admin, group)
    committed = {} if described is None else await group_offsets.committed(admin, group)
    if described is None or place not in committed:
        raise NOT_FOUND()
    (lag,) = await lags_of(admin, described, {place: committed[place]})
    return answer(item_of(call, group, lag))


async def delete(_call: ClusterCall, *, place: PartitionPlace, admin: Admin, group: GroupId) -> NoContent:
    """Delete the offset that a group has committed for a partition."""
    await group_offsets.delete(admin, group, [place])
    return NoContent()


async def summary(call: ClusterCall, *, admin: Admin, group: GroupId) -> Json[models.KafkaConsumerGroupLagSummary]:
    """The longest lag and the sum of a group's lags."""
    lags = await _lags(call, admin, group)
    longest, links = lags[0], call.links
    url = links.url("consumer-groups", group)
    member = longest.member
    consumers = () if member is None else (member.id,)
    fields = {
        "cluster_id": call.cluster_id,
        "consumer_group_id": group,
        "max_lag_consumer_id": "" if member is None else member.id,
        "max_lag_instance_id": None if member is None else member.instance_id,
        "max_lag_client_id": "" if member is None else member.client_id,
        "max_lag_topic_name": longest.place.topic,
        "max_lag_partition_id": longest.place.partition,
        "max_lag": longest.lag or 0,
        "total_lag": sum(lag.lag or 0 for lag in lags),
        "max_lag_consumer": relation(links.url("consumer-groups", group, "consumers", *consumers)),
        "max_lag_partition": relation(links.url("topics", longest.place.topic, "partitions", longest.place.partition)),
    }
    crn = links.crn(("consumer-group", group), "lag-summary")
    return answer(item("KafkaConsumerGroupLagSummary", f"{url}/lag-summary", crn, fields))


async def _lags(call: Call, admin: AdminClient, name: str) -> list[Lag]:
    """All lags of a group that the sender may see.

    Raises:
        ApiError: NOT_FOUND_BECAUSE: there is no such group, or it has committed nothing that the sender may see.
    """
    group = await groups.group(admin, name)
    if group is None:
        raise NOT_FOUND_BECAUSE(detail=f"Consumer Group {name} could not be found.")
    committed = await group_offsets.committed(admin, name)
    if not committed:
        raise NOT_FOUND_BECAUSE(detail="Consumer group offsets could not be found.")
    visible = {place: offset for place, offset in committed.items() if call.visible("DESCRIBE", "TOPIC", place.topic)}
    if not visible:
        raise NOT_FOUND_BECAUSE(detail="Consumer lags not found.")
    return await lags_of(admin, group, visible)


async def lags_of(admin: AdminClient, group: Group, committed: dict[PartitionId, int]) -> list[Lag]:
    """The lags of some committed offsets, the longest first, then by topic and partition."""
    ends = await offsets.list_offsets(admin, dict.fromkeys(committed, offsets.LATEST), read_committed=True)
    members = {place: member for member in group.members for place in member.places}
    lags: list[Lag] = []
    for place, current in committed.items():
        end = ends.get(place)
        lags.append(
            Lag(place, members.get(place), current, None if end is None or isinstance(end, ApiError) else end.offset)
        )
    return in_order(lags)


def in_order(lags: Sequence[Lag]) -> list[Lag]:
    """Lags with the longest first, then by topic and partition; unknown ones last."""
    return sorted(lags, key=lambda lag: (lag.lag is None, -(lag.lag or 0), lag.place))


def item_of(call: Call, group: str, lag: Lag) -> Item:
    """The item of a lag."""
    links, (topic, number), member = call.links, lag.place, lag.member
    fields = {
        "cluster_id": call.cluster_id,
        "consumer_group_id": group,
        "topic_name": topic,
        "partition_id": number,
        "consumer_id": "" if member is None else member.id,
        "instance_id": None if member is None else member.instance_id,
        "client_id": "" if member is None else member.client_id,
        "current_offset": lag.current,
        "log_end_offset": lag.end,
        "lag": lag.lag,
    }
    url = links.url("consumer-groups", group, "lags", topic, "partitions", number)
    crn = links.crn(("consumer-group", group), ("lag", topic), ("partition", number))
    return item("KafkaConsumerLag", url, crn, fields)
