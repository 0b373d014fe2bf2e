"""The configuration of the cluster: the properties that are set for all brokers."""

from __future__ import annotations

from magicbyte.http.routing.response import Json, NoContent
from rest_proxy.admin import configs
from rest_proxy.admin.configs import CLUSTER, Change
from rest_proxy.v3 import models
from rest_proxy.v3.call import ClusterCall
from rest_proxy.v3.parameters.bodies import ConfigChangesBody, ConfigValueBody
from rest_proxy.v3.parameters.paths import ConfigName
from rest_proxy.v3.resources.configs import operations


async def list_all(call: ClusterCall) -> Json[models.KafkaClusterConfigList]:
    """The configuration of all brokers: only the properties that are set."""
    return await operations.listed(call, CLUSTER)


async def get(call: ClusterCall, *, config: ConfigName) -> Json[models.KafkaClusterConfig]:
    """One property of all brokers."""
    return await operations.one(call, CLUSTER, config)


async def update(call: ClusterCall, *, body: ConfigValueBody, config: ConfigName) -> NoContent:
    """Set a property of all brokers."""
    await operations.alter(call, CLUSTER, [Change(config, None if body.value is None else str(body.value))])
    return NoContent()


async def reset(call: ClusterCall, *, config: ConfigName) -> NoContent:
    """Reset a property of all brokers to its default. It must be set."""
    operations.require_names(call, CLUSTER, await configs.describe(await call.admin(), CLUSTER), [config])
    await operations.alter(call, CLUSTER, [Change(config, None, is_reset=True)])
    return NoContent()


async def alter(call: ClusterCall, *, body: ConfigChangesBody) -> NoContent:
    """Make several changes of all brokers, all or none, or only check them."""
    changes = [change.change() for change in body.data]
    await operations.alter(call, CLUSTER, changes, validate_only=bool(body.validate_only))
    return NoContent()
