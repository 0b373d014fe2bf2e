"""Whether a client may create the topic that it produces to."""

from __future__ import annotations

from rest_proxy.access.rights import ProxyRights
from rest_proxy.admin.cluster import Cluster


async def may_create_topic(rights: ProxyRights | None, cluster: Cluster, topic: str) -> bool:
    """Require CREATE before producing to a topic that does not exist: the brokers would create it for the proxy.

    Returns:
        Whether the sender may create the topic. If not, the producer must not create it either: the topic may have been
        deleted since this node looked it up.

    Raises:
        ApiError: KAFKA_AUTHORIZATION.
    """
    if rights is None or rights.may_create(topic):
        return True
    if not await cluster.has_topic(topic):
        rights.require(("CREATE",), "TOPIC", topic)
    return False
