"""Consumer groups: their list, one group's lag, and the reset of its offsets, on a real broker."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import Page, expect

from magicbyte.testing import temporary_broker
from tests.topics import create_topics
from tests.ui.conftest import OpenPage
from tests.ui.kit.axe import findings
from tests.ui.kit.kafka_rooms import commit, committed, member
from tests.ui.kit.scanned import Searched, searched
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser

#: A group's name with all that a path may confuse.
ODD_GROUP = "a/b %2F?#é<img onerror=alert(1)>"


@pytest.fixture(scope="module")
def servers() -> Iterator[Searched]:
    with temporary_broker() as broker, searched(broker.bootstrap_servers) as servers:
        bootstrap = servers.bootstrap_servers
        admin = AdminClient({"bootstrap.servers": bootstrap})
        create_topics(admin, NewTopic("orders", 3, 1), NewTopic("payments", 1, 1), NewTopic("followed", 1, 1))
        servers.produce("orders", [{"value": b"x", "partition": number % 3} for number in range(30)])
        servers.produce("payments", [{"value": b"x"} for _ in range(5)])
        commit(bootstrap, "billing", {("orders", 0): 4, ("orders", 1): 10, ("payments", 0): 2})
        commit(bootstrap, ODD_GROUP, {("payments", 0): 5})
        yield servers


@pytest.fixture
def page(open_page: OpenPage, servers: Searched) -> Page:
    return open_page(servers.registry.url)


def test_the_list_tells_all_groups_in_one_request(page: Page, watch: Watch, servers: Searched) -> None:
    with member(servers.bootstrap_servers, "shipping", "orders"):
        page.goto("groups")
        row = page.get_by_role("row").filter(has=page.get_by_role("link", name="billing", exact=True))
        expect(row.get_by_role("cell").nth(4)).to_contain_text("payments")
        assert row.get_by_role("cell").all_inner_texts()[1:4] == ["empty", "0", "9"]
        expect(row.get_by_role("link", name="orders")).to_have_attribute(
            "href", re.compile("/ui/topics/orders/groups$")
        )
        expect(row.get_by_role("link", name="payments")).to_be_visible()
        shipping = page.get_by_role("row").filter(has=page.get_by_role("link", name="shipping", exact=True))
        expect(shipping).to_contain_text("stable")
        expect(shipping).to_contain_text("unknown")
        # The page asks again after a while.
        asked = {request.rpartition("/")[2] for request in watch.requests if "/ui/rest/" in request}
        assert asked == {"clusters", "consumer-groups?include_lags=true"}
    odd = page.get_by_role("row").filter(has_text="<img onerror=alert(1)>")
    expect(odd).to_contain_text("✓ none")
    page.get_by_label("Filter groups").fill("payments")
    expect(page.get_by_role("link", name="shipping", exact=True)).to_have_count(0)
    page.get_by_role("button", name="By lag").click()
    expect(page.locator("tbody tr").first).to_contain_text("billing")
    assert "q=payments&sort=lag" in page.url
    page.get_by_label("Filter groups").fill("nothing")
    page.get_by_role("button", name="Show all groups").click()
    expect(odd).to_be_visible()


def test_the_lag_follows_the_broker(page: Page, servers: Searched) -> None:
    commit(servers.bootstrap_servers, "slow", {("followed", 0): 0})
    page.goto("groups/slow")
    row = page.locator(".lag-table tbody tr")
    expect(row).to_contain_text("✓ none")
    servers.produce("followed", [{"value": b"x"} for _ in range(3)])
    expect(row.get_by_role("cell").nth(4)).to_have_text("3")
    expect(page.locator(".head-name")).to_contain_text("3 records behind")


def test_a_group_with_a_member_shows_it_and_refuses_a_reset(page: Page, servers: Searched, watch: Watch) -> None:
    commit(servers.bootstrap_servers, "reading", {("orders", 0): 1})
    with member(servers.bootstrap_servers, "reading", "orders"):
        page.goto("groups/reading")
        expect(page.locator(".head-name")).to_contain_text("1 member, 9 records behind, 2 partitions unknown")
        first, second = (page.locator(".lag-table tbody tr").nth(number) for number in (0, 1))
        expect(first).to_contain_text("client-of-reading")
        expect(first).to_contain_text("127.0.0.1")
        expect(first.get_by_role("link", name="1", exact=True)).to_have_attribute(
            "href", re.compile(r"/ui/topics/orders/messages\?partition=0&offset=1$")
        )
        assert second.get_by_role("cell").all_inner_texts()[2:5] == ["none", "unknown", "unknown"]
        expect(page.locator(".member-table tbody tr")).to_contain_text("client-of-reading")
        expect(page.locator(".group-facts")).to_contain_text("range")
        reset = page.get_by_role("button", name="Reset offsets")
        expect(reset).to_be_disabled()
        expect(reset.locator("+ .reason")).to_have_text(
            "The group has 1 member. Stop it first: a member would go on from its own offsets."
        )
        page.goto("groups/reading?reset=true")
        expect(page.get_by_role("button", name="Show what would change")).to_be_disabled()


@dataclass(frozen=True, slots=True)
class Expected:
    """The rows that a reset of orders shows, one a partition, and the offsets that are committed afterwards."""

    rows: list[str]
    summary: str
    after: list[int]


@pytest.mark.parametrize(
    ("to", "value", "partitions", "expected"),
    [
        (
            "the first record",
            "",
            "",
            Expected(
                [
                    "orders|0|4|0|4 repeated.",
                    "orders|1|10|0|10 repeated.",
                    "orders|2|none|0|Nothing is committed now. 10 records to read.",
                ],
                "3 offsets of 3 would change: 0 records skipped, 14 records repeated.",
                [0, 0, 0],
            ),
        ),
        (
            "the end",
            "",
            "0,1",
            Expected(
                ["orders|0|4|10|6 skipped.", "orders|1|10|10|No change."],
                "1 offset of 2 would change: 6 records skipped, 0 records repeated.",
                [10, 10, -1001],
            ),
        ),
        (
            "an offset",
            "99",
            "0",
            Expected(
                ["orders|0|4|10|6 skipped. The end is 10, before 99."],
                "1 offset of 1 would change: 6 records skipped, 0 records repeated.",
                [10, 10, -1001],
            ),
        ),
        (
            "shift by",
            "-3",
            "",
            Expected(
                ["orders|0|4|1|3 repeated.", "orders|1|10|7|3 repeated."],
                "2 offsets of 2 would change: 0 records skipped, 6 records repeated.",
                [1, 7, -1001],
            ),
        ),
        (
            "a time",
            "2001-01-01T00:00:00",
            "1",
            Expected(
                ["orders|1|10|0|10 repeated."],
                "1 offset of 1 would change: 0 records skipped, 10 records repeated.",
                [4, 0, -1001],
            ),
        ),
    ],
)
def test_a_reset_is_shown_before_it_is_committed(
    page: Page, servers: Searched, to: str, value: str, partitions: str, expected: Expected
) -> None:
    group = f"reset {to}"
    bootstrap = servers.bootstrap_servers
    commit(bootstrap, group, {("orders", 0): 4, ("orders", 1): 10, ("payments", 0): 2})
    page.goto(f"groups/{group}")
    page.get_by_role("button", name="Reset offsets").click()
    form = page.get_by_role("region", name="Reset offsets")
    form.get_by_label("Reset to").select_option(to)
    if value:
        form.locator(".reset-at").fill(value)
    form.get_by_role("checkbox", name="payments").uncheck()
    if partitions:
        form.get_by_label("Partitions of orders").fill(partitions)
    expect(form.get_by_role("button", name="Commit these offsets")).to_be_disabled()
    form.get_by_role("button", name="Show what would change").click()
    expect(form.get_by_role("status")).to_have_text(expected.summary)
    shown = ["|".join(row.get_by_role("cell").all_inner_texts()) for row in form.locator("tbody tr").all()]
    assert shown == expected.rows
    places = [("orders", number) for number in range(3)]
    assert committed(bootstrap, group, *places) == [4, 10, -1001]
    assert "reset=true" in page.url
    page.reload()
    expect(form.get_by_label("Reset to")).to_have_value(re.compile("."))
    form.get_by_role("button", name="Show what would change").click()
    form.get_by_role("button", name="Commit these offsets").click()
    expect(form).to_have_count(0)
    assert committed(bootstrap, group, *places, ("payments", 0)) == [*expected.after, 2]


def test_a_changed_form_is_shown_again_before_it_is_committed(page: Page) -> None:
    page.goto("groups/billing?reset=true&topics=orders:0")
    page.get_by_role("button", name="Show what would change").click()
    button = page.get_by_role("button", name="Commit these offsets")
    expect(button).to_be_enabled()
    page.get_by_label("Reset to").select_option("the end")
    expect(button).to_be_disabled()
    expect(page.locator(".plan-table")).to_have_count(0)


def test_what_is_wrong_with_a_reset_is_said(page: Page, watch: Watch) -> None:
    watch.expect(404, "/offsets:alter")
    page.goto("groups/billing?reset=true&to=offset&topics=orders:7")
    tooltip = page.locator(".reset-places ~ .row .reason").first
    expect(tooltip).to_have_text("Write an offset: a whole number.")
    page.locator(".reset-at").fill("1")
    page.get_by_role("button", name="Show what would change").click()
    expect(page.get_by_role("alert")).to_contain_text("Partition not found.")
    page.get_by_role("checkbox", name="orders").uncheck()
    expect(tooltip).to_have_text("Choose a topic.")


def test_a_topic_leads_to_the_reset_of_its_groups(page: Page, watch: Watch) -> None:
    page.goto("topics/payments/groups")
    expect(page.get_by_role("row").filter(has_text="billing")).to_be_visible()
    # One request tells who reads the topic; only these groups are asked for their partitions.
    assert not [request for request in watch.requests if "/consumer-groups/shipping/lags" in request]
    page.get_by_role("link", name="Reset the offsets of billing in this topic").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("billing")
    expect(page.get_by_role("checkbox", name="payments")).to_be_checked()
    expect(page.get_by_role("checkbox", name="orders")).not_to_be_checked()


def test_tabs_keys_and_the_palette_lead_there(page: Page) -> None:
    page.goto("topics")
    room = page.get_by_role("navigation", name="Of Kafka")
    room.get_by_role("link", name="Groups").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Groups")
    expect(page.get_by_role("navigation", name="Main").get_by_role("link", name="Topics")).to_have_attribute(
        "aria-current", "page"
    )
    for key, name in (("b", "Brokers"), ("g", "Groups"), ("t", "Topics")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("Go to consumer groups")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.keyboard.type("bill")
    found = page.get_by_role("group", name="Consumer groups").get_by_role("option", name="billing")
    expect(found).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("billing")
    page.keyboard.press("u")
    expect(page.get_by_role("heading", level=1)).to_have_text("Groups")
    page.keyboard.press("Control+k")
    page.keyboard.type("paym")
    expect(page.get_by_role("group", name="Topics").get_by_role("option", name="payments")).to_be_visible()


def test_a_proxy_that_tells_less(page: Page, watch: Watch) -> None:
    """Confluent's own has no lags in the list, and no members with hosts in the group."""
    watch.expect(404, "/consumer-groups/gone")
    extra = ("members_count", "lags", "members", "authorized_operations")

    def without_extensions(route: object) -> None:
        answer = route.fetch()  # type: ignore[attr-defined]
        body = answer.json()
        for item in body.get("data", [body]):
            for name in extra:
                item.pop(name, None)
        route.fulfill(response=answer, json=body)  # type: ignore[attr-defined]

    page.route(re.compile(r"/consumer-groups(/billing)?\?"), without_extensions)
    page.goto("groups")
    expect(page.get_by_text("This REST proxy does not tell the lags of all groups at once.")).to_be_visible()
    page.get_by_role("link", name="billing", exact=True).click()
    expect(page.locator(".lag-table tbody tr")).to_have_count(3)
    expect(page.locator(".head-name")).to_contain_text("0 members, 9 records behind")
    page.unroute_all(behavior="ignoreErrors")
    page.goto("groups/gone")
    expect(page.get_by_role("alert")).to_contain_text("Not there")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_axe_finds_nothing(open_page: OpenPage, servers: Searched, watch: Watch, theme: str, width: int) -> None:
    watch.expect(404, "/consumer-groups/axe/lags")  # nothing is committed
    page = open_page(servers.registry.url, theme=theme, width=width)
    ready = {
        "groups": ".group-table",
        "groups?q=nothing": ".state",
        "groups/axe": ".member-table",
        "groups/billing": ".lag-table",
        "groups/billing?reset=true&topics=orders": ".plan-table",
        "topics/orders/groups": ".page.groups table",
    }
    problems = []
    with member(servers.bootstrap_servers, "axe", "orders"):
        for path, selector in ready.items():
            page.goto(path)
            if "reset" in path:
                page.get_by_role("button", name="Show what would change").click()
            expect(page.locator(selector).first).to_be_visible()
            problems += [f"{path}: {finding}" for finding in findings(page)]
            if page.evaluate("document.documentElement.scrollWidth") > width:
                problems.append(f"{path}: the page is wider than the window")
    assert problems == []
