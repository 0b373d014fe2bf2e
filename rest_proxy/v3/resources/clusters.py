"""Clusters: the only one is the cluster of the proxy's brokers."""

from __future__ import annotations

from magicbyte.http.routing.response import Json
from rest_proxy.errors import NO_CLUSTER_ID
from rest_proxy.v3 import models
from rest_proxy.v3.call import Call, ClusterCall, ServerCall
from rest_proxy.v3.envelopes import Item, answer, collection, item
from rest_proxy.v3.links import relation


async def list_all(call: ServerCall) -> Json[models.KafkaClusterList]:
    """The cluster in a list."""
    admin = await call.admin()
    cluster_id = await admin.cluster_id()
    if cluster_id is None:
        raise NO_CLUSTER_ID()
    in_cluster = Call(call.request, cluster_id)
    return answer(collection("KafkaCluster", in_cluster.links.root, [await _item(in_cluster)]))


async def get(call: ClusterCall) -> Json[models.KafkaCluster]:
    """The cluster."""
    return answer(await _item(call))


async def _item(call: Call) -> Item:
    admin, links = await call.admin(), call.links
    controller = await admin.controller()
    fields = {
        "cluster_id": call.cluster_id,
        "controller": None if controller is None else relation(links.url("brokers", controller)),
        "acls": relation(links.url("acls")),
        "brokers": relation(links.url("brokers")),
        "broker_configs": relation(links.url("broker-configs")),
        "consumer_groups": relation(links.url("consumer-groups")),
        "topics": relation(links.url("topics")),
        "partition_reassignments": relation(links.url("topics", "-", "partitions", "-", "reassignment")),
    }
    return item("KafkaCluster", links.cluster, links.crn(), fields)
