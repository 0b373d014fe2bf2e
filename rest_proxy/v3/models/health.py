"""Models of the health of the cluster."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from rest_proxy.v3.models.frame import Item


class LogDirectory(TypedDict):
    """A directory of a broker's logs."""

    path: str
    error: Annotated[str | None, Field(description="Why the broker cannot use it; null if it can.")]
    partitions_bytes: int
    total_bytes: Annotated[int | None, Field(description="Of its volume; null if the broker does not tell.")]
    usable_bytes: int | None


class BrokerHealth(TypedDict):
    """A broker and its share of the partitions."""

    broker_id: int
    is_online: Annotated[bool, Field(description="False if partitions name it and the cluster does not have it now.")]
    host: str | None
    port: int | None
    rack: str | None
    replicas_count: int
    out_of_sync_count: int
    leaders_count: int
    preferred_leaders_count: Annotated[int, Field(description="Partitions that name it first: it should lead them.")]
    preferred_leaders_led_count: int
    log_dirs: Annotated[list[LogDirectory] | None, Field(description="Null if the broker does not tell them.")]


class TroubledPartition(TypedDict):
    """A partition that is offline, under-replicated, or has too few replicas in sync."""

    topic_name: str
    partition_id: int
    leader_id: int | None
    replica_ids: list[int]
    in_sync_ids: list[int]
    min_in_sync_replicas: Annotated[int | None, Field(description="The topic's `min.insync.replicas`, if known.")]
    is_offline: bool
    is_under_replicated: bool
    is_under_min_in_sync: bool


class KafkaClusterHealth(Item):
    """The health of the cluster."""

    kind: Literal["KafkaClusterHealth"]
    controller_id: int | None
    topics_count: int
    partitions_count: int
    offline_count: int
    under_replicated_count: int
    under_min_in_sync_count: int
    led_by_another_count: Annotated[int, Field(description="Partitions whose leader is not their preferred replica.")]
    brokers: list[BrokerHealth]
    partitions: Annotated[list[TroubledPartition], Field(description="The worst first; at most 500.")]
    not_listed_count: int
    hidden_count: Annotated[int, Field(description="Those of topics that the sender may not describe.")]
