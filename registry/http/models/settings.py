"""Models of configs, modes and access rules."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from registry.http.models.reading import DescribedAs
from registry.http.models.schemas import Metadata, RuleSet

Origin = Annotated[
    Literal["subject", "context", "global", "server"],
    Field(description="Extension: what the level or the mode comes from; `server` is the default of the server."),
]


class Config(TypedDict):
    """The settings of a subject or context."""

    alias: NotRequired[str | None]
    aliasForDeks: NotRequired[str | None]
    normalize: NotRequired[bool | None]
    validateFields: NotRequired[bool | None]
    validateNewSchemas: NotRequired[bool | None]
    validateRules: NotRequired[bool | None]
    compatibilityPolicy: NotRequired[str | None]
    compatibilityGroup: NotRequired[str | None]
    defaultMetadata: NotRequired[Metadata | None]
    overrideMetadata: NotRequired[Metadata | None]
    defaultRuleSet: NotRequired[RuleSet | None]
    overrideRuleSet: NotRequired[RuleSet | None]
    compatibilityLevel: NotRequired[str]
    origin: NotRequired[Origin]


class ConfigUpdateRequest(TypedDict, total=False):
    """The settings to change; the others stay."""

    alias: str | None
    aliasForDeks: str | None
    normalize: bool | None
    validateFields: bool | None
    validateNewSchemas: bool | None
    validateRules: bool | None
    compatibilityPolicy: Annotated[Any, DescribedAs(str | None)]
    compatibilityGroup: str | None
    defaultMetadata: Metadata | None
    overrideMetadata: Metadata | None
    defaultRuleSet: RuleSet | None
    overrideRuleSet: RuleSet | None
    compatibility: Annotated[Any, DescribedAs(str | None)]


_Mode = Annotated[
    str | None,
    Field(description="READWRITE, READONLY, READONLY_OVERRIDE, IMPORT or FORWARD, in any case; null clears it."),
]


class ModeUpdateRequest(TypedDict, total=False):
    """The mode to set."""

    mode: _Mode


class Mode(TypedDict):
    """A mode."""

    mode: NotRequired[_Mode]
    origin: NotRequired[Origin]


class AccessRule(TypedDict):
    """An access rule."""

    principal: Annotated[str, Field(description="User:NAME, Group:NAME, or User:* for everybody who has signed in.")]
    host: NotRequired[
        Annotated[
            str,
            Field(
                description="Where the client has to be: *, an address or a network.",
                json_schema_extra={"default": "*"},
            ),
        ]
    ]
    resource_type: Literal["SUBJECT", "REGISTRY", "TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID"]
    resource: Annotated[str, Field(max_length=1024, description="A name; with LITERAL also * for all.")]
    pattern_type: NotRequired[
        Annotated[Literal["LITERAL", "PREFIXED"], Field(json_schema_extra={"default": "LITERAL"})]
    ]
    operation: Annotated[
        str,
        Field(
            description="READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS and "
            "others, or ALL."
        ),
    ]
    permission: Literal["ALLOW", "DENY"]


class RuleChange(TypedDict):
    """The access rules that a replacement added and removed."""

    added: list[AccessRule]
    removed: list[AccessRule]


_SubjectOperations = Annotated[
    list[Literal["READ", "WRITE", "DELETE", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"]],
    Field(description="The allowed operations on a subject."),
]


class Rights(TypedDict):
    """The operations that the access rules allow the sender."""

    subjects: Annotated[
        dict[str, _SubjectOperations], Field(description="By the names of the query, what is allowed on each subject.")
    ]
    someSubject: Annotated[_SubjectOperations, Field(description="What may be allowed on some subject.")]
    settings: Annotated[
        list[Literal["DESCRIBE_CONFIGS", "ALTER_CONFIGS"]],
        Field(description="What is allowed on the config and the mode of the path's context, or of the registry."),
    ]
    registry: Annotated[
        list[Literal["READ", "ALTER", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"]],
        Field(description="What is allowed on the registry."),
    ]
