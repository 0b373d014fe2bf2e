"""Routes under /schemas: list, and read by id and guid."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any
from urllib.parse import unquote

from fastapi import APIRouter, Request, Response

from compat.formats import FORMATS
from registry import errors
from registry.http.answers import (
    answer,
    media_type_of,
    schema_object,
    schema_string_object,
    text_in_form,
    with_extras,
)
from registry.http.request import context_of_request, flag, id_of, page, registry_of
from registry.model import ALL_CONTEXTS, DEFAULT_CONTEXT, SubjectName, Version, context_of, in_context, parse_subject
from registry.resolve import resolve_alias
from registry.view import View, named

router = APIRouter()


@router.route("/schemas", methods=["GET"])
async def list_schemas(request: Request) -> Response:
    """All versions of all subjects by prefix, sorted by subject and version."""
    registry, view = registry_of(request), registry_of(request).view
    prefix = request.query_params.get("subjectPrefix", "")
    if context_of_request(request) != DEFAULT_CONTEXT or not prefix.startswith(ALL_CONTEXTS):
        prefix = in_context(context_of_request(request), prefix)
    with_deleted, latest_only = flag(request, "deleted"), flag(request, "latestOnly")
    rule_type = request.query_params.get("ruleType", "").upper()
    subjects = named(view.subjects(), prefix)
    if flag(request, "aliases"):
        # The prefix may be that of an alias, which has no versions of its own.
        subjects = sorted({*subjects, *(resolve_alias(view, name) for name in named(view.configured(), prefix))})
    found: list[Version] = []
    for subject in subjects:
        versions = [each for each in list(view.versions(subject)) if with_deleted or not each.deleted]
        found += versions[-1:] if latest_only else versions
    if rule_type:
        found = [each for each in found if _has_rules(each, rule_type)]
    limits = {
        "default_limit": registry.settings.schema_search_default_limit,
        "max_limit": registry.settings.schema_search_max_limit,
    }
    chosen: list[Version] = page(request, found, **limits)
    if not flag(request, "aliases"):
        return answer(request, [schema_object(each) for each in chosen])
    return answer(request, [schema_object(each) | _aliases(view, each.subject) for each in chosen])


def _has_rules(version: Version, kind: str) -> bool:
    rule_set = version.content.rule_set
    return rule_set is not None and any(
        rules and (kind in name.upper() or any((rule.type or "").upper() == kind for rule in rules))
        for name, rules, _ in rule_set.groups
    )


def _aliases(view: View, subject: str) -> dict[str, list[str]]:
    found = sorted(name for name in view.configured() if resolve_alias(view, name) == subject != name)
    return {"aliases": found} if found else {}


@router.route("/schemas/types", methods=["GET"])
async def list_types(request: Request) -> Response:
    """The schema types that are known."""
    return answer(request, list(FORMATS))


@router.route("/schemas/ids/{id}", methods=["GET"])
async def get_by_id(request: Request) -> Response:
    """What an id stands for, even where every version that carries it is soft deleted."""
    found = await _find_by_id(request)
    asked = "subject" in request.query_params
    value: dict[str, Any] = schema_string_object(
        found, text_in_form(request, found), with_subject=asked and bool(parse_subject(_wanted(request)).name)
    )
    highest = registry_of(request).view.highest_id(context_of(found.subject))
    return answer(
        request, with_extras(request, found, value, {"maxId": highest} if flag(request, "fetchMaxId") else {})
    )


@router.route("/schemas/ids/{id}/schema", methods=["GET"])
async def get_text_by_id(request: Request) -> Response:
    """The bare schema text that an id stands for."""
    found = await _find_by_id(request)
    return Response(text_in_form(request, found), media_type=media_type_of(request))


@router.route("/schemas/ids/{id}/subjects", methods=["GET"])
async def list_subjects_by_id(request: Request) -> Response:
    """The subjects that have a version with an id."""
    versions = await _versions_by_id(request)
    return answer(request, _page(request, sorted({each.subject for each in versions})))


@router.route("/schemas/ids/{id}/versions", methods=["GET"])
async def list_versions_by_id(request: Request) -> Response:
    """The subjects and versions that carry an id."""
    versions = sorted(await _versions_by_id(request), key=lambda each: (each.subject, each.number))
    return answer(request, _page(request, [{"subject": each.subject, "version": each.number} for each in versions]))


@router.route("/schemas/guids/{guid}", methods=["GET"])
async def get_by_guid(request: Request) -> Response:
    """The schema that a guid stands for."""
    found = next(iter((await _find_by_guid(request)).values()), None)
    if found is None:
        raise errors.ID_NOT_FOUND(id=unquote(request.path_params["guid"]))
    return answer(request, schema_string_object(found, text_in_form(request, found), with_subject=False))


@router.route("/schemas/guids/{guid}/ids", methods=["GET"])
async def list_ids_by_guid(request: Request) -> Response:
    """The contexts that know a guid, each with its id."""
    found = await _find_by_guid(request)
    return answer(request, [{"context": context, "id": each.schema_id} for context, each in found.items()])


async def _find_by_guid(request: Request) -> dict[str, Version]:
    """The versions that carry the guid of the path, one for each context."""
    registry, guid = registry_of(request), unquote(request.path_params["guid"])
    # The first to ask by guid waits for the index; other requests go on.
    await asyncio.to_thread(registry.view.index_digests)
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
