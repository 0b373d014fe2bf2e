"""Topics and groups for users of few rights: the page says beforehand what is missing; see `kafka_rooms` of the kit."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import expect

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import temporary_broker
from tests.topics import create_topics
from tests.ui.conftest import OpenPage
from tests.ui.kit.axe import findings
from tests.ui.kit.guarded import As, signing_in
from tests.ui.kit.kafka_rooms import commit, guarded_rooms
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with (
        temporary_broker() as broker,
        guarded_rooms(tmp_path_factory.mktemp("rooms"), broker.bootstrap_servers) as registry,
    ):
        bootstrap = broker.bootstrap_servers
        admin = AdminClient({"bootstrap.servers": bootstrap})
        names = ("open", "listed", "sealed", "own-topic")
        create_topics(admin, *[NewTopic(name, 1, 1) for name in names])
        commit(bootstrap, "seen", {("open", 0): 0, ("sealed", 0): 0})
        commit(bootstrap, "unseen", {("open", 0): 0})
        yield registry


@pytest.fixture
def signed_in(guarded: ServerProcess, open_page: OpenPage, watch: Watch) -> As:
    return signing_in(guarded.url, open_page, watch)


def test_topics_list_what_one_may_see_and_mark_what_one_may_not_read(signed_in: As) -> None:
    page = signed_in("reader", "topics")
    links = page.locator(".topic-table .name")
    expect(links).to_have_text(["listed", "open"])
    expect(page.locator(".room-head")).to_contain_text("2 that you may see")
    mark = "you may not read it"
    expect(page.get_by_role("row").filter(has=page.get_by_role("link", name="listed"))).to_contain_text(mark)
    expect(page.get_by_role("row").filter(has=page.get_by_role("link", name="open"))).not_to_contain_text(mark)
    page = signed_in("stranger", "topics")
    expect(page.locator(".room-head")).to_contain_text("0 that you may see")
    expect(page.locator("main")).to_contain_text("if the broker lets you see it")
    page = signed_in("admin", "topics")
    expect(links).not_to_have_text([mark])


def test_a_topic_says_which_right_is_missing(signed_in: As) -> None:
    page = signed_in("reader", "topics/listed")
    for name, right in (("Messages", "READ"), ("Produce", "WRITE")):
        button = page.locator(".head-actions").get_by_role("button", name=name)
        expect(button).to_be_disabled()
        expect(button.locator("+ .reason")).to_have_text(f"The right {right} on the topic is missing.")
    page.goto("topics/open")
    expect(page.locator(".head-actions").get_by_role("link", name="Messages")).to_be_visible()


def test_settings_say_which_right_is_missing_before_one_writes(signed_in: As) -> None:
    page = signed_in("reader", "topics/open/configs")
    properties = page.get_by_role("region", name="Properties")
    expect(properties).to_contain_text("The right ALTER_CONFIGS on the topic is missing.")
    expect(properties.get_by_role("button", name="Change cleanup.policy")).to_be_disabled()
    for region, button, right in (
        ("Partitions", "Add partitions", "ALTER"),
        ("Deletion", "Delete the topic", "DELETE"),
    ):
        card = page.get_by_role("region", name=region)
        expect(card.get_by_role("button", name=button)).to_be_disabled()
        expect(card.locator(".warn-text")).to_have_text(f"The right {right} on the topic is missing.")
    page.goto("topics/listed/configs")
    expect(properties).to_contain_text("The right DESCRIBE_CONFIGS on the topic is missing.")
    page = signed_in("writer", "topics/own-topic/configs")
    for button in ("Change cleanup.policy", "Delete the topic"):
        expect(page.get_by_role("button", name=button)).to_be_enabled()


def test_a_new_topic_needs_a_name_that_one_may_make(signed_in: As) -> None:
    """The rules may allow names with a prefix, so the right depends on the name."""
    page = signed_in("writer", "new-topic?name=foreign")
    expect(page.get_by_role("alert")).to_contain_text("Not authorized to access topics: [foreign]")
    expect(page.get_by_role("alert")).to_contain_text("This needs the right CREATE on the topic or the cluster.")
    expect(page.get_by_role("button", name="Create the topic")).to_be_disabled()
    page.get_by_label("Name").fill("own-new")
    page.get_by_role("button", name="Create the topic").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("own-new")


def test_groups_and_their_reset(signed_in: As) -> None:
    page = signed_in("reader", "groups")
    expect(page.locator(".group-table .name")).to_have_text(["seen"])
    expect(page.locator(".room-head")).to_contain_text("1 that you may see")
    page.get_by_role("link", name="seen", exact=True).click()
    expect(page.locator(".lag-table tbody tr")).to_have_count(1)
    reset = page.get_by_role("button", name="Reset offsets")
    expect(reset).to_be_disabled()
    expect(reset.locator("+ .reason")).to_have_text("The right READ on the group is missing.")
    page = signed_in("writer", "groups/seen")
    page.get_by_role("button", name="Reset offsets").click()
    page.get_by_label("Another topic").fill("sealed")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("button", name="Show what would change").click()
    expect(page.get_by_role("alert")).to_contain_text("Not authorized to access topics: [sealed]")
    expect(page.get_by_role("alert")).to_contain_text("This needs the right READ on the group, and on each topic.")
    expect(page.get_by_role("button", name="Commit these offsets")).to_be_disabled()
    page = signed_in("stranger", "groups/seen")
    expect(page.get_by_role("alert")).to_contain_text("Not authorized to access group: seen")


def test_brokers_need_the_cluster(signed_in: As) -> None:
    page = signed_in("reader", "brokers")
    expect(page.get_by_role("alert")).to_contain_text("This needs the right DESCRIBE on the cluster.")
    page = signed_in("admin", "brokers")
    expect(page.locator(".broker-table")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_axe_finds_nothing(guarded: ServerProcess, open_page: OpenPage, watch: Watch, theme: str, width: int) -> None:
    watch.expect(403)
    watch.expect(401)
    ready = {
        "topics": ".topic-table",
        "topics/open/configs": ".config-table",
        "groups": ".group-table",
        "groups/seen": ".lag-table",
        "brokers": "[role=alert]",
        "new-topic?name=foreign": "[role=alert]",
    }
    credentials = {"username": "reader", "password": "reader"}
    page = open_page(guarded.url, theme=theme, width=width, http_credentials=credentials)
    problems = []
    for path, selector in ready.items():
        page.goto(path)
        expect(page.locator(selector).first).to_be_visible()
        problems += [f"{path}: {finding}" for finding in findings(page)]
        if page.evaluate("document.documentElement.scrollWidth") > width:
            problems.append(f"{path}: the page is wider than the window")
    assert problems == []
