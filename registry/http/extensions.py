"""Routes beyond the reference: search, the change feed, export and import."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import orjson
from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from compat.formats import FORMATS
from magicbyte.http.errors import MALFORMED_BODY
from registry import errors, operations
from registry.changes import Change, TooOld, changes_since
from registry.decide import Line, Report, decide_load
from registry.http.answers import answer, parsed
from registry.http.request import context_of_request, flag, page, registry_of
from registry.model import ALL_CONTEXTS, DEFAULT_CONTEXT, in_context
from registry.search import Hit, Query, search
from registry.service import Registry
from registry.transfer import export_lines
from registry.view import View

router = APIRouter()

_LOOK_SECONDS = 0.2
_HEARTBEAT_SECONDS = 15.0
_LINES_IN_BATCH = 200
_LINES_IN_CHUNK = 100


@router.route("/search", methods=["GET"])
async def search_schemas(request: Request) -> Response:
    """The versions that have what the query names."""
    registry, parameters = registry_of(request), request.query_params
    schema_type = parameters.get("type", "").upper()
    if schema_type and schema_type not in FORMATS:
        raise errors.UNKNOWN_SCHEMA_TYPE(type=schema_type)
    properties = (each.partition("=") for each in parameters.getlist("property"))
    query = Query(
        prefix=_prefix(request),
        name=parameters.get("name", ""),
        field=parameters.get("field", ""),
        schema_type=schema_type,
        properties=tuple((key, value if equals else None) for key, equals, value in properties),
        tag=parameters.get("tag", ""),
        deleted=flag(request, "deleted"),
        latest_only=flag(request, "latestOnly"),
    )
    hits = await asyncio.to_thread(lambda: list(search(registry.view, query, partial(parsed, registry))))
    settings = registry.settings
    limits = {"default_limit": settings.schema_search_default_limit, "max_limit": settings.schema_search_max_limit}
    return answer(request, page(request, [_hit_object(hit) for hit in hits], **limits))


def _hit_object(hit: Hit) -> dict[str, Any]:
    version = hit.version
    found: dict[str, Any] = {
        "subject": version.subject,
        "version": version.number,
        "id": version.schema_id,
        "schemaType": version.schema_type,
        "deleted": version.deleted,
    }
    if hit.name:
        found["name"] = hit.name
    return found | ({"fields": list(hit.fields)} if hit.fields else {})


def _prefix(request: Request) -> str:
    """The prefix of subjects that is asked for; without one, everything in the context of the path, or in all."""
    prefix, context = request.query_params.get("subjectPrefix", ""), context_of_request(request)
    if context != DEFAULT_CONTEXT:
        return in_context(context, prefix)
    return prefix or ALL_CONTEXTS


@router.route("/events", methods=["GET"])
async def follow_changes(request: Request) -> Response:
    """Changes as server-sent events: those after `Last-Event-ID`, or from now on."""
    registry, asked = registry_of(request), request.headers.get("last-event-id")
    if asked is not None and not re.fullmatch(r"\s*-?[0-9]{1,18}\s*", asked):
        raise MALFORMED_BODY(detail=f"Last-Event-ID must be an offset, not {asked!r}")
    after = registry.view.offset if asked is None else int(asked)
    events = _events(registry.view, after, _prefix(request), registry.stopping)
    return StreamingResponse(events, media_type="text/event-stream", headers={"Cache-Control": "no-store"})


async def _events(view: View, after: int, prefix: str, stopping: threading.Event) -> AsyncIterator[bytes]:
    yield b": following\n\n"
    silent = 0.0
    while not stopping.is_set():
        end = view.offset
        if end > after:
            try:
                changes: Sequence[Change] = [each for each in changes_since(view, after, prefix) if each.offset <= end]
            except TooOld as error:
                changes = ()
                yield _event(end, "reset", {"reason": str(error), "offset": end})
            for change in changes:
                yield _event(change.offset, change.kind, change.to_json())
            after, silent = end, 0.0
        await asyncio.sleep(_LOOK_SECONDS)
        silent += _LOOK_SECONDS
        if silent >= _HEARTBEAT_SECONDS:
            # Shows both sides that the other is still there.
            yield b": still here\n\n"
            silent = 0.0


def _event(offset: int, kind: str, data: dict[str, Any]) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (offset, kind.encode(), orjson.dumps(data))


@router.route("/export", methods=["GET"])
async def export(request: Request) -> Response:
    """All versions, configs and modes as lines of JSON."""
    deleted = request.query_params.get("deleted", "true").lower() == "true"
    lines = export_lines(registry_of(request).view, _prefix(request), deleted=deleted)
    return StreamingResponse(_chunks(lines), media_type="application/x-ndjson")


async def _chunks(lines: Iterator[bytes]) -> AsyncIterator[bytes]:
    while chunk := b"".join(islice(lines, _LINES_IN_CHUNK)):
        yield chunk
        await asyncio.sleep(0)


@router.route("/import", methods=["POST"])
async def import_lines(request: Request) -> Response:
    """Take the lines of an export with their ids; those that are refused are named, the others stay."""
    registry = registry_of(request)
    lines = [
        (number, _object(number, raw))
        for number, raw in enumerate((await request.body()).split(b"\n"), 1)
        if raw.strip()
    ]
    dry_run = flag(request, "dryRun")
    reports = [
        await _load(registry, lines[first : first + _LINES_IN_BATCH], dry_run=dry_run)
        for first in range(0, len(lines), _LINES_IN_BATCH)
    ]
    taken: dict[str, int] = {}
    for report in reports:
        for kind, count in report.taken.items():
            taken[kind] = taken.get(kind, 0) + count
    return answer(
        request,
        {
            "imported": taken,
            "known": sum(report.known for report in reports),
            "refused": [{"line": line, "message": text} for report in reports for line, text in report.refused],
        },
    )


async def _load(registry: Registry, lines: Sequence[Line], *, dry_run: bool) -> Report:
    command = partial(decide_load, lines=lines, terms=registry.terms, dry_run=dry_run)
    return await registry.write(operations.IMPORT, command)


def _object(number: int, raw: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise MALFORMED_BODY(detail=f"line {number} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise MALFORMED_BODY(detail=f"line {number} is not an object")
    return value
