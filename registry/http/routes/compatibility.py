"""Routes under /compatibility: check a schema against registered versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from starlette.responses import Response

from compat.level import LEVELS
from magicbyte.http.routing.request import Request
from magicbyte.kit.errors import ApiError
from registry import errors
from registry.decide import Registration, Terms
from registry.decide.prepare import canonicalize
from registry.decide.register import judge
from registry.http.answers import answer
from registry.http.bodies import registration_of
from registry.http.request import flag, registry_of, subject_of, version_of
from registry.state.model import Version
from registry.state.resolve import effective_config
from registry.state.view import View

#: Errors that a verbose answer reports as messages.
_NO_SCHEMA = frozenset({errors.INVALID_SCHEMA, errors.EMPTY_SCHEMA, errors.UNKNOWN_SCHEMA_TYPE})


async def check_against_version(request: Request) -> Response:
    """Check a schema against one version; with `latest`, a subject without versions accepts any schema."""
    registry, subject, number = registry_of(request), subject_of(request), version_of(request)

    def look_up(view: View) -> Version | None:
        version = view.latest(subject) if number is None else view.version(subject, number)
        return version if version is not None and not version.deleted else None

    version = await registry.find(look_up)
    if version is None and number is not None:
        raise errors.VERSION_NOT_FOUND(version=number)
    return await _answer_verdict(request, subject, [version] if version else [])


async def check_against_all(request: Request) -> Response:
    """Check a schema against the live versions of a subject that its compatibility level selects."""
    registry, subject = registry_of(request), subject_of(request)
    versions = await registry.find(lambda view: view.live_versions(subject) or None)
    return await _answer_verdict(request, subject, versions or [])


async def _answer_verdict(request: Request, subject: str, versions: Sequence[Version]) -> Response:
    registry = registry_of(request)
    registration = await registration_of(request, subject)
    work = partial(
        _verdict,
        registry.view,
        registration,
        versions,
        level=_level_of(request),
        verbose=flag(request, "verbose"),
        explain=flag(request, "explain"),
        every=flag(request, "every"),
    )
    return answer(request, await registry.compute(work))


def _level_of(request: Request) -> str | None:
    """The level to judge at; None for the subject's.

    Raises:
        ApiError: 42203.
    """
    level = request.query_params.get("level", "").upper()
    if level and level not in LEVELS:
        raise errors.INVALID_COMPATIBILITY_LEVEL()
    return level or None


def _verdict(
    view: View,
    registration: Registration,
    versions: Sequence[Version],
    terms: Terms,
    *,
    level: str | None,
    verbose: bool,
    explain: bool,
    every: bool,
) -> dict[str, Any]:
    config = effective_config(view, registration.subject, terms.default_level)
    if level is not None:
        config = replace(config, compatibility_level=level)
    try:
        candidate = canonicalize(view, registration, config, terms, strict=True)
    except ApiError as error:
        if verbose and error.kind in _NO_SCHEMA:
            return {"is_compatible": False, "messages": [error.message]}
        raise
    verdict = judge(view, registration.subject, candidate, config, terms, versions, explain=explain, every=every)
    value: dict[str, Any] = {"is_compatible": verdict.compatible}
    if verbose:
        value["messages"] = [*verdict.messages, *verdict.notes]
    if every:
        value["versions"] = [
            {"version": row.version, "backward": row.backward, "forward": row.forward} for row in verdict.versions
        ]
        value["cut"] = verdict.is_cut
    if explain:
        value["explanations"] = list(verdict.explanations)
    return value
