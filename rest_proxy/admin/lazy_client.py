"""The admin client, made when it is first needed: its libraries take a while to import."""

from __future__ import annotations

import asyncio
import importlib
import sys
from types import ModuleType

from magicbyte.kit.kafka.client_settings import Config
from rest_proxy.admin.client import AdminClient
from rest_proxy.admin.connection.options import bootstrap_addresses, connection_options

#: How long an admin request may take, in seconds, including the search for the right broker.
_SECONDS = 10.0


class LazyAdminClient:
    """Makes the one admin client of a proxy at the first call."""

    def __init__(self, config: Config) -> None:
        """Keep the settings, in librdkafka's names and values."""
        self._config = config
        self._client: AdminClient | None = None
        self._lock = asyncio.Lock()

    async def __call__(self) -> AdminClient:
        """Return the client.

        Raises:
            KafkaSettingsError: The settings cannot be applied.
        """
        if self._client is None:
            async with self._lock:
                if self._client is None:
                    # This reads modules and key files, which may be on a slow disk.
                    self._client = await asyncio.to_thread(self._make)
        return self._client

    def _make(self) -> AdminClient:
        brokers = _connecting_module().Brokers(
            bootstrap_addresses(self._config), connection_options(self._config), _SECONDS
        )
        return AdminClient(brokers)

    async def close(self) -> None:
        """Close the client, if there is one."""
        if self._client is not None:
            await self._client.close()


def _connecting_module() -> ModuleType:
    """Import the module that connects to brokers, and with it kio and aiokafka."""
    # kio imports hypothesis if it is installed, which takes 2 s and 200 MB; only tests of kio need it.
    hides = "hypothesis" not in sys.modules
    if hides:
        sys.modules["hypothesis"] = None  # type: ignore[assignment]
    try:
        return importlib.import_module("rest_proxy.admin.connection.brokers")
    finally:
        if hides:
            del sys.modules["hypothesis"]
