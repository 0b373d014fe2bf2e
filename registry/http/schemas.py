"""Routes under /schemas: list, and read by id and guid."""

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
from registry.http.request import context_of_request, flag, has_limit, id_of, page, page_bounds, registry_of
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

#: Lists are sent in parts of about this size.
_BYTES_A_CHUNK = 256 * 1024


async def list_schemas(request: Request) -> Response:
    """All versions of all subjects by prefix, sorted by subject and version."""
    registry = registry_of(request)
    prefix = request.query_params.get("subjectPrefix", "")
    if context_of_request(request) != DEFAULT_CONTEXT or not prefix.startswith(ALL_CONTEXTS):
        prefix = in_context(context_of_request(request), prefix)
    settings, most = registry.settings, registry.settings.schema_search_max_limit
    first, end = page_bounds(request, default_limit=settings.schema_search_default_limit, max_limit=most)
    query = ListQuery(
        prefix,
        deleted=flag(request, "deleted"),
        latest_only=flag(request, "latestOnly"),
        rule_type=request.query_params.get("ruleType", "").upper(),
        aliases=flag(request, "aliases"),
        first=first,
        end=end,
        # Who asks for a number of versions gets that many: clients go on behind them without looking.
        most_characters=None if has_limit(request, max_limit=most) else settings.schema_search_max_bytes,
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
    """The versions as a JSON array, in parts that are made when they are sent."""
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
    """The schema types that are known."""
    return answer(request, list(FORMATS))


async def get_by_id(request: Request) -> Response:
    """What an id stands for, even where every version that carries it is soft deleted."""
    found = await _find_by_id(request)
    asked = "subject" in request.query_params
    value: dict[str, Any] = schema_string_object(
        found, await text_in_form(request, found), with_subject=asked and bool(parse_subject(_wanted(request)).name)
    )
    highest = registry_of(request).view.highest_id(context_of(found.subject))
    more = {"maxId": highest} if flag(request, "fetchMaxId") else {}
    return answer(request, await with_extras(request, found, value, more))


async def get_text_by_id(request: Request) -> Response:
    """The bare schema text that an id stands for."""
    found = await _find_by_id(request)
    return Response(await text_in_form(request, found), media_type=media_type_of(request))


async def list_subjects_by_id(request: Request) -> Response:
    """The subjects that have a version with an id."""
    versions = await _versions_by_id(request)
    return answer(request, _page(request, sorted({each.subject for each in versions})))


async def list_versions_by_id(request: Request) -> Response:
    """The subjects and versions that carry an id."""
    versions = sorted(await _versions_by_id(request), key=lambda each: (each.subject, each.number))
    return answer(request, _page(request, [{"subject": each.subject, "version": each.number} for each in versions]))


async def get_by_guid(request: Request) -> Response:
    """The schema that a guid stands for."""
    found = next(iter((await _find_by_guid(request)).values()), None)
    if found is None:
        raise errors.ID_NOT_FOUND(id=unquote(request.found.parameters["guid"]))
    return answer(request, schema_string_object(found, await text_in_form(request, found), with_subject=False))


async def list_ids_by_guid(request: Request) -> Response:
    """The contexts that know a guid, each with its id."""
    found = await _find_by_guid(request)
    return answer(request, [{"context": context, "id": each.schema_id} for context, each in found.items()])


async def _find_by_guid(request: Request) -> dict[str, Version]:
    """The versions that carry the guid of the path, one for each context."""
    registry, guid = registry_of(request), unquote(request.found.parameters["guid"])
    # The first to ask by guid waits for the index; other requests go on.
    await registry.index_digests()
    return await registry.find(lambda view: _with_guid(view, guid) or None) or {}


def _with_guid(view: View, guid: str) -> dict[str, Version]:
    """The versions that carry a guid, one for each context."""
    try:
        digest = uuid.UUID(guid).bytes
    except ValueError:
        return {}
    found = {}
    for context in (DEFAULT_CONTEXT, *view.contexts()):
        versions = view.with_digest(context, digest)
        if versions:
            found[context] = versions[0]
    return found


def _wanted(request: Request) -> str:
    """The subject that the query names, within the context of the path."""
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
                versions = tuple(each for each in versions if each.subject == owner)
            if versions:
                return max(versions, key=lambda each: (not each.deleted, each.timestamp, each.number))
        # A subject that does not have the id only says in which context to look.
        return next(iter(view.with_id(context_of(subject), schema_id)), None)

    found = await registry_of(request).find(look_up)
    if found is None:
        raise errors.ID_NOT_FOUND(id=schema_id)
    return found


def _contexts(view: View, subject: str) -> list[str]:
    """Where to look for an id: the subject's context, and for a name without one in the others next."""
    context, name = parse_subject(subject)
    return [context, *(view.contexts() if name and context == DEFAULT_CONTEXT else [])]


async def _versions_by_id(request: Request) -> list[Version]:
    schema_id, subject = id_of(request), _wanted(request)
    with_deleted = flag(request, "deleted")

    def look_up(view: View) -> list[Version] | None:
        for context in _contexts(view, subject):
            versions = view.with_id(context, schema_id)
            if versions:
                return [each for each in versions if with_deleted or not each.deleted]
        return None

    found = await registry_of(request).find(look_up)
    if found is None:
        raise errors.SCHEMA_NOT_FOUND()
    name = parse_subject(subject).name
    return [each for each in found if not name or each.subject == subject]


def _page(request: Request, items: list[Any]) -> list[Any]:
    settings = registry_of(request).settings
    return page(
        request, items, default_limit=settings.subject_search_default_limit, max_limit=settings.subject_search_max_limit
    )
