"""Reads schemas and their references from the registry for query plans; it runs only on the driver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from compat.avro import FORMAT, AvroSchema
from compat.schema import AVRO, Dependencies, SchemaText
from magicbyte.kit.placeholders import without_placeholders
from magicbyte.kit.secret import is_secret
from serdes.client.clients import RegistryClient
from serdes.client.config import client_options, short_names
from serdes.client.models import RegisteredSchema, SchemaInfo
from serdes.error import RegistryError, SchemaNotFound, SubjectNotFound, VersionNotFound
from serdes.rules.context import Ruled
from spark_avro.errors import NoSubject, PlanError, UnsupportedSchema
from spark_avro.sent_schema import SentSchema

#: A registry's URL (several separated by commas), the settings of its client under confluent-kafka's or Java's names,
#: or an existing client.
Registry = str | Mapping[str, Any] | RegistryClient


@dataclass(frozen=True)
class Version:
    """A schema of any type, with its id.

    Attributes:
        id: The id in front of the payload of a message.
        ruled: The registry's schema with its rules.
        dependencies: The texts that it refers to.
        refusal: The reason why records with this schema must not be read, if its rules or the reader's forbid it.
        number: The number of the version in its subject; None for a schema by its id.
        guid: The guid, which headers name the schema by; None if the registry gives none.
    """

    id: int
    ruled: Ruled
    dependencies: Dependencies = ()
    refusal: str | None = None
    number: int | None = None
    guid: str | None = None

    @property
    def label(self) -> str:
        """The name of the version in messages."""
        return self.ruled.name

    @property
    def sent(self) -> SentSchema:
        """The version in the form for workers."""
        return SentSchema(self.ruled, self.dependencies)

    @cached_property
    def schema(self) -> AvroSchema:
        """The schema of an Avro version, parsed.

        Raises:
            UnsupportedSchema: it is of another type.
            InvalidSchema: its text is not a valid schema.
        """
        return _parsed(self.ruled.schema, self.dependencies, f"schema id {self.id}")


def client_of(registry: Registry) -> RegistryClient:
    """The client for a registry's URL or settings, or the given client.

    Raises:
        ConfigError: a setting is missing, unknown or wrong.
    """
    if isinstance(registry, RegistryClient):
        return registry
    return RegistryClient(**client_options({"url": registry} if isinstance(registry, str) else registry))


def settings_for_workers(registry: Registry) -> dict[str, Any]:
    """The settings from which workers create their client; workers resolve the secrets themselves.

    Raises:
        PlanError: the settings contain a secret as plain text, or they are hidden inside a given client.
    """
    if isinstance(registry, RegistryClient):
        if registry.is_bare:
            return {"url": ",".join(registry.urls)}
        raise PlanError(
            "ask_registry: workers need the registry's settings, not a client with credentials or TLS settings;"
            ' give registry={"url": ..., "basic.auth.user.info": "${file:/path:key}"}'
        )
    settings = {"url": registry} if isinstance(registry, str) else short_names(registry)
    for name, value in settings.items():
        if not isinstance(value, str | int | float):
            raise PlanError(f"ask_registry: {name} is a {type(value).__name__}, which is not sent to workers")
        if _shows_secret(name, str(value)):
            raise PlanError(
                f"ask_registry: {name} has a secret, which the query's plan would hold; give ${{file:/path:key}} or"
                " ${env:NAME}, which workers resolve"
            )
    return settings


def _shows_secret(name: str, value: str) -> bool:
    """Whether a value contains a secret that is not a placeholder; a user name is not a secret."""
    literal = without_placeholders(value)
    if is_secret(name):
        return literal.rpartition(":")[2] != ""
    return any(urlsplit(url).password for url in literal.split(",") if "://" in url)


def subject_of(*, subject: str | None, topic: str | None, is_key: bool) -> tuple[str, str]:
    """The subject of a column, given or by the topic name strategy, and a text that explains its name."""
    if subject is not None:
        return subject, ""
    return f"{topic}-{'key' if is_key else 'value'}", f"the topic name strategy's for topic {topic}"


def versions_of(client: RegistryClient, subject: str, schema_type: str = AVRO, *, why: str = "") -> list[Version]:
    """All versions of a subject, oldest first; including soft-deleted ones, because records may still use them.

    Raises:
        NoSubject: the registry does not have the subject.
        UnsupportedSchema: a version is of another type.
        RegistryUnavailable: no URL of the registry answers.
    """
    try:
        numbers = client.versions(subject, deleted=True)
    except SubjectNotFound:
        raise NoSubject(subject, why) from None
    held = [client.version(subject, number, deleted=True) for number in numbers]
    return [_version(client, one, schema_type, subject) for one in held]


def version_of(
    client: RegistryClient, subject: str, schema_type: str = AVRO, number: int | None = None, *, why: str = ""
) -> Version:
    """A version of a subject; without a number, the latest that is not deleted, read again from the registry.

    Raises:
        NoSubject: the registry does not have it, or all its versions are deleted.
        PlanError: the subject has no version of this number.
    """
    client.clear_latest_caches()
    try:
        held = client.version(subject) if number is None else client.version(subject, number, deleted=True)
    except VersionNotFound:
        raise PlanError(f"subject {subject} has no version {number}") from None
    except SubjectNotFound:
        raise NoSubject(subject, why) from None
    return _version(client, held, schema_type, subject)


def version_type(client: RegistryClient, subject: str, *, why: str = "") -> str:
    """The type of a subject's latest version: AVRO, JSON or PROTOBUF.

    Raises:
        NoSubject: the registry does not have the subject, or all its versions are deleted.
    """
    client.clear_latest_caches()
    try:
        return client.version(subject).schema.schema_type
    except SubjectNotFound:
        raise NoSubject(subject, why) from None


def versions_by_id(
    client: RegistryClient, ids: Iterable[int], subject: str | None = None, schema_type: str = AVRO
) -> list[Version]:
    """The schemas with some ids.

    Raises:
        PlanError: the registry has no schema of an id.
        UnsupportedSchema: a schema is of another type.
    """
    versions = []
    for schema_id in ids:
        try:
            info = client.schema_by_id(schema_id, subject)
        except RegistryError as error:
            raise PlanError(f"schema id {schema_id}: {error}") from error
        versions.append(_version(client, replace(info, id=schema_id), schema_type, subject))
    return versions


def _version(
    client: RegistryClient, held: RegisteredSchema | SchemaInfo, schema_type: str, subject: str | None
) -> Version:
    assert held.id is not None
    label = f"schema id {held.id}"
    _check_type(held.schema, schema_type, label)
    where = f" ({held.subject} version {held.version})" if isinstance(held, RegisteredSchema) else ""
    dependencies = client.dependencies(held.schema, subject)
    ruled = Ruled.of(f"{label}{where}", held, dependencies)
    number = held.version if isinstance(held, RegisteredSchema) else None
    return Version(held.id, ruled, dependencies, number=number, guid=held.guid)


def id_of_guid(client: RegistryClient, guid: str, subject: str | None) -> int | None:
    """The id of a guid's schema in the context of a subject; None if the registry has none there.

    Raises:
        RegistryUnavailable: no URL of the registry answers.
    """
    with suppress(SchemaNotFound):
        for schema_id in client.ids_of(guid):
            with suppress(SchemaNotFound):
                if client.schema_by_id(schema_id, subject).guid == guid:
                    return schema_id
    return None


def register_or_look_up(
    client: RegistryClient, subject: str, schema: SchemaText, *, register: bool, normalize: bool = False
) -> RegisteredSchema:
    """The version of a subject under which to write records with a schema, with its rules."""
    find = client.register if register else client.lookup
    held = find(subject, schema, normalize=normalize)
    # Older registries answer without the rules.
    return client.version(subject, held.version) if held.rule_set is None else held


def parsed(client: RegistryClient, schema: SchemaText, subject: str | None, label: str) -> AvroSchema:
    """A schema parsed with its references.

    Raises:
        UnsupportedSchema: it is of another type, or its text is not a valid schema.
    """
    return _parsed(schema, client.dependencies(schema, subject), label)


def _parsed(schema: SchemaText, dependencies: Dependencies, label: str) -> AvroSchema:
    _check_type(schema, AVRO, label)
    parsed = FORMAT.parse(schema, dependencies, False)
    assert isinstance(parsed, AvroSchema)
    return parsed


def _check_type(schema: SchemaText, schema_type: str, label: str) -> None:
    if schema.schema_type != schema_type:
        expected = "Avro" if schema_type == AVRO else schema_type
        raise UnsupportedSchema(label, "", f"is of type {schema.schema_type}, not {expected}")


def parsed_text(text: str) -> AvroSchema:
    """A schema given as text, without references.

    Raises:
        InvalidSchema: the text is not an Avro schema.
    """
    return _parsed(SchemaText(AVRO, text), (), "the reader's schema")


def newest_first(versions: Sequence[Version]) -> list[Version]:
    """Versions without repeated ids, starting with the one most likely in new records."""
    unique: dict[int, Version] = {}
    for version in reversed(versions):
        unique.setdefault(version.id, version)
    return list(unique.values())
