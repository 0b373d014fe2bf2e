"""The names of endpoints in `api.endpoints.allowlist` and `api.endpoints.blocklist`, and their effect."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rest_proxy.access.v3_access import V3_ACCESS

#: Operation id of a row -> the reference's name of its endpoint; the names of v1 are ours.
ENDPOINTS: Mapping[str, str] = {
    "root": "api.v2.root.get",
    "postRoot": "api.v2.root.post",
    "brokers": "api.v2.brokers.list",
    "topics": "api.v2.topics.list",
    "topic": "api.v2.topics.get",
    "partitions": "api.v2.partitions.list",
    "partition": "api.v2.partitions.get",
    "offsets": "api.v2.partitions.get-offsets",
    "messages": "api.v1.partitions.messages",
    "createConsumer": "api.v2.consumers.create",
    "deleteConsumer": "api.v2.consumers.delete",
    "subscribe": "api.v2.consumers.subscribe",
    "subscription": "api.v2.consumers.get-subscription",
    "unsubscribe": "api.v2.consumers.unsubscribe",
    "readTopic": "api.v1.consumers.read-topic",
    "commit": "api.v2.consumers.commit-offsets",
    "committed": "api.v2.consumers.get-committed-offsets",
    "seek": "api.v2.consumers.seek-to-offset",
    "seekToBeginning": "api.v2.consumers.seek-to-beginning",
    "seekToEnd": "api.v2.consumers.seek-to-end",
    "assign": "api.v2.consumers.assign",
    "assignments": "api.v2.consumers.get-assignments",
    "live": "api.health.live",
    "ready": "api.health.ready",
}
#: Operation id of a row that has an endpoint for each format -> the common prefix of their names.
ENDPOINTS_BY_FORMAT: Mapping[str, str] = {
    "produceToTopic": "api.v2.produce-to-topic.",
    "produceToPartition": "api.v2.produce-to-partition.",
    "records": "api.v2.consumers.consume-",
}
#: Operation ids of rows without an endpoint name: they are ours, and rights guard them.
UNNAMED = frozenset(("contract", "metrics"))
#: Format -> its name in endpoint names.
_FORMATS = {
    "binary": "binary",
    "json": "json",
    "avro": "avro",
    "jsonschema": "json-schema",
    "protobuf": "protobuf",
}
#: Groups whose name is not their endpoints' name without its last part.
_ODD_GROUPS = {"api.v3.partitions.list.offsets": "api.v3.partition-offsets.*"}


def _group_of(endpoint: str) -> str:
    return _ODD_GROUPS.get(endpoint) or f"{endpoint.rpartition('.')[0]}.*"


def endpoint_of(operation_id: str, form: str) -> str:
    """Return the name of the endpoint of an operation that has one for each format.

    Args:
        operation_id: A key of `ENDPOINTS_BY_FORMAT`.
        form: The name of the format.
    """
    return ENDPOINTS_BY_FORMAT[operation_id] + _FORMATS[form]


def _all_names() -> frozenset[str]:
    by_format = (endpoint_of(operation_id, form) for operation_id in ENDPOINTS_BY_FORMAT for form in _FORMATS)
    endpoints = frozenset((*ENDPOINTS.values(), *by_format, *V3_ACCESS))
    return endpoints | {_group_of(endpoint) for endpoint in endpoints}


_NAMES = _all_names()


@dataclass(frozen=True, slots=True)
class EndpointLists:
    """The lists of allowed and blocked endpoints.

    Attributes:
        allowed: Names of endpoints, or of groups such as `api.v2.consumers.*`. All others are blocked; an empty list
            blocks none.
        blocked: Names of endpoints or groups that are blocked.
    """

    allowed: frozenset[str] = frozenset()
    blocked: frozenset[str] = frozenset()

    def block(self, endpoint: str) -> bool:
        """Tell whether an endpoint is blocked."""
        names = {endpoint, _group_of(endpoint)}
        return bool((self.allowed and not names & self.allowed) or names & self.blocked)

    def blocked_formats(self, operation_id: str) -> frozenset[str]:
        """Return the formats in which an operation is blocked."""
        return frozenset(form for form in _FORMATS if self.block(endpoint_of(operation_id, form)))


def parse_endpoints(text: str) -> frozenset[str]:
    """Read a comma-separated list of names of endpoints and groups.

    Raises:
        ValueError: There is no such endpoint; the text has the nearest name.
    """
    names = frozenset(filter(None, (name.strip() for name in text.split(","))))
    for name in sorted(names - _NAMES):
        raise ValueError(f"there is no endpoint {name}; did you mean {_nearest(name, _NAMES)}?")
    return names


def _nearest(name: str, names: Iterable[str]) -> str:
    return difflib.get_close_matches(name, sorted(names), n=1, cutoff=0.0)[0]
