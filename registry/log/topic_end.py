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
        self._askers: dict[str, Consumer] = {}
        self._asking = threading.Lock()

    def position(self, timeout: float = REQUEST_SECONDS, *, committed: bool = True) -> int:
        """The last stable offset, or the log end offset.

        Args:
            timeout: The time limit for the broker, in seconds.
            committed: Return the last stable offset, at which the first open transaction begins.

        Raises:
            LogError: The broker does not answer.
        """
        isolation = "read_committed" if committed else "read_uncommitted"
        asker = self._asker(isolation)
        try:
            _, end = asker.get_watermark_offsets(TopicPartition(self._topic, 0), timeout=timeout)
        except KafkaException as error:
            with self._asking:
                if self._askers.get(isolation) is asker:
                    del self._askers[isolation]
            raise LogError(f"the end of {self._topic} can't be read: {error_text(error)}") from error
        return int(end)

    def cluster_id(self) -> str:
        """The Kafka cluster's id; empty if no broker answers."""
        try:
            return str(self._asker("read_committed").list_topics(timeout=REQUEST_SECONDS).cluster_id or "")
        except KafkaException:
            return ""

    def _asker(self, isolation: str) -> Consumer:
        with self._asking:
            if isolation not in self._askers:
                settings = {"group.id": "magicbyte-reader", "isolation.level": isolation}
                self._askers[isolation] = Consumer({**self._client, **settings})
            return self._askers[isolation]

    def close(self) -> None:
        """Close the connections to Kafka."""
        with self._asking:
            for asker in self._askers.values():
                asker.close()
