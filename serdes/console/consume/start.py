"""Where in its topics a consumer begins."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, KafkaError, KafkaException, TopicPartition

from serdes.console.outcome import NOT_DELIVERED, Ended

#: Errors that waiting does not mend.
_REFUSED = (
    KafkaError._AUTHENTICATION,  # noqa: SLF001  # librdkafka's own codes have such names
    KafkaError._SSL,  # noqa: SLF001
    KafkaError._RESOLVE,  # noqa: SLF001
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
)
_ASK_SECONDS = 2.0


def is_refusal(error: KafkaError) -> bool:
    """Whether an error is one that waiting does not mend."""
    return error.code() in _REFUSED or error.fatal()


@dataclass(frozen=True, slots=True)
class Start:
    """Where reading begins.

    Attributes:
        offset: An offset of every partition, or one of confluent_kafka's OFFSET_BEGINNING and OFFSET_END.
        timestamp: Milliseconds since 1970; the first record that is not older, instead of an offset.
        back: So many records before the end, instead of an offset.
    """

    offset: int = OFFSET_END
    timestamp: int | None = None
    back: int | None = None


class Cluster:
    """What the broker says, asked for with patience: until it answers or `patience` seconds have passed."""

    def __init__(self, consumer: Consumer, patience: float) -> None:
        self._consumer = consumer
        self.patience = patience
        #: What the client told last by itself.
        self.error: KafkaError | None = None

    def partitions(self, topic: str) -> list[int]:
        """The partitions of a topic; none where it does not exist.

        Raises:
            Ended: The broker refuses us or does not answer.
        """
        found = self._metadata(topic).topics[topic]
        if found.error is not None and is_refusal(found.error):
            raise Ended(NOT_DELIVERED, f"topic {topic}: {found.error.str()}")
        return sorted(found.partitions)

    def topics(self, pattern: str) -> list[str]:
        """The topics whose whole name matches, internal ones left out."""
        matches = re.compile(pattern.replace(",", "|")).fullmatch
        return sorted(name for name in self._metadata(None).topics if matches(name) and not name.startswith("__"))

    def _metadata(self, topic: str | None) -> Any:
        until = time.monotonic() + self.patience
        while True:
            left = until - time.monotonic()
            try:
                asked = () if topic is None else (topic,)
                return self._consumer.list_topics(*asked, timeout=max(0.1, min(_ASK_SECONDS, left)))
            except KafkaException as error:
                self._consumer.poll(0)
                seen = self.error or error.args[0]
                if left <= 0 or is_refusal(seen):
                    raise Ended(NOT_DELIVERED, f"the broker cannot be used: {seen.str()}") from error
                time.sleep(min(0.1, max(0, left)))

    def offsets(self, partitions: Iterable[tuple[str, int]], start: Start) -> list[TopicPartition]:
        """The partitions with the offset that each begins at."""
        chosen = [TopicPartition(topic, partition, start.offset) for topic, partition in partitions]
        if start.timestamp is not None:
            asked = [TopicPartition(each.topic, each.partition, start.timestamp) for each in chosen]
            return list(self._consumer.offsets_for_times(asked, timeout=self.patience)) if asked else []
        if start.back is not None:
            for each in chosen:
                low, high = self.bounds(each.topic, each.partition)
                each.offset = max(low, high - start.back)
        return chosen

    def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        """A partition's first offset and the one behind its last."""
        low, high = self._consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=self.patience)
        return low, high


__all__ = ["OFFSET_BEGINNING", "OFFSET_END", "Cluster", "Start", "is_refusal"]
