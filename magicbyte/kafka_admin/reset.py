"""New committed offsets for a group without members: the plan, and its execution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, TopicPartition

from magicbyte.kafka_admin import groups
from magicbyte.kafka_admin.connection import Admin, checked, refused
from magicbyte.kafka_admin.offsets import EARLIEST, LATEST, PartitionId, at_time, offsets
from magicbyte.kafka_admin.topics import topics
from magicbyte.kit.kafka.offset_reset import NothingCommitted, OffsetReset, Target, reset_of
from serdes.console.outcome import BAD_USAGE, NOT_DELIVERED, Ended


@dataclass(frozen=True, slots=True)
class Reset:
    """The reset of the committed offset of a partition."""

    place: PartitionId
    offsets: OffsetReset


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
    at_times: Mapping[PartitionId, int] = {}
    if target.timestamp is not None:
        at_times = _all(offsets(admin, places, at_time(target.timestamp)))
    resets = [_reset(place, target, committed, begins, ends, at_times) for place in places]
    return resets, described is not None


def _reset(
    place: PartitionId,
    target: Target,
    committed: Mapping[PartitionId, int],
    begins: Mapping[PartitionId, int],
    ends: Mapping[PartitionId, int],
    at_times: Mapping[PartitionId, int],
) -> Reset:
    """The reset of one partition; an offset at a time is negative if no record is that new."""
    at = at_times.get(place, -1)
    try:
        reset = reset_of(
            target,
            committed=committed.get(place),
            begin=begins[place],
            end=ends[place],
            at_time=None if at < 0 else at,
        )
    except NothingCommitted:
        text = f"nothing is committed for {place.topic} {place.partition}: there is no offset to shift"
        raise Ended(BAD_USAGE, text) from None
    return Reset(place, reset)


def execute(admin: Admin, group: str, resets: Sequence[Reset]) -> None:
    """Commit the new offsets of a plan.

    Raises:
        Ended: The group has members by now, or the brokers refuse the client or do not answer.
    """
    if not resets:
        return
    places = [TopicPartition(reset.place.topic, reset.place.partition, reset.offsets.new) for reset in resets]
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


def _all(found: Mapping[PartitionId, int | KafkaError]) -> dict[PartitionId, int]:
    return {place: checked(f"{place.topic} {place.partition}", offset) for place, offset in found.items()}
