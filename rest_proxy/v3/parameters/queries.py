"""The parameters of v3's queries."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from fastapi import Query
from pydantic import BeforeValidator, WithJsonSchema

from rest_proxy.admin.acls import OPERATIONS, PATTERN_TYPES, PERMISSIONS, RESOURCE_TYPES
from rest_proxy.errors import BAD_REQUEST
from rest_proxy.errors import NOT_FOUND as NOT_FOUND_BECAUSE

_ISOLATION = {"read_uncommitted": False, "read_committed": True}


def _is_true(raw: Any) -> bool:
    """Read a flag; any value but `true` is false."""
    return str(raw).lower() == "true"


def _enum(raw: Any, enum: str, values: Sequence[str]) -> str | None:
    """Read a value of an enum in any case; an empty one is None.

    Raises:
        ApiError: NOT_FOUND_BECAUSE, as the reference answers an unknown value.
    """
    text = raw or ""
    if text and text.upper() not in values:
        raise NOT_FOUND_BECAUSE(detail=f"The valid values for {enum} do not include '{text[:80]}'")
    return text.upper() or None


def _is_committed(raw: Any) -> bool:
    text = raw or "read_uncommitted"
    if text not in _ISOLATION:
        raise BAD_REQUEST(detail=f"isolation:{text[:80]} is invalid; use {' or '.join(_ISOLATION)}")
    return _ISOLATION[text]


def _one_of(values: Sequence[str]) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "enum": list(values)})


_FLAG, _BOOLEAN, _TEXT = (
    BeforeValidator(_is_true),
    WithJsonSchema({"type": "boolean"}),
    WithJsonSchema({"type": "string"}),
)
#: A flag that is false unless the query sets it.
_Flag = Annotated[bool, _FLAG, _BOOLEAN]
_OPTIONAL_TEXT = BeforeValidator(lambda raw: raw or None)

WithOperations = Annotated[
    _Flag,
    Query(alias="include_authorized_operations", description="Whether items show what the sender may do with them."),
]
WithOffsets = Annotated[
    _Flag,
    Query(alias="include_offsets", description="Whether the topic shows the offsets of its partitions."),
]
#: The same as WithOperations under another name.
WithOperationsToo = Annotated[
    _Flag,
    Query(alias="includeAuthorizedOperations", description="Another name of include_authorized_operations."),
]
WithLags = Annotated[
    _Flag,
    Query(alias="include_lags", description="Whether groups have their number of members, and lags by topic."),
]
WithMembers = Annotated[
    _Flag,
    Query(alias="include_members", description="Whether the group has its members with their hosts and partitions."),
]
OffsetType = Annotated[
    str | None,
    _TEXT,
    Query(
        alias="offset_type",
        description="earliest_and_latest, or one of earliest, latest, max_timestamp, earliest_local, latest_tiered, "
        "or an ISO-8601 instant.",
    ),
]
#: Whether to read the last stable offset. Raises BAD_REQUEST.
IsCommitted = Annotated[
    bool | None,
    BeforeValidator(_is_committed),
    _one_of(tuple(_ISOLATION)),
    Query(alias="isolation", description="Whether the latest offset is the end of the log or the last stable offset."),
]
Report = Annotated[
    bool, _FLAG, _BOOLEAN, Query(alias="report", description="Whether the answer names the entries that were refused.")
]
RawBase64 = Annotated[
    _Flag,
    Query(alias="return_raw_base64_records", description="Whether keys and values are base64, and not decoded."),
]

# The parts of an ACL's filter; None for any. The enums raise NOT_FOUND_BECAUSE.
ResourceType = Annotated[
    str | None,
    BeforeValidator(partial(_enum, enum="ResourceType", values=RESOURCE_TYPES)),
    _one_of(RESOURCE_TYPES),
    Query(alias="resource_type", description="The type of the entries' resource; any case."),
]
ResourceName = Annotated[
    str | None, _OPTIONAL_TEXT, _TEXT, Query(alias="resource_name", description="The name of the entries' resource.")
]
PatternType = Annotated[
    str | None,
    BeforeValidator(partial(_enum, enum="PatternType", values=PATTERN_TYPES)),
    _one_of(PATTERN_TYPES),
    Query(
        alias="pattern_type", description="The type of the entries' pattern; MATCH finds all that apply to the name."
    ),
]
AclPrincipal = Annotated[
    str | None, _OPTIONAL_TEXT, _TEXT, Query(alias="principal", description="The entries' principal, such as User:a.")
]
AclHost = Annotated[str | None, _OPTIONAL_TEXT, _TEXT, Query(alias="host", description="The entries' host.")]
AclOperation = Annotated[
    str | None,
    BeforeValidator(partial(_enum, enum="Operation", values=OPERATIONS)),
    _one_of(OPERATIONS),
    Query(alias="operation", description="The entries' operation; any case."),
]
AclPermission = Annotated[
    str | None,
    BeforeValidator(partial(_enum, enum="Permission", values=PERMISSIONS)),
    _one_of(PERMISSIONS),
    Query(alias="permission", description="Whether the entries allow or deny; any case."),
]
