"""Configurations of topics, brokers and the cluster: how they are read and altered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

from magicbyte.kit.errors import ApiError
from rest_proxy.admin.client import AdminClient, error_of

#: Sources of a value, by their number in Kafka's protocol.
_SOURCES = (
    "UNKNOWN",
    "DYNAMIC_TOPIC_CONFIG",
    "DYNAMIC_BROKER_CONFIG",
    "DYNAMIC_DEFAULT_BROKER_CONFIG",
    "STATIC_BROKER_CONFIG",
    "DEFAULT_CONFIG",
    "DYNAMIC_BROKER_LOGGER_CONFIG",
    "DYNAMIC_CLIENT_METRICS_CONFIG",
    "DYNAMIC_GROUP_CONFIG",
)
_DEFAULT = 5


class Kind(IntEnum):
    """The kind of an owner of a configuration, by the number in Kafka's protocol."""

    TOPIC = 2
    BROKER = 4


class Owner(NamedTuple):
    """An owner of a configuration; the broker "" stands for all brokers of the cluster."""

    kind: Kind
    name: str


#: All brokers of the cluster.
CLUSTER = Owner(Kind.BROKER, "")


@dataclass(frozen=True, slots=True)
class Synonym:
    """A value that applies if no earlier synonym is set."""

    name: str
    value: str | None
    source: str


@dataclass(frozen=True, slots=True)
class Config:
    """One property with its value; the value of a sensitive one is None."""

    name: str
    value: str | None
    is_default: bool
    is_read_only: bool
    is_sensitive: bool
    source: str
    synonyms: tuple[Synonym, ...]


class Change(NamedTuple):
    """One property to set, or to reset if `is_reset`."""

    name: str
    value: str | None
    is_reset: bool = False


async def describe(admin: AdminClient, owner: Owner) -> list[Config]:
    """The configuration of one owner, sorted by name; for CLUSTER, only the properties that are set.

    Raises:
        ApiError: The broker's error.
    """
    (described,) = await describe_all(admin, [owner])
    if isinstance(described, ApiError):
        raise described
    return described


async def describe_all(
    admin: AdminClient, owners: Sequence[Owner], *, names: Sequence[str] | None = None
) -> list[list[Config] | ApiError]:
    """The configurations, or errors, of several topics or of owners on one broker, in the order of the owners.

    Args:
        admin: The admin client.
        owners: The owners.
        names: The properties to describe; None for all.
    """
    if not owners:
        return []
    resources = [
        {"resource_type": owner.kind, "resource_name": owner.name, "configuration_keys": names} for owner in owners
    ]
    values = {"resources": resources, "include_synonyms": True, "include_documentation": False}
    response = await admin.ask("describe_configs", values, node=_node(owners[0]))
    described: dict[tuple[int, str], list[Config] | ApiError] = {
        (result.resource_type, result.resource_name): error_of(result)
        if result.error_code
        else sorted(map(_config, result.configs), key=lambda config: config.name)
        for result in response.results
    }
    return [described[owner.kind, owner.name] for owner in owners]


def _config(entry: Any) -> Config:
    return Config(
        entry.name,
        entry.value,
        entry.config_source == _DEFAULT,
        entry.read_only,
        entry.is_sensitive,
        _source(entry.config_source),
        tuple(Synonym(synonym.name, synonym.value, _source(synonym.source)) for synonym in entry.synonyms),
    )


def _source(number: int) -> str:
    return _SOURCES[number] if 0 <= number < len(_SOURCES) else _SOURCES[0]


async def alter(admin: AdminClient, owner: Owner, changes: Sequence[Change], *, validate_only: bool) -> None:
    """Make all changes of one owner, or none.

    Raises:
        ApiError: The broker's error.
    """
    errors = await alter_all(admin, [(owner, changes)], validate_only=validate_only)
    if errors:
        raise errors[owner]


async def alter_all(
    admin: AdminClient, altered: Sequence[tuple[Owner, Sequence[Change]]], *, validate_only: bool
) -> dict[Owner, ApiError]:
    """Make the changes of several topics, or of one other owner; returns the errors of unchanged owners."""
    resources = [
        {
            "resource_type": owner.kind,
            "resource_name": owner.name,
            "configs": [
                {"name": change.name, "config_operation": int(change.is_reset), "value": change.value}
                for change in changes
            ],
        }
        for owner, changes in altered
    ]
    values = {"resources": resources, "validate_only": validate_only}
    response = await admin.ask("incremental_alter_configs", values, node=_node(altered[0][0]))
    return {
        Owner(Kind(result.resource_type), result.resource_name): error_of(result)
        for result in response.responses
        if result.error_code
    }


def _node(owner: Owner) -> int | None:
    """The broker to ask: each broker answers for its own configuration."""
    return int(owner.name) if owner.kind is Kind.BROKER and owner.name else None
