"""The behaviour that all routes of v3 have in common."""

from __future__ import annotations

from typing import Any

import pytest

from rest_proxy.exchange.rate_limit import TokenBucket
from rest_proxy.v3.links import Links


@pytest.mark.parametrize("prefix", ["", "/kafka"])
def test_both_prefixes_are_served_and_links_carry_that_of_the_request(rest: Any, prefix: str) -> None:
    url = f"{str(rest.base_url).rstrip('/')}{prefix}/v3/clusters"
    clusters = rest.get(f"{prefix}/v3/clusters").json()
    (cluster,) = clusters["data"]
    cluster_id = cluster["cluster_id"]
    assert clusters["kind"] == "KafkaClusterList"
    assert clusters["metadata"] == {"self": url, "next": None}
    assert cluster == {
        "kind": "KafkaCluster",
        "metadata": {"self": f"{url}/{cluster_id}", "resource_name": f"crn:///kafka={cluster_id}"},
        "cluster_id": cluster_id,
        "controller": {"related": f"{url}/{cluster_id}/brokers/1"},
        "acls": {"related": f"{url}/{cluster_id}/acls"},
        "brokers": {"related": f"{url}/{cluster_id}/brokers"},
        "broker_configs": {"related": f"{url}/{cluster_id}/broker-configs"},
        "consumer_groups": {"related": f"{url}/{cluster_id}/consumer-groups"},
        "topics": {"related": f"{url}/{cluster_id}/topics"},
        "partition_reassignments": {"related": f"{url}/{cluster_id}/topics/-/partitions/-/reassignment"},
    }
    assert rest.get(f"{prefix}/v3/clusters/{cluster_id}").json() == cluster


def test_brokers(rest: Any, cluster: str, kafka: str) -> None:
    url = f"{str(rest.base_url).rstrip('/')}{cluster}"
    cluster_id = cluster.rpartition("/")[2]
    broker = {
        "kind": "KafkaBroker",
        "metadata": {"self": f"{url}/brokers/1", "resource_name": f"crn:///kafka={cluster_id}/broker=1"},
        "cluster_id": cluster_id,
        "broker_id": 1,
        "host": "127.0.0.1",
        "port": int(kafka.rpartition(":")[2]),
        "rack": None,
        "configs": {"related": f"{url}/brokers/1/configs"},
        "partition_replicas": {"related": f"{url}/brokers/1/partition-replicas"},
    }
    assert rest.get(f"{cluster}/brokers").json() == {
        "kind": "KafkaBrokerList",
        "metadata": {"self": f"{url}/brokers", "next": None},
        "data": [broker],
    }
    assert rest.get(f"{cluster}/brokers/1").json() == broker


NOT_FOUND = {"error_code": 404, "message": "HTTP 404 Not Found"}


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("/v3/clusters/unknown", NOT_FOUND),
        ("/v3/clusters/unknown/brokers", {"error_code": 404, "message": "Cluster unknown cannot be found."}),
        ("{cluster}/brokers/7", NOT_FOUND),
        ("{cluster}/brokers/one", NOT_FOUND),
        ("{cluster}/brokers/99999999999", NOT_FOUND),
        ("{cluster}/nothing", NOT_FOUND),
    ],
)
def test_requests_for_missing_resources(rest: Any, cluster: str, path: str, error: Any) -> None:
    answer = rest.get(path.format(cluster=cluster))
    assert (answer.status_code, answer.json()) == (404, error)


def test_a_wrong_method(rest: Any, cluster: str) -> None:
    answer = rest.delete(cluster)
    assert (answer.status_code, answer.json()) == (405, {"error_code": 405, "message": "HTTP 405 Method Not Allowed"})


def test_json_is_all_that_can_be_accepted(rest: Any) -> None:
    refused = rest.get("/v3/clusters", headers={"accept": "text/html"})
    assert (refused.status_code, refused.content) == (406, b"")
    assert rest.get("/v3/clusters", headers={"accept": "application/*;q=0.1"}).status_code == 200


@pytest.mark.parametrize("path", ["/v3/clusters", "/v3/clusters/unknown"])
def test_answers_are_not_stored(rest: Any, path: str) -> None:
    headers = rest.get(path).headers
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-type"] == "application/json"


def test_links_are_encoded_and_resource_names_are_not() -> None:
    links = Links("http://proxy:8082", "/kafka", "a b", "authority")
    assert links.url("consumer-groups", "a/b+c %") == (
        "http://proxy:8082/kafka/v3/clusters/a%20b/consumer-groups/a%2Fb%2Bc%20%25"
    )
    assert links.query("acls", principal="User:x y", host="*") == (
        "http://proxy:8082/kafka/v3/clusters/a%20b/acls?principal=User%3Ax+y&host=*"
    )
    assert links.crn(("consumer-group", "/g/"), "lag-summary") == (
        "crn://authority/kafka=a b/consumer-group=g/lag-summary"
    )


def test_a_bucket_gives_its_permits_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("rest_proxy.exchange.rate_limit.time.monotonic", lambda: now[0])
    bucket = TokenBucket(2)
    assert [bucket.take(1), bucket.take(1), bucket.take(1)] == [0, 0, 0.5]
    now[0] += 0.5
    assert [bucket.take(1), bucket.take(1)] == [0, 0.5]
    assert bucket.take(1, most_seconds=0.5) == 0.5, "the permit of later is taken now"
    assert bucket.take(1, most_seconds=0.5) == 1.0
    now[0] += 2
    assert bucket.take(5) == 0, "more than the bucket holds is let through if it is full"
    assert bucket.take(1) == 2.0
