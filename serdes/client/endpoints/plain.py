"""The registry's endpoints without a cache, because their answers change; one short flow each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compat.schema import SchemaText
from serdes.client.flow import Flow
from serdes.client.models import Compatibility, SubjectVersion, request_body
from serdes.client.requester import Requester, path

LATEST = "latest"


class PlainEndpoints:
    """The requests about lists, compatibility, configs, modes and associations."""

    def __init__(self, requester: Requester) -> None:
        self._call = requester.call
        self._call_if_changed = requester.call_if_changed

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
        """The subjects' names, sorted; the prefix `:*:` selects the subjects of all contexts."""
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
        return [SubjectVersion(row["subject"], row["version"]) for row in answer]

    def referenced_by(self, subject: str, version: int | str = LATEST) -> Flow[list[int]]:
        """The ids of the schemas that refer to this version."""
        answer: list[int] = yield from self._call("GET", path("subjects", subject, "versions", version, "referencedby"))
        return answer

    def ids_of(self, guid: str) -> Flow[list[int]]:
        """The ids of a guid's schema, one for each context that holds it."""
        answer: list[dict[str, Any]] = yield from self._call("GET", path("schemas", "guids", guid, "ids"))
        return [held["id"] for held in answer]

    def subjects_of_guid(self, guid: str, *, deleted: bool = False) -> Flow[list[str]]:
        """The subjects that hold the schema of a guid, in all contexts."""
        answer: list[dict[str, Any]] = yield from self._call("GET", path("schemas", "guids", guid, "ids"))
        subjects: list[str] = []
        for held in answer:
            subjects += yield from self.subjects_of(held["id"], f":{held['context']}:", deleted=deleted)
        return subjects

    def schema_types(self) -> Flow[list[str]]:
        """The names of the schema types that the registry supports."""
        answer: list[str] = yield from self._call("GET", "/schemas/types")
        return answer

    def contexts(self) -> Flow[list[str]]:
        """The names of the contexts."""
        answer: list[str] = yield from self._call("GET", "/contexts")
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
        explain: bool = False,
    ) -> Flow[Compatibility]:
        """Checks a schema against one version, or against all versions that the subject's level covers.

        With `explain` the verdict comes with the registry's explanations, if it has any.

        Raises:
            VersionNotFound: the numbered version does not exist.
            SchemaRefused: the registry cannot parse the schema.
        """
        target = path("compatibility", "subjects", subject, "versions", *(() if version is None else (version,)))
        query = {"normalize": normalize, "verbose": True, "explain": explain}
        answer = yield from self._call("POST", target, query, request_body(schema, metadata, rule_set))
        explanations = tuple(answer.get("explanations") or ())
        return Compatibility(answer["is_compatible"], tuple(answer.get("messages") or ()), explanations)

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
        """Removes the config of a subject, or the global one, and returns the removed config."""
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
        """Removes the mode of a subject, or the global one, and returns the removed mode."""
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
        """The subjects associated with a resource such as a topic; the namespace `-` means any Kafka cluster."""
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

    def access_rules(self, etag: str | None = None) -> Flow[tuple[list[dict[str, str]] | None, str | None]]:
        """The access rules in the registry's log and their ETag; None if the rules have not changed since `etag`."""
        answer: tuple[list[dict[str, str]] | None, str | None] = yield from self._call_if_changed(_RULES, etag)
        return answer

    def add_access_rules(self, rules: Sequence[Mapping[str, str]]) -> Flow[list[dict[str, str]]]:
        """Adds access rules in one request, and returns their canonical form."""
        answer: list[dict[str, str]] = yield from self._call("POST", _RULES, body=rules)
        return answer

    def remove_access_rules(self, rules: Sequence[Mapping[str, str]]) -> Flow[list[dict[str, str]]]:
        """Removes access rules in one request; returns the rules that existed."""
        answer: list[dict[str, str]] = yield from self._call("DELETE", _RULES, body=rules)
        return answer

    def replace_access_rules(
        self, rules: Sequence[Mapping[str, str]], *, dry_run: bool = False
    ) -> Flow[dict[str, list[dict[str, str]]]]:
        """Replaces all access rules in one request, and returns the rules `added` and `removed`."""
        answer: dict[str, list[dict[str, str]]] = yield from self._call("PUT", _RULES, {"dryRun": dry_run}, rules)
        return answer


_RULES = "/security/acls"


def _scoped(noun: str, subject: str | None) -> str:
    return path(noun) if subject is None else path(noun, subject)
