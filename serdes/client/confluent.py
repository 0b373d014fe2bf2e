"""The registry clients with the configuration, methods and values of confluent-kafka's client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from serdes.client.clients import AsyncRegistryClient, RegistryClient, awaitable, blocking
from serdes.client.config import client_options
from serdes.client.endpoints.confluent import ConfluentEndpoints, RegisteredSchema, SchemaVersion
from serdes.contracts import (
    ConfigCompatibilityLevel,
    Metadata,
    MetadataProperties,
    MetadataTags,
    Rule,
    RuleKind,
    RuleMode,
    RuleParams,
    RuleSet,
    ServerConfig,
)
from serdes.error import SchemaRegistryError
from serdes.schema import Schema, SchemaReference

__all__ = [
    "AsyncSchemaRegistryClient",
    "ConfigCompatibilityLevel",
    "Metadata",
    "MetadataProperties",
    "MetadataTags",
    "RegisteredSchema",
    "Rule",
    "RuleKind",
    "RuleMode",
    "RuleParams",
    "RuleSet",
    "Schema",
    "SchemaReference",
    "SchemaRegistryClient",
    "SchemaRegistryError",
    "SchemaVersion",
    "ServerConfig",
]


class SchemaRegistryClient(RegistryClient):
    """A RegistryClient with the configuration and methods of confluent-kafka's SchemaRegistryClient.

    Args:
        conf: `url` and more settings by confluent-kafka's names; latest versions are cached for ever unless
            `cache.latest.ttl.sec` is set.
        transport: As in RegistryClient.
    """

    endpoints_type = ConfluentEndpoints

    def __init__(self, conf: Mapping[str, Any], *, transport: Any = None) -> None:
        super().__init__(**client_options(conf), transport=transport)

    @classmethod
    def new_client(cls, conf: Mapping[str, Any]) -> Self:
        """A client with this configuration."""
        return cls(conf)

    register_schema = blocking(ConfluentEndpoints.register_schema)
    register_schema_full_response = blocking(ConfluentEndpoints.register_schema_full_response)
    get_schema = blocking(ConfluentEndpoints.get_schema)
    get_schema_by_guid = blocking(ConfluentEndpoints.get_schema_by_guid)
    lookup_schema = blocking(ConfluentEndpoints.lookup_schema)
    get_subjects = blocking(ConfluentEndpoints.get_subjects)
    get_versions = blocking(ConfluentEndpoints.get_versions)
    get_latest_version = blocking(ConfluentEndpoints.get_latest_version)
    get_latest_with_metadata = blocking(ConfluentEndpoints.get_latest_with_metadata)
    get_version = blocking(ConfluentEndpoints.get_version)
    get_schema_types = blocking(ConfluentEndpoints.get_schema_types)
    get_subjects_by_schema_id = blocking(ConfluentEndpoints.get_subjects_by_schema_id)
    get_schema_versions = blocking(ConfluentEndpoints.get_schema_versions)
    get_referenced_by = blocking(ConfluentEndpoints.get_referenced_by)
    test_compatibility = blocking(ConfluentEndpoints.test_compatibility)
    test_compatibility_all_versions = blocking(ConfluentEndpoints.test_compatibility_all_versions)
    set_compatibility = blocking(ConfluentEndpoints.set_compatibility)
    get_compatibility = blocking(ConfluentEndpoints.get_compatibility)
    set_config = blocking(ConfluentEndpoints.set_config)
    get_config = blocking(ConfluentEndpoints.get_config)
    get_mode = blocking(ConfluentEndpoints.get_mode)
    update_mode = blocking(ConfluentEndpoints.update_mode)
    get_global_mode = blocking(ConfluentEndpoints.get_global_mode)
    update_global_mode = blocking(ConfluentEndpoints.update_global_mode)
    get_contexts = blocking(ConfluentEndpoints.get_contexts)


class AsyncSchemaRegistryClient(AsyncRegistryClient):
    """The methods of SchemaRegistryClient as coroutines."""

    endpoints_type = ConfluentEndpoints

    def __init__(self, conf: Mapping[str, Any], *, transport: Any = None) -> None:
        super().__init__(**client_options(conf), transport=transport)

    @classmethod
    def new_client(cls, conf: Mapping[str, Any]) -> Self:
        """A client with this configuration."""
        return cls(conf)

    register_schema = awaitable(ConfluentEndpoints.register_schema)
    register_schema_full_response = awaitable(ConfluentEndpoints.register_schema_full_response)
    get_schema = awaitable(ConfluentEndpoints.get_schema)
    get_schema_by_guid = awaitable(ConfluentEndpoints.get_schema_by_guid)
    lookup_schema = awaitable(ConfluentEndpoints.lookup_schema)
    get_subjects = awaitable(ConfluentEndpoints.get_subjects)
    get_versions = awaitable(ConfluentEndpoints.get_versions)
    get_latest_version = awaitable(ConfluentEndpoints.get_latest_version)
    get_latest_with_metadata = awaitable(ConfluentEndpoints.get_latest_with_metadata)
    get_version = awaitable(ConfluentEndpoints.get_version)
    get_schema_types = awaitable(ConfluentEndpoints.get_schema_types)
    get_subjects_by_schema_id = awaitable(ConfluentEndpoints.get_subjects_by_schema_id)
    get_schema_versions = awaitable(ConfluentEndpoints.get_schema_versions)
    get_referenced_by = awaitable(ConfluentEndpoints.get_referenced_by)
    test_compatibility = awaitable(ConfluentEndpoints.test_compatibility)
    test_compatibility_all_versions = awaitable(ConfluentEndpoints.test_compatibility_all_versions)
    set_compatibility = awaitable(ConfluentEndpoints.set_compatibility)
    get_compatibility = awaitable(ConfluentEndpoints.get_compatibility)
    set_config = awaitable(ConfluentEndpoints.set_config)
    get_config = awaitable(ConfluentEndpoints.get_config)
    get_mode = awaitable(ConfluentEndpoints.get_mode)
    update_mode = awaitable(ConfluentEndpoints.update_mode)
    get_global_mode = awaitable(ConfluentEndpoints.get_global_mode)
    update_global_mode = awaitable(ConfluentEndpoints.update_global_mode)
    get_contexts = awaitable(ConfluentEndpoints.get_contexts)
