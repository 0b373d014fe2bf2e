"""Declarations of the routes whose rate is a goal, for the description: their handlers read the bare request."""

from __future__ import annotations

from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json
from registry.http import models
from registry.http.parameters import (
    Deleted,
    DeletedAsNegative,
    DeletedOnly,
    Explain,
    ExplainRules,
    FetchMaxId,
    FindTags,
    Force,
    Format,
    IfMatch,
    Limit,
    Normalize,
    Offset,
    ReferenceFormat,
    SchemaId,
    Subject,
    SubjectOfId,
    VersionNumber,
)
from registry.http.parameters.bodies import SchemaBody


async def look_up_schema(
    request: Request,
    *,
    subject: Subject,
    body: SchemaBody,
    normalize: Normalize = False,
    explain: Explain = False,
    form: Format = "",
    deleted: Deleted = False,
) -> Json[models.Schema]:
    """The version of a subject that holds a schema."""
    raise NotImplementedError


async def register_schema(
    request: Request,
    *,
    subject: Subject,
    body: SchemaBody,
    normalize: Normalize = False,
    form: Format = "",
    force: Force = False,
    explain: Explain = False,
    if_match: IfMatch = None,
) -> Json[models.RegisteredSchema]:
    """Register a schema; answers the version that holds it."""
    raise NotImplementedError


async def list_versions(
    request: Request,
    *,
    subject: Subject,
    deleted: Deleted = False,
    deleted_only: DeletedOnly = False,
    negated: DeletedAsNegative = False,
    offset: Offset = 0,
    limit: Limit = -1,
) -> Json[models.Integers]:
    """The numbers of the versions."""
    raise NotImplementedError


async def get_version(
    request: Request,
    *,
    subject: Subject,
    number: VersionNumber,
    form: Format = "",
    reference_format: ReferenceFormat = "",
    tags: FindTags = (),
    deleted: Deleted = False,
    explained: ExplainRules = "",
) -> Json[models.SchemaOrPlan]:
    """One version; with `explain=rules`, the order in which its rules are carried out."""
    raise NotImplementedError


async def get_by_id(
    request: Request,
    *,
    schema_id: SchemaId,
    subject: SubjectOfId = "",
    form: Format = "",
    reference_format: ReferenceFormat = "",
    tags: FindTags = (),
    fetch_max_id: FetchMaxId = False,
) -> Json[models.SchemaString]:
    """Get the schema with an id."""
    raise NotImplementedError
