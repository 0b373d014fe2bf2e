"""The configurations of brokers."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Depends

from magicbyte.http.routing.response import Json, NoContent
from rest_proxy.admin import configs
from rest_proxy.admin.configs import Change, Kind, Owner
from rest_proxy.errors import NOT_FOUND as NOT_FOUND_BECAUSE
from rest_proxy.v3 import models
from rest_proxy.v3.call import Call, ClusterCall
from rest_proxy.v3.envelopes import answer, collection
from rest_proxy.v3.parameters.bodies import ConfigChangesBody, ConfigValueBody
from rest_proxy.v3.parameters.paths import BrokerId, ConfigName
from rest_proxy.v3.resources.configs import operations


async def _owner_of(call: Call, broker: int) -> Owner:
    """A broker as the owner of a configuration.

    Raises:
        ApiError: NOT_FOUND_BECAUSE: there is no such broker.
    """
    if broker not in await (await call.admin()).nodes():
        raise NOT_FOUND_BECAUSE(detail=f"Broker {broker} cannot be found.")
    return Owner(Kind.BROKER, str(broker))


async def _owner(call: ClusterCall, broker: BrokerId) -> Owner:
    return await _owner_of(call, broker)


#: The broker in the path, which exists; checked before the path's property. Raises NOT_FOUND_BECAUSE.
_Owner = Annotated[Owner, Depends(_owner)]


async def list_all(call: ClusterCall, *, owner: _Owner) -> Json[models.KafkaBrokerConfigList]:
    """The configuration of a broker."""
    return await operations.listed(call, owner)


async def get(call: ClusterCall, *, owner: _Owner, config: ConfigName) -> Json[models.KafkaBrokerConfig]:
    """One property of a broker."""
    return await operations.one(call, owner, config)


async def update(call: ClusterCall, *, body: ConfigValueBody, config: ConfigName, broker: BrokerId) -> NoContent:
    """Set a property of a broker."""
    change = Change(config, None if body.value is None else str(body.value))
    await operations.alter(call, await _owner_of(call, broker), [change])
    return NoContent()


async def reset(call: ClusterCall, *, owner: _Owner, config: ConfigName) -> NoContent:
    """Reset a property of a broker to its default."""
    await operations.alter(call, owner, [Change(config, None, is_reset=True)])
    return NoContent()


async def alter(call: ClusterCall, *, body: ConfigChangesBody, broker: BrokerId) -> NoContent:
    """Make several changes of a broker, all or none, or only check them."""
    changes = [change.change() for change in body.data]
    await operations.alter(call, await _owner_of(call, broker), changes, validate_only=bool(body.validate_only))
    return NoContent()


async def list_of_all(call: ClusterCall) -> Json[models.KafkaBrokerConfigList]:
    """The configurations of all brokers."""
    admin = await call.admin()
    owners = [Owner(Kind.BROKER, str(broker)) for broker in sorted(await admin.nodes())]
    described = await asyncio.gather(*(configs.describe(admin, owner) for owner in owners))
    items = [
        operations.item_of(call, owner, config)
        for owner, entries in zip(owners, described, strict=True)
        for config in entries
    ]
    return answer(collection("KafkaBrokerConfig", call.links.url("brokers", "-", "configs"), items))
