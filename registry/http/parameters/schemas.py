"""The parameters of schemas and versions: how they are registered, compared and shown."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from fastapi import Header, Query
from pydantic import BeforeValidator, WithJsonSchema

from compat.level import LEVELS
from registry import errors
from registry.http.parameters.kinds import FLAG, TEXT, bounded
from registry.state.reference_graph import GraphDirection


def _level(raw: Any) -> str | None:
    level = str(raw or "").upper()
    if level and level not in LEVELS:
        raise errors.INVALID_COMPATIBILITY_LEVEL()
    return level or None


def _direction(raw: Any) -> GraphDirection:
    try:
        return GraphDirection(str(raw) or GraphDirection.BOTH)
    except ValueError:
        directions = ", ".join(GraphDirection)
        raise errors.INVALID_PARAMETER(detail=f"direction must be one of {directions}, not {raw[:40]!r}") from None


Normalize = Annotated[bool, FLAG, Query(alias="normalize", description="Compare and store the normalised text.")]
Verbose = Annotated[bool, FLAG, Query(alias="verbose", description="Say why not.")]
Explain = Annotated[
    bool,
    FLAG,
    Query(
        alias="explain",
        description="Extension: explain what broke, for people: positions, who breaks, data that show it, the "
        "remedy and edits. Of an invalid schema (42201), tell the position.",
    ),
]
#: The level to judge at; None for the subject's. Raises 42203.
Level = Annotated[
    str | None,
    BeforeValidator(_level),
    TEXT,
    Query(alias="level", description="Extension: judge at this level instead of the one in effect for the subject."),
]
Every = Annotated[
    bool,
    FLAG,
    Query(
        alias="every",
        description="Extension: also compare with every live version in both directions, or with the version of "
        "the path, whatever the level is. `explain` then explains all of it. `is_compatible` and "
        "`messages` remain those of the level.",
    ),
]
Force = Annotated[bool, FLAG, Query(alias="force", description="Skip the check that would refuse.")]
#: The old version, as `version_number` reads it; "" if the query names none.
OldVersion = Annotated[
    str,
    Query(
        alias="from",
        description="The old version: a number or `latest`. Without it, the one before the new version; for a "
        "text, the latest. In a list, the oldest version.",
    ),
]
#: The new version, as `version_number` reads it.
NewVersion = Annotated[
    str,
    Query(
        alias="to",
        description="The new version: a number or `latest`, which is the default. In a list, the newest version.",
    ),
]
ExplainRules = Annotated[
    str,
    Query(
        alias="explain",
        description="Extension: `rules` answers the order in which the version's rules are carried out, and on which "
        "fields, instead of the version.",
        json_schema_extra={"enum": ["", "rules"]},
    ),
]
RulesSubject = Annotated[
    str,
    Query(alias="subject", description="The subject that the schema is for: it inherits what a registration would."),
]
FromSubject = Annotated[
    str,
    Query(
        alias="fromSubject",
        description="The subject of the old version, if it is another one; without `from`, its latest version.",
    ),
]
Consecutive = Annotated[
    bool,
    FLAG,
    Query(
        alias="consecutive",
        description="Answer a list, the newest first: each version with the one before. It may end before `limit` "
        "(20, at most 100) when the work of one request is used up; go on with `to` = the last "
        "`from.version`.",
    ),
]
Format = Annotated[
    str,
    Query(
        alias="format",
        description="Another form of the text: `resolved` (Avro), `serialized` or `ignore_extensions` (Protobuf).",
    ),
]
ReferenceFormat = Annotated[
    str,
    Query(
        alias="referenceFormat",
        description="`qualified`: the subjects of references with their context, if it is not the default one.",
    ),
]
FindTags = Annotated[
    Sequence[str],
    Query(
        alias="findTags",
        description="Answer the tags in the text that are among these as `schemaTags`; `*` asks for all. May be "
        "repeated.",
    ),
]
Permanent = Annotated[bool, FLAG, Query(alias="permanent", description="Delete for good what is soft deleted.")]
Depth = Annotated[
    int,
    BeforeValidator(partial(bounded, name="depth", default=5, least=1, most=20)),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 20}),
    Query(alias="depth", description="Maximum number of references to follow one after the other."),
]
Direction = Annotated[
    GraphDirection,
    BeforeValidator(_direction),
    WithJsonSchema({"type": "string", "enum": list(GraphDirection)}),
    Query(alias="direction", description="Where to go: to what the version refers to, to what refers to it, or both."),
]
DefaultToGlobal = Annotated[
    bool, FLAG, Query(alias="defaultToGlobal", description="What holds for the subject, wherever it is set.")
]
WithOrigin = Annotated[
    bool,
    FLAG,
    Query(alias="origin", description="Extension: add `origin`, which names what the level or the mode comes from."),
]
Recursive = Annotated[bool, FLAG, Query(alias="recursive", description="Those of all subjects of the context too.")]
DryRun = Annotated[bool, FLAG, Query(alias="dryRun", description="Tell what would come of it, and write nothing.")]
MetadataKeys = Annotated[
    Sequence[str], Query(alias="key", description="A metadata property that the version must have; may be repeated.")
]
MetadataValues = Annotated[Sequence[str], Query(alias="value", description="Its value, by position.")]
SubjectOfId = Annotated[str, Query(alias="subject", description="The subject, or the context, in which the id counts.")]
FetchMaxId = Annotated[
    bool,
    FLAG,
    Query(
        alias="fetchMaxId",
        description="Answer the highest id of the context too. With access rules, only for DESCRIBE of the REGISTRY.",
    ),
]
OpenLines = Annotated[
    bool,
    FLAG,
    Query(
        alias="lines",
        description="Take lines that were written or edited by hand: no closing line is needed, and none is checked.",
    ),
]
IfMatch = Annotated[
    str | None,
    TEXT,
    Header(
        alias="If-Match",
        description="Extension: register only if this is the number of the latest version (0: there is none).",
    ),
]
