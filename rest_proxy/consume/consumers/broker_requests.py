"""Requests to the brokers through a consumer, with a timeout; they fail at once if its credentials are refused."""

# ruff: noqa: SLF001  (librdkafka's local error codes are named with an underscore)

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from rest_proxy.consume.consumers.buffer import PartitionId, Position
from rest_proxy.errors import is_silence, refuses

T = TypeVar("T")

#: The timeout of the first attempt, which each retry doubles, and the time limit for all attempts, in seconds.
_FIRST_ATTEMPT_SECONDS = 0.5
_ASK_SECONDS = 30.0


class BrokerRequests:
    """Sends requests through a consumer, on the consumer's thread.

    Attributes:
        refused: The error with which the brokers refused the credentials; None once a broker has answered.
    """

    def __init__(self, consumer: Consumer, listen: Callable[[], None]) -> None:
        """Send nothing yet.

        Args:
            consumer: The consumer.
            listen: Polls the consumer, so that it calls its error callback.
        """
        self.refused: KafkaError | None = None
        self._consumer = consumer
        self._listen = listen
        self._reached = False

    def hear(self, error: KafkaError) -> bool:
        """Note an error from the consumer's callback; returns whether it says that the credentials are refused."""
        if refuses(error):
            self.refused = error
            self._reached = False
            return True
        return False

    def answered(self) -> None:
        """Note that a broker has answered the consumer."""
        self.refused = None
        self._reached = True

    def committed(self, places: Sequence[PartitionId]) -> list[Position]:
        """The group's committed positions of these partitions; partitions without one are left out.

        Raises:
            KafkaException: The brokers refuse, or do not answer in time.
        """
        partitions = [TopicPartition(*place) for place in places]
        answers = self._ask(lambda seconds: self._consumer.committed(partitions, timeout=seconds))
        for answer in answers:
            if answer.error is not None:
                raise KafkaException(answer.error)
        return [
            Position(answer.topic, answer.partition, answer.offset, answer.metadata or "")
            for answer in answers
            if answer.offset >= 0
        ]

    def offsets_at(self, instants: Sequence[Position]) -> list[Position]:
        """The first records at or after instants, given in ms in `offset`; the end if there is none.

        Raises:
            KafkaException: As for `committed`.
        """
        partitions = [TopicPartition(*instant[:3]) for instant in instants]
        positions: list[Position] = []
        for answer in self._ask(lambda seconds: self._consumer.offsets_for_times(partitions, timeout=seconds)):
            if answer.error is not None:
                raise KafkaException(answer.error)
            place = (answer.topic, answer.partition)
            positions.append(Position(*place, answer.offset if answer.offset >= 0 else self.end(place).offset))
        return positions

    def beginning(self, place: PartitionId) -> Position:
        """The offset of a partition's first record. Raises as `committed`."""
        return Position(*place, self._watermarks(place)[0])

    def end(self, place: PartitionId) -> Position:
        """The offset of a partition's next record. Raises as `committed`."""
        return Position(*place, self._watermarks(place)[1])

    def reach(self, place: PartitionId) -> None:
        """Check that a broker answers, before a request that takes no timeout. Raises as `committed`."""
        if not self._reached:
            self.committed([place])

    def _watermarks(self, place: PartitionId) -> tuple[int, int]:
        target = TopicPartition(*place)

        def question(seconds: float) -> tuple[int, int]:
            watermarks: tuple[int, int] | None = self._consumer.get_watermark_offsets(target, timeout=seconds)
            if watermarks is None:
                raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
            return watermarks

        return self._ask(question)

    def _ask(self, question: Callable[[float], T]) -> T:
        deadline = time.monotonic() + _ASK_SECONDS
        seconds = _FIRST_ATTEMPT_SECONDS
        while True:
            try:
                answer = question(seconds)
            except KafkaException as error:
                self._listen()
                if self.refused is not None:
                    raise KafkaException(self.refused) from None
                if not is_silence(error.args[0]) or time.monotonic() > deadline:
                    raise
                seconds = min(2 * seconds, max(_FIRST_ATTEMPT_SECONDS, deadline - time.monotonic()))
            else:
                self.answered()
                return answer
