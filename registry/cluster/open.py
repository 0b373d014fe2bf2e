"""Opening the node for a storage URL: the only code that distinguishes storages."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from magicbyte.kit.extras import require
from magicbyte.kit.settings import SettingsError
from registry.cluster.node import Node, SharedLogNode
from registry.cluster.reserved_ids import ReservedIds, ReservingLog
from registry.log.memory import MemoryLog
from registry.log.port import LogError
from registry.log.sqlite_wal import find_damage
from registry.settings import RegistrySettings

log = logging.getLogger("magicbyte.registry.storage")

#: How often a log that other processes may write to is read, in seconds.
_POLL_SECONDS = 0.5


def _memory(settings: RegistrySettings) -> Node:
    return SharedLogNode(MemoryLog(), settings.advertised_url)


def _sql(settings: RegistrySettings) -> Node:
    from registry.log.sql import SqlLog  # noqa: PLC0415  a registry on Kafka needs no SQLAlchemy

    return SharedLogNode(SqlLog(settings.storage), settings.advertised_url, poll_seconds=_POLL_SECONDS)


def _sqlite(settings: RegistrySettings) -> Node:
    from registry.log.sql import SqlLog, sqlite_file  # noqa: PLC0415  as above

    database = sqlite_file(settings.storage)
    if database is None:
        return _sql(settings)
    was_damaged = _has_damage(database, accepted=settings.accepts_damage)
    store = SqlLog(settings.storage)
    if was_damaged:
        # Drop the damaged part, so that it is not reported again.
        store.checkpoint()
    ids = ReservedIds(database.with_name(database.name + "-ids"))
    return SharedLogNode(
        ReservingLog(store, ids),
        settings.advertised_url,
        poll_seconds=_POLL_SECONDS,
        first_command=ids.mark_lost,
    )


def _has_damage(database: Path, *, accepted: bool) -> bool:
    """Tell whether the write-ahead log of an SQLite database is damaged; keep a copy of one that is accepted.

    Raises:
        LogError: It is damaged, and that is not accepted.
    """
    wal = database.with_name(database.name + "-wal")
    try:
        damage = find_damage(wal)
        if damage is None:
            return False
        text = (
            f"{wal} is damaged at byte {damage.place}: SQLite would drop what is there, and "
            f"{damage.transactions} committed transactions behind it"
        )
        if not accepted:
            raise LogError(
                f"{text}. Restore the file and {database} from a backup or from another disk, or start with "
                "magicbyte.storage.accept.damage=true to go on without these schemas; their ids are not given again"
            )
        copy = wal.with_name(f"{wal.name}.damaged-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}")
        shutil.copyfile(wal, copy)
    except OSError as error:
        raise LogError(f"{wal} can't be read: {error}") from error
    log.error(
        "%s; this is accepted, and the file as it was is %s",
        text,
        copy,
        extra={"event": "damage_accepted", "copy": str(copy)},
    )
    return True


def _postgresql(settings: RegistrySettings) -> Node:
    require("postgresql", user="the storage postgresql:")
    return _sql(settings)


def _kafka(settings: RegistrySettings) -> Node:
    from registry.cluster.kafka_node import open_kafka_node  # noqa: PLC0415  a registry elsewhere needs no Kafka

    return open_kafka_node(settings)


#: Scheme of the storage URL -> function that opens the node.
_STORAGES: dict[str, Callable[[RegistrySettings], Node]] = {
    "memory": _memory,
    "sqlite": _sqlite,
    "postgresql": _postgresql,
    "kafka": _kafka,
}


def check_storage(settings: RegistrySettings) -> None:
    """Check what is known of the storage without opening it.

    Raises:
        SettingsError: The storage does not exist, or the Kafka client does not support a property.
        LogError: The Kafka client refuses a property, or the database cannot be there.
        ExtraMissing: The storage's dependencies are not installed.
    """
    opener = _opener(settings)
    if opener is _postgresql:
        require("postgresql", user="the storage postgresql:")
    if opener in (_sqlite, _postgresql):
        from registry.log.sql import check_url  # noqa: PLC0415  as above

        check_url(settings.storage)
    if opener is _kafka:
        from registry.cluster.kafka_node import client_of  # noqa: PLC0415  as above
        from registry.cluster.lead.group import GroupDescriber  # noqa: PLC0415

        GroupDescriber(client_of(settings), settings.group_id)


def open_node(settings: RegistrySettings) -> Node:
    """Make the node for the storage in the settings, without starting it.

    Raises:
        SettingsError: The storage does not exist, or lacks a setting.
        LogError: The storage can't be opened, or is damaged.
        ExtraMissing: The storage's dependencies are not installed.
    """
    return _opener(settings)(settings)


def _opener(settings: RegistrySettings) -> Callable[[RegistrySettings], Node]:
    scheme = settings.storage.partition(":")[0].partition("+")[0]
    opener = _STORAGES.get(scheme)
    if opener is None:
        schemes = ", ".join(f"{name}:" for name in _STORAGES)
        raise SettingsError(f"magicbyte.storage: no storage {settings.storage!r}; there are {schemes}")
    return opener
