"""Routes under /schemas: list schemas, and get one by id or guid."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlencode

import orjson
from starlette.responses import Response

from compat.formats import FORMATS
from magicbyte.http.routing.request import Request
from registry import errors
from registry.feed.listing import ListQuery, Page, list_versions
from registry.http.answers import (
    ChunkedAnswer,
    answer,
    media_type_of,
    schema_object,
    schema_string_object,
    text_in_form,
    with_extras,
)
from registry.http.request import context_of_request, flag, has_limit, id_of, page, page_bounds, registry_of, rights_of
from registry.state.model import (
    ALL_CONTEXTS,
    DEFAULT_CONTEXT,
    SubjectName,
    Version,
    context_of,
    in_context,
    parse_subject,
)
from registry.state.resolve import resolve_alias
from registry.state.view import View

#: The approximate size of a part of a list, in bytes.
_BYTES_A_CHUNK = 256 * 1024


async def list_schemas(request: Request) -> Response:
    """List the versions of all subjects with a prefix, sorted by subject and version."""
    registry = registry_of(request)
    prefix = request.query_params.get("subjectPrefix", "")
    if context_of_request(request) != DEFAULT_CONTEXT or not prefix.startswith(ALL_CONTEXTS):
        prefix = in_context(context_of_request(request), prefix)
    first, end = page_bounds(request, "schema")
    query = ListQuery(
        prefix,
        deleted=flag(request, "deleted"),
        latest_only=flag(request, "latestOnly"),
        rule_type=request.query_params.get("ruleType", "").upper(),
        aliases=flag(request, "aliases"),
        first=first,
        end=end,
        # A client that sets a limit takes a shorter list for the last page, so it must get as many as it asked for.
        most_characters=None if has_limit(request, "schema") else registry.settings.schema_search_max_bytes,
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


async def list_types(request: Request) -> Response:
    """List the supported schema types."""
    return answer(request, list(FORMATS))


async def get_by_id(request: Request) -> Response:
    """Return the schema with an id, even if all versions with that id are soft deleted."""
    version = await _find_by_id(request)
    asked = "subject" in request.query_params
    value: dict[str, Any] = schema_string_object(
        version, await text_in_form(request, version), with_subject=asked and bool(parse_subject(_wanted(request)).name)
    )
    rights = rights_of(request)
    more: dict[str, Any] = {}
    # The highest id tells how many schemas there are, hidden ones too.
    if flag(request, "fetchMaxId") and (rights is None or rights.may("DESCRIBE", None)):
        more["maxId"] = registry_of(request).view.highest_id(context_of(version.subject))
    return answer(request, await with_extras(request, version, value, more))


async def get_text_by_id(request: Request) -> Response:
    """Return only the text of the schema with an id."""
    version = await _find_by_id(request)
    return Response(await text_in_form(request, version), media_type=media_type_of(request))


async def list_subjects_by_id(request: Request) -> Response:
    """List the subjects that have a version with an id."""
    versions = await _versions_by_id(request)
    return answer(request, page(request, sorted({version.subject for version in versions}), "subject"))


async def list_versions_by_id(request: Request) -> Response:
    """List the subjects and versions that have an id."""
    versions = sorted(await _versions_by_id(request), key=lambda version: (version.subject, version.number))
    numbers = [{"subject": version.subject, "version": version.number} for version in versions]
    return answer(request, page(request, numbers, "subject"))


async def get_by_guid(request: Request) -> Response:
    """Return the schema with a guid."""
    version = next(iter((await _find_by_guid(request)).values()), None)
    if version is None:
        raise errors.ID_NOT_FOUND(id=unquote(request.match.parameters["guid"]))
    return answer(request, schema_string_object(version, await text_in_form(request, version), with_subject=False))


async def list_ids_by_guid(request: Request) -> Response:
    """List the contexts that have a schema with a guid, and its id in each."""
    versions = await _find_by_guid(request)
    return answer(request, [{"context": context, "id": version.schema_id} for context, version in versions.items()])


async def _find_by_guid(request: Request) -> dict[str, Version]:
    """The versions with the path's guid, one for each context."""
    registry, guid = registry_of(request), unquote(request.match.parameters["guid"])
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


def _wanted(request: Request) -> str:
    """The subject in the query, in the path's context."""
    subject = in_context(context_of_request(request), request.query_params.get("subject", ""))
    return resolve_alias(registry_of(request).view, subject)


async def _find_by_id(request: Request) -> Version:
    schema_id, subject = id_of(request), _wanted(request)

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

    version = await registry_of(request).find(look_up)
    if version is None:
        raise errors.ID_NOT_FOUND(id=schema_id)
    return version


def _contexts(view: View, subject: str) -> list[str]:
    """The contexts to search for an id: the subject's own, then all others if the subject names no context."""
    context, name = parse_subject(subject)
    return [context, *(view.contexts() if name and context == DEFAULT_CONTEXT else [])]


async def _versions_by_id(request: Request) -> list[Version]:
    schema_id, subject = id_of(request), _wanted(request)
    with_deleted = flag(request, "deleted")

    def look_up(view: View) -> list[Version] | None:
        for context in _contexts(view, subject):
            versions = view.with_id(context, schema_id)
            if versions:
                return [version for version in versions if with_deleted or not version.deleted]
        return None

    versions = await registry_of(request).find(look_up)
    if versions is None:
        raise errors.SCHEMA_NOT_FOUND()
    name = parse_subject(subject).name
    return [version for version in versions if not name or version.subject == subject]
