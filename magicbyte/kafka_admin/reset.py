"""New committed offsets for a group without members: the plan, and its execution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, TopicPartition

from magicbyte.kafka_admin import groups
from magicbyte.kafka_admin.connection import Admin, checked, refused
from magicbyte.kafka_admin.offsets import EARLIEST, LATEST, PartitionId, at_time, offsets
from magicbyte.kafka_admin.topics import topics
from serdes.console.outcome import BAD_USAGE, NOT_DELIVERED, Ended


@dataclass(frozen=True, slots=True)
class Target:
    """Where to reset offsets to; exactly one attribute is set.

    Attributes:
        is_earliest: To the first record.
        is_latest: To the end.
        offset: To this offset.
        timestamp: To the first record that is not older, in milliseconds since 1970.
        shift: By this many offsets from the committed one.
    """

    is_earliest: bool = False
    is_latest: bool = False
    offset: int | None = None
    timestamp: int | None = None
    shift: int | None = None


@dataclass(frozen=True, slots=True)
class Reset:
    """The reset of an offset.

    Attributes:
        place: The partition.
        committed: The offset that is committed now; None if there is none.
        wanted: The offset that the target selects.
        begin, end: The offset of the partition's first record, and the one after its last.
    """

    place: PartitionId
    committed: int | None
    wanted: int
    begin: int
    end: int

    @property
    def new(self) -> int:
        """The new offset: the wanted one, moved into the partition."""
        return min(max(self.wanted, self.begin), self.end)


def plan(
    admin: Admin, group: str, selection: Mapping[str, frozenset[int]] | None, target: Target
) -> tuple[list[Reset], bool]:
    """Work out the new offsets of a group.

    Args:
        admin: The admin client.
        group: The group's name.
        selection: Topic -> its partitions; an empty set selects all. None selects all with committed offsets.
        target: Where to reset to.

    Returns:
        The resets by topic and partition, and whether the group exists.

    Raises:
        Ended: The group has members, a topic or partition does not exist, the target needs a committed offset and there
            is none, or the brokers refuse the client or do not answer.
    """
    described = groups.group(admin, group)
    if described is not None:
        described.check_empty()
    committed = groups.committed(admin, group)
    if selection is None:
        if not committed:
            raise Ended(NOT_DELIVERED, f"group {group} has committed no offsets; name the topics")
        names = sorted({place.topic for place in committed})
        topics(admin, names)
        places = sorted(committed)
    else:
        places = _places(admin, selection)
    begins, ends = (_all(offsets(admin, places, spec)) for spec in (EARLIEST, LATEST))
    wanted = _wanted(admin, places, committed, target, begins if target.is_earliest else ends)
    resets = [Reset(place, committed.get(place), wanted[place], begins[place], ends[place]) for place in places]
    return resets, described is not None


def execute(admin: Admin, group: str, resets: Sequence[Reset]) -> None:
    """Commit the new offsets of a plan.

    Raises:
        Ended: The group has members by now, or the brokers refuse the client or do not answer.
    """
    if not resets:
        return
    places = [TopicPartition(reset.place.topic, reset.place.partition, reset.new) for reset in resets]
    request = [ConsumerGroupTopicPartitions(group, places)]
    futures = admin.client.alter_consumer_group_offsets(request, request_timeout=admin.timeout)
    result = checked(f"group {group}", admin.results(futures)[group])
    for at in result.topic_partitions:
        if at.error is not None:
            is_of_topic = at.error.code() in {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.TOPIC_AUTHORIZATION_FAILED}
            raise refused(f"{at.topic} {at.partition}" if is_of_topic else f"group {group}", at.error)


def _places(admin: Admin, selection: Mapping[str, frozenset[int]]) -> list[PartitionId]:
    places: list[PartitionId] = []
    for topic in topics(admin, sorted(selection)):
        numbers = {partition.number for partition in topic.partitions}
        for number in sorted(selection[topic.name] or numbers):
            if number not in numbers:
                raise Ended(BAD_USAGE, f"topic {topic.name} has no partition {number}")
            places.append(PartitionId(topic.name, number))
    return places


def _wanted(
    admin: Admin,
    places: Sequence[PartitionId],
    committed: Mapping[PartitionId, int],
    target: Target,
    edges: Mapping[PartitionId, int],
) -> Mapping[PartitionId, int]:
    """The offset that the target selects in each partition; `edges` are the first offsets, or else the ends."""
    if target.offset is not None:
        return dict.fromkeys(places, target.offset)
    if target.timestamp is not None:
        at = _all(offsets(admin, places, at_time(target.timestamp)))
        # No record is that new: the next one will be.
        return {place: edges[place] if offset < 0 else offset for place, offset in at.items()}
    if target.shift is not None:
        for place in places:
            if place not in committed:
                text = f"nothing is committed for {place.topic} {place.partition}: there is no offset to shift"
                raise Ended(BAD_USAGE, text)
        return {place: committed[place] + target.shift for place in places}
    return edges


def _all(found: Mapping[PartitionId, int | KafkaError]) -> dict[PartitionId, int]:
    return {place: checked(f"{place.topic} {place.partition}", offset) for place, offset in found.items()}
