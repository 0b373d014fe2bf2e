"""The Kafka ACLs that a node of our registry needs, and those that a principal lacks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer, TopicCollection
from confluent_kafka.admin import AclOperation, AdminClient

from magicbyte.operations.failures import Unreachable
from magicbyte.operations.migration.finding import Finding

_SECONDS = 10.0
_Op = AclOperation
_TOPIC = (_Op.READ, _Op.WRITE, _Op.DESCRIBE, _Op.DESCRIBE_CONFIGS)
_REFUSALS = frozenset(
    {
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    }
)


def groups_of(group: str) -> Mapping[str, tuple[AclOperation, ...]]:
    """The consumer groups of a node with a `schema.registry.group.id`, and what it does with each."""
    return {
        group: (_Op.DESCRIBE,),
        f"magicbyte-{group}": (_Op.READ, _Op.DESCRIBE),
        "magicbyte-reader": (_Op.READ, _Op.DESCRIBE),
    }


def check_rights(client: Mapping[str, Any], topic: str, group: str, *, is_ours: bool) -> Iterator[Finding]:
    """Ask the broker for the rights that a principal lacks; try only the transactional id, which writes no record.

    Args:
        client: The settings of the Kafka client.
        topic: The schemas topic.
        group: `schema.registry.group.id`.
        is_ours: Whether a registry of ours has led this topic: its leader would be fenced by a try of its id.

    Raises:
        Unreachable: No broker answers.
    """
    admin = AdminClient(dict(client))
    lacking = _lacking(_topic_operations(admin, topic), _TOPIC)
    if lacking:
        yield Finding("ACL", f"the client lacks {_names(lacking)} on topic {topic}")
    for name, operations in groups_of(group).items():
        lacking = _lacking(_group_operations(admin, name), operations)
        if lacking:
            yield Finding("ACL", f"the client lacks {_names(lacking)} on group {name}")
    transactional_id = f"magicbyte-{group}"
    if is_ours:
        sentence = f"the transactional id {transactional_id}: a try would fence the leader of a registry of ours"
        yield Finding("NOT_CHECKED", sentence, f"see that an ACL grants WRITE and DESCRIBE on {transactional_id}")
    else:
        yield from _transactional_id(client, transactional_id)


def _transactional_id(client: Mapping[str, Any], transactional_id: str) -> Iterator[Finding]:
    producer = Producer({**client, "transactional.id": transactional_id})
    try:
        producer.init_transactions(_SECONDS)
    except KafkaException as error:
        refusal = error.args[0]
        if refusal.code() not in _REFUSALS:
            raise Unreachable(f"no transaction coordinator answers: {refusal.str()}") from None
        sentence = f"the client lacks WRITE and DESCRIBE on the transactional id {transactional_id}: {refusal.str()}"
        yield Finding("ACL", sentence)


def _topic_operations(admin: AdminClient, topic: str) -> Collection[AclOperation] | None:
    future = admin.describe_topics(
        TopicCollection([topic]), include_authorized_operations=True, request_timeout=_SECONDS
    )[topic]
    described = _result(future)
    return () if described is None else described.authorized_operations


def _group_operations(admin: AdminClient, group: str) -> Collection[AclOperation] | None:
    """The operations on a group that may not exist; None if the broker does not tell them."""
    futures = admin.describe_consumer_groups([group], include_authorized_operations=True, request_timeout=_SECONDS)
    described = _result(futures[group])
    return () if described is None else described.authorized_operations


def _result(future: Any) -> Any:
    """The result of a broker's answer; None if the broker refuses."""
    try:
        return future.result(_SECONDS * 2)
    except KafkaException as error:
        if error.args[0].code() in _REFUSALS:
            return None
        raise Unreachable(f"the broker does not tell the rights of the client: {error.args[0].str()}") from None


def _lacking(has: Collection[AclOperation] | None, needs: Collection[AclOperation]) -> list[AclOperation]:
    return [] if has is None else [operation for operation in needs if operation not in has]


def _names(operations: Collection[AclOperation]) -> str:
    return ", ".join(operation.name for operation in operations)
