"""Offsets in partitions: the first one, the one after the last record, and those of a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from confluent_kafka import KafkaError, TopicPartition
from confluent_kafka.admin import OffsetSpec

from magicbyte.kafka_admin.connection import Admin

EARLIEST: OffsetSpec = OffsetSpec.earliest()
LATEST: OffsetSpec = OffsetSpec.latest()


class PartitionId(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int


def at_time(milliseconds: int) -> OffsetSpec:
    """Select the first record that is not older than a time; -1 is the offset if there is none."""
    return OffsetSpec.for_timestamp(milliseconds)


def offsets(admin: Admin, places: Iterable[PartitionId], spec: OffsetSpec) -> dict[PartitionId, int | KafkaError]:
    """The offsets of partitions; a KafkaError for a partition whose leader refuses the request or does not answer."""
    request = {TopicPartition(place.topic, place.partition): spec for place in places}
    if not request:
        return {}
    futures = admin.client.list_offsets(request, request_timeout=admin.timeout)
    by_place = {PartitionId(at.topic, at.partition): future for at, future in futures.items()}
    results = admin.results(by_place, may_be_late=True)
    return {place: info if isinstance(info, KafkaError) else info.offset for place, info in results.items()}
