"""The registry client by confluent-kafka's names: its configuration, its methods, its values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from serdes.client import LATEST, RegistryClient
from serdes.client_config import client_options
from serdes.error import RegistryError, SchemaRegistryError
from serdes.models import RegisteredSchema as Registered
from serdes.models import SchemaInfo, SubjectVersion
from serdes.schema import Schema, SchemaReference, as_schema

__all__ = [
    "RegisteredSchema",
    "Schema",
    "SchemaReference",
    "SchemaRegistryClient",
    "SchemaRegistryError",
    "SchemaVersion",
]

SchemaVersion = SubjectVersion


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """A version of a subject."""

    schema_id: int | None
    schema: Schema
    subject: str | None
    version: int | None
    guid: str | None = None


class SchemaRegistryClient(RegistryClient):
    """A RegistryClient that is configured and called as confluent-kafka's SchemaRegistryClient is.

    Args:
        conf: `url` and further settings by confluent-kafka's names; latest versions are believed for ever unless
            `cache.latest.ttl.sec` says otherwise.
        transport: As of RegistryClient.
    """

    def __init__(self, conf: Mapping[str, Any], *, transport: Any = None) -> None:
        super().__init__(**client_options(conf), transport=transport)

    @classmethod
    def new_client(cls, conf: Mapping[str, Any]) -> Self:
        """A client of this configuration."""
        return cls(conf)

    def register_schema(self, subject_name: str, schema: Any, normalize_schemas: bool = False) -> int:  # noqa: FBT001, FBT002  # confluent-kafka's signature
        """Registers a schema and gives its id."""
        schema_id = self.register_schema_full_response(subject_name, schema, normalize_schemas).schema_id
        assert schema_id is not None
        return schema_id

    def register_schema_full_response(
        self,
        subject_name: str,
        schema: Any,
        normalize_schemas: bool = False,  # noqa: FBT001, FBT002  # confluent-kafka's signature
    ) -> RegisteredSchema:
        """Registers a schema and gives what it is registered as."""
        given = _schema(schema)
        return _registered(
            self.register(
                subject_name,
                given.text,
                normalize=normalize_schemas,
                metadata=given.metadata_json,
                rule_set=given.rule_set_json,
            )
        )

    def get_schema(self, schema_id: int, subject_name: str | None = None, fmt: str | None = None) -> Schema:
        """The schema of an id."""
        return _info(self.schema_by_id(schema_id, subject_name, format=fmt))

    def get_schema_by_guid(self, guid: str, fmt: str | None = None) -> Schema:
        """The schema of a guid."""
        return _info(self.schema_by_guid(guid, format=fmt))

    def lookup_schema(
        self,
        subject_name: str,
        schema: Any,
        normalize_schemas: bool = False,  # noqa: FBT001, FBT002  # confluent-kafka's signature
        fmt: str | None = None,
        deleted: bool = False,  # noqa: FBT001, FBT002  # confluent-kafka's signature
    ) -> RegisteredSchema:
        """The version of a subject that is this schema."""
        given = _schema(schema).text
        return _registered(self.lookup(subject_name, given, normalize=normalize_schemas, deleted=deleted, format=fmt))

    def get_subjects(
        self,
        subject_prefix: str | None = None,
        deleted: bool = False,  # noqa: FBT001, FBT002  # confluent-kafka's signature
        deleted_only: bool = False,  # noqa: FBT001, FBT002  # confluent-kafka's signature
        offset: int = 0,
        limit: int = -1,
    ) -> list[str]:
        """The subjects' names."""
        return self.subjects(subject_prefix, deleted=deleted, deleted_only=deleted_only, offset=offset, limit=limit)

    def get_versions(
        self,
        subject_name: str,
        deleted: bool = False,  # noqa: FBT001, FBT002  # confluent-kafka's signature
        offset: int = 0,
        limit: int = -1,
    ) -> list[int]:
        """The version numbers of a subject."""
        return self.versions(subject_name, deleted=deleted, offset=offset, limit=limit)

    def get_latest_version(self, subject_name: str, fmt: str | None = None) -> RegisteredSchema:
        """A subject's latest version."""
        return _registered(self.version(subject_name, format=fmt))

    def get_latest_with_metadata(
        self,
        subject_name: str,
        metadata: Mapping[str, str],
        deleted: bool = False,  # noqa: FBT001, FBT002  # confluent-kafka's signature
        fmt: str | None = None,
    ) -> RegisteredSchema:
        """A subject's latest version with these metadata properties."""
        return _registered(self.latest_with_metadata(subject_name, metadata, deleted=deleted, format=fmt))

    def get_version(
        self,
        subject_name: str,
        version: int | str = LATEST,
        deleted: bool = False,  # noqa: FBT001, FBT002  # confluent-kafka's signature
        fmt: str | None = None,
    ) -> RegisteredSchema:
        """A version of a subject."""
        return _registered(self.version(subject_name, version, deleted=deleted, format=fmt))

    def get_schema_types(self) -> list[str]:
        """The schema types' names."""
        return self.schema_types()

    def get_subjects_by_schema_id(self, schema_id: int, subject_name: str | None = None) -> list[str]:
        """The subjects that hold the schema of an id."""
        return self.subjects_of(schema_id, subject_name)

    def get_schema_versions(self, schema_id: int, subject_name: str | None = None) -> list[SchemaVersion]:
        """The subjects and versions that hold the schema of an id."""
        return self.versions_of(schema_id, subject_name)

    def get_referenced_by(self, subject_name: str, version: int | str = LATEST) -> list[int]:
        """The ids of schemas that refer to a version."""
        return self.referenced_by(subject_name, version)

    def test_compatibility(
        self,
        subject_name: str,
        schema: Any,
        version: int | str = LATEST,
        normalize: bool = False,  # noqa: FBT001, FBT002  # confluent-kafka's signature
    ) -> bool:
        """Whether a schema is compatible with a version."""
        return self.check_compatibility(subject_name, _schema(schema).text, version, normalize=normalize).compatible

    def test_compatibility_all_versions(self, subject_name: str, schema: Any) -> bool:
        """Whether a schema is compatible with the versions that the subject's level names."""
        return self.check_compatibility(subject_name, _schema(schema).text).compatible

    def set_compatibility(self, subject_name: str | None = None, level: str | None = None) -> dict[str, Any]:
        """Sets a subject's compatibility level, or the global one, and gives what was set."""
        if level is None:
            raise ValueError("level is needed")
        return self.put_config({"compatibility": level}, subject_name)

    def get_compatibility(self, subject_name: str | None = None) -> str:
        """A subject's compatibility level, or the global one."""
        return str(self.config(subject_name)["compatibilityLevel"])

    def get_mode(self, subject_name: str) -> str:
        """A subject's mode."""
        return self.mode(subject_name)

    def update_mode(self, subject_name: str, mode: str, force: bool = False) -> str:  # noqa: FBT001, FBT002  # confluent-kafka's signature
        """Sets a subject's mode."""
        return self.put_mode(mode, subject_name, force=force)

    def get_global_mode(self) -> str:
        """The global mode."""
        return self.mode()

    def update_global_mode(self, mode: str, force: bool = False) -> str:  # noqa: FBT001, FBT002  # confluent-kafka's signature
        """Sets the global mode."""
        return self.put_mode(mode, force=force)

    def get_contexts(self) -> list[str]:
        """The contexts' names."""
        return self.contexts()


def _schema(schema: Any) -> Schema:
    found = as_schema(schema, "AVRO")
    if found is None:
        raise RegistryError(422, 42201, "Empty schema")
    return found


def _info(info: SchemaInfo) -> Schema:
    return Schema(info.schema.text, info.schema.schema_type, info.schema.references, info.metadata, info.rule_set)


def _registered(held: Registered) -> RegisteredSchema:
    schema = Schema(held.schema.text, held.schema.schema_type, held.schema.references, held.metadata, held.rule_set)
    return RegisteredSchema(held.id, schema, held.subject, held.version, held.guid)
