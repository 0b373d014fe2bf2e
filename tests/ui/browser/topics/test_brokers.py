"""The health of the brokers on a real broker; tests/rest/v3 tests the figures with a broker that is gone."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import Page, expect

from magicbyte.testing import temporary_broker
from tests.topics import create_topics
from tests.ui.conftest import OpenPage
from tests.ui.kit.axe import findings
from tests.ui.kit.scanned import Searched, searched
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser

#: A cluster with a broker that is gone, as the proxy tells it; the counts are of all topics.
TROUBLED = {
    "controller_id": 9,
    "topics_count": 3,
    "partitions_count": 12,
    "offline_count": 1,
    "under_replicated_count": 4,
    "under_min_in_sync_count": 2,
    "led_by_another_count": 3,
    "brokers": [
        {
            "broker_id": 1,
            "is_online": True,
            "host": "b1.example.org",
            "port": 9092,
            "rack": "rack-a",
            "replicas_count": 12,
            "out_of_sync_count": 0,
            "leaders_count": 11,
            "preferred_leaders_count": 6,
            "preferred_leaders_led_count": 6,
            "log_dirs": [
                {
                    "path": "/a",
                    "error": None,
                    "partitions_bytes": 1536,
                    "total_bytes": 1 << 40,
                    "usable_bytes": 1 << 30,
                },
                {"path": "/b", "error": "Disk error", "partitions_bytes": 0, "total_bytes": None, "usable_bytes": None},
            ],
        },
        {
            "broker_id": 2,
            "is_online": False,
            "host": None,
            "port": None,
            "rack": None,
            "replicas_count": 6,
            "out_of_sync_count": 5,
            "leaders_count": 0,
            "preferred_leaders_count": 6,
            "preferred_leaders_led_count": 0,
            "log_dirs": None,
        },
    ],
    "partitions": [
        {
            "topic_name": "orders",
            "partition_id": 7,
            "leader_id": None,
            "replica_ids": [2, 1],
            "in_sync_ids": [],
            "min_in_sync_replicas": 1,
            "is_offline": True,
            "is_under_replicated": True,
            "is_under_min_in_sync": True,
        }
    ],
    "not_listed_count": 1,
    "hidden_count": 2,
}


@pytest.fixture(scope="module")
def servers() -> Iterator[Searched]:
    with temporary_broker() as broker, searched(broker.bootstrap_servers) as servers:
        admin = AdminClient({"bootstrap.servers": servers.bootstrap_servers})
        strict = NewTopic("strict", 1, 1, config={"min.insync.replicas": "2"})
        create_topics(admin, NewTopic("orders", 3, 1), strict)
        yield servers


@pytest.fixture
def page(open_page: OpenPage, servers: Searched) -> Page:
    return open_page(servers.registry.url)


def test_the_health_of_a_broker(page: Page, watch: Watch, servers: Searched) -> None:
    page.goto("brokers")
    health = page.get_by_role("region", name="Health")
    expect(health).to_contain_text("controller 1")
    assert dict(zip(health.locator("dt").all_inner_texts(), health.locator("dd").all_inner_texts(), strict=True)) == {
        "Brokers that are gone": "✓ none",
        "Partitions without a leader": "✓ none",
        "Partitions under min.insync.replicas": "✕ 1",
        "Under-replicated partitions": "✓ none",
        "Partitions led by another than the preferred broker": "✓ none",
    }
    broker = page.locator(".broker-table tbody tr")
    expect(broker).to_contain_text("controller")
    expect(broker).to_contain_text(servers.bootstrap_servers)
    expect(broker).to_contain_text(re.compile(r"GiB of .* GiB free"))
    trouble = page.locator(".trouble-table tbody tr")
    expect(trouble).to_contain_text("✕ under min.insync.replicas 2")
    expect(trouble.get_by_role("link", name="strict")).to_have_attribute("href", re.compile("/ui/topics/strict$"))
    # The page asks again after a while.
    asked = {request.rpartition("/")[2] for request in watch.requests if "/ui/rest/" in request}
    assert asked == {"clusters", "health"}


def test_the_health_follows_the_broker(page: Page, servers: Searched) -> None:
    page.goto("brokers")
    expect(page.locator(".trouble-table tbody tr")).to_have_count(1)
    with httpx.Client(base_url=servers.proxy.url, trust_env=False) as http:
        (cluster,) = http.get("/v3/clusters").json()["data"]
        path = f"/v3/clusters/{cluster['cluster_id']}/topics/strict/configs/min.insync.replicas"
        http.put(path, json={"value": "1"}).raise_for_status()
        expect(page.get_by_role("heading", name="No partition is in trouble")).to_be_visible()
        http.put(path, json={"value": "2"}).raise_for_status()
    expect(page.locator(".trouble-table tbody tr")).to_have_count(1)


def test_brokers_that_are_gone_and_disks_that_fail(page: Page) -> None:
    page.route("**/v3/clusters/*/health", lambda route: route.fulfill(json=TROUBLED))
    page.goto("brokers")
    health = page.get_by_role("region", name="Health")
    expect(health).to_contain_text("controller 9 (no broker)")
    assert health.locator("dd").all_inner_texts() == ["✕ 1", "✕ 1", "✕ 2", "! 4", "! 3"]
    first, second = (page.locator(".broker-table tbody tr").nth(number) for number in (0, 1))
    expect(first).to_contain_text("1.5 KiB, 1.0 GiB of 1.0 TiB free")
    expect(first).to_contain_text("✕ Disk error")
    expect(second).to_contain_text("✕ gone")
    assert second.get_by_role("cell").all_inner_texts()[1:] == [
        *("unknown", "none", "0", "6", "! 5", "6, leads 0", "not told"),
    ]
    row = page.locator(".trouble-table tbody tr")
    expect(row).to_contain_text("✕ no leader")
    assert row.get_by_role("cell").all_inner_texts()[3:] == ["none", "2, 1", "none"]
    expect(page.locator(".more-trouble")).to_have_text(
        "1 further partition not listed. 2 partitions of topics that you may not see."
    )


def test_a_proxy_without_the_figures_of_partitions(page: Page, watch: Watch) -> None:
    watch.expect(404, "/health")
    missing = {"error_code": 404, "message": "HTTP 404 Not Found"}
    page.route("**/v3/clusters/*/health", lambda route: route.fulfill(status=404, json=missing))
    page.goto("brokers")
    expect(page.get_by_text("This REST proxy does not tell which broker has which partitions.")).to_be_visible()
    expect(page.locator(".broker-table tbody tr")).to_contain_text("127.0.0.1")
    expect(page.get_by_role("columnheader")).to_have_text(["Broker", "Address", "Rack"])


@pytest.mark.parametrize("status", [404, 403])
def test_a_proxy_without_version_3(page: Page, watch: Watch, status: int) -> None:
    """Or one that does not tell the cluster's id: topics come from version 2."""
    watch.expect(status, "/v3/clusters")
    error = {"error_code": status, "message": "-"}
    page.route("**/v3/clusters", lambda route: route.fulfill(status=status, json=error))
    page.goto("topics")
    expect(page.get_by_role("link", name="strict", exact=True)).to_be_visible()
    for path, what in (("brokers", "brokers"), ("groups", "groups"), ("topics/orders/configs", "settings of topics")):
        page.goto(path)
        expect(page.get_by_role("heading", name=f"This REST proxy does not tell of {what}")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_axe_finds_nothing(open_page: OpenPage, servers: Searched, theme: str, width: int) -> None:
    page = open_page(servers.registry.url, theme=theme, width=width)
    problems = []
    for troubled in (False, True):
        if troubled:
            page.route("**/v3/clusters/*/health", lambda route: route.fulfill(json=TROUBLED))
        page.goto("brokers")
        expect(page.locator(".trouble-table tbody tr")).to_be_visible()
        problems += findings(page)
        if page.evaluate("document.documentElement.scrollWidth") > width:
            problems.append("the page is wider than the window")
    assert problems == []
