"""Configurations of topics, of brokers, and of the cluster: the same operations on three kinds of owners."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from starlette.responses import Response

from magicbyte.http.errors import NOT_FOUND
from magicbyte.kit.errors import ApiError
from rest_proxy.access.decisions import require_topics
from rest_proxy.admin import configs, topics
from rest_proxy.admin.configs import CLUSTER, Change, Config, Kind, Owner
from rest_proxy.errors import KAFKA_BAD_REQUEST, UNKNOWN_TOPIC_OR_PARTITION
from rest_proxy.errors import NOT_FOUND as NOT_FOUND_BECAUSE
from rest_proxy.exchange.negotiation import json_bytes
from rest_proxy.v3 import bodies
from rest_proxy.v3.call import Call
from rest_proxy.v3.envelopes import Item, answer, collection, item, joined_collection, no_content


class ValueBody(Struct, forbid_unknown_fields=True):
    """The value to set."""

    value: bodies.Text | None = None


class ChangeBody(Struct, forbid_unknown_fields=True):
    """A property to set or to reset."""

    name: bodies.Text
    value: bodies.Text | None = None
    operation: Literal["SET", "DELETE"] | None = None

    def change(self) -> Change:
        """The change in the admin client's form."""
        return Change(str(self.name), None if self.value is None else str(self.value), self.operation == "DELETE")


class AlterBody(Struct, forbid_unknown_fields=True):
    """Changes of one owner."""

    data: list[ChangeBody]
    validate_only: bool | None = None


class TopicChangesBody(Struct, forbid_unknown_fields=True):
    """Changes of one of several topics."""

    topic_name: bodies.Text
    configs: list[ChangeBody]


class AlterTopicsBody(Struct, forbid_unknown_fields=True):
    """Changes of several topics."""

    data: list[TopicChangesBody]
    validate_only: bool | None = None


_VALUE = bodies.reader_of(ValueBody)
_ALTER = bodies.reader_of(AlterBody)
_ALTER_TOPICS = bodies.reader_of(AlterTopicsBody)
#: Properties of a broker that Kafka describes only if they are set.
_UNDESCRIBED = frozenset(
    (
        "leader.replication.throttled.rate",
        "follower.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
    )
)
#: How many topics are described in one request: an answer has about 5 KB for each.
_TOPICS_AT_ONCE = 200


async def owner_of(call: Call) -> Owner:
    """The owner that the path names.

    Raises:
        ApiError: NOT_FOUND_BECAUSE: there is no such broker.
    """
    parameters = call.request.match.parameters
    if "topic" in parameters:
        return Owner(Kind.TOPIC, call.segment("topic"))
    if "broker" not in parameters:
        return CLUSTER
    broker = call.integer("broker")
    if broker not in await (await call.admin()).nodes():
        raise NOT_FOUND_BECAUSE(detail=f"Broker {broker} cannot be found.")
    return Owner(Kind.BROKER, str(broker))


async def list_all(call: Call) -> Response:
    """The configuration of one owner by name; for the cluster, only the properties that are set."""
    owner = await owner_of(call)
    described = await configs.describe(await call.admin(), owner)
    items = [_item(call, owner, config) for config in described]
    return answer(collection(_kind(owner), _url(call, owner), items))


async def get(call: Call) -> Response:
    """One property."""
    owner, name = await owner_of(call), call.segment("config")
    for config in await configs.describe(await call.admin(), owner):
        if config.name == name:
            return answer(_item(call, owner, config))
    raise NOT_FOUND()


async def update(call: Call) -> Response:
    """Set one property."""
    body = bodies.read(_VALUE, await call.request.body())
    name, value = call.segment("config"), None if body.value is None else str(body.value)
    await _alter(call, await owner_of(call), [Change(name, value)], validate_only=False)
    return no_content()


async def reset(call: Call) -> Response:
    """Reset one property to its default; of the cluster, only one that is set."""
    owner, name = await owner_of(call), call.segment("config")
    if owner == CLUSTER:
        _require_names(call, owner, await configs.describe(await call.admin(), owner), [name])
    await _alter(call, owner, [Change(name, None, is_reset=True)], validate_only=False)
    return no_content()


async def alter(call: Call) -> Response:
    """Make several changes of one owner, all or none, or only check them."""
    body = bodies.read(_ALTER, await call.request.body())
    changes = [change.change() for change in body.data]
    await _alter(call, await owner_of(call), changes, validate_only=bool(body.validate_only))
    return no_content()


async def _alter(call: Call, owner: Owner, changes: Sequence[Change], *, validate_only: bool) -> None:
    admin = await call.admin()
    if owner != CLUSTER:
        names = [change.name for change in changes if owner.kind is Kind.TOPIC or change.name not in _UNDESCRIBED]
        _require_names(call, owner, await configs.describe(admin, owner), names)
    await configs.alter(admin, owner, changes, validate_only=validate_only)


def _require_names(call: Call, owner: Owner, described: Sequence[Config], names: Sequence[str]) -> None:
    """Check that properties exist.

    Raises:
        ApiError: NOT_FOUND_BECAUSE.
    """
    existing = {config.name for config in described}
    for name in names:
        if name not in existing:
            whose = f" for {owner.kind.name} {owner.name}" if owner.name else ""
            text = f"Config {name} cannot be found{whose} in cluster {call.cluster_id}."
            raise NOT_FOUND_BECAUSE(detail=text)


async def alter_topics(call: Call) -> Response:
    """Make changes of several topics, all or none for each topic, or only check them."""
    body = bodies.read(_ALTER_TOPICS, await call.request.body())
    names = [str(changes.topic_name) for changes in body.data]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise KAFKA_BAD_REQUEST(detail=f"data: the topic {min(repeated)} is given more than once")
    require_topics(call.request, "ALTER_CONFIGS", *names)
    admin = await call.admin()
    if not names:
        return no_content()
    owners = [Owner(Kind.TOPIC, name) for name in names]
    altered: list[tuple[Owner, list[Change]]] = []
    for owner, described, changes in zip(owners, await configs.describe_all(admin, owners), body.data, strict=True):
        if isinstance(described, ApiError):
            raise described
        asked = [change.change() for change in changes.configs]
        _require_names(call, owner, described, [change.name for change in asked])
        altered.append((owner, asked))
    errors = await configs.alter_all(admin, altered, validate_only=bool(body.validate_only))
    if not errors:
        return no_content()
    failures = [{"topic_name": owner.name, **errors[owner].body()} for owner in owners if owner in errors]
    return answer({"failures": failures}, 207)


async def list_of_topics(call: Call) -> Response:
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
            texts += (json_bytes(_item(call, owner, config)) for config in entries)
    return joined_collection("KafkaTopicConfig", call.links.url("topics", "-", "configs"), texts)


async def list_of_brokers(call: Call) -> Response:
    """The configurations of all brokers."""
    admin = await call.admin()
    owners = [Owner(Kind.BROKER, str(broker)) for broker in sorted(await admin.nodes())]
    described = await asyncio.gather(*(configs.describe(admin, owner) for owner in owners))
    items = [_item(call, owner, config) for owner, entries in zip(owners, described, strict=True) for config in entries]
    return answer(collection("KafkaBrokerConfig", call.links.url("brokers", "-", "configs"), items))


def _kind(owner: Owner) -> str:
    if owner.kind is Kind.TOPIC:
        return "KafkaTopicConfig"
    return "KafkaBrokerConfig" if owner.name else "KafkaClusterConfig"


def _url(call: Call, owner: Owner, *name: str) -> str:
    if owner == CLUSTER:
        return call.links.url("broker-configs", *name)
    return call.links.url("topics" if owner.kind is Kind.TOPIC else "brokers", owner.name, "configs", *name)


def _item(call: Call, owner: Owner, config: Config) -> Item:
    whose: dict[str, str | int]
    if owner == CLUSTER:
        whose, crn = {"config_type": "BROKER"}, call.links.crn(("broker-config", config.name))
    elif owner.kind is Kind.TOPIC:
        whose, crn = {"topic_name": owner.name}, call.links.crn(("topic", owner.name), ("config", config.name))
    else:
        whose, crn = {"broker_id": int(owner.name)}, call.links.crn(("broker", owner.name), ("config", config.name))
    fields = {
        "cluster_id": call.cluster_id,
        **whose,
        "name": config.name,
        "value": config.value,
        "is_default": config.is_default,
        "is_read_only": config.is_read_only,
        "is_sensitive": config.is_sensitive,
        "source": config.source,
        "synonyms": [
            {"name": synonym.name, "value": synonym.value, "source": synonym.source} for synonym in config.synonyms
        ],
    }
    return item(_kind(owner), _url(call, owner, config.name), crn, fields)
