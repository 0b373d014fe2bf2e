"""The ids that the broker gives to topics: a topic that is deleted and made again has another id."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from confluent_kafka import KafkaError, KafkaException, TopicCollection, Uuid
from confluent_kafka.admin import AdminClient

from magicbyte.kit.failure import Failure

#: Topic -> id, as Kafka's tools print it: 22 characters of URL-safe base64.
TopicIdsByName = Mapping[str, str]

#: Seconds for a request to the broker.
_PATIENCE = 30
#: The id of every topic on a broker without topic ids (Kafka before 2.8, or an older `inter.broker.protocol.version`).
_NONE = str(Uuid(0, 0))


class TopicReplaced(Failure):
    """A topic of the source was deleted and made again, and `on-data-loss` is `fail`."""


def read_topic_ids(admin: AdminClient, topics: Collection[str]) -> TopicIdsByName:
    """The ids of topics; topics that do not exist, and those of a broker without topic ids, are left out.

    Raises:
        KafkaException: the broker does not answer, or refuses the request.
    """
    if not topics:
        return {}
    ids = {}
    for topic, answer in admin.describe_topics(TopicCollection(sorted(topics)), request_timeout=_PATIENCE).items():
        try:
            topic_id = str(answer.result().topic_id)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise
            continue
        if topic_id != _NONE:
            ids[topic] = topic_id
    return ids
