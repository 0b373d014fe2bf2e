"""The stateless consumer of the oldest API: reads by partition and offset, from a pool, without any group."""

# ruff: noqa: SLF001  (the codes of librdkafka itself are named with an underscore)

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from magicbyte.kit import kafka
from rest_proxy.admin.asker import Asking
from rest_proxy.consume.buffer import Position
from rest_proxy.consume.worker import Worker
from rest_proxy.errors import NO_SIMPLE_CONSUMER

log = logging.getLogger("rest_proxy.consume.stateless")

_MESSAGES_A_POLL = 500


class PartitionReader:
    """One consumer that belongs to no group, and its thread."""

    def __init__(self, config: kafka.Config) -> None:
        """Nothing is connected yet.

        Args:
            config: librdkafka's configuration of consumers.

        Raises:
            KafkaException: The configuration is refused.
        """
        own: kafka.Config = {
            "group.id": "rest-proxy-simple-consumer",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "enable.partition.eof": True,
        }
        self._consumer = Consumer({**config, **own, "error_cb": self._on_error, "logger": log})
        self._asking = Asking(self._consumer, lambda: self._consumer.poll(0))
        self._worker = Worker("simple-consumer", lambda: None, lambda: None)

    async def read_at(self, start: Position, count: int, seconds: float) -> list[Message]:
        """Records from an offset on, up to `count` or the end of the log, whatever any group has committed.

        Raises:
            KafkaException: They cannot be read; the offset may be out of range.
        """
        return await self._worker.do(lambda: self._read_at(start, count, time.monotonic() + seconds))

    def _read_at(self, start: Position, count: int, deadline: float) -> list[Message]:
        self._consumer.assign([TopicPartition(start.topic, start.partition, start.offset)])
        found: list[Message] = []
        try:
            while len(found) < count and (left := deadline - time.monotonic()) > 0:
                first = self._consumer.poll(left)
                batch = [first, *self._consumer.consume(min(count - len(found), _MESSAGES_A_POLL), 0)] if first else []
                for message in batch:
                    error = message.error()
                    if error is None:
                        self._asking.answered()
                        found.append(message)
                    elif error.code() == KafkaError._PARTITION_EOF:
                        return found[:count]
                    else:
                        raise KafkaException(error)
        finally:
            self._consumer.unassign()
        if not found and self._asking.refused is not None:
            raise KafkaException(self._asking.refused)
        return found[:count]

    async def offset_at(self, instant: Position) -> int:
        """The offset of the first record no older than an instant, given as milliseconds in `offset`."""
        return (await self._worker.do(lambda: self._asking.offsets_at([instant])))[0].offset

    async def close(self) -> None:
        """Close the consumer and end the thread."""
        await self._worker.do(self._close)

    def _close(self) -> None:
        self._worker.ended = True
        self._consumer.close()

    def _on_error(self, error: KafkaError) -> None:
        self._asking.hear(error)
        log.warning("simple consumer: %s", error.str())


class SimplePool:
    """Lends consumers, made when they are first needed."""

    def __init__(self, make: Callable[[], PartitionReader], *, size: int, timeout_seconds: float) -> None:
        self._make = make
        self._timeout = timeout_seconds
        self._places = asyncio.Semaphore(size)
        self._idle: list[PartitionReader] = []

    @asynccontextmanager
    async def borrow(self) -> AsyncIterator[PartitionReader]:
        """A consumer for one read.

        Raises:
            ApiError: NO_SIMPLE_CONSUMER where none is free in time.
        """
        try:
            await asyncio.wait_for(self._places.acquire(), self._timeout)
        except TimeoutError:
            raise NO_SIMPLE_CONSUMER() from None
        try:
            consumer = self._idle.pop() if self._idle else self._make()
            try:
                yield consumer
            finally:
                self._idle.append(consumer)
        finally:
            self._places.release()

    async def close(self) -> None:
        """Close the consumers that nobody has."""
        idle, self._idle = self._idle, []
        await asyncio.gather(*(consumer.close() for consumer in idle), return_exceptions=True)
