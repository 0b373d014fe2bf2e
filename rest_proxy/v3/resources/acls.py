"""Kafka's access control lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

from fastapi import Depends
from starlette.responses import Response

from magicbyte.http.errors import MALFORMED_BODY
from magicbyte.http.routing.response import Json, NoContent
from magicbyte.http.routing.solved import made_of_parameters
from magicbyte.kit.errors import ApiError
from rest_proxy.admin import acls
from rest_proxy.admin.acls import OPERATIONS, PATTERN_TYPES, PERMISSIONS, RESOURCE_TYPES, Acl, AclFilter, name_of
from rest_proxy.errors import BAD_REQUEST, INVALID_PAYLOAD
from rest_proxy.v3 import models
from rest_proxy.v3.call import Call, ClusterCall
from rest_proxy.v3.envelopes import Item, answer, collection, created, item
from rest_proxy.v3.models import requests
from rest_proxy.v3.parameters.bodies import AclBody, AclsBody
from rest_proxy.v3.parameters.queries import (
    AclHost,
    AclOperation,
    AclPermission,
    AclPrincipal,
    PatternType,
    Report,
    ResourceName,
    ResourceType,
)

#: Parameter -> the enum's name in errors, and its values by number.
_ENUMS = {
    "resource_type": ("ResourceType", RESOURCE_TYPES),
    "pattern_type": ("PatternType", PATTERN_TYPES),
    "operation": ("Operation", OPERATIONS),
    "permission": ("Permission", PERMISSIONS),
}
#: Parameter -> the values that an entry cannot have, and the pattern types that only filters have.
_NOT_OF_ENTRIES = {
    "resource_type": ("UNKNOWN", "ANY"),
    "pattern_type": ("UNKNOWN", "ANY", "MATCH"),
    "operation": ("UNKNOWN", "ANY"),
    "permission": ("UNKNOWN", "ANY"),
}


_EMPTY_BATCH = "Empty input provided. Data is required."


@dataclass(frozen=True, slots=True)
class _Query:
    """The parts of a query; None for those that are missing or empty."""

    resource_type: ResourceType = None
    resource_name: ResourceName = None
    pattern_type: PatternType = None
    principal: AclPrincipal = None
    host: AclHost = None
    operation: AclOperation = None
    permission: AclPermission = None


_QueryOfAcls = Annotated[_Query, Depends(made_of_parameters(_Query))]


async def search(call: ClusterCall, *, query: _QueryOfAcls) -> Json[models.KafkaAclList]:
    """The entries that the query finds."""
    parameters: dict[str, str | None] = asdict(query)
    for parameter in _ENUMS:
        if parameters[parameter] == "UNKNOWN":
            raise BAD_REQUEST(detail=f"{parameter} cannot be UNKNOWN")
    understood = {**dict.fromkeys(_ENUMS, "ANY"), **{name: value for name, value in parameters.items() if value}}
    entries = await acls.describe(await call.admin(), _filter(understood))
    url = call.links.query("acls", **_in_order({name: value or "" for name, value in understood.items()}))
    return answer(collection("KafkaAcl", url, [_item(call, acl) for acl in entries]))


async def create(call: ClusterCall, *, body: AclBody) -> Response:
    """Create one entry."""
    acl = _acl(body)
    (error,) = await acls.create(await call.admin(), [acl])
    if error is not None:
        raise error
    return created(_url(call, acl))


async def create_batch(call: ClusterCall, *, body: AclsBody, report: Report = False) -> Response:
    """Create several entries."""
    if body.data is None:
        raise INVALID_PAYLOAD(detail=_EMPTY_BATCH)
    entries = [_acl(entry) for entry in body.data]
    errors = await acls.create(await call.admin(), entries)
    if report and any(errors):
        return answer({"failures": _failures(entries, errors)}, 207)
    for error in errors:
        if error is not None:
            raise error
    return NoContent()


def _failures(entries: Sequence[Acl], errors: Sequence[ApiError | None]) -> list[Item]:
    return [{**_members(acl), **error.body()} for acl, error in zip(entries, errors, strict=True) if error is not None]


async def delete(call: ClusterCall, *, query: _QueryOfAcls) -> Json[models.DeletedAcls]:
    """Delete the entries that the query finds; all of its enums have to be given."""
    parameters: dict[str, str | None] = asdict(query)
    for parameter in _ENUMS:
        if parameters[parameter] in (None, "UNKNOWN"):
            raise BAD_REQUEST(detail=f"{parameter} cannot be unspecified or UNKNOWN")
    deleted = await acls.delete(await call.admin(), _filter(parameters))
    return answer({"data": [_item(call, acl) for acl in deleted]})


def _filter(parameters: Mapping[str, str | None]) -> AclFilter:
    numbers = {name: values.index(parameters[name] or "ANY") for name, (_, values) in _ENUMS.items()}
    return AclFilter(
        resource_name=parameters.get("resource_name"),
        principal=parameters.get("principal"),
        host=parameters.get("host"),
        **numbers,
    )


def _acl(body: requests.Acl) -> Acl:
    """The entry of a body.

    Raises:
        ApiError: BAD_REQUEST for a value that only filters have; MALFORMED_BODY for one that the enum lacks.
    """
    numbers: dict[str, int] = {}
    for parameter, (enum, values) in _ENUMS.items():
        value = getattr(body, parameter)
        if value not in values:
            raise MALFORMED_BODY(detail=f"{parameter}: {value[:80]} is not a value of {enum}: {', '.join(values)}")
        if value in _NOT_OF_ENTRIES[parameter]:
            # The reference shows UNKNOWN as ANY too, except for pattern types.
            shown = value if parameter == "pattern_type" else "ANY"
            raise BAD_REQUEST(detail=f"{parameter} cannot be {shown}")
        numbers[parameter] = values.index(value)
    return Acl(resource_name=str(body.resource_name), principal=str(body.principal), host=str(body.host), **numbers)


def _members(acl: Acl) -> dict[str, str]:
    return {
        "resource_type": name_of(RESOURCE_TYPES, acl.resource_type),
        "resource_name": acl.resource_name,
        "pattern_type": name_of(PATTERN_TYPES, acl.pattern_type),
        "principal": acl.principal,
        "host": acl.host,
        "operation": name_of(OPERATIONS, acl.operation),
        "permission": name_of(PERMISSIONS, acl.permission),
    }


def _in_order(parameters: dict[str, str]) -> dict[str, str]:
    return {name: parameters.get(name, "") for name in Acl._fields}


def _url(call: Call, acl: Acl) -> str:
    return call.links.query("acls", **_members(acl))


def _item(call: Call, acl: Acl) -> Item:
    return item("KafkaAcl", _url(call, acl), None, {"cluster_id": call.cluster_id, **_members(acl)})
