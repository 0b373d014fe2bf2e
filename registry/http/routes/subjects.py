"""Routes under /subjects: list, look up, register, read and delete."""

from __future__ import annotations

import re
from functools import partial

from msgspec.structs import replace

from magicbyte.http.asgi import header
from magicbyte.http.errors import MALFORMED_BODY
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json
from magicbyte.kit.errors import ApiError
from registry import errors
from registry.access.rights import without_details
from registry.decide import (
    decide_delete_subject,
    decide_delete_version,
    decide_tag,
    decide_undelete,
    look_up,
)
from registry.http import models
from registry.http.answers import (
    Shown,
    answer,
    form_sent,
    registered_object,
    shown_of,
    text_answer,
    text_in_form,
    version_object,
)
from registry.http.bodies import sent_in, tagging_from
from registry.http.holders import naming_holders
from registry.http.parameters import (
    Deleted,
    DeletedOnly,
    Format,
    Limit,
    MetadataKeys,
    MetadataValues,
    Offset,
    Permanent,
    Subject,
    SubjectPrefix,
    VersionNumber,
)
from registry.http.parameters.bodies import TagsBody
from registry.http.request import (
    flag,
    named_prefix,
    number,
    page,
    registry_of,
    require_needs,
    rights_of,
    subject_of,
    version_of,
    write_of,
)
from registry.http.routes.rules import rules_plan
from registry.service import Registry
from registry.state.lookup import find_version, named, with_other_contexts
from registry.state.model import Version
from registry.state.view import View


async def list_subjects(
    request: Request,
    *,
    prefix: SubjectPrefix = "",
    with_deleted: Deleted = False,
    only_deleted: DeletedOnly = False,
    offset: Offset = 0,
    limit: Limit = -1,
) -> Json[models.Names]:
    """The subjects, sorted."""
    registry = registry_of(request)
    view = registry.view

    def is_selected(subject: str) -> bool:
        # A subject is deleted only if all its versions are.
        live = view.latest(subject) is not None
        return not live if only_deleted else live or with_deleted

    selected = [subject for subject in named(view.subjects(), named_prefix(request, prefix)) if is_selected(subject)]
    return answer(request, page(registry.settings, selected, "subject", offset, limit))


async def look_up_schema(request: Request) -> Json[models.Schema]:
    """Answer the version that has the schema in the body; it takes the bare request."""
    registry, subject = registry_of(request), subject_of(request)
    sent = await sent_in(request, subject)
    include_deleted = flag(request, "deleted")
    work = partial(look_up, registry.view, sent, include_deleted=include_deleted)
    version = await registry.compute(work)
    if version is None:
        await registry.catch_up()
        version = await registry.compute(work)
    if version is None:
        visible = registry.view.versions(subject) if include_deleted else registry.view.live_versions(subject)
        raise errors.SCHEMA_NOT_FOUND() if visible else errors.SUBJECT_NOT_FOUND(subject=subject)
    return answer(request, await version_object(request, version, shown_of(request)))


async def delete_subject(request: Request, *, subject: Subject, permanent: Permanent = False) -> Json[models.Integers]:
    """Delete all versions of a subject; answers their numbers."""
    registry = registry_of(request)
    command = partial(decide_delete_subject, subject=subject, permanent=permanent)
    with naming_holders(registry.view, permanent=permanent):
        return answer(request, await registry.write(write_of(request), command))


async def list_versions(request: Request) -> Json[models.Integers]:
    """Answer the numbers of the versions; it takes the bare request."""
    registry, subject = registry_of(request), subject_of(request)
    with_deleted, only, negated = (flag(request, name) for name in ("deleted", "deletedOnly", "deletedAsNegative"))
    offset, limit = number(request, "offset", 0), number(request, "limit", -1)

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
    return answer(request, page(registry.settings, numbers, "version", offset, limit))


async def register_schema(request: Request) -> Json[models.RegisteredSchema]:
    """Register a schema; if a version has it already, answer it without a write. It takes the bare request."""
    registry, subject, write = registry_of(request), subject_of(request), write_of(request)
    sent = await sent_in(request, subject)
    expected = header(request.scope, b"if-match")
    if expected is not None:
        match = re.fullmatch(r'\s*(?:W/)?"?([0-9]{1,10})"?\s*', expected)
        if match is None:
            raise MALFORMED_BODY(detail=f"If-Match must be the number of the latest version, not {expected!r}")
        sent = replace(sent, expected_latest=int(match[1]))
    rights = rights_of(request)
    if rights is not None and (sent.force or sent.version != 0 or sent.schema_id >= 0):
        # These settings skip the compatibility check, or choose which schema others get.
        rights.require(["ALTER_CONFIGS"], subject)
    try:
        version = await registry.register(write, sent)
    except ApiError as error:
        if rights is None or error.kind is not registry.terms.incompatible or rights.may("READ", subject):
            raise
        # The details quote the stored schema, which the sender may not read.
        raise without_details(error) from None
    text = await text_in_form(request, version, shown_of(request).form, form_sent(sent.content))
    return answer(request, registered_object(version, text))


async def get_version(request: Request) -> Json[models.SchemaOrPlan]:
    """Answer one version; it takes the bare request."""
    version = await find_in_contexts(
        registry_of(request), subject_of(request), version_of(request), include_deleted=flag(request, "deleted")
    )
    if request.scope["query_string"] and request.query_params.get("explain", "").lower() == "rules":
        return answer(request, await rules_plan(registry_of(request), version))
    return answer(request, await version_object(request, version, shown_of(request)))


async def get_version_schema(
    request: Request,
    *,
    subject: Subject,
    number: VersionNumber,
    form: Format = "",
    deleted: Deleted = False,
) -> Json[models.Text]:
    """The bare text of one version."""
    version = await find_in_contexts(registry_of(request), subject, number, include_deleted=deleted)
    return text_answer(request, await text_in_form(request, version, form))


async def find_in_contexts(registry: Registry, subject: str, number: int | None, *, include_deleted: bool) -> Version:
    """A version of a subject; if the subject names no context, the other contexts are searched too.

    Raises:
        ApiError: 40401, 40402.
    """

    def look_up(view: View) -> Version | None:
        for candidate in with_other_contexts(view, subject):
            version = view.latest(candidate) if number is None else view.version(candidate, number)
            if version is not None and (include_deleted or not version.deleted):
                return version
        return None

    version = await registry.find(look_up)
    return version or find_version(registry.view, subject, number, include_deleted=include_deleted)


async def delete_version(
    request: Request, *, subject: Subject, number: VersionNumber, permanent: Permanent = False
) -> Json[models.Integer]:
    """Delete one version; answers its number."""
    registry = registry_of(request)
    command = partial(decide_delete_version, subject=subject, number=number, permanent=permanent)
    with naming_holders(registry.view, permanent=permanent):
        return answer(request, await registry.write(write_of(request), command))


async def tag_version(
    request: Request, *, subject: Subject, number: VersionNumber, body: TagsBody
) -> Json[models.RegisteredSchema]:
    """Register a new version made of this one, with other tags, metadata or rules."""
    registry = registry_of(request)

    def look_up(view: View) -> Version | None:
        candidates = (
            view.latest(candidate) if number is None else view.version(candidate, number)
            for candidate in with_other_contexts(view, subject)
        )
        return next((version for version in candidates if version is not None and not version.deleted), None)

    tagged_version = await registry.find(look_up)
    if tagged_version is not None:
        require_needs(request, tagged_version.subject, subject)
    tagging = tagging_from(body, subject if tagged_version is None else tagged_version.subject, number)
    version = await registry.decide(write_of(request), partial(decide_tag, request=tagging))
    return answer(request, registered_object(version))


async def list_referrers(
    request: Request,
    *,
    subject: Subject,
    number: VersionNumber,
    include_deleted: Deleted = False,
    offset: Offset = 0,
    limit: Limit = -1,
) -> Json[models.Integers]:
    """The ids of the schemas that refer to a version."""
    registry = registry_of(request)

    def look_up(view: View) -> Version | None:
        return view.latest(subject) if number is None else view.version(subject, number)

    target = await registry.find(look_up) or find_version(registry.view, subject, number, include_deleted=True)
    referrers = registry.view.referrers(subject, target.number)
    ids = sorted({referrer.schema_id for referrer in referrers if include_deleted or not referrer.deleted})
    return answer(request, page(registry.settings, ids, "schema", offset, limit))


async def get_latest_with_metadata(
    request: Request,
    *,
    subject: Subject,
    keys: MetadataKeys = (),
    values: MetadataValues = (),
    form: Format = "",
    include_deleted: Deleted = False,
) -> Json[models.Schema]:
    """The newest version whose metadata has all these properties."""
    registry = registry_of(request)
    if len(keys) != len(values):
        raise errors.INVALID_PARAMETER(detail=f"there are {len(keys)} keys, but {len(values)} values")
    properties = dict(zip(keys, values, strict=True)).items()

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
    return answer(request, await version_object(request, version, Shown(form)))


async def undelete_subject(request: Request, *, subject: Subject) -> Json[models.Integers]:
    """Extension: make all soft-deleted versions live again; answers their numbers."""
    command = partial(decide_undelete, subject=subject, number=None)
    return answer(request, await registry_of(request).write(write_of(request), command))


async def undelete_version(request: Request, *, subject: Subject, number: VersionNumber) -> Json[models.Integers]:
    """Extension: make a soft-deleted version live again; answers its number."""
    command = partial(decide_undelete, subject=subject, number=number)
    return answer(request, await registry_of(request).write(write_of(request), command))
