"""The stateless consumer of v1: reads by partition and offset, with pooled consumers and without a group."""

# ruff: noqa: SLF001  (librdkafka's local error codes are named with an underscore)

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from magicbyte.kit.kafka import client_settings as kafka
from rest_proxy.admin.asker import Asker
from rest_proxy.consume.buffer import Position
from rest_proxy.consume.worker import Worker
from rest_proxy.errors import NO_SIMPLE_CONSUMER

log = logging.getLogger("rest_proxy.consume.stateless")

_MESSAGES_A_POLL = 500


class PartitionReader:
    """A consumer that belongs to no group, and its thread."""

    def __init__(self, config: kafka.Config) -> None:
        """Make the consumer without connecting.

        Args:
            config: librdkafka's configuration of consumers.

        Raises:
            KafkaException: librdkafka refuses the configuration.
        """
        overrides: kafka.Config = {
            "group.id": "rest-proxy-simple-consumer",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "enable.partition.eof": True,
        }
        self._consumer = Consumer({**config, **overrides, "error_cb": self._on_error, "logger": log})
        self._asker = Asker(self._consumer, lambda: self._consumer.poll(0))
        self._worker = Worker("simple-consumer", lambda: None, lambda: None)

    async def read_at(self, start: Position, count: int, seconds: float) -> list[Message]:
        """Read records from an offset, up to `count` or the end of the partition.

        Raises:
            KafkaException: The records cannot be read; for example, the offset is out of range.
        """
        return await self._worker.do(lambda: self._read_at(start, count, time.monotonic() + seconds))

    def _read_at(self, start: Position, count: int, deadline: float) -> list[Message]:
        self._consumer.assign([TopicPartition(start.topic, start.partition, start.offset)])
        records: list[Message] = []
        try:
            while (missing := count - len(records)) > 0 and (seconds_left := deadline - time.monotonic()) > 0:
                first = self._consumer.poll(seconds_left)
                batch = [first, *self._consumer.consume(min(missing, _MESSAGES_A_POLL), 0)] if first else []
                for message in batch:
                    error = message.error()
                    if error is None:
                        self._asker.answered()
                        records.append(message)
                    elif error.code() == KafkaError._PARTITION_EOF:
                        return records[:count]
                    else:
                        raise KafkaException(error)
        finally:
            self._consumer.unassign()
        if not records and self._asker.refused is not None:
            raise KafkaException(self._asker.refused)
        return records[:count]

    async def offset_at(self, instant: Position) -> int:
        """The offset of the first record not before an instant, which is given in ms in `offset`."""
        return (await self._worker.do(lambda: self._asker.offsets_at([instant])))[0].offset

    async def close(self) -> None:
        """Close the consumer and end the thread."""
        await self._worker.do(self._close)

    def _close(self) -> None:
        self._worker.ended = True
        self._consumer.close()

    def _on_error(self, error: KafkaError) -> None:
        self._asker.hear(error)
        log.warning("simple consumer: %s", error.str())


class SimplePool:
    """A pool of consumers, made on first use."""

    def __init__(self, make: Callable[[], PartitionReader], *, size: int, timeout_seconds: float) -> None:
        self._make = make
        self._timeout = timeout_seconds
        self._places = asyncio.Semaphore(size)
        self._idle: list[PartitionReader] = []

    @asynccontextmanager
    async def borrow(self) -> AsyncIterator[PartitionReader]:
        """Lend a consumer for one read.

        Raises:
            ApiError: NO_SIMPLE_CONSUMER if none is free in time.
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
        """Close the consumers that are not lent."""
        idle, self._idle = self._idle, []
        await asyncio.gather(*(consumer.close() for consumer in idle), return_exceptions=True)
