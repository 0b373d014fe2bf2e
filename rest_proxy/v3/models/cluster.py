"""Models of clusters and brokers."""

from __future__ import annotations

from typing import Literal

from rest_proxy.v3.models.frame import Collection, Item, Relation


class KafkaCluster(Item):
    """The cluster."""

    kind: Literal["KafkaCluster"]
    controller: Relation | None
    acls: Relation
    brokers: Relation
    broker_configs: Relation
    consumer_groups: Relation
    topics: Relation
    partition_reassignments: Relation


class KafkaClusterList(Collection):
    """The cluster in a list."""

    kind: Literal["KafkaClusterList"]
    data: list[KafkaCluster]


class KafkaBroker(Item):
    """A broker."""

    kind: Literal["KafkaBroker"]
    broker_id: int
    host: str | None
    port: int | None
    rack: str | None
    configs: Relation
    partition_replicas: Relation


class KafkaBrokerList(Collection):
    """Brokers by id."""

    kind: Literal["KafkaBrokerList"]
    data: list[KafkaBroker]
