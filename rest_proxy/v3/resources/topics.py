"""Topics: reading, creating, growing and deleting them."""

from __future__ import annotations

from magicbyte.http.routing.response import Json, NoContent
from magicbyte.kit.kafka.client_settings import may_be_topic
from rest_proxy.access.rights import refused
from rest_proxy.admin import topics
from rest_proxy.admin.client import PartitionId
from rest_proxy.admin.topics import NewTopic, Topic
from rest_proxy.errors import INVALID_PAYLOAD, KAFKA_BAD_REQUEST
from rest_proxy.v3 import models
from rest_proxy.v3.call import Admin, Call, ClusterCall
from rest_proxy.v3.envelopes import Item, answer, collection, item
from rest_proxy.v3.links import relation
from rest_proxy.v3.parameters.bodies import NewTopicBody, PartitionCountBody
from rest_proxy.v3.parameters.paths import TopicName
from rest_proxy.v3.parameters.queries import WithOffsets, WithOperations, WithOperationsToo
from rest_proxy.v3.resources.partitions import offset_items


async def list_all(
    call: ClusterCall, *, with_operations: WithOperations = False, with_operations_too: WithOperationsToo = False
) -> Json[models.KafkaTopicList]:
    """All topics that the sender may describe, without internal ones."""
    shown = await topics.all_topics(await call.admin(), authorized_operations=with_operations or with_operations_too)
    items = [
        _item(call, topic) for topic in shown if not topic.is_internal and call.visible("DESCRIBE", "TOPIC", topic.name)
    ]
    return answer(collection("KafkaTopic", call.links.url("topics"), items))


async def get(
    call: ClusterCall,
    *,
    admin: Admin,
    topic: TopicName,
    with_operations: WithOperations = False,
    with_operations_too: WithOperationsToo = False,
    with_offsets: WithOffsets = False,
) -> Json[models.KafkaTopic]:
    """One topic, which may be internal."""
    described = await topics.topic(admin, topic, authorized_operations=with_operations or with_operations_too)
    shown = _item(call, described)
    if with_offsets:
        places = [PartitionId(topic, partition.number) for partition in described.partitions]
        shown["offsets"] = await offset_items(call, places)
    return answer(shown)


async def create(call: ClusterCall, *, body: NewTopicBody) -> Json[models.KafkaTopic]:
    """Create a topic, or check whether it could be created."""
    name = str(body.topic_name)
    if not may_be_topic(name):
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


async def grow(
    call: ClusterCall, *, body: PartitionCountBody, admin: Admin, topic: TopicName
) -> Json[models.KafkaTopic]:
    """Raise the number of partitions."""
    await topics.grow(admin, topic, body.partitions_count)
    return answer(_item(call, await topics.topic(admin, topic)))


async def delete(*, admin: Admin, topic: TopicName) -> NoContent:
    """Delete a topic."""
    await topics.delete(admin, topic)
    return NoContent()


def _item(call: Call, topic: Topic) -> Item:
    return _members(
        call,
        topic.name,
        len(topic.partitions),
        topic.replication_factor,
        is_internal=topic.is_internal,
        authorized_operations=call.permitted(topic.authorized_operations, "TOPIC", topic.name),
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
