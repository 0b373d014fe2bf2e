"""The parameters of lists, searches and feeds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from fastapi import Depends, Header, Query
from pydantic import BeforeValidator, WithJsonSchema

from magicbyte.http.asgi import list_header
from magicbyte.http.routing.request import Request
from registry.http.parameters.kinds import FLAG, INT32, TEXT, bounded, number
from registry.state.model import MAX_VERSION


async def _if_none_match(
    request: Request,
    _first: Annotated[
        str | None,
        TEXT,
        Header(alias="If-None-Match", description="The ETag of an earlier answer; 304 if it is still current."),
    ] = None,
) -> str | None:
    # FastAPI reads one line of the header, and the list may have several.
    return list_header(request.scope, b"if-none-match")


#: The ETags of earlier answers; None for no header.
IfNoneMatch = Annotated[str | None, Depends(_if_none_match)]
Deleted = Annotated[bool, FLAG, Query(alias="deleted", description="Soft-deleted ones too.")]
DeletedOnly = Annotated[bool, FLAG, Query(alias="deletedOnly", description="Soft-deleted ones alone.")]
DeletedAsNegative = Annotated[
    bool, FLAG, Query(alias="deletedAsNegative", description="All, the soft-deleted ones negated.")
]
DeletedToo = Annotated[bool, FLAG, Query(alias="deleted", description="Soft-deleted versions too.")]
SubjectPrefix = Annotated[
    str, Query(alias="subjectPrefix", description="Subjects that begin so; `:*:` asks every context.")
]
ExportedNames = Annotated[
    Sequence[str],
    Query(
        alias="subject",
        description="Only these subjects, and contexts' settings (`:.:` for the global ones); may be repeated.",
    ),
]
ContextPrefix = Annotated[str, Query(alias="contextPrefix", description="Contexts that begin so.")]
Offset = Annotated[
    int, BeforeValidator(partial(number, default=0)), INT32, Query(description="Number of entries to skip.")
]
Limit = Annotated[
    int,
    BeforeValidator(partial(number, default=-1)),
    INT32,
    Query(description="Maximum number of entries to return; out of bounds, the default."),
]
LatestOnly = Annotated[bool, FLAG, Query(alias="latestOnly", description="The latest version of each subject alone.")]
Aliases = Annotated[
    bool,
    FLAG,
    Query(
        alias="aliases",
        description="List the versions that the aliases of the prefix stand for, too, and name the aliases of each.",
    ),
]
RuleType = Annotated[str, Query(alias="ruleType", description="Versions with rules of this type alone.")]
_NO_ASSOCIATIONS = "Taken, and changes nothing: there are no associations here."
ResourceType = Annotated[str, Query(alias="resourceType", description=_NO_ASSOCIATIONS)]
AssociationType = Annotated[
    Sequence[str], Query(alias="associationType", description=f"{_NO_ASSOCIATIONS} May be repeated.")
]
Lifecycle = Annotated[
    str,
    WithJsonSchema({"type": "string", "enum": ["STRONG", "WEAK"]}),
    Query(alias="lifecycle", description=_NO_ASSOCIATIONS),
]
Words = Annotated[
    str | None,
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 500, "pattern": r"\S"}),
    Query(
        alias="q",
        description="Words that all have to be in one place; case does not matter. The answer is then an object with "
        "totals.",
    ),
]
Places = Annotated[
    str | None,
    WithJsonSchema({"type": "string", "pattern": "^(name|field|text)(,(name|field|text))*$"}),
    Query(
        alias="in",
        description="Where to search for `q`: a list of name, field and text, separated by commas. By default all.",
    ),
]
NamePart = Annotated[
    str,
    Query(alias="name", description="Part of the subject, or of the full name of the schema; case does not matter."),
]
FieldPart = Annotated[
    str, Query(alias="field", description="Part of the name of a field, at any depth; case does not matter.")
]
SchemaType = Annotated[str, Query(alias="type", description="The schema type.")]
Properties = Annotated[
    Sequence[str],
    Query(alias="property", description="A metadata property, as `name` or `name=value`; may be repeated."),
]
Tag = Annotated[str, Query(alias="tag", description="A tag in the text, or in the metadata.")]
FirstRow = Annotated[
    int,
    BeforeValidator(partial(bounded, name="offset", default=0, least=0, most=MAX_VERSION)),
    WithJsonSchema({"type": "integer", "format": "int32", "minimum": 0}),
    Query(alias="offset", description="Number of rows to skip."),
]
MostRows = Annotated[
    int,
    BeforeValidator(partial(bounded, name="limit", default=100_000, least=1, most=100_000)),
    WithJsonSchema({"type": "integer", "format": "int32", "minimum": 1, "maximum": 100_000}),
    Query(alias="limit", description="Maximum number of rows to return."),
]
HeadRows = Annotated[
    int,
    BeforeValidator(partial(bounded, name="head", default=0, least=0, most=1000)),
    WithJsonSchema({"type": "integer", "format": "int32", "minimum": 0, "maximum": 1000}),
    Query(
        alias="head",
        description="If not 0, the answer has two lines: first an overview of at most so many live subjects of "
        "the path's context, with `counts` of all its subjects, then the overview itself.",
    ),
]
LastEventId = Annotated[
    str | None,
    TEXT,
    Header(
        alias="Last-Event-ID",
        description="Go on after this offset or event id; without it, from now on. "
        "A `reset` event says that changes are missing.",
    ),
]
