"""Models of consumer groups, consumers and lags."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from rest_proxy.v3.models.frame import Collection, Item, Relation


class LagOfTopic(TypedDict):
    """The lag of a group in one topic."""

    topic_name: str
    partitions_count: Annotated[int, Field(description="Partitions with a committed offset or a member.")]
    unknown_count: Annotated[int, Field(description="Partitions whose lag is not known: nothing is committed.")]
    total_lag: int
    max_lag: int


class PlaceOfMember(TypedDict):
    """A partition that a member has."""

    topic_name: str
    partition_id: int


class GroupMember(TypedDict):
    """A member of a group, with its partitions of topics that the sender may describe."""

    consumer_id: str
    instance_id: str | None
    client_id: str
    host: str
    assignments: list[PlaceOfMember]


class KafkaConsumerGroup(Item):
    """A consumer group."""

    kind: Literal["KafkaConsumerGroup"]
    consumer_group_id: str
    is_simple: bool
    partition_assignor: str
    state: str
    type: str
    is_mixed_consumer_group: bool
    coordinator: Relation
    consumers: Relation
    lag_summary: Relation
    members_count: Annotated[NotRequired[int], Field(description="With include_lags.")]
    lags: Annotated[
        NotRequired[list[LagOfTopic] | None],
        Field(description="With include_lags, by topic; null if the coordinator does not tell committed offsets."),
    ]
    members: Annotated[NotRequired[list[GroupMember]], Field(description="With include_members.")]
    authorized_operations: Annotated[
        NotRequired[list[str]], Field(description="With include_authorized_operations: what the sender may do.")
    ]


class KafkaConsumerGroupList(Collection):
    """Consumer groups by id."""

    kind: Literal["KafkaConsumerGroupList"]
    data: list[KafkaConsumerGroup]


class KafkaConsumer(Item):
    """A consumer of a group."""

    kind: Literal["KafkaConsumer"]
    consumer_group_id: str
    consumer_id: str
    instance_id: str | None
    client_id: str
    assignments: Relation


class KafkaConsumerList(Collection):
    """A group's consumers by id."""

    kind: Literal["KafkaConsumerList"]
    data: list[KafkaConsumer]


class KafkaConsumerAssignment(Item):
    """A partition that a consumer has."""

    kind: Literal["KafkaConsumerAssignment"]
    consumer_group_id: str
    consumer_id: str
    topic_name: str
    partition_id: int
    partition: Relation
    lag: Relation


class KafkaConsumerAssignmentList(Collection):
    """The partitions that a consumer has."""

    kind: Literal["KafkaConsumerAssignmentList"]
    data: list[KafkaConsumerAssignment]


class KafkaConsumerLag(Item):
    """The lag of one partition."""

    kind: Literal["KafkaConsumerLag"]
    consumer_group_id: str
    topic_name: str
    partition_id: int
    consumer_id: Annotated[str, Field(description="Empty if no consumer has the partition.")]
    instance_id: str | None
    client_id: str
    current_offset: int
    log_end_offset: int | None
    lag: Annotated[int | None, Field(description="Null if the end of the log is not known.")]
    previous_offset: Annotated[
        NotRequired[int | None],
        Field(description="Only of altered offsets, like the members below: the offset before, null for none."),
    ]
    requested_offset: Annotated[NotRequired[int], Field(description="The offset before it is moved into the log.")]
    log_start_offset: NotRequired[int]
    skipped: Annotated[NotRequired[int | None], Field(description="Offsets in the log that the group never reads.")]
    repeated: Annotated[NotRequired[int | None], Field(description="Offsets that the group reads once more.")]


class KafkaConsumerLagList(Collection):
    """A group's lags, the longest first."""

    kind: Literal["KafkaConsumerLagList"]
    data: list[KafkaConsumerLag]


class KafkaConsumerGroupLagSummary(Item):
    """The longest lag and the sum of a group's lags."""

    kind: Literal["KafkaConsumerGroupLagSummary"]
    consumer_group_id: str
    max_lag_consumer_id: str
    max_lag_instance_id: str | None
    max_lag_client_id: str
    max_lag_topic_name: str
    max_lag_partition_id: int
    max_lag: int
    total_lag: int
    max_lag_consumer: Relation
    max_lag_partition: Relation
