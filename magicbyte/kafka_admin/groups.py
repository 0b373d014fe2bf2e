"""Consumer groups: their states, members, committed offsets and lags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import ConsumerGroupState, ConsumerGroupTopicPartitions, ConsumerGroupType, KafkaError

from magicbyte.kafka_admin.connection import Admin, checked, refused
from magicbyte.kafka_admin.offsets import LATEST, PartitionId, offsets
from magicbyte.kit.plural import plural
from serdes.console.outcome import NOT_DELIVERED, Ended

#: Kafka's own words.
_STATES = {
    ConsumerGroupState.PREPARING_REBALANCING: "PreparingRebalance",
    ConsumerGroupState.COMPLETING_REBALANCING: "CompletingRebalance",
    ConsumerGroupState.STABLE: "Stable",
    ConsumerGroupState.DEAD: "Dead",
    ConsumerGroupState.EMPTY: "Empty",
}
_TYPES = {ConsumerGroupType.CONSUMER: "consumer", ConsumerGroupType.CLASSIC: "classic"}
_DEAD = "Dead"


@dataclass(frozen=True, slots=True)
class Listed:
    """A group in the list of all; the type is None if the broker is too old to have types."""

    id: str
    state: str
    type: str | None


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a group, and the partitions that it reads."""

    id: str
    client_id: str
    host: str
    instance_id: str | None
    places: tuple[PartitionId, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a group in a partition.

    Attributes:
        place: The partition.
        committed: The committed offset; None if the group has committed none.
        end: The offset after the partition's last record; None if it is not known.
        member: The member that reads the partition.
    """

    place: PartitionId
    committed: int | None
    end: int | None
    member: Member | None

    @property
    def lag(self) -> int | None:
        """The number of offsets that the group has not read; None if it is not known."""
        return None if self.committed is None or self.end is None else max(0, self.end - self.committed)


@dataclass(frozen=True, slots=True)
class Group:
    """A group.

    Attributes:
        id: The group's name.
        state: Kafka's word for the state.
        type: `classic` or `consumer`; None if the broker is too old to have types.
        assignor: How the partitions are assigned; empty without members.
        coordinator: The broker that coordinates the group.
        members: The members by id.
    """

    id: str
    state: str
    type: str | None
    assignor: str
    coordinator: int | None
    members: tuple[Member, ...]

    def check_empty(self) -> None:
        """Check that the group has no members.

        Raises:
            Ended: It has some.
        """
        if self.members:
            raise Ended(NOT_DELIVERED, f"group {self.id} has {plural(len(self.members), 'member')}; stop them first")


def all_groups(admin: Admin) -> tuple[list[Listed], list[str]]:
    """The groups that the client may describe, by id; and the errors of brokers that did not answer.

    Raises:
        Ended: The brokers refuse the client or do not answer.
    """
    admin.topic_names()
    future = admin.client.list_consumer_groups(request_timeout=admin.timeout)
    listing = checked("the list of groups", admin.results({"": future})[""])
    groups = [
        Listed(group.group_id, _STATES.get(getattr(group, "state", None), "Unknown"), _type(group))
        for group in listing.valid or ()
    ]
    return sorted(groups, key=lambda group: group.id), [str(error.args[0].str()) for error in listing.errors or ()]


def group(admin: Admin, name: str) -> Group | None:
    """A group; None if it does not exist.

    Raises:
        Ended: The brokers refuse the client or do not answer.
    """
    futures = admin.client.describe_consumer_groups([name], request_timeout=admin.timeout)
    result = admin.results(futures)[name]
    if isinstance(result, KafkaError):
        if result.code() == KafkaError.GROUP_ID_NOT_FOUND:
            return None
        raise refused(f"group {name}", result)
    state = _STATES.get(result.state, "Unknown")
    if state == _DEAD and not committed(admin, name):
        return None
    members = tuple(sorted((_member(member) for member in result.members), key=lambda member: member.id))
    coordinator = None if result.coordinator is None else result.coordinator.id
    return Group(name, state, _type(result), result.partition_assignor or "", coordinator, members)


def existing(admin: Admin, name: str) -> Group:
    """A group.

    Raises:
        Ended: It does not exist, or the brokers refuse the client or do not answer.
    """
    found = group(admin, name)
    if found is None:
        raise Ended(NOT_DELIVERED, f"group {name} does not exist")
    return found


def committed(admin: Admin, name: str) -> dict[PartitionId, int]:
    """The offsets that a group has committed, by partition.

    Raises:
        Ended: The brokers refuse the client or do not answer.
    """
    request = [ConsumerGroupTopicPartitions(name)]
    futures = admin.client.list_consumer_group_offsets(request, request_timeout=admin.timeout)
    result = admin.results(futures)[name]
    if isinstance(result, KafkaError) and result.code() == KafkaError.GROUP_ID_NOT_FOUND:
        return {}
    places = checked(f"group {name}", result).topic_partitions or ()
    return {PartitionId(at.topic, at.partition): at.offset for at in places if at.error is None and at.offset >= 0}


def progress(admin: Admin, described: Group) -> list[Progress]:
    """The progress of a group in the partitions that it has committed offsets for, or that its members read.

    Raises:
        Ended: The brokers refuse the client or do not answer.
    """
    at = committed(admin, described.id)
    members = {place: member for member in described.members for place in member.places}
    places = sorted({*at, *members})
    # Offsets of topics that were deleted stay for a while.
    names = set(admin.topic_names())
    ends = offsets(admin, [place for place in places if place.topic in names], LATEST)
    found = []
    for place in places:
        end = ends.get(place)
        found.append(Progress(place, at.get(place), end if isinstance(end, int) else None, members.get(place)))
    return found


def delete(admin: Admin, names: Sequence[str]) -> dict[str, Ended | None]:
    """Delete groups with their committed offsets; returns the error of each group that was not deleted.

    Raises:
        Ended: The brokers did not answer in time.
    """
    results = admin.results(admin.client.delete_consumer_groups(list(names), request_timeout=admin.timeout))
    return {
        name: refused(f"group {name}", results[name]) if isinstance(results[name], KafkaError) else None
        for name in names
    }


def _type(described: Any) -> str | None:
    return _TYPES.get(getattr(described, "type", None))


def _member(member: Any) -> Member:
    places = tuple(sorted(PartitionId(at.topic, at.partition) for at in member.assignment.topic_partitions))
    return Member(member.member_id, member.client_id, member.host.removeprefix("/"), member.group_instance_id, places)
