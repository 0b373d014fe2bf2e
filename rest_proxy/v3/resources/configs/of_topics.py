"""The configurations of topics."""

from __future__ import annotations

from starlette.responses import Response

from magicbyte.http.routing.response import Json, NoContent
from magicbyte.kit.errors import ApiError
from rest_proxy.access.decisions import require_topics
from rest_proxy.admin import configs, topics
from rest_proxy.admin.configs import Change, Kind, Owner
from rest_proxy.errors import KAFKA_BAD_REQUEST, UNKNOWN_TOPIC_OR_PARTITION
from rest_proxy.exchange.negotiation import json_bytes
from rest_proxy.v3 import models
from rest_proxy.v3.call import ClusterCall
from rest_proxy.v3.envelopes import answer, joined_collection
from rest_proxy.v3.parameters.bodies import ConfigChangesBody, ConfigValueBody, TopicConfigChangesBody
from rest_proxy.v3.parameters.paths import ConfigName, TopicName
from rest_proxy.v3.resources.configs import operations

#: How many topics are described in one request: an answer has about 5 KB for each.
_TOPICS_AT_ONCE = 200


async def list_all(call: ClusterCall, *, topic: TopicName) -> Json[models.KafkaTopicConfigList]:
    """The configuration of a topic."""
    return await operations.listed(call, Owner(Kind.TOPIC, topic))


async def get(call: ClusterCall, *, topic: TopicName, config: ConfigName) -> Json[models.KafkaTopicConfig]:
    """One property of a topic."""
    return await operations.one(call, Owner(Kind.TOPIC, topic), config)


async def update(call: ClusterCall, *, body: ConfigValueBody, config: ConfigName, topic: TopicName) -> NoContent:
    """Set a property of a topic."""
    change = Change(config, None if body.value is None else str(body.value))
    await operations.alter(call, Owner(Kind.TOPIC, topic), [change])
    return NoContent()


async def reset(call: ClusterCall, *, topic: TopicName, config: ConfigName) -> NoContent:
    """Reset a property of a topic to its default."""
    await operations.alter(call, Owner(Kind.TOPIC, topic), [Change(config, None, is_reset=True)])
    return NoContent()


async def alter(call: ClusterCall, *, body: ConfigChangesBody, topic: TopicName) -> NoContent:
    """Make several changes of a topic, all or none, or only check them."""
    changes = [change.change() for change in body.data]
    await operations.alter(call, Owner(Kind.TOPIC, topic), changes, validate_only=bool(body.validate_only))
    return NoContent()


async def alter_several(call: ClusterCall, *, body: TopicConfigChangesBody) -> Response:
    """Make changes of several topics, all or none for each topic, or only check them."""
    names = [str(changes.topic_name) for changes in body.data]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise KAFKA_BAD_REQUEST(detail=f"data: the topic {min(repeated)} is given more than once")
    require_topics(call.request, "ALTER_CONFIGS", *names)
    admin = await call.admin()
    if not names:
        return NoContent()
    owners = [Owner(Kind.TOPIC, name) for name in names]
    altered: list[tuple[Owner, list[Change]]] = []
    for owner, described, changes in zip(owners, await configs.describe_all(admin, owners), body.data, strict=True):
        if isinstance(described, ApiError):
            raise described
        asked = [change.change() for change in changes.configs]
        operations.require_names(call, owner, described, [change.name for change in asked])
        altered.append((owner, asked))
    errors = await configs.alter_all(admin, altered, validate_only=bool(body.validate_only))
    if not errors:
        return NoContent()
    failures = [{"topic_name": owner.name, **errors[owner].body()} for owner in owners if owner in errors]
    return answer({"failures": failures}, 207)


async def list_of_all(call: ClusterCall) -> Json[models.KafkaTopicConfigList]:
    """The configurations of all topics whose configuration the sender may see."""
    admin = await call.admin()
    owners = [
        Owner(Kind.TOPIC, topic.name)
        for topic in await topics.all_topics(admin)
        if not topic.is_internal and call.visible("DESCRIBE_CONFIGS", "TOPIC", topic.name)
    ]
    # As JSON text: the objects of thousands of topics would take several times its memory.
    texts: list[bytes] = []
    for start in range(0, len(owners), _TOPICS_AT_ONCE):
        some = owners[start : start + _TOPICS_AT_ONCE]
        for owner, entries in zip(some, await configs.describe_all(admin, some), strict=True):
            if isinstance(entries, ApiError):
                if entries.kind is UNKNOWN_TOPIC_OR_PARTITION:
                    continue  # It was deleted meanwhile.
                raise entries
            texts += (json_bytes(operations.item_of(call, owner, config)) for config in entries)
    return joined_collection("KafkaTopicConfig", call.links.url("topics", "-", "configs"), texts)
