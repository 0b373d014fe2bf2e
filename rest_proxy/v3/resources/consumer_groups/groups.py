"""Consumer groups, their consumers, and the consumers' partitions."""

from __future__ import annotations

from starlette.responses import Response

from magicbyte.http.errors import NOT_FOUND
from rest_proxy.admin import groups
from rest_proxy.admin.client import Place
from rest_proxy.admin.groups import Group, Member
from rest_proxy.errors import NOT_FOUND as NOT_FOUND_BECAUSE
from rest_proxy.v3.call import Call
from rest_proxy.v3.envelopes import Item, answer, collection, item, no_content
from rest_proxy.v3.links import relation


async def list_all(call: Call) -> Response:
    """The consumer groups that the sender may describe."""
    shown = await groups.all_groups(await call.admin())
    items = [_group(call, group) for group in shown if call.visible("DESCRIBE", "GROUP", group.id)]
    return answer(collection("KafkaConsumerGroup", call.links.url("consumer-groups"), items))


async def get(call: Call) -> Response:
    """One consumer group."""
    return answer(_group(call, await _existing(call, None)))


async def delete(call: Call) -> Response:
    """Delete a group that has no members, with its committed offsets."""
    await groups.delete(await call.admin(), call.segment("group"))
    return no_content()


async def consumers(call: Call) -> Response:
    """A group's consumers by id."""
    group = await _existing(call, "Consumer Group {group} does not exist.")
    items = [_consumer(call, group, member) for member in group.members]
    return answer(collection("KafkaConsumer", call.links.url("consumer-groups", group.id, "consumers"), items))


async def consumer(call: Call) -> Response:
    """One consumer."""
    group = await _existing(call, None)
    return answer(_consumer(call, group, _member(call, group, None)))


async def assignments(call: Call) -> Response:
    """The partitions that a consumer has, of topics that the sender may describe."""
    group = await _existing(call, "Consumer Group {group} does not exist.")
    member = _member(call, group, "Consumer {consumer} does not exist.")
    items = [
        _assignment(call, group, member, place)
        for place in member.places
        if call.visible("DESCRIBE", "TOPIC", place.topic)
    ]
    url = call.links.url("consumer-groups", group.id, "consumers", member.id, "assignments")
    return answer(collection("KafkaConsumerAssignment", url, items))


async def assignment(call: Call) -> Response:
    """One partition that a consumer has."""
    place = Place(call.segment("topic"), call.integer("partition"))
    group = await _existing(call, None)
    member = _member(call, group, None)
    if place not in member.places:
        raise NOT_FOUND()
    return answer(_assignment(call, group, member, place))


async def _existing(call: Call, text: str | None) -> Group:
    """The path's group.

    Raises:
        ApiError: NOT_FOUND_BECAUSE with this text, or NOT_FOUND without one.
    """
    name = call.segment("group")
    group = await groups.group(await call.admin(), name)
    if group is None:
        raise NOT_FOUND() if text is None else NOT_FOUND_BECAUSE(detail=text.format(group=name))
    return group


def _member(call: Call, group: Group, text: str | None) -> Member:
    name = call.segment("consumer")
    for member in group.members:
        if member.id == name:
            return member
    raise NOT_FOUND() if text is None else NOT_FOUND_BECAUSE(detail=text.format(consumer=name))


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


def _assignment(call: Call, group: Group, member: Member, place: Place) -> Item:
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
