"""Topics and messages with a real broker and REST proxy, also while the broker is gone."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import Page, expect

from magicbyte.platform.broker import LocalBroker, free_port
from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry, running_rest_proxy, temporary_broker
from tests.topics import create_topics
from tests.ui.conftest import OpenPage
from tests.ui.kit.axe import findings
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser

F1 = {"name": "f1", "type": "string"}
F2 = {"name": "f2", "type": "string", "default": "any"}
PAYMENT = {
    "type": "record",
    "name": "Payment",
    "namespace": "acme",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 4}},
        {"name": "note", "type": ["null", "string"], "default": None},
    ],
}


def record(*fields: Any) -> dict[str, Any]:
    return {"type": "record", "name": "myrecord", "fields": list(fields)}


@dataclass(frozen=True, slots=True)
class Kafka:
    """A broker, a registry that serves the page, and a REST proxy behind the page."""

    broker: LocalBroker
    registry: ServerProcess
    proxy: ServerProcess

    def register(self, subject: str, schema: Any) -> int:
        body = {"schema": json.dumps(schema)}
        return int(httpx.post(f"{self.registry.url}/subjects/{subject}/versions", json=body).json()["id"])

    def encode(self, subject: str, version: int, *values: Any) -> list[bytes]:
        body = {"subject": subject, "version": version, "data": values}
        answer = httpx.post(f"{self.registry.url}/ui/encode", json=body).json()
        return [base64.b64decode(item["data"]) for item in answer["data"]]

    def produce(self, topic: str, *values: bytes | None, partition: int = 0, **options: Any) -> None:
        producer = Producer({"bootstrap.servers": self.broker.bootstrap_servers})
        for value in values:
            producer.produce(topic, value, partition=partition, **options)
        assert producer.flush(30) == 0

    def consumed(self, topic: str, offset: int) -> Any:
        from confluent_kafka import TopicPartition  # noqa: PLC0415  beside its only use

        consumer = Consumer({"bootstrap.servers": self.broker.bootstrap_servers, "group.id": "reader"})
        consumer.assign([TopicPartition(topic, 0, offset)])
        message = consumer.poll(30)
        consumer.close()
        assert message is not None
        return message


@pytest.fixture(scope="module")
def kafka_page() -> Iterator[Kafka]:
    port = free_port()
    with (
        temporary_broker() as broker,
        running_registry(properties={"magicbyte.ui.rest.url": f"http://127.0.0.1:{port}"}) as registry,
        running_rest_proxy(broker.bootstrap_servers, registry.url, port=port) as proxy,
    ):
        made = Kafka(broker, registry, proxy)
        admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        names = ("t2", "test", "payments", "broken", "followed")
        create_topics(admin, *[NewTopic(name, 2 if name == "t2" else 1, 1) for name in names])
        made.register("t2-value", record(F1))
        made.register("t2-value", record(F1, F2))
        made.register("payments-value", PAYMENT)
        made.register("lonely-value", {"type": "string"})
        made.produce("t2", *made.encode("t2-value", 1, *({"f1": f"value{n}"} for n in range(1, 4))), key="UA")
        made.produce("t2", *made.encode("t2-value", 2, {"f1": "value4", "f2": "any"}), headers=[("trace", b"abc")])
        made.produce("broken", b"\0\0\0\0\x4dxx", None, b"\5\xff", b"<img onerror=alert(1)>\xe2\x80\xae")
        yield made


@pytest.fixture
def page(open_page: OpenPage, kafka_page: Kafka) -> Page:
    return open_page(kafka_page.registry.url)


def test_topics_and_subjects_that_miss_each_other(page: Page, watch: Watch) -> None:
    page.goto("topics")
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="t2", exact=True))
    expect(row.get_by_role("link", name="t2-value")).to_be_visible()
    expect(row).to_contain_text("no subject")
    page.get_by_role("button", name=re.compile("Topics without a subject")).click()
    expect(page.get_by_role("link", name="test", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="t2", exact=True)).to_have_count(0)
    expect(page.get_by_role("link", name="Set a schema for the values of test")).to_have_attribute(
        "href", re.compile(r"/ui/new\?topic=test&part=value$")
    )
    page.get_by_role("button", name=re.compile("Subjects without a topic")).click()
    expect(page.get_by_role("row").filter(has_text="not among the broker's topics")).to_contain_text("lonely")
    assert "show=lost" in page.url
    page.get_by_label("Filter topics").fill("nothing")
    page.get_by_role("button", name="Show all topics").click()
    expect(page.get_by_role("link", name="payments", exact=True)).to_be_visible()
    assert watch.count("GET /ui/rest/v3/clusters/") == 1


def test_a_topic(page: Page) -> None:
    page.goto("topics/t2")
    expect(page.locator(".topic-size")).to_have_text("4 records in 2 partitions")
    expect(page.locator(".part-facts")).to_contain_text("myrecord")
    expect(page.get_by_role("link", name="compare 1 to 2")).to_have_attribute(
        "href", re.compile("/ui/subjects/t2-value/compare$")
    )
    expect(page.get_by_role("link", name="Set a schema for the keys")).to_have_attribute(
        "href", re.compile(r"/ui/new\?topic=t2&part=key$")
    )
    met = page.locator(".met")
    expect(met).to_contain_text("t2-value v1")
    expect(met).to_contain_text("3 records")
    page.get_by_role("link", name="Messages of partition 0").click()
    expect(page.locator(".record")).to_have_count(4)


def test_frames_in_headers_beside_prefixes(page: Page, watch: Watch, kafka_page: Kafka) -> None:
    """The page decodes both, and counts the guid beside the id."""
    admin = AdminClient({"bootstrap.servers": kafka_page.broker.bootstrap_servers})
    create_topics(admin, NewTopic("mixed", 1, 1))
    kafka_page.register("mixed-value", record(F1))
    for framing, text in (("prefix", "before"), ("header", "beside")):
        answer = httpx.post(
            f"{kafka_page.registry.url}/ui/encode",
            json={"subject": "mixed-value", "version": 1, "framing": framing, "data": [{"f1": text}]},
        ).json()
        (item,) = answer["data"]
        headers = [("__value_schema_id", base64.b64decode(item["header"]))] if framing == "header" else None
        kafka_page.produce("mixed", base64.b64decode(item["data"]), headers=headers)
    page.goto("topics/mixed/messages?partition=0")
    records = page.locator(".record")
    expect(records).to_have_count(2)
    for text in ("before", "beside"):
        expect(records.filter(has_text=f'{{"f1": "{text}"}}')).to_have_count(1)
    page.goto("topics/mixed")
    rows = page.locator(".met li")
    expect(rows.filter(has_text="mixed-value v1")).to_have_count(2)
    guid = item["guid"]
    expect(page.get_by_role("link", name=f"guid {guid}")).to_have_attribute(
        "href", re.compile(rf"/ui/schemas/guids/{guid}$")
    )


def test_messages(page: Page, watch: Watch) -> None:
    page.goto("topics/t2/messages?partition=0")
    records = page.locator(".record")
    expect(records).to_have_count(4)
    expect(records.last).to_contain_text('"UA"')
    expect(records.last).to_contain_text("(v1)")
    expect(records.last).to_contain_text('{"f1": "value1"}')
    expect(records.first).to_contain_text('{"f1": "value4", "f2": "any"}')
    assert watch.count("POST /ui/messages") == 1
    page.get_by_role("button", name="0:3").click()
    expect(page.get_by_role("region", name="Value")).to_contain_text('"f2": "any"')
    expect(page.locator(".record.open")).to_contain_text("trace")
    page.get_by_role("button", name="Hex").first.click()
    expect(page.locator(".record.open .cell.id")).to_contain_text("2")
    assert "open=0-3" in page.url
    assert watch.count("POST /ui/messages") == 1
    page.get_by_label("offset", exact=True).fill("2")
    page.get_by_label("offset", exact=True).press("Enter")
    expect(records).to_have_count(2)
    page.get_by_role("button", name="newest").click()
    expect(records).to_have_count(4)
    page.get_by_label("from", exact=True).fill("2099-01-01T00:00:00")
    expect(page.get_by_role("heading", name="No records since that time")).to_be_visible()
    page.get_by_role("button", name="oldest").click()
    expect(records).to_have_count(4)
    expect(records.first).to_contain_text('{"f1": "value1"}')
    assert not [request for request in watch.requests if "/consumers" in request]


def test_messages_that_do_not_decode(page: Page) -> None:
    page.goto("topics/broken/messages?order=oldest")
    records = page.locator(".record")
    expect(records.nth(0)).to_contain_text("✕ not decoded: id 77 is unknown")
    expect(records.nth(1)).to_contain_text("tombstone")
    expect(records.nth(2)).to_contain_text("✕ not decoded: the first byte is 5, not 0 or 1")
    expect(records.nth(3)).to_contain_text("<img onerror=alert(1)>")
    expect(records.nth(3).locator(".char")).to_have_text("U+202E")
    page.get_by_role("button", name="0:0").click()
    expect(records.nth(0).locator(".dump")).to_contain_text("····Mxx")
    records.nth(0).get_by_role("link", name="Decode").click()
    expect(page.get_by_role("note")).to_contain_text("Id 77 is unknown.")


def test_every_digit_is_produced_shown_and_consumed(page: Page, kafka_page: Kafka) -> None:
    page.goto("topics/payments/produce")
    text = '{"id": 9223372036854775807, "amount": "-12345678901234567890123456789012.3456", "note": null}'
    value = page.get_by_label("Value as JSON")
    expect(value).to_have_value(re.compile('"amount": "0.0000"'))
    value.fill('{"id": 9223372036854775808}')
    expect(page.locator("#checked-value")).to_contain_text("1:8 $.id: int does not fit long (out of range)")
    value.fill("{")
    expect(page.locator("#checked-value")).to_contain_text("it is not JSON")
    value.fill(text)
    expect(page.locator("#checked-value")).to_contain_text("bytes with id")
    page.get_by_role("button", name="Header", exact=True).click()
    page.get_by_label("Name of header 1").fill("who")
    page.get_by_label("Value of header 1").fill("é")
    page.get_by_role("button", name="Produce", exact=True).click()
    page.get_by_role("link", name="0:0", exact=True).click()
    shown = page.get_by_role("region", name="Value")
    expect(shown).to_contain_text('"id": 9223372036854775807')
    expect(shown).to_contain_text('"amount": "-12345678901234567890123456789012.3456"')
    message = kafka_page.consumed("payments", 0)
    assert message.headers() == [("who", "é".encode())]
    assert kafka_page.encode("payments-value", 1, json.loads(text)) == [message.value()]
    page.get_by_role("link", name="Produce again").click()
    expect(page.get_by_label("Value as JSON")).to_have_value(re.compile("9223372036854775807"))
    expect(page.locator("#checked-value")).to_contain_text("bytes with id")
    page.get_by_role("button", name="Produce", exact=True).click()
    expect(page.get_by_role("link", name="0:1", exact=True)).to_be_visible()
    assert kafka_page.consumed("payments", 1).value() == message.value()


def test_a_tombstone_and_a_text(page: Page, kafka_page: Kafka) -> None:
    page.goto("topics/test/produce")
    page.get_by_role("group", name="Key is").get_by_role("button", name="text").click()
    page.get_by_role("textbox", name="Key").fill("k")
    page.get_by_role("textbox", name="Value").fill("plain")
    page.get_by_role("button", name="Produce", exact=True).click()
    expect(page.get_by_role("link", name="0:0", exact=True)).to_be_visible()
    page.get_by_role("button", name="tombstone").click()
    page.get_by_role("button", name="Produce", exact=True).click()
    expect(page.get_by_role("link", name="0:1", exact=True)).to_be_visible()
    first, second = (kafka_page.consumed("test", offset) for offset in (0, 1))
    assert (first.key(), first.value(), second.key(), second.value()) == (b"k", b"plain", b"k", None)


def test_follow(page: Page, kafka_page: Kafka) -> None:
    page.goto("topics/followed/messages")
    page.get_by_role("button", name="Follow", exact=True).click()
    expect(page.locator("[data-following=waiting]")).to_be_visible()
    kafka_page.produce("followed", b"one", b"two")
    expect(page.locator(".record")).to_have_count(2)
    kafka_page.produce("followed", b"three")
    expect(page.locator(".record").last).to_contain_text('"three"')
    expect(page.locator(".topic-size")).to_have_text("3 records in 1 partition")


def commit_one(kafka_page: Kafka) -> None:
    """Commit an offset of t2 in the group `billing`."""
    consumer = Consumer(
        {
            "bootstrap.servers": kafka_page.broker.bootstrap_servers,
            "group.id": "billing",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe(["t2"])
    message = consumer.poll(30)
    assert message is not None
    consumer.commit(message, asynchronous=False)
    consumer.close()


def test_groups_and_lag(page: Page, kafka_page: Kafka) -> None:
    commit_one(kafka_page)
    page.goto("topics/t2/groups")
    row = page.get_by_role("row").filter(has_text="billing")
    expect(row).to_contain_text("3 records")
    row.get_by_role("button").click()
    expect(page.locator(".lag-row")).to_contain_text("partition 0")


def test_the_way_from_a_topic_to_its_schema(page: Page, watch: Watch) -> None:
    page.goto("topics")
    page.get_by_role("link", name="t2", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("t2")
    page.get_by_role("link", name="t2-value", exact=True).click()
    expect(page).to_have_url(re.compile("/ui/subjects/t2-value/versions/2$"))


@pytest.mark.parametrize("path", ["topics", "topics/t2", "topics/t2/messages?open=3", "topics/payments/produce"])
def test_nothing_is_cut_off_on_a_phone(open_page: OpenPage, kafka_page: Kafka, path: str) -> None:
    page = open_page(kafka_page.registry.url, width=320, theme="dark")
    page.goto(path)
    expect(page.locator(".topic-table, .partition-table, .record.open, .part-input").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 320


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_axe_finds_nothing(open_page: OpenPage, kafka_page: Kafka, theme: str, width: int) -> None:
    page = open_page(kafka_page.registry.url, theme=theme, width=width)
    message = kafka_page.encode("t2-value", 2, {"f1": "a", "f2": "b"})[0]
    ready = {
        "topics": ".topic-table",
        "topics/t2": ".met",
        "topics/broken/messages?open=0": ".record.open .dump",
        "topics/t2/messages?partition=0&open=3": ".record.open .code",
        "topics/t2/messages?follow=true": "[data-following]",
        "topics/payments/produce": "#checked-value .ok-text",
        "topics/t2/groups": ".page.groups table, .page.groups .state",
        f"decode#hex={message.hex()}": "[data-decoded]",
        "decode#hex=05ff": ".note",
    }
    problems = []
    for path, selector in ready.items():
        page.goto("subjects")
        page.goto(path)
        expect(page.locator(selector).first).to_be_visible()
        problems += [f"{path}: {finding}" for finding in findings(page)]
    assert problems == []


def test_a_proxy_without_version_3(open_page: OpenPage, kafka_page: Kafka, watch: Watch) -> None:
    watch.expect(404, "/ui/rest/v3/clusters")
    port = free_port()
    bootstrap = kafka_page.broker.bootstrap_servers
    with (
        running_registry(properties={"magicbyte.ui.rest.url": f"http://127.0.0.1:{port}"}) as registry,
        running_rest_proxy(bootstrap, registry.url, port=port, properties={"api.v3.enable": "false"}),
    ):
        page = open_page(registry.url)
        page.goto("topics")
        page.get_by_role("link", name="t2", exact=True).click()
        expect(page.locator(".topic-size")).to_have_text("4 records in 2 partitions")
        page.goto("topics/t2/messages?partition=0")
        expect(page.locator(".record")).to_have_count(4)
        expect(page.locator(".record").filter(has_text='"UA"')).to_have_count(3)
        expect(page.get_by_role("link", name="Groups")).to_have_count(0)
        page.goto("topics/test/produce")
        page.get_by_role("textbox", name="Value").fill("by version 2")
        page.get_by_role("button", name="Produce", exact=True).click()
        expect(page.get_by_text("Produced", exact=True)).to_be_visible()
        page.close()  # else it tries to reach the servers that end here


def test_without_a_rest_proxy(open_page: OpenPage) -> None:
    page = open_page()
    page.goto("topics")
    expect(page.get_by_role("heading", name="No REST proxy is set")).to_be_visible()
    expect(page.get_by_text("magicbyte.ui.rest.url=http://localhost:8082", exact=True)).to_be_visible()
    page.get_by_role("link", name="Decode pasted bytes instead").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Decode")


def test_the_broker_goes_and_comes_back(page: Page, kafka_page: Kafka, watch: Watch) -> None:
    for status in (500, 502, 503, 504):
        watch.expect(status, "/ui/rest/")
    # Messages that the view asked for may be on their way when the proxy dies.
    watch.expect(502, "/ui/messages")
    commit_one(kafka_page)
    page.goto("topics/t2")
    expect(page.locator(".partition-table")).to_be_visible()
    kafka_page.proxy.kill()
    page.get_by_role("link", name="Groups").click()
    expect(page.locator(".strip")).to_contain_text("The broker cannot be read")
    kafka_page.proxy.start()
    page.get_by_role("button", name="Ask now").click()
    expect(page.locator(".strip")).to_have_count(0)
    expect(page.get_by_role("row").filter(has_text="billing")).to_be_visible()
