"""The schemas topic itself: made where it is missing, refused where it could not keep schemas."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from magicbyte.kit.kafka import Config
from registry.log.port import LogError

log = logging.getLogger("magicbyte.registry.topic")

_REQUEST_SECONDS = 10.0
_RETRY_SECONDS = 0.5
#: Part of a record's size that is neither key nor value: batch and record headers.
_OVERHEAD_BYTES = 512


class UnfitTopic(LogError):
    """The topic exists and would lose or reorder schemas."""


def prepare_topic(
    client: Config,
    topic: str,
    *,
    replication: int,
    configs: Mapping[str, str],
    skip_validation: bool,
    timeout: float,
) -> int:
    """Make sure of the topic.

    Args:
        client: How to reach Kafka.
        topic: Its name.
        replication: Replicas of a new topic, fewer where there are fewer brokers.
        configs: Configs of a new topic besides the compaction.
        skip_validation: Take an existing topic as it is.
        timeout: How long to wait for a broker, in seconds.

    Returns:
        The largest sum of key and value that its records may have, in bytes.

    Raises:
        UnfitTopic: It has more than one partition, or another policy than compaction alone.
        LogError: Kafka does not answer, or refuses.
    """
    errors: list[KafkaError] = []
    admin = AdminClient({**client, "error_cb": errors.append})
    brokers = _wait_for_brokers(admin, errors, client, timeout)
    try:
        if _partitions(admin, topic) == 0:
            _create(admin, topic, min(replication, brokers), configs)
            if brokers < replication:
                log.warning("%s has %d replicas, for there are no more brokers", topic, min(replication, brokers))
        described = _configs(admin, topic)
        partitions = _partitions(admin, topic)
    except KafkaException as error:
        raise LogError(f"{topic} can't be prepared: {error.args[0].str()}") from error
    if not skip_validation:
        _validate(topic, partitions, described)
    return int(described["max.message.bytes"]) - _OVERHEAD_BYTES


def find_topic_id(admin: AdminClient, topic: str, timeout: float) -> str | None:
    """The topic's id, which another topic of the same name does not get; empty if the broker gives topics no ids.

    Args:
        admin: A client of the cluster.
        topic: The topic's name.
        timeout: How long the broker may take, in seconds.

    Returns:
        None if there is no such topic.

    Raises:
        LogError: Kafka does not answer, or refuses.
    """
    try:
        asked = admin.describe_topics(TopicCollection([topic]), request_timeout=timeout)
        topic_id = asked[topic].result(timeout).topic_id
    except KafkaException as error:
        if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            return None
        raise LogError(f"{topic} can't be described: {error.args[0].str()}") from error
    except TimeoutError as error:
        raise LogError(f"{topic} can't be described within {timeout:.0f} s") from error
    has_id = topic_id.get_most_significant_bits() or topic_id.get_least_significant_bits()
    return str(topic_id) if has_id else ""


def wait_for_topic_id(admin: AdminClient, topic: str) -> str:
    """The topic's id, once a broker knows the topic; the cluster's id and the name if topics have no ids.

    Raises:
        LogError: Kafka does not answer, or refuses, or does not know the topic.
    """
    deadline = time.monotonic() + _REQUEST_SECONDS
    while (topic_id := find_topic_id(admin, topic, _REQUEST_SECONDS)) is None:
        # A topic that has just been made is not known to every broker yet.
        if time.monotonic() > deadline:
            raise LogError(f"{topic} does not exist")
        time.sleep(_RETRY_SECONDS)
    return topic_id or f"{admin.list_topics(topic, timeout=_REQUEST_SECONDS).cluster_id}/{topic}"


def _wait_for_brokers(admin: AdminClient, errors: list[KafkaError], client: Config, timeout: float) -> int:
    """Return the number of brokers; `errors` is where the client's error callback puts what it is told."""
    deadline = time.monotonic() + timeout
    logged = ""
    while True:
        try:
            return len(admin.list_topics(timeout=min(2.0, timeout)).brokers)
        except KafkaException as error:
            # The request's own error says nothing of the cause, such as wrong credentials; the callback is told it.
            admin.poll(0)
            reasons = [told.str() for told in errors if told.code() != KafkaError._ALL_BROKERS_DOWN]  # noqa: SLF001
            reason = reasons[-1] if reasons else error.args[0].str()
            text = f"no Kafka broker answers at {client.get('bootstrap.servers')}: {reason}"
            if time.monotonic() > deadline:
                raise LogError(text) from error
            if reason != logged:
                log.warning(text)
                logged = reason
            time.sleep(_RETRY_SECONDS)


def _create(admin: AdminClient, topic: str, replication: int, configs: Mapping[str, str]) -> None:
    new = NewTopic(topic, 1, replication, config={"cleanup.policy": "compact", **configs})
    try:
        admin.create_topics([new], request_timeout=_REQUEST_SECONDS)[topic].result()
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise
    deadline = time.monotonic() + _REQUEST_SECONDS
    while _partitions(admin, topic) == 0:
        if time.monotonic() > deadline:
            raise LogError(f"{topic} was made but does not appear")
        time.sleep(0.02)


def _partitions(admin: AdminClient, topic: str) -> int:
    """How many partitions a topic has, 0 where there is no such topic. Asking for one topic by name would make it."""
    found = admin.list_topics(timeout=_REQUEST_SECONDS).topics.get(topic)
    return len(found.partitions) if found is not None and found.error is None else 0


def _configs(admin: AdminClient, topic: str) -> dict[str, str]:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    found = admin.describe_configs([resource], request_timeout=_REQUEST_SECONDS)[resource].result()
    return {name: entry.value for name, entry in found.items()}


def _validate(topic: str, partitions: int, configs: Mapping[str, str]) -> None:
    if partitions != 1:
        raise UnfitTopic(f"{topic} has {partitions} partitions; schemas need the order of exactly one")
    if configs.get("cleanup.policy") != "compact":
        raise UnfitTopic(
            f"{topic} has cleanup.policy={configs.get('cleanup.policy')} and would lose schemas; "
            "set it to compact, and to nothing else"
        )
