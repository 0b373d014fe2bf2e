"""The client of the registry, by the settings."""

from __future__ import annotations

from collections.abc import Callable

from rest_proxy.settings import RestProxySettings
from serdes.client.clients import AsyncRegistryClient

#: Makes the registry client; tests pass a function whose client uses a registry in the same process.
MakeRegistry = Callable[[RestProxySettings], AsyncRegistryClient | None]


def registry_client(settings: RestProxySettings) -> AsyncRegistryClient | None:
    """Make the client of the registry; None if the settings name no registry.

    Raises:
        SettingsError: A property under `schema.registry.` is invalid; the text names it.
    """
    if not settings.schema_registry_url.strip():
        return None
    return AsyncRegistryClient(**settings.registry_client_options())
