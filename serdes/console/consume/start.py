"""The offsets at which a consumer begins."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, TopicPartition

from serdes.console.brokers import Brokers, is_refusal
from serdes.console.outcome import NOT_DELIVERED, Ended


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


class Cluster(Brokers):
    """The topics and offsets of a consumer's brokers."""

    def __init__(self, consumer: Consumer, patience: float) -> None:
        super().__init__(consumer, patience)
        self._consumer = consumer

    def partitions(self, topic: str) -> list[int]:
        """The partitions of a topic; empty if it does not exist.

        Raises:
            Ended: The broker refuses the request or does not answer.
        """
        metadata = self.metadata(topic).topics[topic]
        if metadata.error is not None and is_refusal(metadata.error):
            raise Ended(NOT_DELIVERED, f"topic {topic}: {metadata.error.str()}")
        return sorted(metadata.partitions)

    def topics(self, pattern: str) -> list[str]:
        """The topics whose full name matches, without internal topics."""
        matches = re.compile(pattern.replace(",", "|")).fullmatch
        return sorted(name for name in self.metadata().topics if matches(name) and not name.startswith("__"))

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


__all__ = ["OFFSET_BEGINNING", "OFFSET_END", "Cluster", "Start"]
