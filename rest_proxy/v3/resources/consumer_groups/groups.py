"""Consumer groups, their consumers, and the consumers' partitions."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends

from magicbyte.http.errors import NOT_FOUND
from magicbyte.http.routing.response import Json, NoContent
from rest_proxy.admin import groups
from rest_proxy.admin.client import PartitionId
from rest_proxy.admin.groups import Group, Member
from rest_proxy.errors import NOT_FOUND as NOT_FOUND_BECAUSE
from rest_proxy.v3 import models
from rest_proxy.v3.call import Admin, Call, ClusterCall
from rest_proxy.v3.envelopes import Item, answer, collection, item
from rest_proxy.v3.links import relation
from rest_proxy.v3.parameters.paths import ConsumerId, GroupId, PartitionPlace
from rest_proxy.v3.parameters.queries import WithLags, WithMembers, WithOperations
from rest_proxy.v3.resources.consumer_groups.lags_by_topic import lags_by_topic


async def _group_in_path(call: ClusterCall, group: GroupId) -> Group:
    found = await groups.group(await call.admin(), group)
    if found is None:
        raise NOT_FOUND()
    return found


async def _group_with_consumers(call: ClusterCall, group: GroupId) -> Group:
    found = await groups.group(await call.admin(), group)
    if found is None:
        raise NOT_FOUND_BECAUSE(detail=f"Consumer Group {group} does not exist.")
    return found


#: The group in the path; it is looked up before the path's consumer is read. Raises NOT_FOUND.
_Group = Annotated[Group, Depends(_group_in_path)]
#: The same, for lists of its parts. Raises NOT_FOUND_BECAUSE.
_GroupOfList = Annotated[Group, Depends(_group_with_consumers)]


async def list_all(call: ClusterCall, *, with_lags: WithLags = False) -> Json[models.KafkaConsumerGroupList]:
    """The consumer groups that the sender may describe, by id; with their lags by topic, if they are asked for."""
    admin = await call.admin()
    shown = [group for group in await groups.all_groups(admin) if call.visible("DESCRIBE", "GROUP", group.id)]
    lags = await lags_by_topic(call, admin, shown) if with_lags else {}
    items = [{**_group(call, group), **lags.get(group.id, {})} for group in shown]
    return answer(collection("KafkaConsumerGroup", call.links.url("consumer-groups"), items))


async def get(
    call: ClusterCall,
    *,
    admin: Admin,
    name: GroupId,
    with_lags: WithLags = False,
    with_members: WithMembers = False,
    with_operations: WithOperations = False,
) -> Json[models.KafkaConsumerGroup]:
    """One consumer group."""
    group = await groups.group(admin, name, authorized_operations=with_operations)
    if group is None:
        raise NOT_FOUND()
    fields = _group(call, group)
    if with_lags:
        fields |= (await lags_by_topic(call, admin, [group]))[group.id]
    if with_members:
        fields["members"] = [_member_with_places(call, member) for member in group.members]
    if with_operations:
        fields["authorized_operations"] = call.permitted(group.authorized_operations, "GROUP", group.id)
    return answer(fields)


async def delete(*, admin: Admin, group: GroupId) -> NoContent:
    """Delete a group that has no members, with its committed offsets."""
    await groups.delete(admin, group)
    return NoContent()


async def consumers(call: ClusterCall, *, group: _GroupOfList) -> Json[models.KafkaConsumerList]:
    """A group's consumers by id."""
    items = [_consumer(call, group, member) for member in group.members]
    return answer(collection("KafkaConsumer", call.links.url("consumer-groups", group.id, "consumers"), items))


async def consumer(call: ClusterCall, *, group: _Group, consumer: ConsumerId) -> Json[models.KafkaConsumer]:
    """One consumer."""
    member = _member(group, consumer)
    if member is None:
        raise NOT_FOUND()
    return answer(_consumer(call, group, member))


async def assignments(
    call: ClusterCall, *, group: _GroupOfList, consumer: ConsumerId
) -> Json[models.KafkaConsumerAssignmentList]:
    """The partitions that a consumer has, of topics that the sender may describe."""
    member = _member(group, consumer)
    if member is None:
        raise NOT_FOUND_BECAUSE(detail=f"Consumer {consumer} does not exist.")
    items = [
        _assignment(call, group, member, place)
        for place in member.places
        if call.visible("DESCRIBE", "TOPIC", place.topic)
    ]
    url = call.links.url("consumer-groups", group.id, "consumers", member.id, "assignments")
    return answer(collection("KafkaConsumerAssignment", url, items))


async def assignment(
    call: ClusterCall, *, place: PartitionPlace, group: _Group, consumer: ConsumerId
) -> Json[models.KafkaConsumerAssignment]:
    """One partition that a consumer has."""
    member = _member(group, consumer)
    if member is None or place not in member.places:
        raise NOT_FOUND()
    return answer(_assignment(call, group, member, place))


def _member(group: Group, consumer: str) -> Member | None:
    return next((member for member in group.members if member.id == consumer), None)


def _group(call: Call, group: Group) -> Item:
    url = call.links.url("consumer-groups", group.id)
    fields = {
        "cluster_id": call.cluster_id,
        "consumer_group_id": group.id,
        "is_simple": group.is_simple,
        "partition_assignor": group.assignor,
        "state": group.state,
        "type": group.type,
        "is_mixed_consumer_group": group.is_mixed,
        "coordinator": relation(call.links.url("brokers", group.coordinator)),
        "consumers": relation(f"{url}/consumers"),
        "lag_summary": relation(f"{url}/lag-summary"),
    }
    return item("KafkaConsumerGroup", url, call.links.crn(("consumer-group", group.id)), fields)


def _member_with_places(call: Call, member: Member) -> Item:
    return {
        "consumer_id": member.id,
        "instance_id": member.instance_id,
        "client_id": member.client_id,
        "host": member.host,
        "assignments": [
            {"topic_name": place.topic, "partition_id": place.partition}
            for place in member.places
            if call.visible("DESCRIBE", "TOPIC", place.topic)
        ],
    }


def _consumer(call: Call, group: Group, member: Member) -> Item:
    url = call.links.url("consumer-groups", group.id, "consumers", member.id)
    fields = {
        "cluster_id": call.cluster_id,
        "consumer_group_id": group.id,
        "consumer_id": member.id,
        "instance_id": member.instance_id,
        "client_id": member.client_id,
        "assignments": relation(f"{url}/assignments"),
    }
    crn = call.links.crn(("consumer-group", group.id), ("consumer", member.id))
    return item("KafkaConsumer", url, crn, fields)


def _assignment(call: Call, group: Group, member: Member, place: PartitionId) -> Item:
    links = call.links
    partition = (place.topic, "partitions", place.partition)
    fields = {
        "cluster_id": call.cluster_id,
        "consumer_group_id": group.id,
        "consumer_id": member.id,
        "topic_name": place.topic,
        "partition_id": place.partition,
        "partition": relation(links.url("topics", *partition)),
        "lag": relation(links.url("consumer-groups", group.id, "lags", *partition)),
    }
    url = links.url("consumer-groups", group.id, "consumers", member.id, "assignments", *partition)
    crn = links.crn(
        ("consumer-group", group.id),
        ("consumer", member.id),
        ("assignment", place.topic),
        ("partition", place.partition),
    )
    return item("KafkaConsumerAssignment", url, crn, fields)
