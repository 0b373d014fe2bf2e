"""Routes for people who read schemas: outlines, and comparisons of two versions in both directions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import orjson
from starlette.responses import Response

from compat.level import Policy
from compat.schema import InvalidSchema
from magicbyte.http.routing.request import Request
from magicbyte.kit.errors import ApiError
from registry import errors
from registry.decide import Question, Registration, Terms, Unanswered
from registry.decide.prepare import pinned_source
from registry.decide.question import Source, stored_source
from registry.http.answers import answer
from registry.http.bodies import registration_of
from registry.http.request import (
    context_of_request,
    flag,
    number,
    registry_of,
    subject_in_query,
    subject_of,
    version_in_query,
)
from registry.http.routes.subjects import find_in_contexts
from registry.offload.jobs import CompareOutlines, MakeOutline, OutlineMade, OutlinesCompared
from registry.offload.parsing import invalid_schema
from registry.state.lookup import find_version
from registry.state.model import SubjectName, Version
from registry.state.resolve import effective_config
from registry.state.view import View

#: How many comparisons a list has by default, and at most.
_COMPARISONS, _MOST_COMPARISONS = 20, 100


async def get_version_outline(request: Request) -> Response:
    """Return the outline of one version."""
    version = await find_in_contexts(request)
    source = stored_source(registry_of(request).view, version)
    return await _answer_outline(request, source, _side(version))


async def make_outline(request: Request) -> Response:
    """Return the outline of the schema in the body."""
    registration = await _text_of(request, str(SubjectName(context_of_request(request), "")))
    source = _source(registry_of(request).view, registration)
    return await _answer_outline(request, source, _text_side(None, source))


async def compare_versions(request: Request) -> Response:
    """Compare two versions, by default the latest with the one before; or, as a list, each with the one before."""
    registry, subject = registry_of(request), subject_of(request)
    from_subject = subject_in_query(request, "fromSubject")
    new = await _find_version(request, subject, version_in_query(request, "to"))
    if flag(request, "consecutive"):
        return await _compare_consecutive(request, new)
    if request.query_params.get("from") or from_subject is not None:
        old = await _find_version(request, from_subject or subject, version_in_query(request, "from"))
    else:
        older = [version for version in _versions(request, subject) if version.number < new.number]
        if not older:
            detail = f"'{subject}' has no version before {new.number}; name the version to compare with in from"
            raise errors.INVALID_PARAMETER(detail=detail)
        old = older[-1]
    return await _answer_comparison(request, old, stored_source(registry.view, new), _side(new))


async def compare_text(request: Request) -> Response:
    """Compare a version, by default the latest, with the schema in the body."""
    registry, subject = registry_of(request), subject_of(request)
    from_subject = subject_in_query(request, "fromSubject") or subject
    old = await _find_version(request, from_subject, version_in_query(request, "from"))
    source = _source(registry.view, await _text_of(request, subject))
    return await _answer_comparison(request, old, source, _text_side(subject, source))


async def _answer_outline(request: Request, source: Source, side: dict[str, Any]) -> Response:
    try:
        made = await registry_of(request).ask(Question(source, MakeOutline()), OutlineMade)
    except InvalidSchema as error:
        raise invalid_schema(error) from None
    tree = orjson.Fragment(made.tree)
    return answer(request, {**side, "nodes": made.nodes, "cut": made.is_cut, "outline": tree})


async def _answer_comparison(request: Request, old: Version, source: Source, side: dict[str, Any]) -> Response:
    registry = registry_of(request)
    try:
        compared = await registry.compute(partial(_compare, registry.view, side, source, old))
    except InvalidSchema as error:
        raise invalid_schema(error) from None
    return answer(request, _comparison(old, side, compared))


async def _compare_consecutive(request: Request, newest: Version) -> Response:
    """A list of comparisons, the newest first; it ends early when the request has used up its work."""
    registry = registry_of(request)
    oldest = version_in_query(request, "from") if request.query_params.get("from") else 1
    first = newest.number if oldest is None else oldest
    versions = [version for version in _versions(request, newest.subject) if first <= version.number <= newest.number]
    limit = number(request, "limit", -1)
    most = limit if 0 < limit <= _MOST_COMPARISONS else _COMPARISONS
    pairs = list(pairwise(reversed(versions)))[:most]
    view = registry.view
    outcomes = await registry.compute(partial(_compare_each, view, pairs, searches=flag(request, "explain")))
    comparisons = [
        _problem(old, new, outcome) if isinstance(outcome, InvalidSchema) else _comparison(old, _side(new), outcome)
        for (new, old), outcome in zip(pairs, outcomes, strict=False)
    ]
    return answer(request, comparisons)


def _compare_each(
    view: View, pairs: Sequence[tuple[Version, Version]], terms: Terms, *, searches: bool
) -> list[OutlinesCompared | InvalidSchema]:
    """The comparisons of pairs of a new and an old version, until the request has used up its work."""
    outcomes: list[OutlinesCompared | InvalidSchema] = []
    questions: list[Question] = []
    for new, old in pairs:
        try:
            outcomes.append(_compare(view, _side(new), stored_source(view, new), old, terms, searches=searches))
        except Unanswered as missing:
            questions += missing.questions
        except InvalidSchema as error:
            outcomes.append(error)
        except ApiError as error:
            if error.kind is not errors.TOO_LARGE_TO_COMPARE or not outcomes:
                raise
            break
    if questions:
        raise Unanswered(questions)
    return outcomes


def _compare(
    view: View, new: dict[str, Any], source: Source, old: Version, terms: Terms, *, searches: bool = True
) -> OutlinesCompared:
    """Compare an old version with a new side, by the policy of that side's subject."""
    config = effective_config(view, new["subject"], terms.default_level)
    policy = Policy.LENIENT if config.compatibility_policy == Policy.LENIENT else Policy.STRICT
    question = Question(
        source, CompareOutlines(policy, new["version"], searches), earlier=(old,), moved=view.references_moved
    )
    return terms.ask(view, question, OutlinesCompared)


async def _find_version(request: Request, subject: str, version: int | None) -> Version:
    """One version of a subject; a deleted one only if the query asks for deleted versions.

    Raises:
        ApiError: 40401, 40402.
    """
    registry, include_deleted = registry_of(request), flag(request, "deleted")

    def look_up(view: View) -> Version | None:
        stored = view.latest(subject) if version is None else view.version(subject, version)
        return stored if stored is not None and (include_deleted or not stored.deleted) else None

    stored = await registry.find(look_up)
    return stored or find_version(registry.view, subject, version, include_deleted=include_deleted)


def _versions(request: Request, subject: str) -> Sequence[Version]:
    """The versions of a subject, the oldest first; deleted ones only if the query says so."""
    view = registry_of(request).view
    return view.versions(subject) if flag(request, "deleted") else view.live_versions(subject)


async def _text_of(request: Request, subject: str) -> Registration:
    registration = await registration_of(request, subject)
    if registration.content.is_blank:
        raise errors.EMPTY_SCHEMA()
    return registration


def _source(view: View, registration: Registration) -> Source:
    try:
        return pinned_source(view, registration, strict=False)
    except InvalidSchema as error:
        raise invalid_schema(error) from None


def _side(version: Version) -> dict[str, Any]:
    return {
        "subject": version.subject,
        "version": version.number,
        "id": version.schema_id,
        "schemaType": version.schema_type,
    }


def _text_side(subject: str | None, source: Source) -> dict[str, Any]:
    return {"subject": subject, "version": None, "id": None, "schemaType": source.schema.schema_type}


def _comparison(old: Version, new: dict[str, Any], compared: OutlinesCompared) -> dict[str, Any]:
    return {"from": _side(old), "to": new, **compared.summary, "changes": orjson.Fragment(compared.changes)}


def _problem(old: Version, new: Version, error: InvalidSchema) -> dict[str, Any]:
    return {"from": _side(old), "to": _side(new), "error": invalid_schema(error).body()}
