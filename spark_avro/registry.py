"""What a plan needs from the registry: schemas by id with their references resolved, asked for on the driver only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from compat.avro import FORMAT, AvroSchema
from compat.schema import AVRO, SchemaText
from serdes.client import RegistryClient
from serdes.error import RegistryError, SubjectNotFound
from serdes.models import RegisteredSchema, SchemaInfo
from serdes.schema import Ruled, refuse_to_read, refuse_to_write
from spark_avro.errors import NoSubject, PlanError, UnsupportedSchema
from spark_avro.known import Known, refusal

#: A registry's URL (several with commas between), or a client that is set up already.
Registry = str | RegistryClient


@dataclass(frozen=True, slots=True)
class Version:
    """A schema under its id.

    Attributes:
        id: The id before the payload of a message.
        schema: The schema, parsed.
        ruled: The schema as the registry has it, with its rules.
        refusal: Why records of this schema must not be read, if its rules or the reader's say so.
    """

    id: int
    schema: AvroSchema
    ruled: Ruled
    refusal: str | None = None

    @property
    def label(self) -> str:
        """What the version is called in messages."""
        return self.ruled.name


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
    return [_version(client, one.id, one, subject, f" ({subject} version {one.version})") for one in held]


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
    return _version(client, held.id, held, subject, f" ({subject} version {held.version})")


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
        found.append(_version(client, schema_id, info, subject))
    return found


def _version(
    client: RegistryClient,
    schema_id: int,
    held: RegisteredSchema | SchemaInfo,
    subject: str | None,
    where: str = "",
) -> Version:
    label = f"schema id {schema_id}"
    schema = parsed(client, held.schema, subject, label)
    return Version(schema_id, schema, Ruled(f"{label}{where}", held.schema, held.rule_set))


def with_refusals(versions: Sequence[Version], reader: Ruled | None) -> list[Version]:
    """The versions, with `refusal` set for those whose records must not be read."""
    return [replace(version, refusal=refusal(version.ruled, reader)) for version in versions]


def refuse_all(versions: Sequence[Version], reader: Ruled | None = None) -> None:
    """Stop if no version is left whose records may be read.

    Raises:
        RulesNotSupported: the first version, or the reader's schema, has rules that a client must carry out.
    """
    if versions and all(version.refusal for version in versions):
        refuse_to_read(versions[0].ruled, reader)


def register_or_look_up(
    client: RegistryClient, subject: str, schema: SchemaText, *, register: bool, normalize: bool = False
) -> RegisteredSchema:
    """The version of a subject to write a schema's records under.

    Raises:
        RulesNotSupported: it has rules that a client must carry out.
    """
    find = client.register if register else client.lookup
    return writable(find(subject, schema, normalize=normalize))


def writable(held: RegisteredSchema) -> RegisteredSchema:
    """The version, if records may be written under it.

    Raises:
        RulesNotSupported: it has rules that a client must carry out.
    """
    refuse_to_write(Ruled(f"the schema of subject {held.subject}", held.schema, held.rule_set))
    return held


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
    """Schemas of any type by id, and the one that values are presented as.

    Attributes:
        known: The schemas.
        reader: The schema that values are presented as.
        reader_ruled: The same with its rules; None if values are presented as a type given in code.
        origin: What the schemas are of, in errors.
    """

    known: Mapping[int, Known]
    reader: Known
    reader_ruled: Ruled | None
    origin: str


def choose(
    registry: Registry,
    schema_type: str,
    *,
    subject: str | None,
    topic: str | None,
    ids: Sequence[int],
    is_key: bool,
    has_own_type: bool = False,
) -> Chosen:
    """The versions of a subject, or of a topic's, and further ids; the reader's is the latest, or the first id's.

    Args:
        registry: The registry's URL, or a client of it.
        schema_type: The type that all schemas must be of.
        subject: As in `from_confluent_avro`.
        topic: As in `from_confluent_avro`.
        ids: As in `from_confluent_avro`.
        is_key: As in `from_confluent_avro`.
        has_own_type: Whether values are presented as a type given in code, so that the reader's rules do not apply.

    Raises:
        NoSubject: the registry does not have the subject.
        PlanError: there is nothing to look for, or no schema of an id.
        UnsupportedSchema: a schema of another type.
        RulesNotSupported: all schemas, or the reader's, have rules that a client must carry out.
    """
    if (subject is None) == (topic is None) and not (ids and subject is None):
        raise PlanError("give a subject, a topic, or ids")
    client = client_of(registry)
    name, why = subject_of(subject=subject, topic=topic, is_key=is_key) if subject or topic else (None, "")
    held: dict[int, RegisteredSchema | SchemaInfo] = {}
    for schema_id in ids:
        try:
            held[schema_id] = client.schema_by_id(schema_id, name)
        except RegistryError as error:
            raise PlanError(f"schema id {schema_id}: {error}") from error
    latest = next(iter(held), 0)
    if name is not None:
        client.clear_latest_caches()
        try:
            numbers = client.versions(name, deleted=True)
            latest = client.version(name).id
        except SubjectNotFound:
            raise NoSubject(name, why) from None
        versions = [client.version(name, number, deleted=True) for number in numbers]
        held |= {version.id: version for version in versions}
    ruled = {number: Ruled(f"schema id {number}", one.schema, one.rule_set) for number, one in held.items()}
    for writer in ruled.values():
        if writer.schema.schema_type != schema_type:
            raise UnsupportedSchema(writer.name, "", f"is of type {writer.schema.schema_type}, not {schema_type}")
    reader = None if has_own_type else ruled[latest]
    known = {
        number: Known(writer.schema, client.dependencies(writer.schema, name), refusal(writer, reader))
        for number, writer in ruled.items()
    }
    if all(schema.refusal for schema in known.values()):
        refuse_to_read(ruled[latest])
    return Chosen(known, known[latest], reader, f"subject {name}" if name else f"ids {', '.join(map(str, ids))}")
