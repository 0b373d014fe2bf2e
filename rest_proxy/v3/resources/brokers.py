"""Brokers of the cluster."""

from __future__ import annotations

from starlette.responses import Response

from magicbyte.http.errors import NOT_FOUND
from rest_proxy.admin.connection.nodes import Node
from rest_proxy.v3.call import Call
from rest_proxy.v3.envelopes import Item, answer, collection, item
from rest_proxy.v3.links import relation


async def list_all(call: Call) -> Response:
    """All brokers by id."""
    nodes = await (await call.admin()).nodes()
    items = [_item(call, nodes[broker]) for broker in sorted(nodes)]
    return answer(collection("KafkaBroker", call.links.url("brokers"), items))


async def get(call: Call) -> Response:
    """One broker."""
    broker = call.integer("broker")
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
