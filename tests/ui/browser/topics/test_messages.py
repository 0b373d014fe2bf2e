"""The messages of a topic: merged, searched, read as a kind, and larger than a page."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.ui.conftest import OpenPage
from tests.ui.kit.axe import findings
from tests.ui.kit.scanned import Searched, searched
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser

#: Longer than the column of ids.
LONG_NAME = "com.example.a.very.long.namespace.of.the.billing.department.OrderPlacedByACustomer"
MANY = 60_000


@pytest.fixture(scope="module")
def running(kafka: str) -> Iterator[Searched]:
    with searched(kafka) as running:
        yield running


@pytest.fixture(scope="module")
def numbers(running: Searched) -> str:
    """120 records in three partitions, one a second; the key is a long, the value is JSON."""
    topic = running.topic(3)
    running.produce(
        topic,
        [
            {
                "key": struct.pack(">q", n),
                "value": f'{{"n": {n}, "customer": {{"id": {n % 10}}}}}',
                "partition": n % 3,
                "timestamp": 1_000 * n + 1,
                "headers": [("parity", b"even" if n % 2 == 0 else b"odd")],
            }
            for n in range(120)
        ],
    )
    return topic


@pytest.fixture
def page(open_page: OpenPage, running: Searched) -> Page:
    return open_page(running.registry.url)


def places(page: Page) -> list[str]:
    """The places of the records that are shown."""
    return [text.strip() for text in page.locator(".record-at").all_text_contents()]


def place(number: int) -> str:
    return f"{number % 3}:{number // 3}"


def test_all_partitions_are_merged_page_by_page(page: Page, numbers: str) -> None:
    page.goto(f"topics/{numbers}/messages")
    records = page.locator(".record")
    expect(records).to_have_count(50)
    assert places(page) == [place(n) for n in range(119, 69, -1)]
    expect(page.locator("[data-end=limit]")).to_contain_text("50 records of 120 records")
    page.get_by_role("button", name="Older records").click()
    expect(records.first).to_contain_text('{"n": 69,')
    assert places(page) == [place(n) for n in range(69, 19, -1)]
    page.keyboard.press("]")
    expect(page.locator("[data-end=end]")).to_contain_text("This is the beginning.")
    assert places(page) == [place(n) for n in range(19, -1, -1)]
    page.get_by_role("button", name="First page").click()
    expect(records.first).to_contain_text('{"n": 119,')
    page.get_by_role("button", name="oldest").click()
    expect(records.first).to_contain_text('{"n": 0,')
    page.get_by_label("Partition").select_option("1")
    expect(records).to_have_count(40)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("value.customer.id = 7", range(117, -1, -10)),
        ("value.n >= 100 header:parity=even", range(118, 99, -2)),
        ('"n 119" absent', ()),
        ("key = 5", (5,)),
    ],
)
def test_a_filter_is_in_the_url(page: Page, running: Searched, numbers: str, text: str, found: range) -> None:
    page.goto(f"topics/{numbers}/messages?key=long")
    expect(page.locator(".record")).to_have_count(50)
    page.get_by_label("Filter messages").fill(text)
    page.get_by_role("button", name="Search", exact=True).click()
    if not found:
        expect(page.get_by_role("heading", name="No records fit the filter")).to_be_visible()
        expect(page.get_by_text("120 records searched.")).to_be_visible()
        page.get_by_role("button", name="Newest records").click()
        expect(page.locator(".record")).to_have_count(50)
        return
    expect(page.locator("[data-end=end]")).to_contain_text(f"{len(found)} found in 120 records.")
    assert places(page) == [place(n) for n in found]
    address = page.url
    page.goto("topics")
    page.goto(address)
    expect(page.locator("[data-end=end]")).to_be_visible()
    assert places(page) == [place(n) for n in found]
    expect(page.get_by_label("Filter messages")).to_have_value(text)
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".record")).to_have_count(50)


def test_a_filter_that_cannot_be_read(page: Page, numbers: str, watch: Watch) -> None:
    watch.expect(400, "/ui/messages")
    page.goto(f"topics/{numbers}/messages")
    page.get_by_label("Filter messages").fill("price = 5")
    page.get_by_label("Filter messages").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("= needs a field before it and a value behind it")


def test_times_narrow_the_messages(page: Page, numbers: str) -> None:
    page.goto(f"topics/{numbers}/messages?since=1970-01-01T00:00:10Z&until=15000")
    expect(page.locator(".record")).to_have_count(5)
    assert places(page) == [place(n) for n in range(10, 15)]
    expect(page.get_by_label("from", exact=True)).to_have_value("1970-01-01T00:00:10")
    expect(page.get_by_label("to", exact=True)).to_have_value("1970-01-01T00:00:15")


def test_keys_and_values_are_read_as_a_kind(page: Page, numbers: str) -> None:
    page.goto(f"topics/{numbers}/messages?partition=0&offset=2")
    first = page.locator(".record").first
    expect(first.locator(".record-key")).to_contain_text("✕ not decoded: ")
    page.get_by_label("Read keys as").select_option("long")
    expect(first.locator(".record-key")).to_have_text("key 6")
    page.get_by_label("Read values as").select_option("int")
    expect(first.locator(".record-value")).to_contain_text("✕ not decoded: an int has 4 bytes; this has")
    page.get_by_label("Read values as").select_option("hex")
    expect(first.locator(".record-value")).to_contain_text('"7b226e223a20362c')
    assert "key=long" in page.url
    assert "value=hex" in page.url
    page.reload()
    expect(first.locator(".record-key")).to_have_text("key 6")
    page.get_by_role("button", name="0:2", exact=True).click()
    expect(page.locator(".record.open")).to_contain_text("read as long")


def test_values_are_read_as_payloads_of_a_schema(page: Page, running: Searched) -> None:
    topic = running.topic()
    schema_id = running.register(f"{topic}-other", {"type": "map", "values": "long"})
    running.produce(topic, [{"value": running.encode(schema_id, {"a": 9223372036854775807})[0][5:]}])
    page.goto(f"topics/{topic}/messages")
    page.get_by_label("Read values as").select_option("schema")
    page.get_by_label("Schema id of values").fill(str(schema_id))
    page.get_by_label("Schema id of values").press("Enter")
    expect(page.locator(".record-value")).to_have_text('{"a": 9223372036854775807}')
    assert f"value=schema%3A{schema_id}" in page.url


def test_large_messages_are_several_to_a_page(page: Page, running: Searched) -> None:
    topic = running.topic()
    running.produce(topic, [{"value": f'{{"n": {n}, "text": "{"x" * 999_000} end"}}'} for n in range(5)])
    page.goto(f"topics/{topic}/messages?value=json")
    records = page.locator(".record")
    expect(records).to_have_count(5)
    expect(records.first).to_contain_text('{"n": 4, "text": "xxx')
    page.get_by_role("button", name="0:4").click()
    opened = page.locator(".record.open")
    expect(opened).to_contain_text("only the beginning is shown")
    expect(opened).to_contain_text("999,024 bytes")
    expect(opened.get_by_role("button", name="Copy", exact=True)).to_have_count(0)
    opened.get_by_role("button", name="Show the whole record").click()
    expect(opened.get_by_role("region", name="Value")).to_contain_text('x end"')
    expect(opened).not_to_contain_text("only the beginning is shown")
    expect(opened.get_by_role("button", name="Copy", exact=True)).to_have_count(1)


@pytest.mark.parametrize("width", [1280, 320])
def test_the_id_stays_beside_a_long_subject(open_page: OpenPage, running: Searched, width: int) -> None:
    topic = running.topic()
    schema_id = running.register(f"{topic}-{LONG_NAME}", {"type": "string"})
    running.produce(topic, [{"key": "k", "value": running.encode(schema_id, "text")[0]}])
    page = open_page(running.registry.url, width=width)
    page.goto(f"topics/{topic}/messages")
    shown = page.locator(".record-id .schema-id")
    expect(shown).to_have_text(f"id {schema_id}")
    expect(page.locator(".record-id a")).to_have_attribute("title", re.compile(re.escape(LONG_NAME)))
    at, column = shown.bounding_box(), page.locator(".record-id").bounding_box()
    link, value = page.locator(".record-id a").bounding_box(), page.locator(".record-value").bounding_box()
    assert at is not None
    assert column is not None
    assert link is not None
    assert value is not None
    assert at["width"] > 20
    assert column["x"] <= at["x"]
    assert at["x"] + at["width"] <= column["x"] + column["width"]
    assert width == 320 or link["x"] + link["width"] <= value["x"]
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_search_shows_its_progress_and_is_cancelled(page: Page, running: Searched) -> None:
    topic = running.topic(2)
    running.produce(topic, [{"value": f"flight {n}", "partition": n % 2} for n in range(MANY)])
    page.goto(f"topics/{topic}/messages?q=absent")
    progress = page.locator(".search-progress")
    expect(progress).to_contain_text(re.compile(r"[1-9][\d,]* of 60,000 records searched, 0 found"))
    progress.get_by_role("button", name="Cancel").click()
    expect(progress).to_have_count(0)
    foot = page.locator("[data-end=cancelled]")
    expect(foot).to_contain_text(re.compile(r"Cancelled after [\d,]+ records\."))
    foot.get_by_role("button", name="Search on").click()
    expect(page.get_by_role("heading", name="No records fit the filter")).to_be_visible(timeout=120_000)


def test_follow_all_partitions_with_a_filter(page: Page, running: Searched) -> None:
    topic = running.topic(2)
    running.produce(topic, [{"value": "needle before"}])
    page.goto(f"topics/{topic}/messages?q=needle&follow=true")
    expect(page.locator("[data-following=waiting]")).to_be_visible()
    running.produce(topic, [{"value": "needle one", "partition": 1}, {"value": "other"}])
    running.produce(topic, [{"value": "needle two"}])
    expect(page.locator(".record")).to_have_count(2)
    assert [text.strip() for text in page.locator(".record-value").all_text_contents()] == [
        '"needle one"',
        '"needle two"',
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(open_page: OpenPage, running: Searched, numbers: str, theme: str) -> None:
    page = open_page(running.registry.url, theme=theme)
    page.goto(f"topics/{numbers}/messages?q=value.n+%3E+100&value=schema%3A1&key=long")
    expect(page.locator("[data-end], .state").first).to_be_visible()
    page.get_by_text("What a filter may have").click()
    assert findings(page) == []
