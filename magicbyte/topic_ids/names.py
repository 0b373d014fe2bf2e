"""Looks up the schema ids of records in a registry, and finds versions that no record uses."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from magicbyte.topic_ids.scan import Scan
from magicbyte.topic_ids.tally import Usage
from serdes.client.clients import RegistryClient
from serdes.client.models import SchemaInfo
from serdes.error import SchemaNotFound, SubjectNotFound

#: The highest id that a registry assigns.
_GREATEST_ID = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a subject, and whether it is deleted."""

    subject: str
    number: int
    is_deleted: bool = False

    def __str__(self) -> str:
        return f"{self.subject} v{self.number}{' (deleted)' if self.is_deleted else ''}"

    def to_json(self) -> dict[str, Any]:
        """The version as JSON data."""
        return {"subject": self.subject, "version": self.number, "deleted": self.is_deleted}


@dataclass(frozen=True, slots=True)
class UsedSchema:
    """A schema that records were written with.

    Attributes:
        schema_id: Its id; None if records name it by a guid and its id is unknown.
        guid: Its guid; None if unknown.
        usage: Its records.
        info: The schema; None if no registry was asked, or if it does not have the schema.
        versions: The versions with this schema, including deleted ones; None if no registry was asked.
    """

    schema_id: int | None
    guid: str | None
    usage: Usage
    info: SchemaInfo | None = None
    versions: tuple[Version, ...] | None = None

    @property
    def is_unknown(self) -> bool:
        """Whether the registry does not have the schema; False if no registry was asked."""
        return self.versions is not None and self.info is None


@dataclass(frozen=True, slots=True)
class Named:
    """A scan with its schemas looked up.

    Attributes:
        scan: The counts.
        schemas: The schemas of the records, the most used first.
        unused: Versions of the topic's subjects that no record uses, with their ids; None if not requested.
    """

    scan: Scan
    schemas: tuple[UsedSchema, ...]
    unused: tuple[tuple[Version, int], ...] | None = None


def unnamed(scan: Scan) -> Named:
    """A scan without look-ups in a registry."""
    tally = scan.tally
    schemas = [UsedSchema(schema_id, None, usage) for schema_id, usage in tally.ids.items()]
    schemas += [UsedSchema(None, str(guid), usage) for guid, usage in tally.guids.items()]
    return Named(scan, _by_use(schemas))


@dataclass(frozen=True, slots=True)
class Names:
    """Looks up ids and guids in a registry.

    Raises, in all methods:
        RegistryError, RegistryUnavailable: the registry refuses the request or does not answer.
    """

    client: RegistryClient

    def name(self, scan: Scan, *, unused: bool = False) -> Named:
        """Look up the schemas of a scan, and, with `unused`, the versions that no record uses."""
        subject = subject_of(scan)
        schemas = {schema_id: self._of_id(schema_id, usage, subject) for schema_id, usage in scan.tally.ids.items()}
        absent = []
        for guid, usage in scan.tally.guids.items():
            schema_id = self._id_of(str(guid), subject)
            if schema_id is None:
                absent.append(UsedSchema(None, str(guid), usage, versions=()))
            elif schema_id in schemas:
                by_id = schemas[schema_id]
                schemas[schema_id] = replace(by_id, usage=by_id.usage.plus(usage))
            else:
                schemas[schema_id] = self._of_id(schema_id, usage, subject)
        named = [*schemas.values(), *absent]
        return Named(scan, _by_use(named), self._unused(named, subject) if unused else None)

    def _of_id(self, schema_id: int, usage: Usage, subject: str) -> UsedSchema:
        if schema_id > _GREATEST_ID:
            return UsedSchema(schema_id, None, usage, versions=())
        try:
            info = self.client.schema_by_id(schema_id, subject)
        except SchemaNotFound:
            return UsedSchema(schema_id, None, usage, versions=())
        live = {(held.subject, held.version) for held in self.client.versions_of(schema_id)}
        versions = [
            Version(held.subject, held.version, (held.subject, held.version) not in live)
            for held in self.client.versions_of(schema_id, deleted=True)
        ]
        # Put the topic's own subject first: a schema may be a version of many subjects.
        versions.sort(key=lambda version: version.subject != subject)
        return UsedSchema(schema_id, info.guid, usage, info, tuple(versions))

    def _id_of(self, guid: str, subject: str) -> int | None:
        """The id of a guid in the subject's context; None if the context does not have it."""
        with suppress(SchemaNotFound):
            for schema_id in self.client.ids_of(guid):
                with suppress(SchemaNotFound):
                    if self.client.schema_by_id(schema_id, subject).guid == guid:
                        return schema_id
        return None

    def _unused(self, schemas: Iterable[UsedSchema], subject: str) -> tuple[tuple[Version, int], ...]:
        """The unused versions of the topic's subject and of the subjects of its records."""
        subjects = {subject, *(version.subject for schema in schemas for version in schema.versions or ())}
        used = {schema.schema_id for schema in schemas}
        unused = []
        for candidate in sorted(subjects):
            with suppress(SubjectNotFound):
                for number in self.client.versions(candidate, deleted=True):
                    registered = self.client.version(candidate, number, deleted=True)
                    if registered.id not in used:
                        deleted = number not in self._live(candidate)
                        unused.append((Version(candidate, number, deleted), registered.id))
        return tuple(unused)

    def _live(self, subject: str) -> list[int]:
        try:
            return self.client.versions(subject)
        except SubjectNotFound:
            return []


def subject_of(scan: Scan) -> str:
    """The subject of a topic's keys or values, named after the topic."""
    return f"{scan.topic}-{'key' if scan.selection.is_key else 'value'}"


def _by_use(schemas: list[UsedSchema]) -> tuple[UsedSchema, ...]:
    return tuple(sorted(schemas, key=lambda schema: -schema.usage.records))
