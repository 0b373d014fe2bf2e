"""Brokers of the cluster."""

from __future__ import annotations

from magicbyte.http.errors import NOT_FOUND
from magicbyte.http.routing.response import Json
from rest_proxy.admin.connection.nodes import Node
from rest_proxy.v3 import models
from rest_proxy.v3.call import Call, ClusterCall
from rest_proxy.v3.envelopes import Item, answer, collection, item
from rest_proxy.v3.links import relation
from rest_proxy.v3.parameters.paths import BrokerId


async def list_all(call: ClusterCall) -> Json[models.KafkaBrokerList]:
    """All brokers by id."""
    nodes = await (await call.admin()).nodes()
    items = [_item(call, nodes[broker]) for broker in sorted(nodes)]
    return answer(collection("KafkaBroker", call.links.url("brokers"), items))


async def get(call: ClusterCall, *, broker: BrokerId) -> Json[models.KafkaBroker]:
    """One broker."""
    node = (await (await call.admin()).nodes()).get(broker)
    if node is None:
        raise NOT_FOUND()
    return answer(_item(call, node))


def _item(call: Call, node: Node) -> Item:
    links = call.links
    fields = {
        "cluster_id": call.cluster_id,
        "broker_id": node.id,
        "host": node.host or None,
        "port": node.port if node.port >= 0 else None,
        "rack": node.rack,
        "configs": relation(links.url("brokers", node.id, "configs")),
        "partition_replicas": relation(links.url("brokers", node.id, "partition-replicas")),
    }
    return item("KafkaBroker", links.url("brokers", node.id), links.crn(("broker", node.id)), fields)
