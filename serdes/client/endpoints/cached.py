"""The registry's endpoints, one short flow each; answers that cannot change soon are cached.

The clients of `serdes.client.clients` offer every flow here as a method of the same name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from compat.schema import Dependencies, Dependency, Reference, SchemaText
from serdes.client.cache import Cache
from serdes.client.endpoints.plain import LATEST, PlainEndpoints
from serdes.client.flow import Flow
from serdes.client.models import RegisteredSchema, SchemaInfo, registered_schema, request_body, schema_info
from serdes.client.requester import Requester, path
from serdes.error import SchemaNotFound


@dataclass(frozen=True, slots=True)
class CacheLimits:
    """Limits on the number of entries that the client caches, and on their age.

    Attributes:
        capacity: The entries in each cache: by id, by guid, by version, by schema, and of latest versions.
        latest_ttl: Seconds for which a subject's latest version is cached; None for ever, 0 not at all.
    """

    capacity: int = 1000
    latest_ttl: float | None = 60.0


class Endpoints(PlainEndpoints):
    """All requests to a registry, as flows; answers that cannot change are cached.

    Attributes:
        explain: Whether to request the registry's explanations of a refused registration (`?explain=true`).
    """

    explain = False

    def __init__(self, requester: Requester, limits: CacheLimits) -> None:
        super().__init__(requester)
        self._by_id: Cache[tuple[int, str | None, str | None], SchemaInfo] = Cache(limits.capacity)
        self._by_guid: Cache[tuple[str, str | None], SchemaInfo] = Cache(limits.capacity)
        self._by_version: Cache[tuple[str, int, bool, str | None], RegisteredSchema] = Cache(limits.capacity)
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
        schema_id: int | None = None,
        version: int | None = None,
    ) -> Flow[RegisteredSchema]:
        """Registers a schema under a subject, unless it is there already; the answer is cached.

        `schema_id` and `version` are the numbers that it gets in a subject of mode IMPORT.

        Raises:
            IncompatibleSchema: the subject's compatibility level refuses the schema.
            SchemaRefused: the registry cannot parse the schema.
        """
        body = request_body(schema, metadata, rule_set)
        if propagate_schema_tags:
            body["propagateSchemaTags"] = True
        if schema_id is not None:
            body |= {"id": schema_id, "version": version}
        key = ("register", subject, normalize, orjson.dumps([body, format]))
        cached = self._by_schema.get(key)
        if cached is not None:
            return cached
        query = {"normalize": normalize, "format": format, "explain": self.explain}
        answer = yield from self._call("POST", path("subjects", subject, "versions"), query, body)
        self._latest.discard(lambda entry: entry[0] == subject)
        if "version" in answer:
            registered = registered_schema({"subject": subject, **body, **answer})
        else:
            # Older registries return the id and nothing else.
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
        """The version of a subject that has this schema.

        Raises:
            SubjectNotFound: the subject has no versions.
            SchemaNotFound: none of them has this schema.
        """
        body = request_body(schema)
        key = ("deleted" if deleted else "lookup", subject, normalize, orjson.dumps([body, format]))
        registered = self._by_schema.get(key)
        if registered is None:
            query = {"normalize": normalize, "deleted": deleted, "format": format}
            registered = registered_schema((yield from self._call("POST", path("subjects", subject), query, body)))
            self._by_schema.put(key, registered)
        return registered

    def schema_by_id(
        self,
        schema_id: int,
        subject: str | None = None,
        *,
        format: str | None = None,  # noqa: A002  # the API's name
    ) -> Flow[SchemaInfo]:
        """The schema of an id, in the subject's context or the default one; the answer is cached.

        Raises:
            SchemaNotFound: no schema has this id.
        """
        key = (schema_id, subject, format)
        info = self._by_id.get(key)
        if info is None:
            query = {"subject": subject, "format": format}
            answer = yield from self._call("GET", path("schemas", "ids", schema_id), query)
            info = schema_info(answer, schema_id, None)
            self._by_id.put(key, info)
        return info

    def schema_by_guid(
        self,
        guid: str,
        *,
        format: str | None = None,  # noqa: A002  # the API's name
    ) -> Flow[SchemaInfo]:
        """The schema of a guid, in any context; the answer is cached.

        Raises:
            SchemaNotFound: no schema has this guid.
        """
        info = self._by_guid.get((guid, format))
        if info is None:
            answer = yield from self._call("GET", path("schemas", "guids", guid), {"format": format})
            info = schema_info(answer, None, guid)
            self._by_guid.put((guid, format), info)
        return info

    def version(
        self,
        subject: str,
        version: int | str = LATEST,
        *,
        deleted: bool = False,
        format: str | None = None,  # noqa: A002  # the API's name
    ) -> Flow[RegisteredSchema]:
        """A version of a subject: a number, or `latest` (-1), which is cached for `latest_ttl` seconds.

        Raises:
            SubjectNotFound: the subject has no visible versions.
            VersionNotFound: the subject has other versions, but not this one.
        """
        if version in {LATEST, -1}:
            return (yield from self._latest_version(subject, format))
        number = int(version)
        key = (subject, number, deleted, format)
        registered = self._by_version.get(key)
        if registered is None:
            query = {"deleted": deleted, "format": format}
            answer = yield from self._call("GET", path("subjects", subject, "versions", number), query)
            registered = registered_schema(answer)
            self._by_version.put(key, registered)
        return registered

    def _latest_version(self, subject: str, form: str | None) -> Flow[RegisteredSchema]:
        latest = self._latest.get((subject, form or ""))
        if latest is None:
            answer = yield from self._call("GET", path("subjects", subject, "versions", LATEST), {"format": form})
            latest = registered_schema(answer)
            self._latest.put((subject, form or ""), latest)
        return latest

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
        latest = self._latest.get(key)
        if latest is None:
            query: dict[str, str | bool | Sequence[str] | None] = {
                "key": list(properties),
                "value": list(properties.values()),
                "deleted": deleted,
                "format": format,
            }
            latest = registered_schema((yield from self._call("GET", path("subjects", subject, "metadata"), query)))
            self._latest.put(key, latest)
        return latest

    def delete_subject(self, subject: str, *, permanent: bool = False) -> Flow[list[int]]:
        """Deletes all versions of a subject and returns their numbers; `permanent` needs an earlier soft delete."""
        answer: list[int] = yield from self._call("DELETE", path("subjects", subject), {"permanent": permanent})
        self._forget(subject)
        return answer

    def delete_version(self, subject: str, version: int | str, *, permanent: bool = False) -> Flow[int]:
        """Deletes a version of a subject and returns its number; `permanent` needs an earlier soft delete."""
        answer: int = yield from self._call(
            "DELETE", path("subjects", subject, "versions", version), {"permanent": permanent}
        )
        self._forget(subject)
        return answer

    def dependencies(self, schema: SchemaText, subject: str | None = None) -> Flow[Dependencies]:
        """The transitive closure of a schema's references, depth-first; the first definition of a name wins.

        References to unqualified subjects are looked up in the context of `subject`, if that is qualified.

        Raises:
            SubjectNotFound: a reference names a subject that does not exist.
            VersionNotFound: a reference names a version that does not exist.
        """
        texts: dict[str, str] = {}
        yield from self._collect(schema.references, context_of(subject), texts, ())
        return tuple(Dependency(name, text) for name, text in texts.items())

    def _collect(
        self, references: Sequence[Reference], context: str, texts: dict[str, str], above: tuple[str, ...]
    ) -> Flow[None]:
        for reference in references:
            if reference.name in texts or reference.name in above:
                continue
            subject = reference.subject if reference.subject.startswith(":.") else context + reference.subject
            # A stored schema may refer to a version that was deleted since.
            target = yield from self.version(subject, reference.version, deleted=True)
            yield from self._collect(target.schema.references, context, texts, (*above, reference.name))
            texts.setdefault(reference.name, target.schema.text)

    def clear_latest(self) -> None:
        """Drops the cached latest versions."""
        self._latest.clear()

    def clear(self) -> None:
        """Drops all cached answers."""
        for cache in (self._by_id, self._by_guid, self._by_version, self._by_schema, self._latest):
            cache.clear()

    def _forget(self, subject: str) -> None:
        self._latest.discard(lambda entry: entry[0] == subject)
        self._by_version.discard(lambda entry: entry[0] == subject)
        self._by_schema.discard(lambda entry: entry[1] == subject)


def context_of(subject: str | None) -> str:
    """The context prefix `:.name:` of a qualified subject, else an empty text."""
    if subject is None or not subject.startswith(":."):
        return ""
    end = subject.find(":", 2)
    if end < 0:
        raise SchemaNotFound(404, 40401, f"Subject '{subject}' not found.")
    return subject[: end + 1]
