"""Topics are made, configured, given partitions and deleted, on a real broker; each shows its curl command."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType
from playwright.sync_api import Page, expect

from magicbyte.platform.broker import free_port
from magicbyte.testing import running_registry, running_rest_proxy, temporary_broker
from tests.topics import create_topics
from tests.ui.conftest import OpenPage
from tests.ui.kit.axe import findings
from tests.ui.kit.scanned import Searched, searched
from tests.ui.kit.watch import Watch
from tests.waiting import until

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def servers() -> Iterator[Searched]:
    with temporary_broker() as broker, searched(broker.bootstrap_servers) as servers:
        yield servers


@pytest.fixture
def admin(servers: Searched) -> AdminClient:
    return AdminClient({"bootstrap.servers": servers.bootstrap_servers})


@pytest.fixture
def page(open_page: OpenPage, servers: Searched) -> Page:
    return open_page(servers.registry.url, permissions=["clipboard-read", "clipboard-write"])


def make(admin: AdminClient, name: str, **config: str) -> None:
    create_topics(admin, NewTopic(name, 1, 1, config=config))


def config_of(admin: AdminClient, topic: str) -> dict[str, str]:
    """The properties that are set on a topic."""
    resource = ConfigResource(ResourceType.TOPIC, topic)
    described = admin.describe_configs([resource])[resource].result(30)
    return {name: entry.value for name, entry in described.items() if entry.source == 1}


def copied(page: Page) -> str:
    """The text in the clipboard."""
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


def test_a_topic_is_checked_while_one_types_and_made(page: Page, admin: AdminClient, watch: Watch) -> None:
    watch.expect(400, "/topics")
    page.goto("topics")
    page.get_by_role("link", name="New topic").click()
    name, create = page.get_by_label("Name"), page.get_by_role("button", name="Create the topic")
    expect(create).to_be_disabled()
    name.fill("a b")
    expect(
        page.get_by_text("Kafka takes letters A to Z, digits, dots, underscores and hyphens, not “ ”.")
    ).to_have_count(2)
    assert not [request for request in watch.requests if request.startswith("POST")]
    name.fill("made.here")
    expect(page.get_by_role("status").filter(has_text="✓")).to_have_text(
        "✓ The broker would make it with 1 partition, each on 1 broker."
    )
    page.get_by_label("Replication factor").fill("7")
    expect(page.get_by_role("alert")).to_contain_text(re.compile("replication factor", re.IGNORECASE))
    expect(create).to_be_disabled()
    page.get_by_label("Replication factor").fill("1")
    page.get_by_label("Partitions").fill("3")
    page.get_by_label("Add a property").select_option("retention.ms")
    expect(page.get_by_text("Kafka's default: 604800000 (7 days).")).to_be_visible()
    page.get_by_label("Value of retention.ms").fill("soon")
    expect(page.get_by_role("alert")).to_contain_text("retention.ms")
    page.get_by_label("Value of retention.ms").fill("3600000")
    page.get_by_label("Add a property").select_option("cleanup.policy")
    page.get_by_label("Value of cleanup.policy").select_option("compact")
    expect(page.get_by_role("status").filter(has_text="✓")).to_contain_text("3 partitions")
    assert "made.here" not in admin.list_topics(timeout=30).topics
    page.get_by_role("button", name="Copy as curl").click()
    assert re.search(r"-X POST[\s\S]*\"topic_name\": ?\"made.here\"[\s\S]*/topics", copied(page))
    create.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("made.here")
    assert len(admin.list_topics("made.here", timeout=30).topics["made.here"].partitions) == 3
    assert config_of(admin, "made.here") == {"retention.ms": "3600000", "cleanup.policy": "compact"}


def test_several_properties_change_in_one_request(page: Page, admin: AdminClient, watch: Watch) -> None:
    watch.expect(400, "/configs:alter")
    make(admin, "configured", **{"retention.ms": "1000", "segment.ms": "2000"})
    page.goto("topics/configured/configs")
    table = page.locator(".config-table")
    row = table.get_by_role("row").filter(has=page.get_by_text("retention.ms", exact=True))
    expect(row).to_contain_text("Time for which records are kept")
    expect(row).to_contain_text("set on the topic")
    expect(row).to_contain_text("without it 604800000")
    expect(table.get_by_role("row").filter(has_text="preallocate")).to_contain_text("Kafka's default")
    page.get_by_role("button", name="Set on the topic 2").click()
    expect(table.locator("tbody tr")).to_have_count(2)
    page.get_by_role("button", name="Set on the topic 2").click()
    page.get_by_role("button", name="Reset retention.ms", exact=True).click()
    page.get_by_role("button", name="Change segment.ms", exact=True).click()
    page.get_by_label("Value of segment.ms").fill("never")
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("segment.ms")
    page.get_by_label("Value of segment.ms").fill("5000")
    page.get_by_role("button", name="Change cleanup.policy", exact=True).click()
    page.get_by_label("Value of cleanup.policy").select_option("compact,delete")
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.get_by_text("✓ The broker would take them.")).to_be_visible()
    assert config_of(admin, "configured") == {"retention.ms": "1000", "segment.ms": "2000"}
    page.locator(".config-foot [data-curl]").click()
    assert "configs:alter" in copied(page)
    before = watch.count("POST /ui/rest/")
    page.get_by_role("button", name="Save 3 changes").click()
    expect(page.locator(".config-foot")).to_have_count(0)
    assert watch.count("POST /ui/rest/") - before == 1
    # A broker learns of a change a moment after the controller made it, and the page may have read before.
    until(lambda: config_of(admin, "configured") == {"segment.ms": "5000", "cleanup.policy": "compact,delete"})
    page.reload()
    expect(row).to_contain_text("Kafka's default")


def test_a_property_that_is_a_secret_or_read_only(page: Page, admin: AdminClient) -> None:
    """Kafka's own topics have none; a plugin of a broker may."""
    make(admin, "plain")
    odd = [
        {"name": "plugin.password", "value": None, "is_read_only": False, "is_sensitive": True},
        {"name": "plugin.mode", "value": "<img onerror=alert(1)>", "is_read_only": True, "is_sensitive": False},
    ]
    rows = [{**row, "is_default": False, "source": "DYNAMIC_TOPIC_CONFIG", "synonyms": []} for row in odd]
    page.route("**/v3/**/topics/plain/configs", lambda route: route.fulfill(json={"data": rows}))
    page.goto("topics/plain/configs")
    expect(page.get_by_role("row").filter(has_text="plugin.password")).to_contain_text("hidden: it is a secret")
    expect(page.get_by_role("row").filter(has_text="plugin.mode")).to_contain_text("<img onerror=alert(1)>")
    expect(page.get_by_role("button", name="Change plugin.mode")).to_be_disabled()
    expect(page.get_by_role("button", name="Change plugin.password")).to_be_enabled()


def test_partitions_are_added_and_not_taken_away(page: Page, admin: AdminClient) -> None:
    make(admin, "growing")
    page.goto("topics/growing/configs")
    card = page.get_by_role("region", name="Partitions")
    add = card.get_by_role("button", name="Add partitions")
    card.get_by_label("Partitions in all").fill("1")
    expect(add).to_be_disabled()
    expect(add.locator("+ .reason")).to_have_text("Write a number above 1: Kafka cannot take partitions away.")
    card.get_by_label("Partitions in all").fill("4")
    add.click()
    expect(page.locator(".topic-size")).to_have_text("0 records in 4 partitions")
    expect(card).to_contain_text("4 partitions, each on 1 broker")
    assert len(admin.list_topics("growing", timeout=30).topics["growing"].partitions) == 4


def test_a_topic_is_deleted_when_its_name_is_typed(page: Page, admin: AdminClient) -> None:
    make(admin, "dying")
    page.goto("topics/dying")
    page.get_by_role("navigation", name="Of this topic").get_by_role("link", name="Settings").click()
    page.get_by_role("button", name="Delete the topic").click()
    dialog = page.get_by_role("dialog", name="Delete dying?")
    expect(dialog).to_contain_text("0 records in 1 partition")
    confirm = dialog.get_by_role("button", name="Delete the topic")
    dialog.get_by_role("textbox").fill("dyin")
    expect(confirm).to_be_disabled()
    dialog.get_by_role("textbox").fill("dying")
    confirm.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Topics")
    expect(page.get_by_role("link", name="dying", exact=True)).to_have_count(0)
    assert "dying" not in admin.list_topics(timeout=30).topics


def test_a_page_that_may_only_read(open_page: OpenPage, servers: Searched, admin: AdminClient) -> None:
    make(admin, "kept", **{"retention.ms": "1000"})
    port = free_port()
    properties = {"magicbyte.ui.rest.url": f"http://127.0.0.1:{port}", "magicbyte.ui.read.only": "true"}
    with (
        running_registry(properties=properties) as registry,
        running_rest_proxy(servers.bootstrap_servers, registry.url, port=port),
    ):
        page = open_page(registry.url)
        page.goto("topics/kept/configs")
        for name in ("Change cleanup.policy", "Reset retention.ms", "Add partitions", "Delete the topic"):
            expect(page.get_by_role("button", name=name, exact=True)).to_be_disabled()
        expect(page.get_by_text("This page is read-only: magicbyte.ui.read.only is set.").first).to_be_visible()
        page.goto("topics")
        expect(page.get_by_role("button", name="New topic")).to_be_disabled()
        page.goto("new-topic?name=fresh")
        expect(page.get_by_role("button", name="Create the topic")).to_be_disabled()
        page.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_axe_finds_nothing(
    open_page: OpenPage, servers: Searched, admin: AdminClient, watch: Watch, theme: str, width: int
) -> None:
    watch.expect(400, "/topics")
    name = f"axe-{theme}-{width}"
    make(admin, name, **{"retention.ms": "1000"})
    page = open_page(servers.registry.url, theme=theme, width=width)
    problems = []

    def look(what: str) -> None:
        problems.extend(f"{what}: {finding}" for finding in findings(page))
        if page.evaluate("document.documentElement.scrollWidth") > width:
            problems.append(f"{what}: the page is wider than the window")

    page.goto(f"topics/{name}/configs")
    page.get_by_role("button", name="Reset retention.ms", exact=True).click()
    page.get_by_role("button", name="Change cleanup.policy", exact=True).click()
    look("settings")
    page.get_by_role("button", name="Delete the topic").click()
    look("deletion")
    page.goto("new-topic?name=a%20b")
    page.get_by_label("Add a property").select_option("retention.ms")
    look("a wrong name")
    page.goto(f"new-topic?name={name}-new&replicas=9")
    expect(page.get_by_role("alert")).to_be_visible()
    look("a refused topic")
    assert problems == []
