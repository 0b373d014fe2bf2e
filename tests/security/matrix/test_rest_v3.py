"""REST v3: its rules word for word, and what its server is expected to answer; test_proxy_apis asks it."""

from __future__ import annotations

import pytest

from magicbyte.http.routing.access import SIGNED_IN
from magicbyte.security.rights.rule import OPERATIONS
from rest_proxy.access.v3_access import V3_ACCESS
from rest_proxy.v3.route import route
from rest_proxy.v3.rows import V3_ROWS
from tests.security.matrix.product import Server
from tests.security.matrix.proxy import ask_for_rights, refusal, resource
from tests.security.matrix.rules import rule_of, words_of
from tests.security.matrix.shapes import COMMON, HEAD, IN_REST_V3

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
    "cluster-health.get": "DESCRIBE CLUSTER",
    "clusters.list": "auth",
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
    "dead-letters.replay": "READ TOPIC",
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
    words = {name: "auth" if access is SIGNED_IN else words_of(access) for name, access in V3_ACCESS.items()}
    assert words == {f"api.v3.{name}": rule for name, rule in RULES.items()}


@pytest.mark.parametrize("name", sorted(name for name, access in V3_ACCESS.items() if access is not SIGNED_IN))
def test_a_rule_is_about_an_operation_of_its_resource(name: str) -> None:
    access = V3_ACCESS[name]
    while access is not None:
        assert {operation.name for operation in access.operation} <= {*OPERATIONS[access.resource.name]}
        access = access.also  # type: ignore[assignment]


#: Operation -> its rule; the document of the API is for everybody who has signed in.
OF_OPERATIONS = {
    row.operation_id: RULES[row.endpoint.removeprefix("api.v3.")] if row.endpoint else "auth" for row in V3_ROWS
}
SERVER = Server(
    name="REST v3",
    rows=V3_ROWS,
    rules=OF_OPERATIONS,
    shapes=(*COMMON, *IN_REST_V3, HEAD),
    bodies={row.operation_id: b"{}" for row in V3_ROWS if row.method in ("POST", "PUT", "PATCH")},
    statuses=dict.fromkeys(OF_OPERATIONS, 200),
    odd={},
    skipped=frozenset(),
    resource=resource,
    refusal=refusal,
)


def test_every_row_takes_the_rule_of_its_endpoint() -> None:
    assert {row.operation_id: rule_of(row) for row in V3_ROWS} == OF_OPERATIONS
    assert [row.operation_id for row in V3_ROWS if not row.endpoint] == ["v3Contract"]


def test_a_route_without_a_rule_cannot_be_made() -> None:
    with pytest.raises(KeyError, match=r"api\.v3\.shares\.list"):
        route("GET", "/clusters/{cluster}/share-groups", "listShareGroups", "shares.list", ask_for_rights)
