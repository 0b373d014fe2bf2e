"""The parameters that choose access rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import Query

from registry.http.parameters.kinds import TEXT

RulePrincipal = Annotated[
    str | None,
    TEXT,
    Query(alias="principal", description="Only access rules with this principal: User:NAME, Group:NAME or User:*."),
]
RuleHost = Annotated[
    str | None,
    TEXT,
    Query(alias="host", description="Only access rules with this host: `*`, an address or a network."),
]
RuleResourceType = Annotated[
    str | None,
    TEXT,
    Query(alias="resource_type", description="Only access rules with this resource type: Such as SUBJECT."),
]
RuleResource = Annotated[
    str | None,
    TEXT,
    Query(alias="resource", description="Only access rules with this resource: A name, or the beginning of names."),
]
RulePatternType = Annotated[
    str | None,
    TEXT,
    Query(alias="pattern_type", description="Only access rules with this pattern type: LITERAL or PREFIXED."),
]
RuleOperation = Annotated[
    str | None, TEXT, Query(alias="operation", description="Only access rules with this operation: Such as READ.")
]
RulePermission = Annotated[
    str | None, TEXT, Query(alias="permission", description="Only access rules with this permission: ALLOW or DENY.")
]
RightsSubjects = Annotated[
    Sequence[str],
    Query(
        alias="subject",
        description="The rights on this subject, also as `:.context:name`; may be repeated, 100 times at most.",
    ),
]
