"""Settings of v3: rate limits, versions that are switched off, and resource names."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from magicbyte.testing.servers import running_rest_proxy
from rest_proxy.settings import RestProxySettings

BASE = {"bootstrap.servers": "localhost:9092"}


def test_rate_limits_and_the_authority(kafka: str) -> None:
    properties = {
        "rate.limit.enable": "true",
        "rate.limit.permits.per.sec": "1",
        "rate.limit.costs": "api.v3.brokers.list=0,api.v3.topics.list=1",
        "confluent.resource.name.authority": "example.com",
    }
    with running_rest_proxy(kafka, "", properties=properties) as proxy, httpx.Client(base_url=proxy.url) as client:
        cluster = client.get("/v3/clusters").json()["data"][0]
        assert cluster["metadata"]["resource_name"] == f"crn://example.com/kafka={cluster['cluster_id']}"
        path = f"/v3/clusters/{cluster['cluster_id']}"
        answers = [client.get(f"{path}/topics") for _ in range(10)]
        refused = next(answer for answer in answers if answer.status_code != 200)
        assert (refused.status_code, refused.json(), refused.headers["retry-after"]) == (
            429,
            {
                "error_code": 429,
                "message": "Request rate limit exceeded: The rate limit of requests per second has been exceeded.",
            },
            "1",
        )
        assert {client.get(f"{path}/brokers").status_code for _ in range(5)} == {200}


@pytest.mark.parametrize(
    ("properties", "served", "gone"),
    [
        ({"api.v3.enable": "false"}, "/topics", "/v3/clusters"),
        ({"api.v2.enable": "false"}, "/v3/clusters", "/topics"),
        ({"api.endpoints.blocklist": "api.v3.clusters.list"}, "/topics", "/v3/clusters"),
    ],
    ids=str,
)
def test_versions_that_are_switched_off(properties: dict[str, str], served: str, gone: str) -> None:
    from rest_proxy.app import create_app  # noqa: PLC0415  what it needs takes long to import

    table = create_app(RestProxySettings.from_properties(BASE | properties)).table
    assert table.find("GET", served.encode()).row.operation_id in ("topics", "listKafkaClusters")
    row = table.find("GET", gone.encode()).row
    assert row.path == "none" or row.handler.__name__ == "refuse"


OVER = {
    "error_code": 429,
    "message": "Request rate limit exceeded: The rate limit of requests per second has been exceeded.",
}


@pytest.mark.parametrize("scope", ["global.", ""], ids=["global", "cluster"])
def test_the_rate_of_produced_bytes(kafka: str, topic: str, scope: str) -> None:
    """One budget for the cluster, however its id is written."""
    properties = {
        "api.v3.produce.rate.limit.enabled": "true",
        f"api.v3.produce.rate.limit.max.bytes.{scope}per.sec": "100",
    }
    body = {"value": {"type": "STRING", "data": "x" * 200}}
    with running_rest_proxy(kafka, "", properties=properties) as proxy, httpx.Client(base_url=proxy.url) as client:
        first, second = (
            client.post(f"/v3/clusters/{cluster}/topics/{topic}/records", json=body).json()
            for cluster in ("one", "another")
        )
        assert (first["error_code"], second) == (200, OVER)
        batch = {"entries": [{"id": "a", **body}]}
        answer = client.post(f"/v3/clusters/third/topics/{topic}/records:batch", json=batch)
        assert (answer.status_code, answer.json()) == (207, {"successes": [], "failures": [{"id": "a", **OVER}]})


def test_a_request_may_wait_for_its_permit(kafka: str) -> None:
    properties = {
        "rate.limit.enable": "true",
        "rate.limit.permits.per.sec": "2",
        "rate.limit.timeout.ms": "600",
    }
    with (
        running_rest_proxy(kafka, "", properties=properties) as proxy,
        httpx.Client(base_url=proxy.url, timeout=30) as client,
        ThreadPoolExecutor(8) as pool,
    ):
        statuses = [answer.status_code for answer in pool.map(client.get, ["/v3/clusters"] * 8)]
    assert statuses.count(200) in (3, 4), "two of the bucket, and what it gains within the timeout"
    assert set(statuses) == {200, 429}


@pytest.mark.parametrize(("limit", "entries", "status"), [("50", 50, 207), ("50", 51, 422), ("1", 2, 422)])
def test_the_most_entries_of_a_batch(kafka: str, topic: str, limit: str, entries: int, status: int) -> None:
    properties = {"api.v3.produce.batch.maximum.entries": limit}
    with running_rest_proxy(kafka, "", properties=properties) as proxy:
        body = {"entries": [{"id": str(number)} for number in range(entries)]}
        answer = httpx.post(f"{proxy.url}/v3/clusters/any/topics/{topic}/records:batch", json=body, timeout=30)
    assert answer.status_code == status, answer.text


@pytest.mark.parametrize("limit", ["0", "51"])
def test_a_wrong_number_of_entries(limit: str) -> None:
    with pytest.raises(ValueError, match=r"^api\.v3\.produce\.batch\.maximum\.entries: "):
        RestProxySettings.from_properties(BASE | {"api.v3.produce.batch.maximum.entries": limit})


@pytest.mark.parametrize("costs", ["api.v3.topics.list", "api.v3.topics.list=many"])
def test_costs_that_are_no_numbers(costs: str) -> None:
    with pytest.raises(ValueError, match=r"^rate\.limit\.costs: "):
        RestProxySettings.from_properties(BASE | {"rate.limit.costs": costs})
