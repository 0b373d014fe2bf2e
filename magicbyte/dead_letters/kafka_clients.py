"""The configurations of the Kafka clients that read and send letters."""

from __future__ import annotations

from dataclasses import dataclass

from magicbyte.kit.kafka.client_settings import Config

#: Joins no group: the consumer needs a name for its settings alone.
GROUP = "magicbyte-dead-letter"


@dataclass(frozen=True, slots=True)
class KafkaClients:
    """Librdkafka's configurations.

    Attributes:
        consumer: The consumer's; it must skip the letters of aborted transactions.
        producer: The producer's, without a transactional id.
        admin: The admin client's.
        patience: How long to wait for the brokers before an error is raised, in seconds.
    """

    consumer: Config
    producer: Config
    admin: Config
    patience: float


def transactional_id(topic: str) -> str:
    """The transactional id of replays and purges of a topic of dead letters."""
    return f"{GROUP}-{topic}"
