"""Topics: reading, creating, growing and deleting them."""

from __future__ import annotations

from msgspec import Struct
from starlette.responses import Response

from rest_proxy.access.rights import refused
from rest_proxy.admin import topics
from rest_proxy.admin.cluster import is_topic_name
from rest_proxy.admin.topics import NewTopic, Topic
from rest_proxy.errors import INVALID_PAYLOAD, KAFKA_BAD_REQUEST
from rest_proxy.v3 import bodies
from rest_proxy.v3.call import Call
from rest_proxy.v3.envelopes import Item, answer, collection, item, no_content
from rest_proxy.v3.links import relation


class ConfigEntry(Struct, forbid_unknown_fields=True):
    """A property of a new topic."""

    name: bodies.Text
    value: bodies.Text | None = None


class NewTopicBody(Struct, forbid_unknown_fields=True):
    """A topic to create."""

    topic_name: bodies.Text
    partitions_count: bodies.Int | None = None
    replication_factor: bodies.Short | None = None
    replicas_assignments: dict[bodies.Int, list[bodies.Int]] | None = None
    configs: list[ConfigEntry] | None = None
    validate_only: bool | None = None


class GrowthBody(Struct, forbid_unknown_fields=True):
    """The number of partitions that a topic is to have."""

    partitions_count: bodies.Int


_NEW_TOPIC = bodies.reader_of(NewTopicBody)
_GROWTH = bodies.reader_of(GrowthBody)
_EMPTY = "Request body is empty. Data is required."
_EMPTY_GROWTH = "Request body is empty. Partitions_count is required."


async def list_all(call: Call) -> Response:
    """All topics that the sender may describe, without internal ones."""
    shown = await topics.all_topics(await call.admin(), authorized_operations=_with_operations(call))
    items = [
        _item(call, topic) for topic in shown if not topic.is_internal and call.visible("DESCRIBE", "TOPIC", topic.name)
    ]
    return answer(collection("KafkaTopic", call.links.url("topics"), items))


async def get(call: Call) -> Response:
    """One topic, which may be internal."""
    admin, name = await call.admin(), call.segment("topic")
    return answer(_item(call, await topics.topic(admin, name, authorized_operations=_with_operations(call))))


async def create(call: Call) -> Response:
    """Create a topic, or check whether it could be created."""
    body = bodies.read(_NEW_TOPIC, await call.request.body(), _EMPTY)
    name = str(body.topic_name)
    if not is_topic_name(name):
        raise INVALID_PAYLOAD(detail="Invalid topic name.")
    rights = call.rights
    if rights is not None and not rights.may_create(name):
        raise refused("TOPIC", name, "CREATE")
    configs = [(str(entry.name), None if entry.value is None else str(entry.value)) for entry in body.configs or ()]
    repeated = {config for config, _ in configs if sum(config == other for other, _ in configs) > 1}
    if repeated:
        raise KAFKA_BAD_REQUEST(detail=f"configs: {min(repeated)} is given more than once")
    new = NewTopic(name, body.partitions_count, body.replication_factor, body.replicas_assignments or {}, configs)
    validate_only = bool(body.validate_only)
    partitions, factor = await topics.create(await call.admin(), new, validate_only=validate_only)
    created = _members(call, name, partitions, factor)
    return answer(created, 200 if validate_only else 201, location=created["metadata"]["self"])


async def grow(call: Call) -> Response:
    """Raise the number of partitions."""
    body = bodies.read(_GROWTH, await call.request.body(), _EMPTY_GROWTH)
    admin, name = await call.admin(), call.segment("topic")
    await topics.grow(admin, name, body.partitions_count)
    return answer(_item(call, await topics.topic(admin, name)))


async def delete(call: Call) -> Response:
    """Delete a topic."""
    await topics.delete(await call.admin(), call.segment("topic"))
    return no_content()


def _with_operations(call: Call) -> bool:
    return call.flag("include_authorized_operations", "includeAuthorizedOperations")


def _item(call: Call, topic: Topic) -> Item:
    return _members(
        call,
        topic.name,
        len(topic.partitions),
        topic.replication_factor,
        is_internal=topic.is_internal,
        authorized_operations=topic.authorized_operations,
    )


def _members(
    call: Call,
    name: str,
    partitions: int,
    replication_factor: int,
    *,
    is_internal: bool = False,
    authorized_operations: tuple[str, ...] = (),
) -> Item:
    url = call.links.url("topics", name)
    fields = {
        "cluster_id": call.cluster_id,
        "topic_name": name,
        "is_internal": is_internal,
        "replication_factor": replication_factor,
        "partitions_count": partitions,
        "partitions": relation(f"{url}/partitions"),
        "configs": relation(f"{url}/configs"),
        "partition_reassignments": relation(f"{url}/partitions/-/reassignment"),
        "authorized_operations": authorized_operations,
    }
    return item("KafkaTopic", url, call.links.crn(("topic", name)), fields)
