"""Opening the node for a storage URL: the only code that distinguishes storages."""

from __future__ import annotations

from collections.abc import Callable

from magicbyte.kit.extras import require
from magicbyte.kit.settings import SettingsError
from registry.cluster.node import Node, SharedLogNode
from registry.log.memory import MemoryLog
from registry.settings import RegistrySettings

#: How often a log that other processes may write to is read, in seconds.
_POLL_SECONDS = 0.5


def _memory(settings: RegistrySettings) -> Node:
    return SharedLogNode(MemoryLog(), settings.advertised_url)


def _sql(settings: RegistrySettings) -> Node:
    from registry.log.sql import SqlLog  # noqa: PLC0415  a registry on Kafka needs no SQLAlchemy

    return SharedLogNode(SqlLog(settings.storage), settings.advertised_url, poll_seconds=_POLL_SECONDS)


def _postgresql(settings: RegistrySettings) -> Node:
    require("postgresql", user="the storage postgresql:")
    return _sql(settings)


def _kafka(settings: RegistrySettings) -> Node:
    from registry.cluster.kafka_node import open_kafka_node  # noqa: PLC0415  a registry elsewhere needs no Kafka

    return open_kafka_node(settings)


#: Scheme of the storage URL -> function that opens the node.
_STORAGES: dict[str, Callable[[RegistrySettings], Node]] = {
    "memory": _memory,
    "sqlite": _sql,
    "postgresql": _postgresql,
    "kafka": _kafka,
}


def open_node(settings: RegistrySettings) -> Node:
    """Make the node for the storage in the settings, without starting it.

    Raises:
        SettingsError: The storage does not exist, or lacks a setting.
        ExtraMissing: The storage's dependencies are not installed.
    """
    scheme = settings.storage.partition(":")[0].partition("+")[0]
    opener = _STORAGES.get(scheme)
    if opener is None:
        schemes = ", ".join(f"{name}:" for name in _STORAGES)
        raise SettingsError(f"magicbyte.storage: no storage {settings.storage!r}; there are {schemes}")
    return opener(settings)
