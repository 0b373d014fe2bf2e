"""The registry's endpoints with the names, arguments and values of confluent-kafka's client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compat.schema import SchemaText
from serdes.client.endpoints.cached import Endpoints
from serdes.client.endpoints.plain import LATEST
from serdes.client.flow import Flow, then
from serdes.client.models import RegisteredSchema as Registered
from serdes.client.models import SchemaInfo, SubjectVersion
from serdes.contracts import Metadata, RuleSet, ServerConfig
from serdes.error import RegistryError
from serdes.schema import Schema, as_schema

SchemaVersion = SubjectVersion


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """A version of a subject."""

    schema_id: int | None
    schema: Schema
    subject: str | None
    version: int | None
    guid: str | None = None


class ConfluentEndpoints(Endpoints):
    """The flows of Endpoints, also under confluent-kafka's names."""

    def register_schema(self, subject_name: str, schema: Any, normalize_schemas: bool = False) -> Flow[int]:  # noqa: FBT001, FBT002  # confluent-kafka's signature
        """Registers a schema and returns its id."""
        sent = _schema(schema)
        return then(
            self.register(
                subject_name,
                sent.text,
                normalize=normalize_schemas,
                metadata=sent.metadata_json,
                rule_set=sent.rule_set_json,
            ),
            lambda registered: registered.id,
        )

    def register_schema_full_response(
        self,
        subject_name: str,
        schema: Any,
        normalize_schemas: bool = False,  # noqa: FBT001, FBT002  # confluent-kafka's signature
    ) -> Flow[RegisteredSchema]:
        """Registers a schema and returns its id, version and the rest of the registry's answer."""
        sent = _schema(schema)
        return then(
            self.register(
                subject_name,
                sent.text,
                normalize=normalize_schemas,
                metadata=sent.metadata_json,
                rule_set=sent.rule_set_json,
            ),
            _registered,
        )

    def get_schema(self, schema_id: int, subject_name: str | None = None, fmt: str | None = None) -> Flow[Schema]:
        """The schema of an id."""
        return then(self.schema_by_id(schema_id, subject_name, format=fmt), _info)

    def get_schema_by_guid(self, guid: str, fmt: str | None = None) -> Flow[Schema]:
        """The schema of a guid."""
        return then(self.schema_by_guid(guid, format=fmt), _info)

    def lookup_schema(
        self,
        subject_name: str,
        schema: Any,
        normalize_schemas: bool = False,  # noqa: FBT001, FBT002  # confluent-kafka's signature
        fmt: str | None = None,
        deleted: bool = False,  # noqa: FBT001, FBT002  # confluent-kafka's signature
    ) -> Flow[RegisteredSchema]:
        """The version of a subject that has this schema."""
        text = _schema(schema).text
        return then(
            self.lookup(subject_name, text, normalize=normalize_schemas, deleted=deleted, format=fmt), _registered
        )

    def get_subjects(
        self,
        subject_prefix: str | None = None,
        deleted: bool = False,  # noqa: FBT001, FBT002  # confluent-kafka's signature
        deleted_only: bool = False,  # noqa: FBT001, FBT002  # confluent-kafka's signature
        offset: int = 0,
        limit: int = -1,
    ) -> Flow[list[str]]:
        """The subjects' names."""
        return self.subjects(subject_prefix, deleted=deleted, deleted_only=deleted_only, offset=offset, limit=limit)

    def get_versions(
        self,
        subject_name: str,
        deleted: bool = False,  # noqa: FBT001, FBT002  # confluent-kafka's signature
        offset: int = 0,
        limit: int = -1,
    ) -> Flow[list[int]]:
        """The version numbers of a subject."""
        return self.versions(subject_name, deleted=deleted, offset=offset, limit=limit)

    def get_latest_version(self, subject_name: str, fmt: str | None = None) -> Flow[RegisteredSchema]:
        """A subject's latest version."""
        return then(self.version(subject_name, format=fmt), _registered)

    def get_latest_with_metadata(
        self,
        subject_name: str,
        metadata: Mapping[str, str],
        deleted: bool = False,  # noqa: FBT001, FBT002  # confluent-kafka's signature
        fmt: str | None = None,
    ) -> Flow[RegisteredSchema]:
        """A subject's latest version with these metadata properties."""
        return then(self.latest_with_metadata(subject_name, metadata, deleted=deleted, format=fmt), _registered)

    def get_version(
        self,
        subject_name: str,
        version: int | str = LATEST,
        deleted: bool = False,  # noqa: FBT001, FBT002  # confluent-kafka's signature
        fmt: str | None = None,
    ) -> Flow[RegisteredSchema]:
        """A version of a subject."""
        return then(self.version(subject_name, version, deleted=deleted, format=fmt), _registered)

    def get_schema_types(self) -> Flow[list[str]]:
        """The schema types' names."""
        return self.schema_types()

    def get_subjects_by_schema_id(self, schema_id: int, subject_name: str | None = None) -> Flow[list[str]]:
        """The subjects that hold the schema of an id."""
        return self.subjects_of(schema_id, subject_name)

    def get_schema_versions(self, schema_id: int, subject_name: str | None = None) -> Flow[list[SchemaVersion]]:
        """The subjects and versions that hold the schema of an id."""
        return self.versions_of(schema_id, subject_name)

    def get_referenced_by(self, subject_name: str, version: int | str = LATEST) -> Flow[list[int]]:
        """The ids of schemas that refer to a version."""
        return self.referenced_by(subject_name, version)

    def test_compatibility(
        self,
        subject_name: str,
        schema: Any,
        version: int | str = LATEST,
        normalize: bool = False,  # noqa: FBT001, FBT002  # confluent-kafka's signature
    ) -> Flow[bool]:
        """Whether a schema is compatible with a version."""
        checked = self.check_compatibility(subject_name, _schema(schema).text, version, normalize=normalize)
        return then(checked, lambda verdict: verdict.compatible)

    def test_compatibility_all_versions(self, subject_name: str, schema: Any) -> Flow[bool]:
        """Whether a schema is compatible with the versions that the subject's level names."""
        return then(self.check_compatibility(subject_name, _schema(schema).text), lambda verdict: verdict.compatible)

    def set_compatibility(self, subject_name: str | None = None, level: str | None = None) -> Flow[dict[str, Any]]:
        """Sets the compatibility level of a subject, or the global one, and returns the registry's answer."""
        if level is None:
            raise ValueError("level is needed")
        return self.put_config({"compatibility": level}, subject_name)

    def get_compatibility(self, subject_name: str | None = None) -> Flow[str]:
        """A subject's compatibility level, or the global one."""
        return then(self.config(subject_name), lambda config: str(config["compatibilityLevel"]))

    def set_config(self, subject_name: str | None = None, config: ServerConfig | None = None) -> Flow[ServerConfig]:
        """Changes the settings that `config` has in a subject's config, or in the global one."""
        return then(self.put_config((config or ServerConfig()).to_dict(), subject_name), ServerConfig.from_dict)

    def get_config(self, subject_name: str | None = None) -> Flow[ServerConfig]:
        """A subject's config, or the global one."""
        return then(self.config(subject_name), ServerConfig.from_dict)

    def get_mode(self, subject_name: str) -> Flow[str]:
        """A subject's mode."""
        return self.mode(subject_name)

    def update_mode(self, subject_name: str, mode: str, force: bool = False) -> Flow[str]:  # noqa: FBT001, FBT002  # confluent-kafka's signature
        """Sets a subject's mode."""
        return self.put_mode(mode, subject_name, force=force)

    def get_global_mode(self) -> Flow[str]:
        """The global mode."""
        return self.mode()

    def update_global_mode(self, mode: str, force: bool = False) -> Flow[str]:  # noqa: FBT001, FBT002  # confluent-kafka's signature
        """Sets the global mode."""
        return self.put_mode(mode, force=force)

    def get_contexts(self) -> Flow[list[str]]:
        """The contexts' names."""
        return self.contexts()


def _schema(schema: Any) -> Schema:
    checked = as_schema(schema, "AVRO")
    if checked is None:
        raise RegistryError(422, 42201, "Empty schema")
    return checked


def _info(info: SchemaInfo) -> Schema:
    return _with_contract(info.schema, info.metadata, info.rule_set)


def _with_contract(
    schema: SchemaText, metadata: Mapping[str, Any] | None, rule_set: Mapping[str, Any] | None
) -> Schema:
    return Schema(
        schema.text,
        schema.schema_type,
        schema.references,
        metadata and Metadata.from_dict(metadata),
        rule_set and RuleSet.from_dict(rule_set),
    )


def _registered(version: Registered) -> RegisteredSchema:
    schema = _with_contract(version.schema, version.metadata, version.rule_set)
    return RegisteredSchema(version.id, schema, version.subject, version.version, version.guid)
