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
from registry.state.lookup import find_version, named, with_other_contexts
from registry.state.model import ALL_CONTEXTS, DEFAULT_CONTEXT, Version, in_context
from registry.state.view import View


async def list_subjects(request: Request) -> Response:
    """List subjects by prefix; a subject is deleted only if all its versions are."""
    registry = registry_of(request)
    prefix = request.query_params.get("subjectPrefix", "")
    if context_of_request(request) != DEFAULT_CONTEXT or not prefix.startswith(ALL_CONTEXTS):
        prefix = in_context(context_of_request(request), prefix)
    only_deleted, with_deleted = flag(request, "deletedOnly"), flag(request, "deleted")
    view = registry.view

    def is_selected(subject: str) -> bool:
        live = view.latest(subject) is not None
        return not live if only_deleted else live or with_deleted

    selected = [subject for subject in named(view.subjects(), prefix) if is_selected(subject)]
    return answer(request, page(request, selected, "subject"))


async def look_up_schema(request: Request) -> Response:
    """Return the version of a subject that has the schema in the body."""
    registry, subject = registry_of(request), subject_of(request)
    registration = await registration_of(request, subject)
    if registration.version != 0 or registration.schema_id >= 0:
        registration = replace(registration, version=0, schema_id=-1)
    include_deleted = flag(request, "deleted")

    def work(terms: Terms) -> Version | None:
        view = registry.view
        for candidate in with_other_contexts(view, subject):
            candidate_registration = registration if candidate == subject else replace(registration, subject=candidate)
            version = look_up(view, candidate_registration, terms, include_deleted=include_deleted)
            if version is not None:
                return version
        return None

    version = await registry.compute(work)
    if version is None:
        await registry.catch_up()
        version = await registry.compute(work)
    if version is None:
        visible = registry.view.versions(subject) if include_deleted else registry.view.live_versions(subject)
        raise errors.SCHEMA_NOT_FOUND() if visible else errors.SUBJECT_NOT_FOUND(subject=subject)
    return answer(request, await version_object(request, version))


async def delete_subject(request: Request) -> Response:
    """Delete all versions of a subject."""
    command = partial(decide_delete_subject, subject=subject_of(request), permanent=flag(request, "permanent"))
    return answer(request, await registry_of(request).write(write_of(request), command))


async def list_versions(request: Request) -> Response:
    """List the numbers of a subject's versions."""
    registry, subject = registry_of(request), subject_of(request)
    negated, only, with_deleted = (flag(request, name) for name in ("deletedAsNegative", "deletedOnly", "deleted"))

    def look_up(view: View) -> list[Version] | None:
        versions = list(view.versions(subject))
        visible = [
            version for version in versions if (version.deleted if only else with_deleted or not version.deleted)
        ]
        # deletedAsNegative does not make a deleted subject exist; deletedOnly does not make a live one missing.
        return (versions if negated else visible) if visible or (only and versions) else None

    versions = await registry.find(look_up)
    if versions is None:
        raise errors.SUBJECT_NOT_FOUND(subject=subject)
    numbers = [-version.number if negated and version.deleted else version.number for version in versions]
    return answer(request, page(request, numbers, "version"))


async def register_schema(request: Request) -> Response:
    """Register a schema under a subject; if a version has it already, that version is returned without a write."""
    registry, subject = registry_of(request), subject_of(request)
    registration = await registration_of(request, subject)
    expected = header(request.scope, b"if-match")
    if expected is not None:
        match = re.fullmatch(r'\s*(?:W/)?"?([0-9]{1,10})"?\s*', expected)
        if match is None:
            raise MALFORMED_BODY(detail=f"If-Match must be the number of the latest version, not {expected!r}")
        registration = replace(registration, expected_latest=int(match[1]))
    rights = rights_of(request)
    if rights is not None and (registration.force or registration.version != 0 or registration.schema_id >= 0):
        # These settings skip the compatibility check, or choose which schema others get.
        rights.require(["ALTER_CONFIGS"], subject)
    version = None
    if registry.view.versions(subject):
        version = await registry.compute(lambda terms: registered_already(registry.view, registration, terms))
    if version is None:
        try:
            version = await registry.decide(write_of(request), partial(decide_register, request=registration))
        except ApiError as error:
            if rights is None or error.kind is not registry.terms.incompatible or rights.may("READ", subject):
                raise
            # The details quote the stored schema, which the sender may not read.
            raise without_details(error) from None
    text = await text_in_form(request, version, form_sent(registration.content))
    return answer(request, registered_object(version, text))


async def get_version(request: Request) -> Response:
    """Return one version of a subject."""
    version = await find_in_contexts(request)
    return answer(request, await version_object(request, version))


async def get_version_schema(request: Request) -> Response:
    """Return only the text of one version."""
    version = await find_in_contexts(request)
    return Response(await text_in_form(request, version), media_type=answer(request, None).media_type)


async def find_in_contexts(request: Request) -> Version:
    """The version in the path; if the subject names no context, the other contexts are searched too.

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

    version = await registry.find(look_up)
    return version or find_version(registry.view, subject, number, include_deleted=include_deleted)


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
    """Register a copy of a version with other tags, metadata or rules."""
    registry, subject, number = registry_of(request), subject_of(request), version_of(request)

    def look_up(view: View) -> Version | None:
        candidates = (
            view.latest(candidate) if number is None else view.version(candidate, number)
            for candidate in with_other_contexts(view, subject)
        )
        return next((version for version in candidates if version is not None and not version.deleted), None)

    tagged_version = await registry.find(look_up)
    if tagged_version is not None:
        require_needs(request, tagged_version.subject, subject)
    tagging = await tagging_of(request, subject if tagged_version is None else tagged_version.subject, number)
    version = await registry.decide(write_of(request), partial(decide_tag, request=tagging))
    return answer(request, registered_object(version))


async def list_referrers(request: Request) -> Response:
    """List the ids of the schemas that refer to a version; that version may be soft deleted."""
    registry, subject, number = registry_of(request), subject_of(request), version_of(request)

    def look_up(view: View) -> Version | None:
        return view.latest(subject) if number is None else view.version(subject, number)

    target = await registry.find(look_up) or find_version(registry.view, subject, number, include_deleted=True)
    include_deleted = flag(request, "deleted")
    referrers = registry.view.referrers(subject, target.number)
    ids = sorted({referrer.schema_id for referrer in referrers if include_deleted or not referrer.deleted})
    return answer(request, page(request, ids, "schema"))


async def get_latest_with_metadata(request: Request) -> Response:
    """Return the newest version with all the metadata properties of the query; `key` and `value` pair by position."""
    registry, subject = registry_of(request), subject_of(request)
    keys, values = request.query_params.getlist("key"), request.query_params.getlist("value")
    if len(keys) != len(values):
        raise errors.INVALID_PARAMETER(detail=f"there are {len(keys)} keys, but {len(values)} values")
    properties = dict(zip(keys, values, strict=True)).items()
    include_deleted = flag(request, "deleted")

    def look_up(view: View) -> Version | None:
        for version in reversed(list(view.versions(subject))):
            metadata = version.content.metadata
            if (include_deleted or not version.deleted) and properties <= (
                metadata.properties if metadata else {}
            ).items():
                return version
        return None

    version = await registry.find(look_up)
    if version is None:
        visible = registry.view.versions(subject) if include_deleted else registry.view.live_versions(subject)
        raise errors.SCHEMA_NOT_FOUND() if visible else errors.SUBJECT_NOT_FOUND(subject=subject)
    return answer(request, await version_object(request, version))


async def undelete(request: Request) -> Response:
    """Restore soft-deleted versions: one, or all of a subject."""
    number = version_of(request) if "version" in request.match.parameters else None
    command = partial(decide_undelete, subject=subject_of(request), number=number)
    return answer(request, await registry_of(request).write(write_of(request), command))
