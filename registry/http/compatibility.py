"""Routes under /compatibility: may this schema follow those versions?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from starlette.responses import Response

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

#: Errors that a verbose answer tells as messages.
_NO_SCHEMA = frozenset({errors.INVALID_SCHEMA, errors.EMPTY_SCHEMA, errors.UNKNOWN_SCHEMA_TYPE})


async def check_against_version(request: Request) -> Response:
    """Check a schema against one version; `latest` of an unknown subject is compatible with anything."""
    registry, subject, number = registry_of(request), subject_of(request), version_of(request)

    def look_up(view: View) -> Version | None:
        found = view.latest(subject) if number is None else view.version(subject, number)
        return found if found is not None and not found.deleted else None

    version = await registry.find(look_up)
    if version is None and number is not None:
        raise errors.VERSION_NOT_FOUND(version=number)
    return await _answer_verdict(request, subject, [version] if version else [])


async def check_against_all(request: Request) -> Response:
    """Check a schema against the live versions of a subject, by its level."""
    registry, subject = registry_of(request), subject_of(request)
    versions = await registry.find(lambda view: view.live_versions(subject) or None)
    return await _answer_verdict(request, subject, versions or [])


async def _answer_verdict(request: Request, subject: str, versions: Sequence[Version]) -> Response:
    registry = registry_of(request)
    wanted = await registration_of(request, subject)
    verbose, explain = flag(request, "verbose"), flag(request, "explain")
    view = registry.view
    work = partial(_verdict, view, wanted, versions, verbose=verbose, explain=explain)
    return answer(request, await registry.compute(work))


def _verdict(
    view: View,
    wanted: Registration,
    versions: Sequence[Version],
    terms: Terms,
    *,
    verbose: bool,
    explain: bool,
) -> dict[str, Any]:
    config = effective_config(view, wanted.subject, terms.default_level)
    try:
        candidate = canonicalize(view, wanted, config, terms, strict=True)
    except ApiError as error:
        if verbose and error.kind in _NO_SCHEMA:
            return {"is_compatible": False, "messages": [error.message]}
        raise
    verdict = judge(view, wanted.subject, candidate, config, terms, versions, explain=explain)
    found: dict[str, Any] = {"is_compatible": verdict.compatible}
    if verbose:
        found["messages"] = [*verdict.messages, *verdict.notes]
    if explain:
        found["explanations"] = list(verdict.explanations)
    return found
