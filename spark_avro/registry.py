"""What a plan needs from the registry: schemas by id with their references resolved, asked for on the driver only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from compat.avro import FORMAT, AvroSchema
from compat.schema import AVRO, SchemaText
from serdes.client import RegistryClient
from serdes.error import RegistryError, SubjectNotFound
from spark_avro.errors import NoSubject, PlanError, UnsupportedSchema
from spark_avro.known import Known

#: A registry's URL (several with commas between), or a client that is set up already.
Registry = str | RegistryClient


@dataclass(frozen=True, slots=True)
class Version:
    """A schema under its id, and the version of a subject it was asked for by, if by one."""

    id: int
    schema: AvroSchema
    subject: str | None = None
    version: int | None = None

    @property
    def label(self) -> str:
        """What the version is called in messages."""
        where = f" ({self.subject} version {self.version})" if self.subject is not None else ""
        return f"schema id {self.id}{where}"


def client_of(registry: Registry) -> RegistryClient:
    """The client for a registry's URL, or the client given."""
    return registry if isinstance(registry, RegistryClient) else RegistryClient(registry)


def subject_of(*, subject: str | None, topic: str | None, is_key: bool) -> tuple[str, str]:
    """The subject of a column by topic name strategy, or as given, and how its name came about."""
    if subject is not None:
        return subject, ""
    return f"{topic}-{'key' if is_key else 'value'}", f"the topic name strategy's for topic {topic}"


def versions_of(client: RegistryClient, subject: str, *, why: str = "") -> list[Version]:
    """All versions of a subject, oldest first; soft-deleted ones too, since records written with them may be left.

    Raises:
        NoSubject: the registry does not have it.
        UnsupportedSchema: a version is not an Avro schema.
        RegistryUnavailable: no URL of the registry answers.
    """
    try:
        numbers = client.versions(subject, deleted=True)
    except SubjectNotFound:
        raise NoSubject(subject, why) from None
    held = [client.version(subject, number, deleted=True) for number in numbers]
    return [
        Version(one.id, parsed(client, one.schema, one.subject, f"schema id {one.id}"), subject, one.version)
        for one in held
    ]


def latest_of(client: RegistryClient, subject: str, *, why: str = "") -> Version:
    """The latest version of a subject that is not deleted, asked for anew.

    Raises:
        NoSubject: the registry does not have it, or all its versions are deleted.
    """
    client.clear_latest_caches()
    try:
        held = client.version(subject)
    except SubjectNotFound:
        raise NoSubject(subject, why) from None
    return Version(held.id, parsed(client, held.schema, subject, f"schema id {held.id}"), subject, held.version)


def versions_by_id(client: RegistryClient, ids: Iterable[int], subject: str | None = None) -> list[Version]:
    """The schemas of ids.

    Raises:
        PlanError: the registry has no schema of an id.
    """
    found = []
    for schema_id in ids:
        try:
            info = client.schema_by_id(schema_id, subject)
        except RegistryError as error:
            raise PlanError(f"schema id {schema_id}: {error}") from error
        found.append(Version(schema_id, parsed(client, info.schema, subject, f"schema id {schema_id}")))
    return found


def parsed(client: RegistryClient, schema: SchemaText, subject: str | None, label: str) -> AvroSchema:
    """A schema with the definitions that its references lead to.

    Raises:
        UnsupportedSchema: it is of another type, or its text is refused.
    """
    if schema.schema_type != AVRO:
        raise UnsupportedSchema(label, "", f"is of type {schema.schema_type}, not Avro")
    found = FORMAT.parse(schema, client.dependencies(schema, subject), False)
    assert isinstance(found, AvroSchema)
    return found


def parsed_text(text: str) -> AvroSchema:
    """A schema given as text, which may refer to nothing.

    Raises:
        InvalidSchema: the text is no Avro schema.
    """
    found = FORMAT.parse(SchemaText(AVRO, text), (), False)
    assert isinstance(found, AvroSchema)
    return found


def newest_first(versions: Sequence[Version]) -> list[Version]:
    """Versions without repeated ids, the most likely in new records first."""
    unique: dict[int, Version] = {}
    for version in reversed(versions):
        unique.setdefault(version.id, version)
    return list(unique.values())


@dataclass(frozen=True, slots=True)
class Chosen:
    """Schemas of any type by id, the one that values are presented as, and what they are of, in errors."""

    known: Mapping[int, Known]
    reader: Known
    origin: str


def choose(
    registry: Registry,
    schema_type: str,
    *,
    subject: str | None,
    topic: str | None,
    ids: Sequence[int],
    is_key: bool,
) -> Chosen:
    """The versions of a subject, or of a topic's, and further ids; the reader's is the latest, or the first id's.

    Raises:
        NoSubject: the registry does not have the subject.
        PlanError: there is nothing to look for, or no schema of an id.
        UnsupportedSchema: a schema of another type.
    """
    if (subject is None) == (topic is None) and not (ids and subject is None):
        raise PlanError("give a subject, a topic, or ids")
    client = client_of(registry)
    name, why = subject_of(subject=subject, topic=topic, is_key=is_key) if subject or topic else (None, "")
    found: dict[int, SchemaText] = {}
    for schema_id in ids:
        try:
            found[schema_id] = client.schema_by_id(schema_id, name).schema
        except RegistryError as error:
            raise PlanError(f"schema id {schema_id}: {error}") from error
    latest = next(iter(found), 0)
    if name is not None:
        client.clear_latest_caches()
        try:
            numbers = client.versions(name, deleted=True)
            latest = client.version(name).id
        except SubjectNotFound:
            raise NoSubject(name, why) from None
        held = [client.version(name, number, deleted=True) for number in numbers]
        found |= {version.id: version.schema for version in held}
    for schema_id, schema in found.items():
        if schema.schema_type != schema_type:
            raise UnsupportedSchema(f"schema id {schema_id}", "", f"is of type {schema.schema_type}, not {schema_type}")
    known = {number: Known(schema, client.dependencies(schema, name)) for number, schema in found.items()}
    return Chosen(known, known[latest], f"subject {name}" if name else f"ids {', '.join(map(str, ids))}")
