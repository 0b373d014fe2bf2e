"""Groups whose ids, and members whose names, try to break a page: shown as text, and found by their links."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer
from playwright.sync_api import Page, expect

from magicbyte.testing import temporary_broker
from tests.ui.conftest import OpenPage
from tests.ui.kit.hostile import BIDI, IMAGE, SCRIPT
from tests.ui.kit.kafka_rooms import commit
from tests.ui.kit.scanned import Searched, searched
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser

TOPIC = "orders"
#: Ids, each with what its heading shows.
GROUPS = {
    f"{IMAGE}{SCRIPT}": f"{IMAGE}{SCRIPT}",
    f"pay{BIDI}": "payU+202Egnp.exeU+200B",
    "line\nbreak": "lineU+000Abreak",
    "pay\n": "payU+000A",
    "../topics/orders": "../topics/orders",
    "a/b?c=d#e%2F": "a/b?c=d#e%2F",
    "javascript:alert(1)": "javascript:alert(1)",
}
CLIENT = f"{IMAGE}{BIDI}"


@pytest.fixture(scope="module")
def servers() -> Iterator[Searched]:
    with temporary_broker() as broker, searched(broker.bootstrap_servers) as servers:
        servers.produce(TOPIC, [{"value": b"x"} for _ in range(3)])
        for group in GROUPS:
            commit(servers.bootstrap_servers, group, {(TOPIC, 0): 1})
        yield servers


@pytest.fixture
def page(open_page: OpenPage, servers: Searched) -> Page:
    return open_page(servers.registry.url)


def test_ids_of_groups_are_text_and_lead_to_their_groups(page: Page) -> None:
    page.goto("groups")
    expect(page.locator("main tbody tr")).to_have_count(len(GROUPS))
    assert page.locator("main img, main script").count() == 0
    addresses = [link.get_attribute("href") or "" for link in page.locator("main tbody tr td:first-child a").all()]
    assert len(addresses) == len(GROUPS)
    headings = set()
    for address in addresses:
        assert "/ui/groups/" in address
        page.goto(address)
        expect(page.locator(".head-name")).to_contain_text("2 records behind")
        headings.add(page.get_by_role("heading", level=1).inner_text())
        assert page.locator("main img, main script").count() == 0
    assert headings == set(GROUPS.values())


def test_names_of_members_are_text(page: Page, servers: Searched, watch: Watch) -> None:
    # Nothing is committed.
    watch.expect(404, "/lags")
    joined = Consumer({"bootstrap.servers": servers.bootstrap_servers, "group.id": "joined", "client.id": CLIENT})
    joined.subscribe([TOPIC])
    while not joined.assignment():
        joined.poll(0.1)
    try:
        page.goto("groups/joined")
        expect(page.locator(".member-table tbody tr")).to_contain_text(f"{IMAGE}U+202E")
        assert page.locator("main img, main script").count() == 0
    finally:
        joined.close()
