"""Reads without a consumer: a bound on how many run at once, and the reader, made when it is first needed."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from magicbyte.kit.kafka.client_settings import Config
from rest_proxy.admin.connection.options import bootstrap_addresses, connection_options
from rest_proxy.errors import NO_SIMPLE_CONSUMER

if TYPE_CHECKING:
    from rest_proxy.consume.stateless.topic_reader import TopicReader

#: How long a request other than a fetch may take, in seconds.
_SECONDS = 10.0


class Reads:
    """Lends the reader to a limited number of reads; each of them may have a connection of its own."""

    def __init__(self, config: Config, *, size: int, timeout_seconds: float, max_unpacked: int) -> None:
        """Prepare.

        Args:
            config: The settings of consumers, in librdkafka's names and values.
            size: How many reads may run at once.
            timeout_seconds: How long a further read waits for its turn.
            max_unpacked: The most bytes of a compressed batch when it is unpacked.
        """
        self._config = config
        self._timeout = timeout_seconds
        self._max_unpacked = max_unpacked
        self._places = asyncio.Semaphore(size)
        self._reader: TopicReader | None = None
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def reader(self) -> AsyncIterator[TopicReader]:
        """Lend the reader for one read.

        Raises:
            ApiError: NO_SIMPLE_CONSUMER if too many reads run.
            KafkaSettingsError: The settings cannot be applied.
        """
        try:
            await asyncio.wait_for(self._places.acquire(), self._timeout)
        except TimeoutError:
            raise NO_SIMPLE_CONSUMER() from None
        try:
            async with self._lock:
                reader = self._reader = self._reader or await self._make()
            yield reader
        finally:
            self._places.release()

    async def _make(self) -> TopicReader:
        # The libraries take a while to import, and files of keys may be on a slow disk.
        brokers = await asyncio.to_thread(importlib.import_module, "rest_proxy.admin.connection.brokers")
        module = await asyncio.to_thread(importlib.import_module, "rest_proxy.consume.stateless.topic_reader")
        options = await asyncio.to_thread(connection_options, self._config)
        asked = brokers.Brokers(bootstrap_addresses(self._config), options, _SECONDS)
        reader: TopicReader = module.TopicReader(asked, max_unpacked=self._max_unpacked)
        return reader

    async def close(self) -> None:
        """Close the connections."""
        if self._reader is not None:
            await self._reader.close()
