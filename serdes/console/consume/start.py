"""The offsets at which a consumer begins."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, KafkaError, KafkaException, TopicPartition

from serdes.console.outcome import NOT_DELIVERED, Ended

#: Errors that persist however long the tool waits.
_REFUSED = (
    KafkaError._AUTHENTICATION,  # noqa: SLF001  # the names of librdkafka's internal codes
    KafkaError._SSL,  # noqa: SLF001
    KafkaError._RESOLVE,  # noqa: SLF001
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
)
_ASK_SECONDS = 2.0


def is_refusal(error: KafkaError) -> bool:
    """Whether an error persists however long the tool waits."""
    return error.code() in _REFUSED or error.fatal()


@dataclass(frozen=True, slots=True)
class Start:
    """The place at which reading begins.

    Attributes:
        offset: An offset in every partition, or confluent_kafka's OFFSET_BEGINNING or OFFSET_END.
        timestamp: Instead of an offset: the first record that is not older, in milliseconds since 1970.
        back: Instead of an offset: this many records before the end.
    """

    offset: int = OFFSET_END
    timestamp: int | None = None
    back: int | None = None


class Cluster:
    """The broker's topics and offsets; requests are repeated until it answers or `patience` seconds have passed."""

    def __init__(self, consumer: Consumer, patience: float) -> None:
        self._consumer = consumer
        self.patience = patience
        #: The last error that the client reported in the background.
        self.error: KafkaError | None = None

    def partitions(self, topic: str) -> list[int]:
        """The partitions of a topic; empty if it does not exist.

        Raises:
            Ended: The broker refuses the request or does not answer.
        """
        metadata = self._metadata(topic).topics[topic]
        if metadata.error is not None and is_refusal(metadata.error):
            raise Ended(NOT_DELIVERED, f"topic {topic}: {metadata.error.str()}")
        return sorted(metadata.partitions)

    def topics(self, pattern: str) -> list[str]:
        """The topics whose full name matches, without internal topics."""
        matches = re.compile(pattern.replace(",", "|")).fullmatch
        return sorted(name for name in self._metadata(None).topics if matches(name) and not name.startswith("__"))

    def _metadata(self, topic: str | None) -> Any:
        deadline = time.monotonic() + self.patience
        while True:
            left = deadline - time.monotonic()
            try:
                topics = () if topic is None else (topic,)
                return self._consumer.list_topics(*topics, timeout=max(0.1, min(_ASK_SECONDS, left)))
            except KafkaException as error:
                self._consumer.poll(0)
                cause = self.error or error.args[0]
                if left <= 0 or is_refusal(cause):
                    raise Ended(NOT_DELIVERED, f"the broker cannot be used: {cause.str()}") from error
                time.sleep(min(0.1, max(0, left)))

    def offsets(self, partitions: Iterable[tuple[str, int]], start: Start) -> list[TopicPartition]:
        """The partitions with the offsets at which reading begins."""
        places = [TopicPartition(topic, partition, start.offset) for topic, partition in partitions]
        if start.timestamp is not None:
            times = [TopicPartition(place.topic, place.partition, start.timestamp) for place in places]
            return list(self._consumer.offsets_for_times(times, timeout=self.patience)) if times else []
        if start.back is not None:
            for place in places:
                low, high = self.bounds(place.topic, place.partition)
                place.offset = max(low, high - start.back)
        return places

    def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        """The first offset of a partition, and the one after its last record."""
        low, high = self._consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=self.patience)
        return low, high


__all__ = ["OFFSET_BEGINNING", "OFFSET_END", "Cluster", "Start", "is_refusal"]
