"""Routes for people who read schemas: outlines, and comparisons of two versions in both directions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import orjson

from compat.level import Policy
from compat.schema import InvalidSchema
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json
from magicbyte.kit.errors import ApiError
from registry import errors
from registry.decide import Question, Sent, Terms, Unanswered
from registry.decide.question import Source, stored_source
from registry.decide.registration.candidate import pinned_source
from registry.http import models
from registry.http.answers import answer
from registry.http.bodies import sent_from
from registry.http.parameters import (
    Consecutive,
    Deleted,
    Explain,
    FromSubject,
    Limit,
    NewVersion,
    OldVersion,
    Subject,
    VersionNumber,
)
from registry.http.parameters.bodies import SchemaBody
from registry.http.request import context_of_request, registry_of, rights_of, subject_in_query, version_number
from registry.http.routes.subjects import find_in_contexts
from registry.offload.jobs import CompareOutlines, MakeOutline, OutlineMade, OutlinesCompared
from registry.offload.parsing import invalid_schema
from registry.service import Registry
from registry.state.lookup import find_version
from registry.state.model import SubjectName, Version
from registry.state.resolve import effective_config
from registry.state.view import View

#: How many comparisons a list has by default, and at most.
_COMPARISONS, _MOST_COMPARISONS = 20, 100


async def get_version_outline(
    request: Request, *, subject: Subject, number: VersionNumber, deleted: Deleted = False
) -> Json[models.Outline]:
    """Extension: what a version declares, as a tree: types, fields and symbols in words."""
    version = await find_in_contexts(registry_of(request), subject, number, include_deleted=deleted)
    source = stored_source(registry_of(request).view, version)
    return await _answer_outline(request, source, _side(version))


async def make_outline(request: Request, *, body: SchemaBody) -> Json[models.Outline]:
    """Extension: what the schema in the body declares, as a tree: types, fields and symbols in words."""
    sent = _text_of(request, body, str(SubjectName(context_of_request(request), "")))
    source = _source(registry_of(request).view, sent)
    return await _answer_outline(request, source, _text_side(None, source))


async def compare_versions(
    request: Request,
    *,
    subject: Subject,
    old_text: OldVersion = "",
    new_text: NewVersion = "latest",
    from_subject: FromSubject = "",
    consecutive: Consecutive = False,
    explain: Explain = False,
    limit: Limit = -1,
    deleted: Deleted = False,
) -> Json[models.Comparisons]:
    """Extension: what changed between two versions, and whom each change breaks.

    With `consecutive`, a list: each version with the one before.
    """
    registry = registry_of(request)
    other = subject_in_query(request, from_subject)
    old_number = version_number(old_text or "latest")
    new_number = version_number(new_text or "latest")
    new = await _find_version(registry, subject, new_number, include_deleted=deleted)
    versions = registry.view.versions if deleted else registry.view.live_versions
    if consecutive:
        first = 1 if not old_text else new.number if old_number is None else old_number
        listed = [version for version in versions(new.subject) if first <= version.number <= new.number]
        most = limit if 0 < limit <= _MOST_COMPARISONS else _COMPARISONS
        return await _compare_consecutive(request, list(pairwise(reversed(listed)))[:most], searches=explain)
    if old_text or other is not None:
        old = await _find_version(registry, other or subject, old_number, include_deleted=deleted)
    else:
        older = [version for version in versions(subject) if version.number < new.number]
        if not older:
            detail = f"'{subject}' has no version before {new.number}; name the version to compare with in from"
            raise errors.INVALID_PARAMETER(detail=detail)
        old = older[-1]
    return await _answer_comparison(request, old, stored_source(registry.view, new), _side(new))


async def compare_text(
    request: Request,
    *,
    subject: Subject,
    body: SchemaBody,
    old_text: OldVersion = "",
    from_subject: FromSubject = "",
    deleted: Deleted = False,
) -> Json[models.Comparison]:
    """Extension: what changed between a version and the schema in the body, and whom each change breaks."""
    registry = registry_of(request)
    other = subject_in_query(request, from_subject) or subject
    old = await _find_version(registry, other, version_number(old_text or "latest"), include_deleted=deleted)
    source = _source(registry.view, _text_of(request, body, subject))
    return await _answer_comparison(request, old, source, _text_side(subject, source))


async def _answer_outline(request: Request, source: Source, side: dict[str, Any]) -> Json[Any]:
    try:
        made = await registry_of(request).ask(Question(source, MakeOutline()), OutlineMade)
    except InvalidSchema as error:
        raise invalid_schema(error) from None
    tree = orjson.Fragment(made.tree)
    return answer(request, {**side, "nodes": made.nodes, "cut": made.is_cut, "outline": tree})


async def _answer_comparison(request: Request, old: Version, source: Source, side: dict[str, Any]) -> Json[Any]:
    registry = registry_of(request)
    try:
        compared = await registry.compute(partial(_compare, registry.view, side, source, old))
    except InvalidSchema as error:
        raise invalid_schema(error) from None
    return answer(request, _comparison(old, side, compared))


async def _compare_consecutive(
    request: Request, pairs: Sequence[tuple[Version, Version]], *, searches: bool
) -> Json[Any]:
    """A list of comparisons, the newest first; it ends early when the request has used up its work."""
    registry = registry_of(request)
    outcomes = await registry.compute(partial(_compare_each, registry.view, pairs, searches=searches))
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


async def _find_version(registry: Registry, subject: str, version: int | None, *, include_deleted: bool) -> Version:
    """One version of a subject.

    Raises:
        ApiError: 40401, 40402.
    """

    def look_up(view: View) -> Version | None:
        stored = view.latest(subject) if version is None else view.version(subject, version)
        return stored if stored is not None and (include_deleted or not stored.deleted) else None

    stored = await registry.find(look_up)
    return stored or find_version(registry.view, subject, version, include_deleted=include_deleted)


def _text_of(request: Request, body: models.RegisterSchemaRequest, subject: str) -> Sent:
    sent = sent_from(body, subject, rights_of(request))
    if sent.content.is_blank:
        raise errors.EMPTY_SCHEMA()
    return sent


def _source(view: View, sent: Sent) -> Source:
    try:
        return pinned_source(view, sent.subject, sent.content, strict=False)
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
