"""A Kafka consumer that polls into a bounded buffer in the background; its own thread runs every command to it."""

# ruff: noqa: SLF001  (librdkafka's local error codes are named with an underscore)

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from magicbyte.kit.kafka import client_settings as kafka
from rest_proxy import metrics
from rest_proxy.consume.consumers.broker_requests import BrokerRequests
from rest_proxy.consume.consumers.buffer import Buffer, PartitionId, Position
from rest_proxy.consume.consumers.worker import Worker
from rest_proxy.errors import ILLEGAL_STATE, MUTUALLY_EXCLUSIVE

log = logging.getLogger("rest_proxy.consume.consumers.consumer")

T = TypeVar("T")

#: How long a poll may delay a command: short if the instance is in use, long if it is idle.
_BUSY_POLL_SECONDS = 0.02
_IDLE_POLL_SECONDS = 0.5
_IDLE_AFTER_SECONDS = 2.0
#: How long the thread may stop polling because of a full buffer before it pauses the partitions.
_FULL_SECONDS = 0.5
_MESSAGES_A_POLL = 500
#: How long a seek waits for a newly assigned partition.
_SEEK_SECONDS = 10.0


class PolledConsumer:
    """A consumer, its thread and its buffer.

    Attributes:
        mode: How it gets partitions: `topics`, `pattern` or `assigned`; None if it has no subscription.
        subscribed: The topics, or the pattern, of the subscription.
    """

    def __init__(self, config: kafka.Config, loop: asyncio.AbstractEventLoop, *, buffer_bytes: int) -> None:
        """Start the thread; `subscribe` joins the group.

        Args:
            config: librdkafka's configuration, with `group.id`.
            loop: The event loop of the readers.
            buffer_bytes: The size of the buffer; when it is full, the partitions are paused.

        Raises:
            KafkaException: librdkafka refuses the configuration.
        """
        self._consumer = Consumer({**config, "error_cb": self._on_error, "logger": log})
        self.buffer = Buffer(buffer_bytes, loop)
        self._requests = BrokerRequests(self._consumer, lambda: self._poll_for(0))
        self.mode: str | None = None
        self.subscribed: list[str] = []
        self._assigned: set[PartitionId] = set()
        self._joined = False
        self._paused = False
        self._last_use = time.monotonic()
        self._stranded: dict[PartitionId, KafkaError] = {}
        self._worker = Worker(f"consumer-{config.get('group.id')}", self._poll, self.buffer.space.set)

    async def _do(self, command: Callable[[], T]) -> T:
        self.used()
        return await self._worker.do(command)

    def used(self) -> None:
        """Make polls short for a while, so that commands are quick."""
        self._last_use = time.monotonic()

    async def wait_for(self, min_bytes: int, seconds: float) -> None:
        """Wait for records as `Buffer.wait_for` does; also raises if a partition has no valid offset to read from."""
        self.used()
        for error in list(self._stranded.values()):
            self.buffer.fail(KafkaException(error))
        await self.buffer.wait_for(min_bytes, seconds)

    async def close(self) -> None:
        """Commit the offsets stored for auto-commit, leave the group and end the thread."""
        if not self._worker.ended:
            await self._do(self._close)

    def _close(self) -> None:
        self._worker.ended = True
        self._consumer.close()

    async def subscribe(self, topics: Sequence[str], *, pattern: bool = False) -> None:
        """Join the group for topics, or for topics that match a regular expression.

        Raises:
            ApiError: ILLEGAL_STATE if partitions are assigned by hand, or topics and pattern are mixed.
        """
        await self._do(lambda: self._subscribe(list(topics), "pattern" if pattern else "topics"))

    def _subscribe(self, topics: list[str], mode: str) -> None:
        if self.mode not in (None, mode):
            raise MUTUALLY_EXCLUSIVE()
        self._consumer.subscribe(topics, on_assign=self._on_assign, on_revoke=self._on_lost, on_lost=self._on_lost)
        self.mode, self.subscribed = mode, topics
        self._worker.stepping = True

    async def unsubscribe(self) -> None:
        """Leave the subscribed topics, or the partitions assigned by hand."""
        await self._do(self._unsubscribe)

    def _unsubscribe(self) -> None:
        if self.mode == "assigned":
            self._consumer.unassign()
        elif self.mode is not None:
            self._consumer.unsubscribe()
        self.buffer.drop(self._assigned)
        self._assigned.clear()
        self._joined = False
        self.mode, self.subscribed = None, []

    async def assign(self, places: Sequence[PartitionId]) -> None:
        """Read these partitions without group management; partitions that are read already keep their positions.

        Raises:
            ApiError: ILLEGAL_STATE if the consumer is subscribed.
        """
        await self._do(lambda: self._assign(set(places)))

    def _assign(self, places: set[PartitionId]) -> None:
        if self.mode not in (None, "assigned"):
            raise MUTUALLY_EXCLUSIVE()
        continued = self._consumer.position([TopicPartition(*place) for place in sorted(self._assigned & places)])
        new = [TopicPartition(*place) for place in sorted(places - self._assigned)]
        if places:
            self._consumer.assign(continued + new)
        else:
            self._consumer.unassign()
        self.buffer.drop(self._assigned - places)
        self._assigned = places
        self._joined = True
        self.mode = "assigned" if places else None
        self._worker.stepping = True

    async def subscription(self) -> list[str]:
        """The subscribed topics; for a pattern, the topics of the assigned partitions."""
        if self.mode != "pattern":
            return self.subscribed
        await self._until_joined()
        return sorted({topic for topic, _ in await self.assignment()})

    async def assignment(self) -> list[PartitionId]:
        """The assigned partitions."""
        return await self._do(lambda: sorted(self._assigned))

    async def seek(self, positions: Sequence[Position]) -> None:
        """Continue at these offsets.

        Raises:
            ApiError: ILLEGAL_STATE if one of the partitions is not assigned.
        """
        await self._seek([position[:2] for position in positions], lambda: positions)

    async def seek_to_beginning(self, places: Sequence[PartitionId]) -> None:
        """Continue at the first records. Raises as `seek`."""
        await self._seek(places, lambda: [self._requests.beginning(place) for place in places])

    async def seek_to_end(self, places: Sequence[PartitionId]) -> None:
        """Continue after the last records. Raises as `seek`."""
        await self._seek(places, lambda: [self._requests.end(place) for place in places])

    async def seek_to_times(self, instants: Sequence[Position]) -> None:
        """Continue at the first records at or after an instant (ms, in `offset`), else at the end. Raises as `seek`."""
        await self._seek([instant[:2] for instant in instants], lambda: self._requests.offsets_at(instants))

    async def _seek(self, places: Sequence[PartitionId], targets: Callable[[], Sequence[Position]]) -> None:
        await self._until_joined()

        def command() -> None:
            for topic, partition in places:
                if (topic, partition) not in self._assigned:
                    raise ILLEGAL_STATE(detail=f"No current assignment for partition {topic}-{partition}")
            for position in targets():
                self._seek_one(position)

        await self._do(command)

    def _seek_one(self, position: Position) -> None:
        target = TopicPartition(position.topic, position.partition, position.offset)
        place = (position.topic, position.partition)
        if self._stranded.pop(place, None) is not None:
            # A partition without a valid offset cannot be sought, but it can be assigned again with a new offset.
            others = [TopicPartition(*other_place) for other_place in self._assigned - {place}]
            self._consumer.assign([target, *self._consumer.position(others)])
            self.buffer.fail(None)
        deadline = time.monotonic() + _SEEK_SECONDS
        while True:
            try:
                self._consumer.seek(target)
            except KafkaException as error:
                # A newly assigned partition cannot be sought before its fetcher has started.
                if error.args[0].code() != KafkaError._STATE or time.monotonic() > deadline:
                    raise
                self._poll_for(_BUSY_POLL_SECONDS)
            else:
                break
        self.buffer.drop([place])
        self.buffer.continue_at(position)

    async def _until_joined(self) -> None:
        """Wait for the first assignment of a new subscription."""
        deadline = time.monotonic() + _SEEK_SECONDS
        while self.mode in ("topics", "pattern") and not self._joined and time.monotonic() < deadline:
            if self._requests.refused is not None:
                raise KafkaException(self._requests.refused)
            self.used()
            await asyncio.sleep(_BUSY_POLL_SECONDS)

    def store(self, positions: Sequence[Position]) -> None:
        """Store these positions for auto-commit; partitions that are no longer assigned are ignored."""
        if positions:
            # Not on this thread: the client library deadlocks if another thread polls meanwhile.
            self._worker.post(lambda: self._store(positions))

    def _store(self, positions: Sequence[Position]) -> None:
        for topic, partition, offset, _ in positions:
            if (topic, partition) in self._assigned:
                self._consumer.store_offsets(offsets=[TopicPartition(topic, partition, offset)])

    async def commit(self, positions: Sequence[Position]) -> None:
        """Commit and wait for the broker's answer.

        Raises:
            KafkaException: For the first partition that was refused.
        """

        def command() -> None:
            # A commit without a broker fails only after the client library's long timeout, so check for a broker first.
            self._requests.reach(positions[0][:2])
            targets = [TopicPartition(*position) for position in positions]
            for result in self._consumer.commit(offsets=targets, asynchronous=False) or ():
                if result.error is not None:
                    raise KafkaException(result.error)

        await self._do(command)

    async def committed(self, places: Sequence[PartitionId]) -> list[Position]:
        """The committed positions of these partitions; partitions without one are left out."""
        return await self._do(lambda: self._requests.committed(places))

    # The consumer's thread

    def _poll(self) -> None:
        buffer = self.buffer
        if buffer.size >= buffer.limit and not self._paused:
            buffer.space.clear()
            buffer.space.wait(_FULL_SECONDS)
            if buffer.size < buffer.limit or self._worker.has_commands:
                return
            self._pause(paused=True)
        elif self._paused and buffer.size < buffer.limit // 2:
            self._pause(paused=False)
        busy = self._paused or time.monotonic() - self._last_use < _IDLE_AFTER_SECONDS
        self._poll_for(_BUSY_POLL_SECONDS if busy else _IDLE_POLL_SECONDS)

    def _poll_for(self, seconds: float) -> None:
        first = self._consumer.poll(seconds)
        if first is not None:
            self._accept([first, *self._consumer.consume(_MESSAGES_A_POLL, 0)])

    def _pause(self, *, paused: bool) -> None:
        change = self._consumer.pause if paused else self._consumer.resume
        change([TopicPartition(*place) for place in self._assigned])
        self._paused = paused

    def _accept(self, messages: Sequence[Message]) -> None:
        records = [message for message in messages if message.error() is None]
        if records:
            self._requests.answered()
            self.buffer.append(records)
        for message in messages:
            error = message.error()
            # A topic that does not exist yet is no error: the consumer waits for it, as in Java.
            if error is not None and error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                self.buffer.fail(KafkaException(error))
                if error.code() == KafkaError._AUTO_OFFSET_RESET:
                    self._stranded[message.topic(), message.partition()] = error

    def _on_assign(self, _: Consumer, partitions: Sequence[TopicPartition]) -> None:
        metrics.REBALANCES.inc()
        self._assigned.update((place.topic, place.partition) for place in partitions)
        self._paused = False
        self._joined = True
        self._requests.answered()

    def _on_lost(self, _: Consumer, partitions: Sequence[TopicPartition]) -> None:
        places = [(place.topic, place.partition) for place in partitions]
        self._assigned.difference_update(places)
        self._stranded = {place: error for place, error in self._stranded.items() if place in self._assigned}
        self.buffer.drop(places)

    def _on_error(self, error: KafkaError) -> None:
        if self._requests.hear(error) or error.fatal():
            self.buffer.fail(KafkaException(error))
        log.warning("consumer: %s", error.str(), extra={"event": "consumer_error", "error": error.str()})
