"""Routes under /subjects: list, look up, register, read and delete."""

from __future__ import annotations

import re
from functools import partial

from msgspec.structs import replace
from starlette.responses import Response

from magicbyte.http.asgi import header
from magicbyte.http.errors import MALFORMED_BODY
from magicbyte.http.routing.request import Request
from magicbyte.kit.errors import ApiError
from registry import errors
from registry.access.rights import without_details
from registry.decide import (
    Terms,
    decide_delete_subject,
    decide_delete_version,
    decide_register,
    decide_tag,
    decide_undelete,
)
from registry.decide.registered import look_up, registered_already
from registry.http.answers import answer, form_sent, registered_object, text_in_form, version_object
from registry.http.bodies import registration_of, tagging_of
from registry.http.request import (
    context_of_request,
    flag,
    page,
    registry_of,
    require_needs,
    rights_of,
    subject_of,
    version_of,
    write_of,
)
from registry.state.lookup import find_version, with_other_contexts
from registry.state.model import ALL_CONTEXTS, DEFAULT_CONTEXT, Version, in_context
from registry.state.view import View, named


async def list_subjects(request: Request) -> Response:
    """Subjects by prefix; a subject counts as deleted only where all its versions are."""
    registry = registry_of(request)
    prefix = request.query_params.get("subjectPrefix", "")
    if context_of_request(request) != DEFAULT_CONTEXT or not prefix.startswith(ALL_CONTEXTS):
        prefix = in_context(context_of_request(request), prefix)
    only_deleted, with_deleted = flag(request, "deletedOnly"), flag(request, "deleted")
    view = registry.view

    def wanted(subject: str) -> bool:
        live = view.latest(subject) is not None
        return not live if only_deleted else live or with_deleted

    found = [subject for subject in named(view.subjects(), prefix) if wanted(subject)]
    settings = registry.settings
    limits = {"default_limit": settings.subject_search_default_limit, "max_limit": settings.subject_search_max_limit}
    return answer(request, page(request, found, **limits))


async def look_up_schema(request: Request) -> Response:
    """The version of a subject that holds the schema of the body."""
    registry, subject = registry_of(request), subject_of(request)
    wanted = await registration_of(request, subject)
    if wanted.version != 0 or wanted.schema_id >= 0:
        wanted = replace(wanted, version=0, schema_id=-1)
    include_deleted = flag(request, "deleted")

    def work(terms: Terms) -> Version | None:
        view = registry.view
        for candidate in with_other_contexts(view, subject):
            there = wanted if candidate == subject else replace(wanted, subject=candidate)
            found = look_up(view, there, terms, include_deleted=include_deleted)
            if found is not None:
                return found
        return None

    found = await registry.compute(work)
    if found is None:
        await registry.catch_up()
        found = await registry.compute(work)
    if found is None:
        visible = registry.view.versions(subject) if include_deleted else registry.view.live_versions(subject)
        raise errors.SCHEMA_NOT_FOUND() if visible else errors.SUBJECT_NOT_FOUND(subject=subject)
    return answer(request, await version_object(request, found))


async def delete_subject(request: Request) -> Response:
    """Delete all versions of a subject."""
    command = partial(decide_delete_subject, subject=subject_of(request), permanent=flag(request, "permanent"))
    return answer(request, await registry_of(request).write(write_of(request), command))


async def list_versions(request: Request) -> Response:
    """The numbers of a subject's versions."""
    registry, subject = registry_of(request), subject_of(request)
    negated, only, with_deleted = (flag(request, name) for name in ("deletedAsNegative", "deletedOnly", "deleted"))

    def look_up(view: View) -> list[Version] | None:
        versions = list(view.versions(subject))
        visible = [each for each in versions if (each.deleted if only else with_deleted or not each.deleted)]
        # What is shown negated does not make a subject be there; that nothing is deleted does not make it be gone.
        return (versions if negated else visible) if visible or (only and versions) else None

    found = await registry.find(look_up)
    if found is None:
        raise errors.SUBJECT_NOT_FOUND(subject=subject)
    numbers = [-each.number if negated and each.deleted else each.number for each in found]
    settings = registry.settings
    limits = {"default_limit": settings.version_search_default_limit, "max_limit": settings.version_search_max_limit}
    return answer(request, page(request, numbers, **limits))


async def register_schema(request: Request) -> Response:
    """Register a schema under a subject; the version that holds it already is answered without a write."""
    registry, subject = registry_of(request), subject_of(request)
    wanted = await registration_of(request, subject)
    expected = header(request.scope, b"if-match")
    if expected is not None:
        match = re.fullmatch(r'\s*(?:W/)?"?([0-9]{1,10})"?\s*', expected)
        if match is None:
            raise MALFORMED_BODY(detail=f"If-Match must be the number of the latest version, not {expected!r}")
        wanted = replace(wanted, expected_latest=int(match[1]))
    rights = rights_of(request)
    if rights is not None and (wanted.force or wanted.version != 0 or wanted.schema_id >= 0):
        # What goes round compatibility, or chooses what others find.
        rights.require(["ALTER_CONFIGS"], subject)
    version = await registry.compute(lambda terms: registered_already(registry.view, wanted, terms))
    if version is None:
        try:
            version = await registry.decide(write_of(request), partial(decide_register, request=wanted))
        except ApiError as error:
            if rights is None or error.kind is not registry.terms.incompatible or rights.may("READ", subject):
                raise
            # The details quote the schema that is registered.
            raise without_details(error) from None
    text = await text_in_form(request, version, form_sent(wanted.content))
    return answer(request, registered_object(version, text))


async def get_version(request: Request) -> Response:
    """One version of a subject."""
    found = await find_in_contexts(request)
    return answer(request, await version_object(request, found))


async def get_version_schema(request: Request) -> Response:
    """The bare schema text of one version."""
    found = await find_in_contexts(request)
    return Response(await text_in_form(request, found), media_type=answer(request, None).media_type)


async def find_in_contexts(request: Request) -> Version:
    """The version that the path names, looked for in the other contexts where the subject names none.

    Raises:
        ApiError: 40401, 40402, 42202.
    """
    registry, subject, number = registry_of(request), subject_of(request), version_of(request)
    include_deleted = flag(request, "deleted")

    def look_up(view: View) -> Version | None:
        for candidate in with_other_contexts(view, subject):
            version = view.latest(candidate) if number is None else view.version(candidate, number)
            if version is not None and (include_deleted or not version.deleted):
                return version
        return None

    found = await registry.find(look_up)
    return found or find_version(registry.view, subject, number, include_deleted=include_deleted)


async def delete_version(request: Request) -> Response:
    """Delete one version."""
    command = partial(
        decide_delete_version,
        subject=subject_of(request),
        number=version_of(request),
        permanent=flag(request, "permanent"),
    )
    return answer(request, await registry_of(request).write(write_of(request), command))


async def tag_version(request: Request) -> Response:
    """Register a new version made of an old one, with other tags, metadata or rules."""
    registry, subject, number = registry_of(request), subject_of(request), version_of(request)

    def look_up(view: View) -> Version | None:
        candidates = (
            view.latest(each) if number is None else view.version(each, number)
            for each in with_other_contexts(view, subject)
        )
        return next((each for each in candidates if each is not None and not each.deleted), None)

    found = await registry.find(look_up)
    if found is not None:
        require_needs(request, found.subject, subject)
    wanted = await tagging_of(request, subject if found is None else found.subject, number)
    version = await registry.decide(write_of(request), partial(decide_tag, request=wanted))
    return answer(request, registered_object(version))


async def list_referrers(request: Request) -> Response:
    """The ids of the schemas that refer to a version, which may itself be soft deleted."""
    registry, subject, number = registry_of(request), subject_of(request), version_of(request)

    def look_up(view: View) -> Version | None:
        return view.latest(subject) if number is None else view.version(subject, number)

    target = await registry.find(look_up) or find_version(registry.view, subject, number, include_deleted=True)
    include_deleted = flag(request, "deleted")
    referrers = registry.view.referrers(subject, target.number)
    ids = sorted({each.schema_id for each in referrers if include_deleted or not each.deleted})
    settings = registry.settings
    limits = {"default_limit": settings.schema_search_default_limit, "max_limit": settings.schema_search_max_limit}
    return answer(request, page(request, ids, **limits))


async def get_latest_with_metadata(request: Request) -> Response:
    """The newest version whose metadata has all the properties of the query, keys and values paired by position."""
    registry, subject = registry_of(request), subject_of(request)
    keys, values = request.query_params.getlist("key"), request.query_params.getlist("value")
    if len(keys) != len(values):
        raise errors.INVALID_PARAMETER(detail=f"there are {len(keys)} keys, but {len(values)} values")
    wanted = dict(zip(keys, values, strict=True)).items()
    include_deleted = flag(request, "deleted")

    def look_up(view: View) -> Version | None:
        for version in reversed(list(view.versions(subject))):
            metadata = version.content.metadata
            if (include_deleted or not version.deleted) and wanted <= (metadata.properties if metadata else {}).items():
                return version
        return None

    found = await registry.find(look_up)
    if found is None:
        visible = registry.view.versions(subject) if include_deleted else registry.view.live_versions(subject)
        raise errors.SCHEMA_NOT_FOUND() if visible else errors.SUBJECT_NOT_FOUND(subject=subject)
    return answer(request, await version_object(request, found))


async def undelete(request: Request) -> Response:
    """Make soft-deleted versions live again: one, or all of a subject."""
    number = version_of(request) if "version" in request.found.parameters else None
    command = partial(decide_undelete, subject=subject_of(request), number=number)
    return answer(request, await registry_of(request).write(write_of(request), command))
