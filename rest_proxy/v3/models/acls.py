"""Models of access control lists."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypeAliasType, TypedDict

from rest_proxy.v3.models.frame import Collection, Error, Item

ResourceType = TypeAliasType(
    "ResourceType",
    Literal["UNKNOWN", "ANY", "TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER"],
)
PatternType = TypeAliasType("PatternType", Literal["UNKNOWN", "ANY", "MATCH", "LITERAL", "PREFIXED"])
Operation = TypeAliasType(
    "Operation",
    Literal[
        "UNKNOWN",
        "ANY",
        "ALL",
        "READ",
        "WRITE",
        "CREATE",
        "DELETE",
        "ALTER",
        "DESCRIBE",
        "CLUSTER_ACTION",
        "DESCRIBE_CONFIGS",
        "ALTER_CONFIGS",
        "IDEMPOTENT_WRITE",
        "CREATE_TOKENS",
        "DESCRIBE_TOKENS",
        "TWO_PHASE_COMMIT",
    ],
)
Permission = TypeAliasType("Permission", Literal["UNKNOWN", "ANY", "DENY", "ALLOW"])


class KafkaAcl(Item):
    """An entry of the access control list."""

    kind: Literal["KafkaAcl"]
    resource_type: ResourceType
    resource_name: str
    pattern_type: PatternType
    principal: str
    host: str
    operation: Operation
    permission: Permission


class KafkaAclList(Collection):
    """Entries of the access control list."""

    kind: Literal["KafkaAclList"]
    data: list[KafkaAcl]


class AclFailure(Error):
    """An entry that was refused, and its error."""

    resource_type: NotRequired[ResourceType]
    resource_name: NotRequired[str]
    pattern_type: NotRequired[PatternType]
    principal: NotRequired[str]
    host: NotRequired[str]
    operation: NotRequired[Operation]
    permission: NotRequired[Permission]


class AclFailures(TypedDict):
    """The entries that were refused."""

    failures: list[AclFailure]


class DeletedAcls(TypedDict):
    """The entries that were deleted."""

    data: list[KafkaAcl]
