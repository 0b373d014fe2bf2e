"""Connections for fetching, each lent to one read at a time: a broker answers its requests in order."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from aiokafka import errors
from aiokafka.conn import AIOKafkaConnection, CloseReason
from aiokafka.protocol.fetch import FetchRequest

from rest_proxy.admin.connection.brokers import Brokers, Lost
from rest_proxy.admin.connection.nodes import Address

#: How much longer than its wait a fetch may take, in seconds.
_SECONDS = 10.0
#: The protocol's largest size.
_MOST_BYTES = 2**31 - 1


class FetchAnswer(NamedTuple):
    """A broker's answer for a partition.

    Attributes:
        code: The error code.
        end: The offset after the last record that all replicas have.
        last_stable: The offset before the first open transaction.
        earliest: The first offset.
        aborted: Producer and first offset of each aborted transaction.
        batches: The batches of records.
    """

    code: int
    end: int
    last_stable: int
    earliest: int
    aborted: Sequence[tuple[int, int]]
    batches: bytes

    @classmethod
    def of(cls, fields: Sequence[Any]) -> FetchAnswer:
        """The answer in the fields of a response, from the error code on, in any of its versions."""
        code, end, last_stable, *rest = fields
        earliest = rest[0] if isinstance(rest[0], int) else -1
        aborted = next((field for field in rest if isinstance(field, list)), None)
        return cls(code, end, last_stable, earliest, aborted or (), rest[-1] or b"")


class FetchConnections:
    """Idle connections by address; there are as many as reads that ran at the same time."""

    def __init__(self, brokers: Brokers) -> None:
        self._brokers = brokers
        self._idle: dict[Address, list[AIOKafkaConnection]] = {}

    async def fetch(
        self,
        address: Address,
        topic: str,
        offsets: dict[int, int],
        *,
        max_wait_ms: int,
        max_bytes: int,
        is_committed: bool,
    ) -> dict[int, FetchAnswer]:
        """Fetch partitions of a topic from their leader.

        Args:
            address: The leader's address.
            topic: The topic.
            offsets: The first offset to fetch, by partition.
            max_wait_ms: How long the broker waits if there is nothing.
            max_bytes: The size of the answer; one batch is returned even if it is larger.
            is_committed: Whether open transactions are left out.

        Raises:
            ApiError: KAFKA_AUTHENTICATION.
            NotSent, Lost: The broker cannot be reached, or does not answer.
        """
        max_bytes = min(max_bytes, _MOST_BYTES)
        partitions = [(partition, offset, max_bytes) for partition, offset in offsets.items()]
        request = FetchRequest(max_wait_ms, 1, max_bytes, int(is_committed), [(topic, partitions)])
        response = await self._send(address, request, max_wait_ms / 1000 + _SECONDS)
        return {fields[0]: FetchAnswer.of(fields[1:]) for _, answers in response.topics for fields in answers}

    async def _send(self, address: Address, request: Any, seconds: float) -> Any:
        async with self._borrowed(address) as connection:
            try:
                return await asyncio.wait_for(connection.send(request), seconds)
            except TimeoutError:
                raise Lost("The broker did not answer in time.") from None
            except (OSError, errors.KafkaError) as error:
                raise Lost("The connection to the broker was lost before its answer.") from error

    @asynccontextmanager
    async def _borrowed(self, address: Address) -> AsyncIterator[AIOKafkaConnection]:
        idle = self._idle.setdefault(address, [])
        connection = None
        while idle and connection is None:
            candidate = idle.pop()
            connection = candidate if candidate.connected() else None
        if connection is None:
            connection = await self._brokers.open(address)
        try:
            yield connection
        except BaseException:
            # Its answer may still come, and the next request would wait for it.
            connection.close(reason=CloseReason.CONNECTION_TIMEOUT)
            raise
        idle.append(connection)

    async def close(self) -> None:
        """Close the idle connections."""
        connections = [connection for idle in self._idle.values() for connection in idle if connection.connected()]
        self._idle.clear()
        with contextlib.suppress(Exception):
            await asyncio.gather(*(connection.close(reason=CloseReason.SHUTDOWN) for connection in connections))
