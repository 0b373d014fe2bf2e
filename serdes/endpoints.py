"""The registry's endpoints, one short flow each, and the caches in front of those whose answers last.

The clients of `serdes.client` offer every flow here as a method of the same name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from compat.schema import Dependencies, Dependency, Reference, SchemaText
from serdes.cache import Cache
from serdes.error import SchemaNotFound
from serdes.flow import Flow
from serdes.models import (
    Compatibility,
    RegisteredSchema,
    SchemaInfo,
    SubjectVersion,
    registered_schema,
    request_body,
    schema_info,
)
from serdes.requester import Requester, path

LATEST = "latest"


@dataclass(frozen=True, slots=True)
class CacheLimits:
    """How much the client remembers and for how long.

    Attributes:
        capacity: Entries of each cache: by id, by guid, by version, by registered schema, of latest versions.
        latest_ttl: Seconds for which a subject's latest version is believed; None for ever, 0 not at all.
    """

    capacity: int = 1000
    latest_ttl: float | None = 60.0


class Endpoints:
    """All that a registry can be asked, as flows; what cannot change is asked once."""

    def __init__(self, requester: Requester, limits: CacheLimits) -> None:
        self._call = requester.call
        self._by_id: Cache[tuple[int, str | None, str | None], SchemaInfo] = Cache(limits.capacity)
        self._by_guid: Cache[tuple[str, str | None], SchemaInfo] = Cache(limits.capacity)
        self._by_version: Cache[tuple[str, int, str | None], RegisteredSchema] = Cache(limits.capacity)
        self._by_schema: Cache[tuple[str, str, bool, bytes], RegisteredSchema] = Cache(limits.capacity)
        self._latest: Cache[tuple[str, str | bytes], RegisteredSchema] = Cache(limits.capacity, limits.latest_ttl)

    def register(
        self,
        subject: str,
        schema: SchemaText,
        *,
        normalize: bool = False,
        metadata: Mapping[str, Any] | None = None,
        rule_set: Mapping[str, Any] | None = None,
        propagate_schema_tags: bool = False,
        format: str | None = None,  # noqa: A002  # the API's name
    ) -> Flow[RegisteredSchema]:
        """Registers a schema under a subject, or finds it there; asked once for the same schema.

        Raises:
            IncompatibleSchema: the subject's compatibility level refuses it.
            SchemaRefused: the registry cannot parse it.
        """
        body = request_body(schema, metadata, rule_set)
        if propagate_schema_tags:
            body["propagateSchemaTags"] = True
        key = ("register", subject, normalize, orjson.dumps(body))
        known = self._by_schema.get(key)
        if known is not None:
            return known
        query = {"normalize": normalize, "format": format}
        answer = yield from self._call("POST", path("subjects", subject, "versions"), query, body)
        self._latest.discard(lambda entry: entry[0] == subject)
        if "version" in answer:
            registered = registered_schema({"subject": subject, **body, **answer})
        else:
            # Older registries answer the id and nothing else.
            registered = yield from self.lookup(subject, schema, normalize=normalize)
        self._by_schema.put(key, registered)
        return registered

    def lookup(
        self,
        subject: str,
        schema: SchemaText,
        *,
        normalize: bool = False,
        deleted: bool = False,
        format: str | None = None,  # noqa: A002  # the API's name
    ) -> Flow[RegisteredSchema]:
        """The version of a subject that is this schema.

        Raises:
            SubjectNotFound: the subject has no versions.
            SchemaNotFound: none of them is this schema.
        """
        body = request_body(schema)
        key = ("deleted" if deleted else "lookup", subject, normalize, orjson.dumps(body))
        known = self._by_schema.get(key)
        if known is None:
            query = {"normalize": normalize, "deleted": deleted, "format": format}
            known = registered_schema((yield from self._call("POST", path("subjects", subject), query, body)))
            self._by_schema.put(key, known)
        return known

    def schema_by_id(
        self,
        schema_id: int,
        subject: str | None = None,
        *,
        format: str | None = None,  # noqa: A002  # the API's name
    ) -> Flow[SchemaInfo]:
        """The schema of an id, in the default context or that of the subject; asked once.

        Raises:
            SchemaNotFound: no schema has this id.
        """
        key = (schema_id, subject, format)
        known = self._by_id.get(key)
        if known is None:
            query = {"subject": subject, "format": format}
            answer = yield from self._call("GET", path("schemas", "ids", schema_id), query)
            known = schema_info(answer, schema_id, None)
            self._by_id.put(key, known)
        return known

    def schema_by_guid(
        self,
        guid: str,
        *,
        format: str | None = None,  # noqa: A002  # the API's name
    ) -> Flow[SchemaInfo]:
        """The schema of a guid, in whatever context; asked once.

        Raises:
            SchemaNotFound: no schema has this guid.
        """
        known = self._by_guid.get((guid, format))
        if known is None:
            answer = yield from self._call("GET", path("schemas", "guids", guid), {"format": format})
            known = schema_info(answer, None, guid)
            self._by_guid.put((guid, format), known)
        return known

    def version(
        self,
        subject: str,
        version: int | str = LATEST,
        *,
        deleted: bool = False,
        format: str | None = None,  # noqa: A002  # the API's name
    ) -> Flow[RegisteredSchema]:
        """A version of a subject: a number, or `latest` (-1), which is believed for as long as the limits say.

        Raises:
            SubjectNotFound: the subject has no visible versions.
            VersionNotFound: it has others, but not this one.
        """
        if version in {LATEST, -1}:
            return (yield from self._latest_version(subject, format))
        number = int(version)
        key = (subject, number, format)
        known = self._by_version.get(key)
        if known is None:
            query = {"deleted": deleted, "format": format}
            known = registered_schema(
                (yield from self._call("GET", path("subjects", subject, "versions", number), query))
            )
            self._by_version.put(key, known)
        return known

    def _latest_version(self, subject: str, form: str | None) -> Flow[RegisteredSchema]:
        known = self._latest.get((subject, form or ""))
        if known is None:
            answer = yield from self._call("GET", path("subjects", subject, "versions", LATEST), {"format": form})
            known = registered_schema(answer)
            self._latest.put((subject, form or ""), known)
        return known

    def latest_with_metadata(
        self,
        subject: str,
        properties: Mapping[str, str],
        *,
        deleted: bool = False,
        format: str | None = None,  # noqa: A002  # the API's name
    ) -> Flow[RegisteredSchema]:
        """The newest version of a subject whose metadata has all these properties.

        Raises:
            SubjectNotFound: the subject has no visible versions.
            SchemaNotFound: none of them has the properties.
        """
        key = (subject, orjson.dumps([sorted(properties.items()), deleted, format]))
        known = self._latest.get(key)
        if known is None:
            query: dict[str, str | bool | Sequence[str] | None] = {
                "key": list(properties),
                "value": list(properties.values()),
                "deleted": deleted,
                "format": format,
            }
            known = registered_schema((yield from self._call("GET", path("subjects", subject, "metadata"), query)))
            self._latest.put(key, known)
        return known

    def versions(self, subject: str, *, deleted: bool = False, offset: int = 0, limit: int = -1) -> Flow[list[int]]:
        """The version numbers of a subject, ascending."""
        query = {"deleted": deleted, "offset": offset or None, "limit": limit if limit > 0 else None}
        answer: list[int] = yield from self._call("GET", path("subjects", subject, "versions"), query)
        return answer

    def subjects(
        self,
        prefix: str | None = None,
        *,
        deleted: bool = False,
        deleted_only: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> Flow[list[str]]:
        """The subjects' names, sorted; the prefix `:*:` asks for those of every context."""
        query = {
            "subjectPrefix": prefix,
            "deleted": deleted,
            "deletedOnly": deleted_only,
            "offset": offset or None,
            "limit": limit if limit > 0 else None,
        }
        answer: list[str] = yield from self._call("GET", "/subjects", query)
        return answer

    def subjects_of(self, schema_id: int, subject: str | None = None, *, deleted: bool = False) -> Flow[list[str]]:
        """The subjects that hold the schema of an id."""
        query = {"subject": subject, "deleted": deleted}
        answer: list[str] = yield from self._call("GET", path("schemas", "ids", schema_id, "subjects"), query)
        return answer

    def versions_of(
        self, schema_id: int, subject: str | None = None, *, deleted: bool = False
    ) -> Flow[list[SubjectVersion]]:
        """The subjects and versions that hold the schema of an id."""
        query = {"subject": subject, "deleted": deleted}
        answer = yield from self._call("GET", path("schemas", "ids", schema_id, "versions"), query)
        return [SubjectVersion(held["subject"], held["version"]) for held in answer]

    def referenced_by(self, subject: str, version: int | str = LATEST) -> Flow[list[int]]:
        """The ids of the schemas that refer to this version."""
        answer: list[int] = yield from self._call("GET", path("subjects", subject, "versions", version, "referencedby"))
        return answer

    def schema_types(self) -> Flow[list[str]]:
        """The names of the schema types that the registry knows."""
        answer: list[str] = yield from self._call("GET", "/schemas/types")
        return answer

    def contexts(self) -> Flow[list[str]]:
        """The names of the contexts."""
        answer: list[str] = yield from self._call("GET", "/contexts")
        return answer

    def delete_subject(self, subject: str, *, permanent: bool = False) -> Flow[list[int]]:
        """Deletes all versions of a subject and gives their numbers; permanently only what is deleted already."""
        answer: list[int] = yield from self._call("DELETE", path("subjects", subject), {"permanent": permanent})
        self._forget(subject)
        return answer

    def delete_version(self, subject: str, version: int | str, *, permanent: bool = False) -> Flow[int]:
        """Deletes a version of a subject and gives its number; permanently only what is deleted already."""
        answer: int = yield from self._call(
            "DELETE", path("subjects", subject, "versions", version), {"permanent": permanent}
        )
        self._forget(subject)
        return answer

    def check_compatibility(
        self,
        subject: str,
        schema: SchemaText,
        version: int | str | None = None,
        *,
        normalize: bool = False,
        metadata: Mapping[str, Any] | None = None,
        rule_set: Mapping[str, Any] | None = None,
    ) -> Flow[Compatibility]:
        """Whether a schema may be registered: against one version, or against all that the subject's level names.

        Raises:
            VersionNotFound: the numbered version does not exist.
            SchemaRefused: the registry cannot parse the schema.
        """
        target = path("compatibility", "subjects", subject, "versions", *(() if version is None else (version,)))
        query = {"normalize": normalize, "verbose": True}
        answer = yield from self._call("POST", target, query, request_body(schema, metadata, rule_set))
        return Compatibility(answer["is_compatible"], tuple(answer.get("messages") or ()))

    def config(self, subject: str | None = None, *, default_to_global: bool = False) -> Flow[dict[str, Any]]:
        """The config stored for a subject, or the global one."""
        answer: dict[str, Any] = yield from self._call(
            "GET", _scoped("config", subject), {"defaultToGlobal": default_to_global}
        )
        return answer

    def put_config(self, settings: Mapping[str, Any], subject: str | None = None) -> Flow[dict[str, Any]]:
        """Changes the named settings (`compatibility`, `normalize`, ...) of a subject, or the global ones."""
        answer: dict[str, Any] = yield from self._call("PUT", _scoped("config", subject), None, dict(settings))
        return answer

    def delete_config(self, subject: str | None = None) -> Flow[dict[str, Any]]:
        """Removes a subject's config, or the global one, and gives what it was."""
        answer: dict[str, Any] = yield from self._call("DELETE", _scoped("config", subject))
        return answer

    def mode(self, subject: str | None = None, *, default_to_global: bool = False) -> Flow[str]:
        """The mode stored for a subject, or the global one."""
        answer = yield from self._call("GET", _scoped("mode", subject), {"defaultToGlobal": default_to_global})
        return str(answer["mode"])

    def put_mode(self, mode: str, subject: str | None = None, *, force: bool = False) -> Flow[str]:
        """Sets the mode of a subject, or the global one."""
        answer = yield from self._call("PUT", _scoped("mode", subject), {"force": force}, {"mode": mode})
        return str(answer["mode"])

    def delete_mode(self, subject: str | None = None, *, recursive: bool = False) -> Flow[str | None]:
        """Removes a subject's mode, or the global one, and gives what it was."""
        answer = yield from self._call("DELETE", _scoped("mode", subject), {"recursive": recursive})
        mode: str | None = answer.get("mode")
        return mode

    def associations(
        self,
        resource: str,
        namespace: str = "-",
        *,
        resource_type: str | None = None,
        association_types: Sequence[str] = (),
    ) -> Flow[list[dict[str, Any]]]:
        """The subjects associated with a resource such as a topic; namespace `-` stands for any Kafka cluster."""
        query: dict[str, str | Sequence[str] | None] = {
            "resourceType": resource_type,
            "associationType": list(association_types),
        }
        answer: list[dict[str, Any]] = yield from self._call(
            "GET", path("associations", "resources", namespace, resource), query
        )
        return answer

    def server_version(self) -> Flow[dict[str, str]]:
        """The registry's version and commit."""
        answer: dict[str, str] = yield from self._call("GET", "/v1/metadata/version")
        return answer

    def dependencies(self, schema: SchemaText, subject: str | None = None) -> Flow[Dependencies]:
        """The transitive closure of a schema's references, depth-first; the first definition of a name wins.

        References of unqualified subjects are looked for in the context of `subject`, if that is a qualified one.

        Raises:
            SubjectNotFound: a reference names a subject that does not exist.
            VersionNotFound: a reference names a version that does not exist.
        """
        found: dict[str, str] = {}
        yield from self._collect(schema.references, context_of(subject), found, ())
        return tuple(Dependency(name, text) for name, text in found.items())

    def _collect(
        self, references: Sequence[Reference], context: str, found: dict[str, str], above: tuple[str, ...]
    ) -> Flow[None]:
        for reference in references:
            if reference.name in found or reference.name in above:
                continue
            subject = reference.subject if reference.subject.startswith(":.") else context + reference.subject
            # What is stored may refer to a version that was deleted since.
            held = yield from self.version(subject, reference.version, deleted=True)
            yield from self._collect(held.schema.references, context, found, (*above, reference.name))
            found.setdefault(reference.name, held.schema.text)

    def clear_latest(self) -> None:
        """Forgets which versions are the latest."""
        self._latest.clear()

    def clear(self) -> None:
        """Forgets everything."""
        for cache in (self._by_id, self._by_guid, self._by_version, self._by_schema, self._latest):
            cache.clear()

    def _forget(self, subject: str) -> None:
        self._latest.discard(lambda entry: entry[0] == subject)
        self._by_version.discard(lambda entry: entry[0] == subject)
        self._by_schema.discard(lambda entry: entry[1] == subject)


def context_of(subject: str | None) -> str:
    """The prefix `:.name:` of a qualified subject, else nothing."""
    if subject is None or not subject.startswith(":."):
        return ""
    end = subject.find(":", 2)
    if end < 0:
        raise SchemaNotFound(404, 40401, f"Subject '{subject}' not found.")
    return subject[: end + 1]


def _scoped(noun: str, subject: str | None) -> str:
    return path(noun) if subject is None else path(noun, subject)
