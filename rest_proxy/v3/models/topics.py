"""Models of topics, partitions, offsets, replicas and reassignments."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from rest_proxy.v3.models.frame import Collection, Error, Item, Relation


class KafkaPartitionWithOffsets(Item):
    """Offsets of a partition."""

    kind: Literal["KafkaPartitionWithOffsets"]
    topic_name: str
    partition_id: int
    earliest_offset: NotRequired[int | None]
    latest_offset: NotRequired[int | None]
    offset: NotRequired[int | None]
    timestamp: NotRequired[int | None]


class KafkaTopic(Item):
    """A topic."""

    kind: Literal["KafkaTopic"]
    topic_name: str
    is_internal: bool
    replication_factor: int
    partitions_count: int
    partitions: Relation
    configs: Relation
    partition_reassignments: Relation
    authorized_operations: list[str]
    offsets: Annotated[
        NotRequired[list[KafkaPartitionWithOffsets]],
        Field(description="With include_offsets: those of each partition."),
    ]


class KafkaTopicList(Collection):
    """Topics by name."""

    kind: Literal["KafkaTopicList"]
    data: list[KafkaTopic]


class KafkaPartition(Item):
    """A partition."""

    kind: Literal["KafkaPartition"]
    topic_name: str
    partition_id: int
    leader: Relation | None
    replicas: Relation
    reassignment: Relation


class KafkaPartitionList(Collection):
    """A topic's partitions by number."""

    kind: Literal["KafkaPartitionList"]
    data: list[KafkaPartition]


class KafkaPartitionWithOffsetsList(Collection):
    """Offsets of a topic's partitions by number."""

    kind: Literal["KafkaPartitionWithOffsetsList"]
    data: list[KafkaPartitionWithOffsets]


class EarliestOffset(TypedDict):
    """The first offset that a partition has kept."""

    partition_id: int
    earliest_offset: int


class PartitionFailure(Error):
    """The error of a partition whose records stay."""

    partition_id: int


class DeletedRecords(TypedDict):
    """The outcome for each partition."""

    successes: list[EarliestOffset]
    failures: list[PartitionFailure]


class KafkaReplica(Item):
    """A replica of a partition."""

    kind: Literal["KafkaReplica"]
    topic_name: str
    partition_id: int
    broker_id: int
    is_leader: bool
    is_in_sync: bool
    broker: Relation


class KafkaReplicaList(Collection):
    """Replicas."""

    kind: Literal["KafkaReplicaList"]
    data: list[KafkaReplica]


class KafkaReassignment(Item):
    """A reassignment of a partition that is in progress."""

    kind: Literal["KafkaReassignment"]
    topic_name: str
    partition_id: int
    adding_replicas: list[int]
    removing_replicas: list[int]
    replicas: Relation


class KafkaReassignmentList(Collection):
    """Reassignments in progress."""

    kind: Literal["KafkaReassignmentList"]
    data: list[KafkaReassignment]
