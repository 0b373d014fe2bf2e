"""Topics for a user who may not read or see the subjects of their schemas; see `tests.ui.kit.guarded`."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import expect

from magicbyte.platform.broker import free_port
from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_rest_proxy, temporary_broker
from tests.topics import create_topics
from tests.ui.conftest import OpenPage
from tests.ui.kit.guarded import As, guarded_registry, signing_in
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    port = free_port()
    with (
        temporary_broker() as broker,
        guarded_registry(tmp_path_factory.mktemp("guarded"), f"http://127.0.0.1:{port}") as registry,
        running_rest_proxy(broker.bootstrap_servers, registry.url, port=port),
    ):
        kafka = {"bootstrap.servers": broker.bootstrap_servers}
        admin = AdminClient(kafka)
        names = ("flights", "secret", "bare")
        create_topics(admin, *[NewTopic(name, 1, 1) for name in names])
        latest = f"{registry.url}/subjects/secret-value/versions/latest"
        schema_id = httpx.get(latest, auth=("admin", "admin"), trust_env=False).json()["id"]
        producer = Producer(kafka)
        producer.produce("secret", b"\0" + schema_id.to_bytes(4, "big") + b'{"id":"1"}')
        assert producer.flush(30) == 0
        yield registry


@pytest.fixture
def signed_in(guarded: ServerProcess, open_page: OpenPage, watch: Watch) -> As:
    return signing_in(guarded.url, open_page, watch)


def test_a_hidden_subject_is_not_absent(signed_in: As) -> None:
    page = signed_in("reader", "topics")
    expect(page.get_by_role("row").filter(has_text="secret")).to_contain_text("no subject that you may see")
    expect(page.get_by_role("row").filter(has_text="flights")).to_contain_text("flights-value")
    page.goto("topics/secret")
    card = page.locator("section.card", has_text="No subject secret-value")
    expect(card).to_contain_text("No subject secret-value that you may see")
    page.goto("topics/secret/produce")
    expect(page.get_by_role("region", name="Value")).to_contain_text("No subject secret-value that you may see.")


def test_a_subject_that_may_not_be_read_is_listed_without_a_schema(signed_in: As) -> None:
    page = signed_in("lister", "topics/secret")
    facts = page.locator(".part-facts")
    expect(facts).to_contain_text("secret-value")
    expect(facts.locator("[data-gap=forbidden]")).to_have_text(
        ["schema: you may not read it", "level: you may not read it"]
    )


def test_the_schema_of_a_record_may_be_hidden(signed_in: As) -> None:
    words = "The registry says the same of a schema that you may not read."
    page = signed_in("reader", "topics/secret")
    expect(page.get_by_text("unknown to the registry, or you may not read it")).to_be_visible()
    page.goto("topics/secret/messages?open=0")
    expect(page.get_by_role("region", name="Value").or_(page.locator(".part")).first).to_contain_text(words)


def test_a_topic_that_the_broker_does_not_list_is_not_called_absent(signed_in: As) -> None:
    page = signed_in("lister", "topics?show=lost")
    row = page.get_by_role("row").filter(has_text="frozen")
    expect(row).to_contain_text("not among the broker's topics")


def test_a_listing_that_failed_is_not_an_absent_subject(signed_in: As, watch: Watch) -> None:
    watch.expect(429, "/overview")
    page = signed_in("reader", "decode")
    refused = {"error_code": 429, "message": "Too many requests"}
    page.route("**/overview?**", lambda route: route.fulfill(status=429, json=refused))
    page.goto("topics")
    row = page.get_by_role("row").filter(has_text="flights")
    expect(row.locator("[data-gap=unknown]").first).to_have_text("unknown")
    page.goto("topics/flights/produce")
    expect(page.get_by_role("alert")).to_contain_text("Too many requests")


def test_groups_whose_lag_is_hidden_or_unknown_are_not_up_to_date(signed_in: As) -> None:
    page = signed_in("reader", "decode")
    groups = [{"consumer_group_id": name, "state": "STABLE"} for name in ("hidden", "late")]
    lag = {"topic_name": "flights", "partition_id": 0, "current_offset": 0, "log_end_offset": None, "lag": None}
    refused = {"error_code": 40301, "message": "Group authorization failed"}
    page.route("**/consumer-groups?*", lambda route: route.fulfill(json={"data": groups}))
    page.route("**/consumer-groups/hidden/lags", lambda route: route.fulfill(status=403, json=refused))
    page.route("**/consumer-groups/late/lags", lambda route: route.fulfill(json={"data": [lag]}))
    page.goto("topics/flights/groups")
    expect(page.get_by_role("row").filter(has_text="late")).to_contain_text("unknown")
    expect(page.locator("main")).not_to_contain_text("✓ none")
    expect(page.get_by_text("1 group not told:")).to_contain_text("you may not read it")
    page.route("**/consumer-groups/late/lags", lambda route: route.fulfill(json={"data": []}))
    page.reload()
    expect(page.get_by_role("heading", name="1 group asked: none reads this topic")).to_be_visible()
