"""Questions to the brokers through a consumer: they end in time, and at once where its credentials are refused."""

# ruff: noqa: SLF001  (the codes of librdkafka itself are named with an underscore)

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from rest_proxy.consume.buffer import Place, Position
from rest_proxy.errors import is_silence, refuses

T = TypeVar("T")

#: How long a question waits at first before it is asked again for longer, and how long in all, in seconds.
_FIRST_TURN_SECONDS = 0.5
_ASK_SECONDS = 30.0


class Asking:
    """Asks for one consumer, on the thread that the consumer belongs to.

    Attributes:
        refused: What the brokers said to the credentials, until one has answered.
    """

    def __init__(self, consumer: Consumer, listen: Callable[[], None]) -> None:
        """Nothing is asked yet.

        Args:
            consumer: Through which to ask.
            listen: Lets the consumer call back what it has heard, by polling it.
        """
        self.refused: KafkaError | None = None
        self._consumer = consumer
        self._listen = listen
        self._reached = False

    def hear(self, error: KafkaError) -> bool:
        """Take an error that the consumer called back; tell whether it is that of refused credentials."""
        if refuses(error):
            self.refused = error
            self._reached = False
            return True
        return False

    def answered(self) -> None:
        """Note that a broker has answered the consumer."""
        self.refused = None
        self._reached = True

    def committed(self, places: Sequence[Place]) -> list[Position]:
        """What the group has committed of these partitions; those never committed are left out.

        Raises:
            KafkaException: The brokers refused, or were silent for too long.
        """
        asked = [TopicPartition(*place) for place in places]
        found = self._ask(lambda seconds: self._consumer.committed(asked, timeout=seconds))
        for place in found:
            if place.error is not None:
                raise KafkaException(place.error)
        return [
            Position(place.topic, place.partition, place.offset, place.metadata or "")
            for place in found
            if place.offset >= 0
        ]

    def offsets_at(self, instants: Sequence[Position]) -> list[Position]:
        """The first records no older than instants, given as milliseconds in `offset`; the end where there is none.

        Raises:
            KafkaException: As for `committed`.
        """
        asked = [TopicPartition(*instant[:3]) for instant in instants]
        found: list[Position] = []
        for answer in self._ask(lambda seconds: self._consumer.offsets_for_times(asked, timeout=seconds)):
            if answer.error is not None:
                raise KafkaException(answer.error)
            place = (answer.topic, answer.partition)
            found.append(Position(*place, answer.offset if answer.offset >= 0 else self.end(place).offset))
        return found

    def beginning(self, place: Place) -> Position:
        """The first record of a partition. Raises as `committed`."""
        return Position(*place, self._watermarks(place)[0])

    def end(self, place: Place) -> Position:
        """Where the next record of a partition will be. Raises as `committed`."""
        return Position(*place, self._watermarks(place)[1])

    def reach(self, place: Place) -> None:
        """Make sure that a broker answers, before what cannot be given a time to end in. Raises as `committed`."""
        if not self._reached:
            self.committed([place])

    def _watermarks(self, place: Place) -> tuple[int, int]:
        target = TopicPartition(*place)

        def question(seconds: float) -> tuple[int, int]:
            found: tuple[int, int] | None = self._consumer.get_watermark_offsets(target, timeout=seconds)
            if found is None:
                raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
            return found

        return self._ask(question)

    def _ask(self, question: Callable[[float], T]) -> T:
        deadline = time.monotonic() + _ASK_SECONDS
        seconds = _FIRST_TURN_SECONDS
        while True:
            try:
                answer = question(seconds)
            except KafkaException as error:
                self._listen()
                if self.refused is not None:
                    raise KafkaException(self.refused) from None
                if not is_silence(error.args[0]) or time.monotonic() > deadline:
                    raise
                seconds = min(2 * seconds, max(_FIRST_TURN_SECONDS, deadline - time.monotonic()))
            else:
                self.answered()
                return answer
