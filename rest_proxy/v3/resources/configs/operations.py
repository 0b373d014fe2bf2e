"""The operations on a configuration, whoever owns it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from magicbyte.http.errors import NOT_FOUND
from magicbyte.http.routing.response import Json
from rest_proxy.admin import configs
from rest_proxy.admin.configs import CLUSTER, Change, Config, Kind, Owner
from rest_proxy.errors import NOT_FOUND as NOT_FOUND_BECAUSE
from rest_proxy.v3.call import Call
from rest_proxy.v3.envelopes import Item, answer, collection, item

#: Properties of a broker that Kafka describes only if they are set.
_UNDESCRIBED = frozenset(
    (
        "leader.replication.throttled.rate",
        "follower.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
    )
)


async def listed(call: Call, owner: Owner) -> Json[Any]:
    """The answer with the configuration of one owner by name; for the cluster, only the properties that are set."""
    described = await configs.describe(await call.admin(), owner)
    items = [item_of(call, owner, config) for config in described]
    return answer(collection(_kind(owner), _url(call, owner), items))


async def one(call: Call, owner: Owner, name: str) -> Json[Any]:
    """The answer with one property.

    Raises:
        ApiError: NOT_FOUND.
    """
    for config in await configs.describe(await call.admin(), owner):
        if config.name == name:
            return answer(item_of(call, owner, config))
    raise NOT_FOUND()


async def alter(call: Call, owner: Owner, changes: Sequence[Change], *, validate_only: bool = False) -> None:
    """Make changes of one owner, all or none, or only check them.

    Raises:
        ApiError: NOT_FOUND_BECAUSE: the owner has no such property.
    """
    admin = await call.admin()
    if owner != CLUSTER:
        names = [change.name for change in changes if owner.kind is Kind.TOPIC or change.name not in _UNDESCRIBED]
        require_names(call, owner, await configs.describe(admin, owner), names)
    await configs.alter(admin, owner, changes, validate_only=validate_only)


def require_names(call: Call, owner: Owner, described: Sequence[Config], names: Sequence[str]) -> None:
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


def _kind(owner: Owner) -> str:
    if owner.kind is Kind.TOPIC:
        return "KafkaTopicConfig"
    return "KafkaBrokerConfig" if owner.name else "KafkaClusterConfig"


def _url(call: Call, owner: Owner, *name: str) -> str:
    if owner == CLUSTER:
        return call.links.url("broker-configs", *name)
    return call.links.url("topics" if owner.kind is Kind.TOPIC else "brokers", owner.name, "configs", *name)


def item_of(call: Call, owner: Owner, config: Config) -> Item:
    """The item of a property."""
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
