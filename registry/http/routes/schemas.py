"""Routes under /schemas: list schemas, and get one by id or guid."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import orjson
from starlette.responses import Response

from compat.formats import FORMATS
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json
from registry import errors
from registry.feed.listing import ListQuery, Page, list_versions
from registry.http import models
from registry.http.answers import (
    ChunkedAnswer,
    answer,
    media_type_of,
    schema_object,
    schema_string_object,
    shown_of,
    text_answer,
    text_in_form,
    with_extras,
)
from registry.http.parameters import (
    Aliases,
    AssociationType,
    Deleted,
    Format,
    Guid,
    LatestOnly,
    Lifecycle,
    Limit,
    Offset,
    ResourceType,
    RuleType,
    SchemaId,
    SubjectOfId,
    SubjectPrefix,
)
from registry.http.request import (
    context_of_request,
    flag,
    has_limit,
    id_of,
    named_prefix,
    page,
    page_bounds,
    registry_of,
    rights_of,
)
from registry.service import Registry
from registry.state.model import DEFAULT_CONTEXT, SubjectName, Version, context_of, in_context, parse_subject
from registry.state.resolve import resolve_alias
from registry.state.view import View

#: The approximate size of a part of a list, in bytes.
_BYTES_A_CHUNK = 256 * 1024


async def list_schemas(
    request: Request,
    *,
    prefix: SubjectPrefix = "",
    aliases: Aliases = False,
    deleted: Deleted = False,
    latest_only: LatestOnly = False,
    rule_type: RuleType = "",
    _resource_type: ResourceType = "",
    _association_type: AssociationType = (),
    _lifecycle: Lifecycle = "",
    offset: Offset = 0,
    limit: Limit = -1,
) -> Response:
    """All versions of all subjects, sorted by subject and version.

    With `limit`, exactly so many versions if there are so many. Without it, a page ends after 1000 versions or
    16 MiB of texts (`magicbyte.schema.search.max.bytes`), whichever comes first, but has one version at least.
    """
    registry = registry_of(request)
    first, end = page_bounds(registry.settings, "schema", offset, limit)
    query = ListQuery(
        named_prefix(request, prefix),
        deleted=deleted,
        latest_only=latest_only,
        rule_type=rule_type.upper(),
        aliases=aliases,
        first=first,
        end=end,
        # A client that sets a limit takes a shorter list for the last page, so it must get as many as it asked for.
        most_characters=(
            None if has_limit(registry.settings, "schema", limit) else registry.settings.schema_search_max_bytes
        ),
    )
    listed = await asyncio.get_running_loop().run_in_executor(registry.lists, list_versions, registry.view, query)
    response = ChunkedAnswer(_chunks(listed), registry.lists, media_type_of(request))
    if listed.following is not None:
        response.headers["Link"] = f'<{_with_offset(request, listed.following)}>; rel="next"'
    return response


def _with_offset(request: Request, offset: int) -> str:
    """The request's own URL with another offset."""
    kept = [(name, value) for name, value in request.query_params.multi_items() if name != "offset"]
    return f"{request.scope['raw_path'].decode('latin-1')}?{urlencode([*kept, ('offset', offset)])}"


def _chunks(listed: Page) -> Iterator[bytes]:
    """The versions as a JSON array, in parts that are made as they are sent."""
    chunk = bytearray(b"[")
    for index, version in enumerate(listed.versions):
        aliases = listed.aliases.get(version.subject)
        chunk += b"," if index else b""
        chunk += orjson.dumps(schema_object(version) | ({"aliases": aliases} if aliases else {}))
        if len(chunk) >= _BYTES_A_CHUNK:
            yield bytes(chunk)
            chunk.clear()
    yield bytes(chunk) + b"]"


async def list_types(request: Request) -> Json[models.Names]:
    """The schema types."""
    return answer(request, list(FORMATS))


async def get_by_id(request: Request) -> Json[models.SchemaString]:
    """Answer the schema with an id, even if all its versions are soft deleted; it takes the bare request."""
    asked, shown = request.query_params.get("subject"), shown_of(request)
    wanted = _subject_of_query(request, asked or "")
    version = await _find_by_id(registry_of(request), id_of(request), wanted)
    with_subject = asked is not None and bool(parse_subject(wanted).name)
    value = schema_string_object(version, await text_in_form(request, version, shown.form), with_subject=with_subject)
    rights = rights_of(request)
    more: dict[str, Any] = {}
    # The highest id tells how many schemas there are, hidden ones too.
    if flag(request, "fetchMaxId") and (rights is None or rights.may("DESCRIBE", None)):
        more["maxId"] = registry_of(request).view.highest_id(context_of(version.subject))
    return answer(request, await with_extras(request, version, value, shown, more))


async def get_text_by_id(
    request: Request, *, schema_id: SchemaId, subject: SubjectOfId = "", form: Format = ""
) -> Json[models.Text]:
    """The bare text that an id stands for."""
    version = await _find_by_id(registry_of(request), schema_id, _subject_of_query(request, subject))
    return text_answer(request, await text_in_form(request, version, form))


async def list_subjects_by_id(
    request: Request,
    *,
    schema_id: SchemaId,
    subject: SubjectOfId = "",
    deleted: Deleted = False,
    offset: Offset = 0,
    limit: Limit = -1,
) -> Json[models.Names]:
    """The subjects that have a version with an id."""
    registry = registry_of(request)
    versions = await _versions_by_id(registry, schema_id, _subject_of_query(request, subject), with_deleted=deleted)
    subjects = sorted({version.subject for version in versions})
    return answer(request, page(registry.settings, subjects, "subject", offset, limit))


async def list_versions_by_id(
    request: Request,
    *,
    schema_id: SchemaId,
    subject: SubjectOfId = "",
    deleted: Deleted = False,
    offset: Offset = 0,
    limit: Limit = -1,
) -> Json[models.SubjectVersions]:
    """The versions that carry an id."""
    registry = registry_of(request)
    found = await _versions_by_id(registry, schema_id, _subject_of_query(request, subject), with_deleted=deleted)
    versions = sorted(found, key=lambda version: (version.subject, version.number))
    numbers = [{"subject": version.subject, "version": version.number} for version in versions]
    return answer(request, page(registry.settings, numbers, "subject", offset, limit))


async def get_by_guid(request: Request, *, guid: Guid, form: Format = "") -> Json[models.SchemaString]:
    """Get the schema with a guid."""
    version = next(iter((await _find_by_guid(registry_of(request), guid)).values()), None)
    if version is None:
        raise errors.ID_NOT_FOUND(id=guid)
    text = await text_in_form(request, version, form)
    return answer(request, schema_string_object(version, text, with_subject=False))


async def list_ids_by_guid(request: Request, *, guid: Guid) -> Json[models.ContextIds]:
    """The contexts that know a guid, each with its id."""
    versions = await _find_by_guid(registry_of(request), guid)
    return answer(request, [{"context": context, "id": version.schema_id} for context, version in versions.items()])


async def _find_by_guid(registry: Registry, guid: str) -> dict[str, Version]:
    """The versions with a guid, one for each context."""
    # The first request by guid waits until the index is built; other requests are not blocked.
    await registry.index_digests()
    return await registry.find(lambda view: _with_guid(view, guid) or None) or {}


def _with_guid(view: View, guid: str) -> dict[str, Version]:
    """The versions with a guid, one for each context."""
    try:
        digest = uuid.UUID(guid).bytes
    except ValueError:
        return {}
    by_context = {}
    for context in (DEFAULT_CONTEXT, *view.contexts()):
        versions = view.with_digest(context, digest)
        if versions:
            by_context[context] = versions[0]
    return by_context


def _subject_of_query(request: Request, subject: str) -> str:
    """The subject in the query, in the path's context."""
    return resolve_alias(registry_of(request).view, in_context(context_of_request(request), subject))


async def _find_by_id(registry: Registry, schema_id: int, subject: str) -> Version:
    def look_up(view: View) -> Version | None:
        for context in _contexts(view, subject):
            versions = view.with_id(context, schema_id)
            name = parse_subject(subject).name
            if name:
                owner = str(SubjectName(context, name))
                versions = tuple(version for version in versions if version.subject == owner)
            if versions:
                return max(versions, key=lambda version: (not version.deleted, version.timestamp, version.number))
        # If the subject does not have the id, the subject only selects the context.
        return next(iter(view.with_id(context_of(subject), schema_id)), None)

    version = await registry.find(look_up)
    if version is None:
        raise errors.ID_NOT_FOUND(id=schema_id)
    return version


def _contexts(view: View, subject: str) -> list[str]:
    """The contexts to search for an id: the subject's own, then all others if the subject names no context."""
    context, name = parse_subject(subject)
    return [context, *(view.contexts() if name and context == DEFAULT_CONTEXT else [])]


async def _versions_by_id(registry: Registry, schema_id: int, subject: str, *, with_deleted: bool) -> list[Version]:
    def look_up(view: View) -> list[Version] | None:
        for context in _contexts(view, subject):
            versions = view.with_id(context, schema_id)
            if versions:
                return [version for version in versions if with_deleted or not version.deleted]
        return None

    versions = await registry.find(look_up)
    if versions is None:
        raise errors.SCHEMA_NOT_FOUND()
    name = parse_subject(subject).name
    return [version for version in versions if not name or version.subject == subject]
