"""The schemas topic: created if it is missing, refused if it could lose schemas."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from magicbyte.kit.kafka.client_settings import Config
from registry.log.port import LogError

log = logging.getLogger("magicbyte.registry.topic")

_REQUEST_SECONDS = 10.0
_RETRY_SECONDS = 0.5
#: The size of batch and record headers.
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
    """Create the topic if it is missing, and check it.

    Args:
        client: librdkafka's configuration.
        topic: The topic's name.
        replication: Replicas of a new topic; fewer if there are fewer brokers.
        configs: Further configs of a new topic; compaction is always set.
        skip_validation: Accept an existing topic as it is.
        timeout: How long to wait for a broker, in seconds.

    Returns:
        The largest sum of a record's key and value, in bytes.

    Raises:
        UnfitTopic: The topic has several partitions, or a cleanup policy other than compaction alone.
        LogError: Kafka does not answer, or refuses.
    """
    errors: list[KafkaError] = []
    admin = AdminClient({**client, "error_cb": errors.append})
    brokers = _wait_for_brokers(admin, errors, client, timeout)
    try:
        if _partitions(admin, topic) == 0:
            _create(admin, topic, min(replication, brokers), configs)
            if brokers < replication:
                log.warning(
                    "%s has %d replicas because there are no more brokers",
                    topic,
                    min(replication, brokers),
                    extra={"event": "topic_underreplicated", "topic": topic, "replicas": min(replication, brokers)},
                )
        actual_configs = _configs(admin, topic)
        partitions = _partitions(admin, topic)
    except KafkaException as error:
        raise LogError(f"{topic} can't be prepared: {error.args[0].str()}") from error
    if not skip_validation:
        _validate(topic, partitions, actual_configs)
    return int(actual_configs["max.message.bytes"]) - _OVERHEAD_BYTES


def find_topic_id(admin: AdminClient, topic: str, timeout: float) -> str | None:
    """The topic's id, which is unique even among topics of one name; empty if the broker has no topic ids.

    Args:
        admin: A client of the cluster.
        topic: The topic's name.
        timeout: The time limit for the broker, in seconds.

    Returns:
        None if there is no such topic.

    Raises:
        LogError: Kafka does not answer, or refuses.
    """
    try:
        descriptions = admin.describe_topics(TopicCollection([topic]), request_timeout=timeout)
        topic_id = descriptions[topic].result(timeout).topic_id
    except KafkaException as error:
        if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            return None
        raise LogError(f"{topic} can't be described: {error.args[0].str()}") from error
    except TimeoutError as error:
        raise LogError(f"{topic} can't be described within {timeout:.0f} s") from error
    has_id = topic_id.get_most_significant_bits() or topic_id.get_least_significant_bits()
    return str(topic_id) if has_id else ""


def wait_for_topic_id(admin: AdminClient, topic: str) -> str:
    """Wait until a broker knows the topic, and return its id; the cluster's id and the name if topics have no ids.

    Raises:
        LogError: Kafka does not answer, refuses, or does not know the topic.
    """
    deadline = time.monotonic() + _REQUEST_SECONDS
    while (topic_id := find_topic_id(admin, topic, _REQUEST_SECONDS)) is None:
        # Not every broker knows a new topic at once.
        if time.monotonic() > deadline:
            raise LogError(f"{topic} does not exist")
        time.sleep(_RETRY_SECONDS)
    return topic_id or f"{admin.list_topics(topic, timeout=_REQUEST_SECONDS).cluster_id}/{topic}"


def find_retention(admin: AdminClient, topic: str, timeout: float) -> float:
    """Return how long the topic keeps tombstones (`delete.retention.ms`), in seconds.

    Raises:
        LogError: Kafka does not answer, or refuses.
    """
    try:
        return int(_configs(admin, topic, timeout)["delete.retention.ms"]) / 1000
    except KafkaException as error:
        raise LogError(f"the configuration of {topic} can't be read: {error.args[0].str()}") from error
    except TimeoutError as error:
        raise LogError(f"the configuration of {topic} can't be read within {timeout:.0f} s") from error


def _wait_for_brokers(admin: AdminClient, errors: list[KafkaError], client: Config, timeout: float) -> int:
    """Return the number of brokers; `errors` is the list that the client's error callback appends to."""
    deadline = time.monotonic() + timeout
    logged = ""
    while True:
        try:
            return len(admin.list_topics(timeout=min(2.0, timeout)).brokers)
        except KafkaException as error:
            # The request's error does not name the cause, such as wrong credentials; the callback gets it.
            admin.poll(0)
            reasons = [cause.str() for cause in errors if cause.code() != KafkaError._ALL_BROKERS_DOWN]  # noqa: SLF001
            reason = reasons[-1] if reasons else error.args[0].str()
            text = f"no Kafka broker answers at {client.get('bootstrap.servers')}: {reason}"
            if time.monotonic() > deadline:
                raise LogError(text) from error
            if reason != logged:
                log.warning(text, extra={"event": "topic_settings_differ"})
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
            raise LogError(f"{topic} was created but does not appear")
        time.sleep(0.02)


def _partitions(admin: AdminClient, topic: str) -> int:
    """The number of partitions, 0 if there is no such topic. Lists all topics: a request by name might create it."""
    metadata = admin.list_topics(timeout=_REQUEST_SECONDS).topics.get(topic)
    return len(metadata.partitions) if metadata is not None and metadata.error is None else 0


def _configs(admin: AdminClient, topic: str, timeout: float = _REQUEST_SECONDS) -> dict[str, str]:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    # The future's own limit: a request may stay unanswered after the broker was killed.
    entries = admin.describe_configs([resource], request_timeout=timeout)[resource].result(timeout + _RETRY_SECONDS)
    return {name: entry.value for name, entry in entries.items()}


def _validate(topic: str, partitions: int, configs: Mapping[str, str]) -> None:
    if partitions != 1:
        raise UnfitTopic(f"{topic} has {partitions} partitions; schemas need the order of exactly one")
    if configs.get("cleanup.policy") != "compact":
        raise UnfitTopic(
            f"{topic} has cleanup.policy={configs.get('cleanup.policy')} and would lose schemas; "
            "set it to compact, and to nothing else"
        )
