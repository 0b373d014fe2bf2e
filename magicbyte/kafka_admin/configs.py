"""Configs of topics: those that differ from the defaults, and changes."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from confluent_kafka import KafkaError
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ConfigSource, ResourceType

from magicbyte.kafka_admin.connection import Admin, checked
from serdes.console.outcome import BAD_USAGE, Ended


def own_configs(admin: Admin, names: Sequence[str]) -> dict[str, dict[str, str | None] | None]:
    """The configs that topics have themselves, by topic and name; None if the client may not see them.

    The value of a sensitive config is None.

    Raises:
        Ended: A topic does not exist, or the brokers did not answer in time.
    """
    configs: dict[str, dict[str, str | None] | None] = {}
    for name, result in _described(admin, names).items():
        if isinstance(result, KafkaError) and result.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
            configs[name] = None
            continue
        entries = checked(f"topic {name}", result).values()
        own = [entry for entry in entries if _source(entry) == ConfigSource.DYNAMIC_TOPIC_CONFIG]
        configs[name] = {entry.name: entry.value for entry in sorted(own, key=lambda entry: str(entry.name))}
    return configs


def alter(admin: Admin, topic: str, values: Mapping[str, str], reset: Collection[str], *, dry_run: bool) -> None:
    """Set configs of a topic, and return others to their defaults.

    Args:
        admin: The admin client.
        topic: The topic's name.
        values: The new values by name.
        reset: The names of the configs that return to their defaults.
        dry_run: Check the changes, and change nothing.

    Raises:
        Ended: A name or value is wrong, or the brokers refuse the client or do not answer.
    """
    if reset:
        # The broker ignores unknown names here.
        known = checked(f"topic {topic}", _described(admin, [topic])[topic])
        for name in reset:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"; did you mean {near[0]}?" if near else ""
                raise Ended(BAD_USAGE, f"topic {topic}: there is no config {name}{hint}")
    changes = [
        *(ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET) for name, value in values.items()),
        *(ConfigEntry(name, None, incremental_operation=AlterConfigOpType.DELETE) for name in reset),
    ]
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=changes)
    futures = admin.client.incremental_alter_configs([resource], validate_only=dry_run, request_timeout=admin.timeout)
    for result in admin.results(futures).values():
        checked(f"topic {topic}", result)


def _described(admin: Admin, names: Sequence[str]) -> dict[str, Any]:
    if not names:
        return {}
    resources = [ConfigResource(ResourceType.TOPIC, name) for name in names]
    futures = admin.client.describe_configs(resources, request_timeout=admin.timeout)
    return {resource.name: result for resource, result in admin.results(futures).items()}


def _source(entry: Any) -> ConfigSource:
    return entry.source if isinstance(entry.source, ConfigSource) else ConfigSource(entry.source)
