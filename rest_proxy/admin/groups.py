"""Consumer groups: listing them, their state and members, and deleting them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from magicbyte.kit.errors import ApiError
from rest_proxy.admin.assignment import assigned_places
from rest_proxy.admin.client import AdminClient, PartitionId, error_of, require
from rest_proxy.admin.topics import NOT_ASKED, authorized_operations_of
from rest_proxy.errors import KAFKA_AUTHORIZATION, KAFKA_BAD_REQUEST, NOT_FOUND

_CLASSIC, _CONSUMER = "CLASSIC", "CONSUMER"
#: The protocol type of groups of consumers; "" for groups that only commit.
_PROTOCOL_TYPES = ("consumer", "")
_DEAD = "DEAD"
#: Errors: the group is of the other type or does not exist, or the broker is too old for the request.
_OTHER_TYPE = frozenset((35, 69))
_ABSENT = 69
#: A member that uses the protocol of its group's type.
_MEMBER_OF_CONSUMER_TYPE = 1


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a group, and the partitions that it has."""

    id: str
    instance_id: str | None
    client_id: str
    host: str
    places: tuple[PartitionId, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A consumer group.

    Attributes:
        id: Its id.
        is_simple: Whether it never has members, only committed offsets.
        assignor: The assignor's name, or "".
        state: Its state in upper case.
        type: CLASSIC or CONSUMER.
        is_mixed: Whether a group of type CONSUMER has a member that uses another protocol.
        coordinator: The id of the broker that coordinates it.
        members: Its members by id.
        authorized_operations: What the proxy may do with it, if the broker was asked.
    """

    id: str
    is_simple: bool
    assignor: str
    state: str
    type: str
    is_mixed: bool
    coordinator: int
    members: tuple[Member, ...]
    authorized_operations: tuple[str, ...] = ()


async def all_groups(admin: AdminClient) -> list[Group]:
    """All consumer groups by id; share groups, streams groups, and those of other protocols are left out."""
    nodes = list(await admin.nodes())
    listed = await asyncio.gather(*(_groups_of(admin, node) for node in nodes))
    return sorted((group for groups in listed for group in groups), key=lambda group: group.id)


async def _groups_of(admin: AdminClient, node: int) -> list[Group]:
    """The groups that one broker coordinates."""
    response = await admin.ask("list_groups", {}, node=node)
    require(response)
    by_type: dict[str, list[str]] = {_CLASSIC: [], _CONSUMER: []}
    for listed in response.groups:
        kind = (getattr(listed, "group_type", "") or _CLASSIC).upper()
        if kind in by_type and listed.protocol_type in _PROTOCOL_TYPES:
            by_type[kind].append(listed.group_id)
    described: list[Group | ApiError | None] = []
    if by_type[_CONSUMER]:
        response = await admin.ask("consumer_group_describe", _consumer_request(by_type[_CONSUMER]), node=node)
        described += (_consumer(answer, node) for answer in response.groups)
    if by_type[_CLASSIC]:
        response = await admin.ask("describe_groups", _classic_request(by_type[_CLASSIC]), node=node)
        described += (_classic(answer, node) for answer in response.groups)
    # A group that was deleted meanwhile, or may not be described, is left out.
    return [group for group in described if isinstance(group, Group)]


async def group(admin: AdminClient, name: str, *, authorized_operations: bool = False) -> Group | None:
    """One group; None if it does not exist or may not be described.

    Raises:
        ApiError: The broker's error.
    """
    try:
        described = await _described(admin, name, authorized_operations=authorized_operations)
    except ApiError as error:
        described = error
    if isinstance(described, ApiError):
        if described.kind in (KAFKA_AUTHORIZATION, NOT_FOUND):
            return None
        raise described
    return described


async def _described(admin: AdminClient, name: str, *, authorized_operations: bool) -> Group | ApiError | None:
    """One group by the protocol of its type."""
    node = await admin.coordinator(name)
    described: Group | ApiError | None = None
    try:
        response = await admin.ask_coordinator(
            name, "consumer_group_describe", _consumer_request([name], authorized_operations=authorized_operations)
        )
        described = _consumer(response.groups[0], node)
    except ApiError as error:
        if error.kind is not KAFKA_BAD_REQUEST:  # that kind means that the broker is too old for the request
            raise
    if described is None:
        response = await admin.ask_coordinator(
            name, "describe_groups", _classic_request([name], authorized_operations=authorized_operations)
        )
        described = _classic(response.groups[0], node)
    return described


def _consumer_request(names: Sequence[str], *, authorized_operations: bool = False) -> dict[str, Any]:
    return {"group_ids": names, "include_authorized_operations": authorized_operations}


def _classic_request(names: Sequence[str], *, authorized_operations: bool = False) -> dict[str, Any]:
    return {"groups": names, "include_authorized_operations": authorized_operations}


def _consumer(answer: Any, node: int) -> Group | ApiError | None:
    """A group of the consumer protocol; None if it is of another type or does not exist."""
    if answer.error_code:
        return None if answer.error_code in _OTHER_TYPE else error_of(answer)
    return Group(
        id=answer.group_id,
        is_simple=False,
        assignor=answer.assignor_name,
        state=_state(answer.group_state),
        type=_CONSUMER,
        is_mixed=any(
            getattr(member, "member_type", _MEMBER_OF_CONSUMER_TYPE) != _MEMBER_OF_CONSUMER_TYPE
            for member in answer.members
        ),
        coordinator=node,
        members=_by_id(
            Member(
                member.member_id,
                member.instance_id,
                member.client_id,
                _host(member.client_host),
                _places(member.assignment),
            )
            for member in answer.members
        ),
        authorized_operations=authorized_operations_of(answer.authorized_operations),
    )


def _places(assignment: Any) -> tuple[PartitionId, ...]:
    return tuple(
        sorted(
            PartitionId(topic.topic_name, number)
            for topic in assignment.topic_partitions
            for number in topic.partitions
        )
    )


def _classic(answer: Any, node: int) -> Group | ApiError | None:
    """A group of the classic protocol; None if it does not exist."""
    if answer.error_code:
        return None if answer.error_code == _ABSENT else error_of(answer)
    state = _state(answer.group_state)
    if state == _DEAD and not answer.protocol_type:
        return None  # This is how older brokers describe a group that does not exist.
    return Group(
        id=answer.group_id,
        is_simple=not answer.protocol_type,
        assignor=answer.protocol_data,
        state=state,
        type=_CLASSIC,
        is_mixed=False,
        coordinator=node,
        members=_by_id(
            Member(
                member.member_id,
                getattr(member, "group_instance_id", None),
                member.client_id,
                _host(member.client_host),
                assigned_places(member.member_assignment),
            )
            for member in answer.members
        ),
        authorized_operations=authorized_operations_of(getattr(answer, "authorized_operations", NOT_ASKED)),
    )


def _host(address: str) -> str:
    """The address of a client, which brokers write with a slash before it."""
    return address.removeprefix("/")


def _by_id(members: Iterable[Member]) -> tuple[Member, ...]:
    return tuple(sorted(members, key=lambda member: member.id))


def _state(name: str) -> str:
    """A state such as `PreparingRebalance` in upper case, as in Java's enum."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper() or "UNKNOWN"


async def delete(admin: AdminClient, name: str) -> None:
    """Delete a group that has no members.

    Raises:
        ApiError: CONFLICT if it has members; NOT_FOUND; the broker's error.
    """
    response = await admin.ask_coordinator(name, "delete_groups", {"groups_names": [name]})
    require(response.results[0])
