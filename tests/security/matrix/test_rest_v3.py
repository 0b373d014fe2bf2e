"""The rules of REST v3, word for word, before there are rows that take them."""

from __future__ import annotations

import pytest

from magicbyte.security.rights.rule import OPERATIONS
from rest_proxy.http.v3_access import V3_ACCESS
from tests.security.matrix.rules import words_of

RULES = {
    "acls.list": "DESCRIBE CLUSTER",
    "acls.create": "ALTER CLUSTER",
    "acls.delete": "ALTER CLUSTER",
    "acls.batch-create": "ALTER CLUSTER",
    "batch-produce.produce-to-topic": "WRITE TOPIC",
    "broker-configs.list": "DESCRIBE_CONFIGS CLUSTER",
    "broker-configs.get": "DESCRIBE_CONFIGS CLUSTER",
    "broker-configs.update": "ALTER_CONFIGS CLUSTER",
    "broker-configs.delete": "ALTER_CONFIGS CLUSTER",
    "broker-configs.alter": "ALTER_CONFIGS CLUSTER",
    "brokers.list": "DESCRIBE CLUSTER",
    "brokers.get": "DESCRIBE CLUSTER",
    "brokers-configs.list": "DESCRIBE_CONFIGS CLUSTER",
    "cluster-configs.list": "DESCRIBE_CONFIGS CLUSTER",
    "cluster-configs.get": "DESCRIBE_CONFIGS CLUSTER",
    "cluster-configs.update": "ALTER_CONFIGS CLUSTER",
    "cluster-configs.delete": "ALTER_CONFIGS CLUSTER",
    "cluster-configs.alter": "ALTER_CONFIGS CLUSTER",
    "clusters.list": "DESCRIBE CLUSTER",
    "clusters.get": "DESCRIBE CLUSTER",
    "consumer-assignments.list": "DESCRIBE GROUP and filter DESCRIBE TOPIC",
    "consumer-assignments.get": "DESCRIBE GROUP and DESCRIBE TOPIC",
    "consumer-group-lag-summary.get": "DESCRIBE GROUP and filter DESCRIBE TOPIC",
    "consumer-groups.list": "filter DESCRIBE GROUP",
    "consumer-groups.get": "DESCRIBE GROUP",
    "consumer-groups.delete": "DELETE GROUP",
    "consumer-groups.alter-offsets": "READ GROUP and READ TOPIC",
    "consumer-lags.delete": "DELETE GROUP and READ TOPIC",
    "records.delete": "DELETE TOPIC",
    "records.list": "READ TOPIC",
    "records.list-by-partition": "READ TOPIC",
    "records.consume": "READ TOPIC",
    "records.consume-cloud": "READ TOPIC",
    "consumer-lags.list": "DESCRIBE GROUP and filter DESCRIBE TOPIC",
    "consumer-lags.get": "DESCRIBE GROUP and DESCRIBE TOPIC",
    "consumers.list": "DESCRIBE GROUP",
    "consumers.get": "DESCRIBE GROUP",
    "partition-reassignments.list": "DESCRIBE CLUSTER",
    "partition-reassignments.get": "DESCRIBE CLUSTER",
    "partition-reassignments.search-by-topic": "DESCRIBE CLUSTER",
    "partitions.list": "DESCRIBE TOPIC",
    "partitions.get": "DESCRIBE TOPIC",
    "partitions.list.offsets": "DESCRIBE TOPIC",
    "produce.produce-to-topic": "WRITE TOPIC",
    "replicas.list": "DESCRIBE TOPIC",
    "replicas.get": "DESCRIBE TOPIC",
    "replicas.search-by-broker": "filter DESCRIBE TOPIC",
    "topic-configs.list": "DESCRIBE_CONFIGS TOPIC",
    "topic-configs.get": "DESCRIBE_CONFIGS TOPIC",
    "topic-configs.update": "ALTER_CONFIGS TOPIC",
    "topic-configs.delete": "ALTER_CONFIGS TOPIC",
    "topic-configs.alter": "ALTER_CONFIGS TOPIC",
    "topic-configs.alter-multi": "ALTER_CONFIGS TOPIC",
    "topics.list": "filter DESCRIBE TOPIC",
    "topics.get": "DESCRIBE TOPIC",
    "topics.create": "CREATE TOPIC",
    "topics.delete": "DELETE TOPIC",
    "topics.partitions": "ALTER TOPIC",
    "topics-configs.list": "filter DESCRIBE_CONFIGS TOPIC",
}


def test_every_endpoint_has_its_rule() -> None:
    assert {name: words_of(access) for name, access in V3_ACCESS.items()} == {
        f"api.v3.{name}": rule for name, rule in RULES.items()
    }


@pytest.mark.parametrize("name", sorted(V3_ACCESS))
def test_a_rule_is_about_an_operation_of_its_resource(name: str) -> None:
    access = V3_ACCESS[name]
    while access is not None:
        assert {operation.name for operation in access.operation} <= {*OPERATIONS[access.resource.name]}
        access = access.also  # type: ignore[assignment]
