"""Kafka's access control lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from magicbyte.kit.errors import ApiError
from rest_proxy.admin.client import AdminClient, error_of, require
from rest_proxy.admin.topics import OPERATIONS

# The values of the enums, in the order of their numbers in Kafka's protocol.
RESOURCE_TYPES = ("UNKNOWN", "ANY", "TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER")
PATTERN_TYPES = ("UNKNOWN", "ANY", "MATCH", "LITERAL", "PREFIXED")
PERMISSIONS = ("UNKNOWN", "ANY", "DENY", "ALLOW")


class Acl(NamedTuple):
    """An entry; entries sort by field, enums by number.

    Attributes:
        resource_type: A number in RESOURCE_TYPES.
        resource_name: The resource's name or its prefix.
        pattern_type: A number in PATTERN_TYPES.
        principal: Such as `User:alice`.
        host: An address, or `*`.
        operation: A number in OPERATIONS.
        permission: A number in PERMISSIONS.
    """

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission: int


class AclFilter(NamedTuple):
    """A filter for entries; None matches any name, principal or host."""

    resource_type: int
    resource_name: str | None
    pattern_type: int
    principal: str | None
    host: str | None
    operation: int
    permission: int


def name_of(values: Sequence[str], number: int) -> str:
    """The name of an enum's number; UNKNOWN if a newer broker has it."""
    return values[number] if 0 <= number < len(values) else values[0]


async def describe(admin: AdminClient, acl_filter: AclFilter) -> list[Acl]:
    """The entries that a filter finds, in order.

    Raises:
        ApiError: The broker's error, such as that it has no authorizer.
    """
    response = await admin.ask("describe_acls", _filter(acl_filter))
    require(response)
    return sorted(
        Acl(
            resource.resource_type,
            resource.resource_name,
            resource.pattern_type,
            entry.principal,
            entry.host,
            entry.operation,
            entry.permission_type,
        )
        for resource in response.resources
        for entry in resource.acls
    )


async def create(admin: AdminClient, acls: Sequence[Acl]) -> list[ApiError | None]:
    """Create entries; returns the error of each, or None."""
    creations = [
        {
            "resource_type": acl.resource_type,
            "resource_name": acl.resource_name,
            "resource_pattern_type": acl.pattern_type,
            "principal": acl.principal,
            "host": acl.host,
            "operation": acl.operation,
            "permission_type": acl.permission,
        }
        for acl in acls
    ]
    if not creations:
        return []
    response = await admin.ask_controller("create_acls", {"creations": creations}, repeatable=True)
    return [error_of(result) if result.error_code else None for result in response.results]


async def delete(admin: AdminClient, acl_filter: AclFilter) -> list[Acl]:
    """Delete the entries that a filter finds, and return them in order.

    Raises:
        ApiError: The broker's error.
    """
    response = await admin.ask_controller("delete_acls", {"filters": [_filter(acl_filter)]})
    (result,) = response.filter_results
    require(result)
    for entry in result.matching_acls:
        require(entry)
    return sorted(
        Acl(
            entry.resource_type,
            entry.resource_name,
            entry.pattern_type,
            entry.principal,
            entry.host,
            entry.operation,
            entry.permission_type,
        )
        for entry in result.matching_acls
    )


def _filter(acl_filter: AclFilter) -> dict[str, Any]:
    return {
        "resource_type_filter": acl_filter.resource_type,
        "resource_name_filter": acl_filter.resource_name,
        "pattern_type_filter": acl_filter.pattern_type,
        "principal_filter": acl_filter.principal,
        "host_filter": acl_filter.host,
        "operation": acl_filter.operation,
        "permission_type": acl_filter.permission,
    }


__all__ = [
    "OPERATIONS",
    "PATTERN_TYPES",
    "PERMISSIONS",
    "RESOURCE_TYPES",
    "Acl",
    "AclFilter",
    "create",
    "delete",
    "describe",
    "name_of",
]
