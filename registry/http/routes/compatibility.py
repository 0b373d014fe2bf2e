"""Routes under /compatibility: check a schema against registered versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

from fastapi import Depends

from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json
from magicbyte.http.routing.solved import made_of_parameters
from magicbyte.kit.errors import ApiError
from registry import errors
from registry.decide import Sent, Terms
from registry.decide.registration.candidate import candidate_of
from registry.decide.registration.judge import judge
from registry.decide.registration.stages import Completed
from registry.http import models
from registry.http.answers import answer
from registry.http.bodies import sent_from
from registry.http.parameters import Every, Explain, Level, Normalize, Subject, Verbose, VersionNumber
from registry.http.parameters.bodies import SchemaBody
from registry.http.request import registry_of, rights_of
from registry.state.model import Version
from registry.state.resolve import effective_config
from registry.state.view import View


@dataclass(frozen=True, slots=True)
class _Wants:
    """The query options of a check: what it reports, and how it judges."""

    normalize: Normalize = False
    verbose: Verbose = False
    explain: Explain = False
    level: Level = None
    every: Every = False


_WantsOfQuery = Annotated[_Wants, Depends(made_of_parameters(_Wants))]
#: Errors that a verbose answer reports as messages.
_NO_SCHEMA = frozenset({errors.INVALID_SCHEMA, errors.EMPTY_SCHEMA, errors.UNKNOWN_SCHEMA_TYPE})


async def check_against_version(
    request: Request,
    *,
    subject: Subject,
    number: VersionNumber,
    body: SchemaBody,
    wants: _WantsOfQuery,
) -> Json[models.Verdict]:
    """Check a schema against one version."""
    registry = registry_of(request)

    def look_up(view: View) -> Version | None:
        version = view.latest(subject) if number is None else view.version(subject, number)
        return version if version is not None and not version.deleted else None

    version = await registry.find(look_up)
    if version is None and number is not None:
        raise errors.VERSION_NOT_FOUND(version=number)
    # With `latest`, a subject without versions accepts any schema.
    return await _answer_verdict(request, subject, body, [version] if version else [], wants)


async def check_against_all(
    request: Request, *, subject: Subject, body: SchemaBody, wants: _WantsOfQuery
) -> Json[models.Verdict]:
    """Check a schema against the versions that the level asks for."""
    registry = registry_of(request)
    versions = await registry.find(lambda view: view.live_versions(subject) or None)
    return await _answer_verdict(request, subject, body, versions or [], wants)


async def _answer_verdict(
    request: Request, subject: str, body: models.RegisterSchemaRequest, versions: Sequence[Version], wants: _Wants
) -> Json[models.Verdict]:
    registry = registry_of(request)
    sent = sent_from(body, subject, rights_of(request), normalize=wants.normalize, explain=wants.explain)
    return answer(request, await registry.compute(partial(_verdict, registry.view, sent, versions, wants=wants)))


def _verdict(
    view: View,
    sent: Sent,
    versions: Sequence[Version],
    terms: Terms,
    *,
    wants: _Wants,
) -> dict[str, Any]:
    config = effective_config(view, sent.subject, terms.default_level)
    if wants.level is not None:
        config = replace(config, compatibility_level=wants.level)
    try:
        candidate = candidate_of(view, Completed.as_sent(sent, config), terms, strict=True)
    except ApiError as error:
        if wants.verbose and error.kind in _NO_SCHEMA:
            return {"is_compatible": False, "messages": [error.message]}
        raise
    verdict = judge(view, candidate, config, terms, versions, explain=wants.explain, every=wants.every)
    value: dict[str, Any] = {"is_compatible": verdict.compatible}
    if wants.verbose:
        value["messages"] = [*verdict.messages, *verdict.notes]
    if wants.every:
        value["versions"] = [
            {"version": row.version, "backward": row.backward, "forward": row.forward} for row in verdict.versions
        ]
        value["cut"] = verdict.is_cut
    if wants.explain:
        value["explanations"] = list(verdict.explanations)
    return value
