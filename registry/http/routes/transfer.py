"""Export and import of the registry, or of one context, as lines of JSON."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial
from itertools import islice

from starlette.responses import Response, StreamingResponse

from magicbyte.http.routing.request import Request
from magicbyte.kit.errors import ApiError
from registry.access.rights import Rights
from registry.decide import Decision, Line, Report, Terms, decide_load, names_mirror
from registry.feed.export import batches, check_lines, export_lines, parsed_lines
from registry.http.answers import answer
from registry.http.forward import Forwarder
from registry.http.parameters import DeletedToo, DryRun, ExportedNames, OpenLines, SubjectPrefix
from registry.http.parameters.bodies import LinesBody
from registry.http.request import context_of_request, prefix_of, registry_of, rights_of, write_of
from registry.http.spooled_body import SpooledBody
from registry.log.port import NotLeader
from registry.state.lookup import named
from registry.state.model import parse_subject
from registry.state.resolve import settings_key
from registry.state.view import View

_LINES_IN_CHUNK = 100


async def export(
    request: Request, *, prefix: SubjectPrefix = "", names: ExportedNames = (), deleted: DeletedToo = True
) -> Response:
    """Extension: contexts with their highest ids, versions, configs and modes as lines of JSON, ids included."""
    registry, rights = registry_of(request), rights_of(request)
    may_know_log = rights is None or rights.may("DESCRIBE", None)
    covered, headers, lacks = prefix_of(request, prefix), {}, False
    if rights is not None:
        hidden = [subject for subject in registry.node.view.subjects() if not registry.view.may_see(subject)]
        headers["Magicbyte-Complete"] = "false" if hidden else "true"
        # The header is about the registry, the manifest about what was asked for.
        lacks = bool(named((subject for subject in hidden if not names or subject in names), covered))
    # An empty list of those that may be seen is nothing, not everything.
    only = None if not names else [name for name in names if rights is None or _may_export(rights, name)]
    may_see_settings = None if rights is None else partial(rights.may, "DESCRIBE_CONFIGS")
    lines = export_lines(
        registry.view,
        covered,
        deleted=deleted,
        may_see_settings=may_see_settings,
        may_see_highest_id=None if rights is None else rights.may_see_highest_id,
        names=only,
        log_id=registry.node.log_id if may_know_log else "",
        partial=lacks,
    )
    return StreamingResponse(_chunks(lines), media_type="application/x-ndjson", headers=headers)


def _may_export(rights: Rights, name: str) -> bool:
    """Tell whether an export may have a subject, or a context's settings."""
    return rights.may("READ" if parse_subject(name).name else "DESCRIBE_CONFIGS", settings_key(name))


async def _chunks(lines: Iterator[bytes]) -> AsyncIterator[bytes]:
    # The first line takes all that the export holds from the view; other requests are answered meanwhile.
    yield await asyncio.to_thread(next, lines)
    while chunk := b"".join(islice(lines, _LINES_IN_CHUNK)):
        yield chunk
        await asyncio.sleep(0)


async def import_lines(
    request: Request, *, body: LinesBody, dry_run: DryRun = False, open_lines: OpenLines = False
) -> Response:
    """Extension: take the lines of an export, with their ids and versions.

    The body is checked before anything is written: it must end in the closing line of the export, with the number and
    the SHA-256 of the lines before it. Lines are then written in batches. After an error, send the same body again:
    lines that are there are passed over.
    """
    await asyncio.to_thread(check_lines, body.lines(), closed=not open_lines)
    load = _try if dry_run else _load
    try:
        report = await load(request, body, context_of_request(request))
    except NotLeader as error:
        # The new leader skips the lines that are stored already.
        forwarder: Forwarder = request.app.state.forwarder
        return await forwarder.forward(request, error, body)
    refused = [{"line": line, "message": text} for line, text in report.refused]
    value: dict[str, object] = {"imported": report.taken, "known": report.already_stored, "refused": refused}
    if report.warnings:
        value["warnings"] = report.warnings
    return answer(request, value)


async def _load(request: Request, body: SpooledBody, context: str) -> Report:
    """Write the lines in batches; after an error, the client can send them again, and stored lines are skipped.

    Raises:
        ApiError: As for a write; it contains the number of the last line up to which all are written.
        NotLeader: Another node takes writes.
    """
    registry, report, written = registry_of(request), Report(), 0
    waiting = batches(parsed_lines(body.lines()))
    while batch := await asyncio.to_thread(next, waiting, None):
        allowed, refused = _allowed(rights_of(request), batch, context)
        report.refused += refused
        try:
            report.add(await registry.decide(write_of(request), partial(decide_load, lines=allowed, context=context)))
        except ApiError as error:
            raise error.with_extra(importedLines=written) from error
        written = batch[-1][0]
    return report


async def _try(request: Request, body: SpooledBody, context: str) -> Report:
    """Compute the report of an import without writing."""
    registry = registry_of(request)
    await registry.catch_up()
    report, overlay = Report(), View(registry.node.view)
    waiting = batches(parsed_lines(body.lines()))
    while batch := await asyncio.to_thread(next, waiting, None):
        allowed, refused = _allowed(rights_of(request), batch, context)
        report.refused += refused
        decision = await registry.compute(_deciding(overlay, allowed, context), in_thread=True)
        for record in decision.records:
            overlay.apply_record(record)
        report.add(decision.result)
    return report


def _allowed(
    rights: Rights | None, lines: Sequence[Line], context: str
) -> tuple[Sequence[Line], list[tuple[int, str]]]:
    """The lines that the sender may import, and the numbers of the other lines, each with the reason.

    Of a mirror's lines, none may be imported if one is refused.
    """
    if rights is None:
        return lines, []
    rights = rights.now()
    reasons = [(number, rights.refusal_of_line(line, context)) for number, line in lines]
    refused = [(number, reason) for number, reason in reasons if reason is not None]
    if refused and names_mirror(lines):
        return [], refused
    numbers = {number for number, _ in refused}
    return [(number, line) for number, line in lines if number not in numbers], refused


def _deciding(view: View, lines: Sequence[Line], context: str) -> Callable[[Terms], Decision[Report]]:
    return lambda terms: decide_load(view, 0, lines=lines, terms=terms, context=context)
