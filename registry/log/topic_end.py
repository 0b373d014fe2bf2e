"""The ends of the schemas topic: the log end offset, and the last stable offset."""

from __future__ import annotations

import threading

from confluent_kafka import Consumer, KafkaException, TopicPartition

from magicbyte.kit.kafka.client_settings import Config
from registry.log.port import LogError
from registry.log.reader import error_text

#: Far longer than a broker takes for a single request.
REQUEST_SECONDS = 10.0


class TopicEnd:
    """Asks for the ends of partition 0 of a topic.

    It uses consumers, because an AdminClient keeps using a leader epoch that a restarted broker refuses.
    """

    def __init__(self, client: Config, topic: str) -> None:
        self._client = client
        self._topic = topic
        self._consumers: dict[str, Consumer] = {}
        self._lock = threading.Lock()

    def position(self, timeout: float = REQUEST_SECONDS, *, committed: bool = True) -> int:
        """The last stable offset, or the log end offset.

        Args:
            timeout: The time limit for the broker, in seconds.
            committed: Return the last stable offset, at which the first open transaction begins.

        Raises:
            LogError: The broker does not answer.
        """
        isolation = "read_committed" if committed else "read_uncommitted"
        consumer = self._consumer(isolation)
        try:
            _, end = consumer.get_watermark_offsets(TopicPartition(self._topic, 0), timeout=timeout)
        except KafkaException as error:
            with self._lock:
                if self._consumers.get(isolation) is consumer:
                    del self._consumers[isolation]
            raise LogError(f"the end of {self._topic} can't be read: {error_text(error)}") from error
        return int(end)

    def cluster_id(self) -> str:
        """The Kafka cluster's id; empty if no broker answers."""
        try:
            return str(self._consumer("read_committed").list_topics(timeout=REQUEST_SECONDS).cluster_id or "")
        except KafkaException:
            return ""

    def _consumer(self, isolation: str) -> Consumer:
        with self._lock:
            if isolation not in self._consumers:
                settings = {"group.id": "magicbyte-reader", "isolation.level": isolation}
                self._consumers[isolation] = Consumer({**self._client, **settings})
            return self._consumers[isolation]

    def close(self) -> None:
        """Close the connections to Kafka."""
        with self._lock:
            for consumer in self._consumers.values():
                consumer.close()
