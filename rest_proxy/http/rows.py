"""The REST proxy's table of routes."""

from __future__ import annotations

from starlette.responses import Response

from magicbyte.http.routing.access import OPEN, SIGNED_IN, Access, Operation, Resource
from magicbyte.http.routing.request import Handler, Request
from magicbyte.http.routing.rows import Around, Endpoint, Negotiate, Row, Streams
from rest_proxy.exchange.negotiation import generic, generic_or_embedded, records, unnegotiated, v1_records
from rest_proxy.exchange.negotiation import produce as produced
from rest_proxy.exchange.parts import part_of
from rest_proxy.http.peering import Peering
from rest_proxy.http.routes import consumers, declared, operations, produce, topics, v1

_DESCRIBE_CLUSTER = Access(Operation.DESCRIBE, Resource.CLUSTER)
_LIST_TOPICS = Access(Operation.DESCRIBE, Resource.TOPIC, filters=True)
_DESCRIBE_TOPIC = Access(Operation.DESCRIBE, Resource.TOPIC)
_READ_TOPIC = Access(Operation.READ, Resource.TOPIC)
_WRITE_TOPIC = Access(Operation.WRITE, Resource.TOPIC)
_READ_GROUP = Access(Operation.READ, Resource.GROUP)
#: The topics are in the body or in the instance's subscription.
_READ_BOTH = Access(Operation.READ, Resource.GROUP, also=_READ_TOPIC)
_GROUP = "/consumers/{group}"
_INSTANCE = f"{_GROUP}/instances/{{instance}}"


def at_owner(handler: Handler) -> Handler:
    """Wrap a handler so that a request for another node's consumer instance is passed on to that node."""

    async def handled_at_owner(request: Request) -> Response:
        passing_on = part_of(request, Peering).passing_on
        response = None if passing_on is None else await passing_on.to_owner(request)
        return await handler(request) if response is None else response

    return handled_at_owner


def _of_instance(
    method: str,
    path: str,
    operation_id: str,
    handler: Endpoint,
    access: Access = _READ_GROUP,
    media_types: Negotiate = generic_or_embedded,
    *,
    streams: Streams = Streams.NOTHING,
    declared: Endpoint | None = None,
) -> Row:
    """A route of an instance; it is not safe, because even a GET may change the instance's position."""
    return Row(
        method,
        f"{_INSTANCE}{path}",
        operation_id,
        access,
        Around(at_owner, handler),
        media_types,
        is_safe=False,
        streams=streams,
        declared=declared,
    )


ROWS = (
    Row("GET", "/", "root", SIGNED_IN, topics.root, generic),
    Row("POST", "/", "postRoot", SIGNED_IN, topics.post_root, generic),
    Row("GET", "/brokers", "brokers", _DESCRIBE_CLUSTER, topics.brokers, generic),
    Row("GET", "/topics", "topics", _LIST_TOPICS, topics.topics, generic),
    Row("GET", "/topics/{topic}", "topic", _DESCRIBE_TOPIC, topics.topic, generic),
    Row("GET", "/topics/{topic}/partitions", "partitions", _DESCRIBE_TOPIC, topics.partitions, generic),
    Row("GET", "/topics/{topic}/partitions/{partition}", "partition", _DESCRIBE_TOPIC, topics.partition, generic),
    Row("GET", "/topics/{topic}/partitions/{partition}/offsets", "offsets", _DESCRIBE_TOPIC, topics.offsets, generic),
    Row("GET", "/topics/{topic}/partitions/{partition}/messages", "messages", _READ_TOPIC, v1.messages, v1_records),
    Row(
        "POST",
        "/topics/{topic}",
        "produceToTopic",
        _WRITE_TOPIC,
        produce.produce_to_topic,
        produced,
        is_quiet=True,
        declared=declared.produce_to_topic,
    ),
    Row(
        "POST",
        "/topics/{topic}/partitions/{partition}",
        "produceToPartition",
        _WRITE_TOPIC,
        produce.produce_to_partition,
        produced,
        declared=declared.produce_to_partition,
    ),
    Row("POST", _GROUP, "createConsumer", _READ_GROUP, Around(at_owner, consumers.create), generic_or_embedded),
    _of_instance("DELETE", "", "deleteConsumer", consumers.delete),
    _of_instance("POST", "/subscription", "subscribe", consumers.subscribe, _READ_BOTH),
    _of_instance("GET", "/subscription", "subscription", consumers.subscription),
    _of_instance("DELETE", "/subscription", "unsubscribe", consumers.unsubscribe),
    _of_instance(
        "GET",
        "/records",
        "records",
        consumers.records,
        _READ_BOTH,
        records,
        streams=Streams.ANSWER,
        declared=declared.records,
    ),
    _of_instance("GET", "/topics/{topic}", "readTopic", v1.read_topic, _READ_BOTH, v1_records, streams=Streams.ANSWER),
    _of_instance("POST", "/offsets", "commit", consumers.commit, _READ_BOTH),
    _of_instance("GET", "/offsets", "committed", consumers.committed, _READ_BOTH),
    _of_instance("POST", "/positions", "seek", consumers.seek, _READ_BOTH),
    _of_instance("POST", "/positions/beginning", "seekToBeginning", consumers.seek_to_beginning, _READ_BOTH),
    _of_instance("POST", "/positions/end", "seekToEnd", consumers.seek_to_end, _READ_BOTH),
    _of_instance("POST", "/assignments", "assign", consumers.assign, _READ_BOTH),
    _of_instance("GET", "/assignments", "assignments", consumers.assignments),
    Row("GET", "/health/live", "live", OPEN, operations.live, unnegotiated),
    Row("GET", "/health/ready", "ready", OPEN, operations.ready, unnegotiated),
    Row("GET", "/openapi.json", "contract", SIGNED_IN, operations.contract, unnegotiated),
    Row("GET", "/metrics", "metrics", _DESCRIBE_CLUSTER, operations.metrics, unnegotiated),
)
