"""The access rule of each v3 endpoint, by the names of `api.endpoints.allowlist`; rows of v3 take theirs from here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from magicbyte.http.routing.access import SIGNED_IN, Access, Operation, Resource

_CLUSTER, _TOPIC, _GROUP = (
    partial(Access, resource=resource) for resource in (Resource.CLUSTER, Resource.TOPIC, Resource.GROUP)
)
_DESCRIBE, _DESCRIBE_CONFIGS = Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS
_ALTER, _ALTER_CONFIGS = Operation.ALTER, Operation.ALTER_CONFIGS
_ROWS_OF_TOPICS = _TOPIC(_DESCRIBE, filters=True)
#: Rows of a group are left out if the sender may not describe their topic.
_GROUP_AND_TOPICS = _GROUP(_DESCRIBE, also=_ROWS_OF_TOPICS)


def _configs(resource: partial[Access]) -> dict[str, Access]:
    """The rules of the endpoints of one kind of configuration."""
    read, write = resource(_DESCRIBE_CONFIGS), resource(_ALTER_CONFIGS)
    return {"list": read, "get": read, "update": write, "delete": write, "alter": write}


_ENDPOINTS: Mapping[str, Mapping[str, Access]] = {
    "acls": {
        "list": _CLUSTER(_DESCRIBE),
        "create": _CLUSTER(_ALTER),
        "delete": _CLUSTER(_ALTER),
        "batch-create": _CLUSTER(_ALTER),
    },
    "batch-produce": {"produce-to-topic": _TOPIC(Operation.WRITE)},
    "broker-configs": _configs(_CLUSTER),
    "brokers": {"list": _CLUSTER(_DESCRIBE), "get": _CLUSTER(_DESCRIBE)},
    "brokers-configs": {"list": _CLUSTER(_DESCRIBE_CONFIGS)},
    "cluster-configs": _configs(_CLUSTER),
    # Ours: a summary of the brokers and of all partitions.
    "cluster-health": {"get": _CLUSTER(_DESCRIBE)},
    # Every path has the cluster's id. Kafka tells it to every client, too.
    "clusters": {"list": SIGNED_IN, "get": _CLUSTER(_DESCRIBE)},
    "consumer-assignments": {"list": _GROUP_AND_TOPICS, "get": _GROUP(_DESCRIBE, also=_TOPIC(_DESCRIBE))},
    "consumer-group-lag-summary": {"get": _GROUP_AND_TOPICS},
    # `delete` and `alter-offsets`, which are ours, need the rights that Kafka requires for the same requests.
    "consumer-groups": {
        "list": _GROUP(_DESCRIBE, filters=True),
        "get": _GROUP(_DESCRIBE),
        "delete": _GROUP(Operation.DELETE),
        "alter-offsets": _GROUP(Operation.READ, also=_TOPIC(Operation.READ)),
    },
    "consumer-lags": {
        "list": _GROUP_AND_TOPICS,
        "get": _GROUP(_DESCRIBE, also=_TOPIC(_DESCRIBE)),
        "delete": _GROUP(Operation.DELETE, also=_TOPIC(Operation.READ)),
    },
    "consumers": {"list": _GROUP(_DESCRIBE), "get": _GROUP(_DESCRIBE)},
    # Which topics are written to is in the letters; the notes of what was sent have a topic of their own.
    "dead-letters": {"replay": _TOPIC(Operation.READ)},
    "partition-reassignments": {
        "list": _CLUSTER(_DESCRIBE),
        "get": _CLUSTER(_DESCRIBE),
        "search-by-topic": _CLUSTER(_DESCRIBE),
    },
    "partitions": {"list": _TOPIC(_DESCRIBE), "get": _TOPIC(_DESCRIBE), "list.offsets": _TOPIC(_DESCRIBE)},
    "produce": {"produce-to-topic": _TOPIC(Operation.WRITE)},
    "records": {
        "delete": _TOPIC(Operation.DELETE),
        "list": _TOPIC(Operation.READ),
        "list-by-partition": _TOPIC(Operation.READ),
        "consume": _TOPIC(Operation.READ),
        "consume-cloud": _TOPIC(Operation.READ),
    },
    "replicas": {"list": _TOPIC(_DESCRIBE), "get": _TOPIC(_DESCRIBE), "search-by-broker": _ROWS_OF_TOPICS},
    # The topics of `alter-multi` are in the body.
    "topic-configs": {**_configs(_TOPIC), "alter-multi": _TOPIC(_ALTER_CONFIGS)},
    "topics": {
        "list": _ROWS_OF_TOPICS,
        "get": _TOPIC(_DESCRIBE),
        # The name is in the body; CREATE on the cluster suffices, too.
        "create": _TOPIC(Operation.CREATE),
        "delete": _TOPIC(Operation.DELETE),
        "partitions": _TOPIC(_ALTER),
    },
    "topics-configs": {"list": _TOPIC(_DESCRIBE_CONFIGS, filters=True)},
}

#: Endpoint, such as `api.v3.topics.list` -> its rule.
V3_ACCESS: Mapping[str, Access] = {
    f"api.v3.{resource}.{endpoint}": access
    for resource, endpoints in _ENDPOINTS.items()
    for endpoint, access in endpoints.items()
}
