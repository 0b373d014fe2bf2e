"""The list of subjects: one listing call, search for each key, the panel, selection, changes as they come."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry
from tests.ui.conftest import OpenPage
from tests.ui.kit.filling import FILLED, MANY, ODD_SUBJECT, fill_many, register
from tests.ui.kit.prefixing import prefixing
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser


def names(page: Page) -> list[str]:
    """The names of the rows in the document."""
    return page.locator("table.subjects tbody a").all_text_contents()


def search(page: Page) -> None:
    """Put the focus into the search."""
    page.get_by_role("searchbox", name="Search subjects").click()


def test_rows_tell_of_subjects_by_one_listing_call(page: Page, watch: Watch) -> None:
    page.goto("subjects")
    expect(page).to_have_title("Subjects - Magicbyte")
    expect(page.locator("table.subjects tbody tr")).to_have_count(len(FILLED))
    assert names(page) == list(FILLED)
    row = page.get_by_role("row").filter(has_text="payments-value")
    expect(row).to_contain_text("Avro")
    expect(row).to_contain_text("FULL")
    expect(row).to_contain_text("its own")
    expect(page.get_by_role("row").filter(has_text="flights-value")).to_contain_text("3")
    expect(page.locator(".count")).to_have_text("7")
    assert watch.count("GET /overview") == 1
    assert watch.count("GET /subjects") == 0


def test_an_id_or_a_guid_finds_every_version_that_has_it(page: Page, registry: ServerProcess, watch: Watch) -> None:
    versions = f"{registry.url}/subjects/flights-value/versions"
    first, latest = httpx.get(f"{versions}/1").json(), httpx.get(f"{versions}/latest").json()
    assert first["id"] != latest["id"]
    for typed in (f"id:{first['id']}", first["guid"], f"guid:{first['guid']}"):
        page.goto("subjects")
        search(page)
        page.keyboard.type(typed)
        row = page.locator("table.subjects tbody tr")
        expect(row).to_have_count(1)
        expect(row).to_contain_text("version 1")
        assert names(page) == ["flights-value"]
    page.keyboard.press("ArrowDown")
    row.locator("a").click()
    expect(page).to_have_url(re.compile("/subjects/flights-value/versions/1"))
    watch.expect(404, "/schemas/ids/987654")
    page.goto("subjects?q=id:987654")
    expect(page.get_by_role("heading", name="Nothing")).to_be_visible()


def test_words_are_anded_and_marked_and_kept_in_the_url(page: Page) -> None:
    page.goto("subjects")
    search(page)
    page.keyboard.type("VAL s")
    expect(page.locator("table.subjects tbody tr")).to_have_count(4)
    assert names(page) == ["customers-value", "flights-value", "orders-value", "payments-value"]
    assert page.locator("tbody tr").first.locator("mark").all_text_contents() == ["s", "val"]
    expect(page.locator(".ms")).to_have_text(re.compile(r"^\d+ ms$"))
    expect(page).to_have_url(re.compile(r"\?q=VAL\+s$"))
    page.reload()
    expect(page.locator("table.subjects tbody tr")).to_have_count(4)
    expect(page.get_by_role("searchbox")).to_have_value("VAL s")


def test_chips_filter_and_count(page: Page) -> None:
    page.goto("subjects")
    protobuf = page.get_by_role("button", name="Protobuf")
    expect(protobuf).to_contain_text("2")
    protobuf.click()
    expect(page.locator("table.subjects tbody tr")).to_have_count(2)
    expect(page).to_have_url(re.compile(r"\?type=PROTOBUF$"))
    protobuf.click()
    page.get_by_role("button", name="Own level").click()
    expect(page.locator("table.subjects tbody tr")).to_have_count(1)
    assert names(page) == ["payments-value"]
    page.goto("subjects?deleted=true")
    expect(page.locator("table.subjects tbody tr")).to_have_count(1)
    assert names(page) == ["gone-value"]
    expect(page.locator("tbody tr")).to_contain_text("deleted")


def test_counts_of_a_search_come_without_a_shift(page: Page) -> None:
    held: list[Route] = []
    page.route("**/search?*", lambda route: held.append(route))  # noqa: PLW0108  it must take attributes
    with page.expect_request("**/search?*"):
        page.goto("subjects?q=value")
    expect(page.locator("table.subjects tbody tr")).to_have_count(4)
    chips = page.get_by_role("group", name="Filters").get_by_role("button")
    before = [chip.bounding_box() for chip in chips.all()]
    for route in held:
        route.continue_()
    expect(chips.nth(1)).to_have_text(re.compile(r"In fields\s*0"))
    assert [chip.bounding_box() for chip in chips.all()] == before


def test_rows_are_sorted_by_a_column(page: Page) -> None:
    page.goto("subjects")
    page.get_by_role("button", name="Versions").click()
    expect(page.locator("tbody a").first).to_have_text("flights-value")
    expect(page).to_have_url(re.compile(r"sort=-versions"))
    expect(page.get_by_role("columnheader", name="Versions")).to_have_attribute("aria-sort", "descending")
    page.get_by_role("button", name="Subject").click()
    expect(page.locator("tbody a").first).to_have_text(ODD_SUBJECT)


def test_the_panel_shows_fields_and_the_last_change(page: Page) -> None:
    page.goto("subjects")
    page.get_by_role("row").filter(has_text="flights-value").locator("td").nth(3).click()
    peek = page.get_by_role("complementary", name="The subject in brief")
    expect(peek.get_by_role("heading", level=2)).to_have_text("flights-value")
    expect(peek).to_contain_text("nyc.Flight")
    expect(peek).to_contain_text("21 fields")
    expect(peek).to_contain_text("and 11 more")
    expect(peek).to_contain_text("Last change, version 2 to 3")
    expect(peek).to_contain_text("old readers")
    expect(peek).to_contain_text("+ wheels_up")
    expect(page).to_have_url(re.compile(r"peek=flights-value"))


def test_the_list_by_keyboard(page: Page) -> None:
    page.goto("subjects")
    expect(page.locator("table.subjects tbody tr")).to_have_count(len(FILLED))
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("tbody tr.on")).to_contain_text("acme/common/address.proto")
    page.keyboard.press("k")
    expect(page.locator("tbody tr.on")).to_contain_text(ODD_SUBJECT)
    page.keyboard.press("x")
    expect(page.get_by_role("region", name="Selected subjects")).to_contain_text("1 subject selected")
    page.keyboard.press("Escape")
    expect(page.locator("tbody tr.on")).to_have_count(0)
    page.keyboard.press("/")
    page.keyboard.type("flights")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator("tbody tr.on")).to_contain_text("flights-value")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/subjects/flights-value/versions/3$"))
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.go_back()
    expect(page.get_by_role("searchbox")).to_have_value("flights")


def test_two_selected_subjects_are_compared(page: Page) -> None:
    page.goto("subjects?peek=flights-key")
    expect(page.locator("tbody tr.on")).to_be_visible()
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    compare = page.get_by_role("link", name="Compare")
    expect(compare).to_have_attribute(
        "href", re.compile(r"/subjects/flights-value/compare\?fromSubject=flights-key&from=1&to=3$")
    )


def test_selected_subjects_are_exported_with_what_they_refer_to(page: Page) -> None:
    page.goto("subjects?peek=orders-value")
    expect(page.locator("tbody tr.on")).to_be_visible()
    page.keyboard.press("x")
    with page.expect_download() as download:
        page.get_by_role("region", name="Selected subjects").get_by_role("button", name="Export").click()
    lines = [json.loads(line) for line in download.value.path().read_text().splitlines()]
    assert [(line["subject"], line["version"]) for line in lines] == [
        ("acme/common/address.proto", 1),
        ("orders-value", 1),
        ("orders-value", 2),
    ]


def test_a_place_in_a_text_is_shown_at_its_line(page: Page) -> None:
    page.goto("subjects?q=wheels_up&in=texts")
    expect(page.locator("table.subjects tbody tr")).to_have_count(1)
    # The stored text is one line; the page shows it pretty.
    page.locator("table.subjects tbody a").click()
    expect(page).to_have_url(re.compile(r"/subjects/flights-value/versions/3#at-1-\d+$"))
    expect(page.locator(".l.on")).to_have_count(1)
    expect(page.locator(".l.on")).to_contain_text('"name": "wheels_up"')
    expect(page.locator(".l.on")).to_be_in_viewport()
    page.keyboard.press("Control+k")
    page.keyboard.type("wheels_up")
    page.get_by_role("group", name="In texts").get_by_role("option").click()
    expect(page).to_have_url(re.compile(r"#at-1-\d+$"))


def test_a_context_has_its_own_list(page: Page) -> None:
    page.goto("subjects")
    page.get_by_role("combobox", name="Context").select_option(".eu")
    expect(page).to_have_url(re.compile(r"/ui/contexts/\.eu/subjects$"))
    expect(page.locator("table.subjects tbody tr")).to_have_count(1)
    assert names(page) == ["orders-value"]
    page.locator("tbody a").click()
    expect(page).to_have_url(re.compile(r"/ui/contexts/\.eu/subjects/orders-value/versions/1$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("orders-value")


def test_a_search_without_rows_offers_the_same_search_elsewhere(page: Page) -> None:
    page.goto("subjects?q=gone")
    expect(page.get_by_role("heading", name="Nothing has gone in its name")).to_be_visible()
    page.locator(".state").get_by_role("button", name="Deleted").click()
    expect(page.locator("tbody a")).to_have_text("gone-value")


def test_a_subject_is_deleted_and_restored(scratch: ServerProcess, open_page: OpenPage) -> None:
    page = open_page(scratch.url)
    page.goto("subjects?peek=customers-value")
    expect(page.locator("tbody tr.on")).to_be_visible()
    page.keyboard.press("x")
    page.get_by_role("region", name="Selected subjects").get_by_role("button", name="Delete").click()
    expect(page.locator(".toast")).to_contain_text("customers-value deleted")
    expect(page.locator("tbody a", has_text="customers-value")).to_have_count(0)
    assert "customers-value" not in httpx.get(f"{scratch.url}/subjects", trust_env=False).json()
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator("tbody a", has_text="customers-value")).to_be_visible()
    assert "customers-value" in httpx.get(f"{scratch.url}/subjects", trust_env=False).json()


def test_a_new_subject_appears_in_two_tabs_that_share_one_stream(
    scratch: ServerProcess, open_page: OpenPage, watch: Watch
) -> None:
    first = open_page(scratch.url)
    first.goto("subjects")
    expect(first.locator("tbody a", has_text="orders-value")).to_be_visible()
    second = open_page(scratch.url, context=first.context)
    second.goto("subjects")
    expect(second.locator("tbody a", has_text="orders-value")).to_be_visible()
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        register(client, "news-value", '"string"')
    for page in (first, second):
        expect(page.locator("tbody a", has_text="news-value")).to_be_visible()
    assert watch.count("GET /events") == 1
    assert watch.count("GET /overview?deleted=true&subjectPrefix=news-value") == 2


def test_an_empty_registry_shows_three_ways_and_then_rows(open_page: OpenPage) -> None:
    with running_registry("memory:") as server:
        page = open_page(server.url)
        page.goto("")
        expect(page.get_by_role("link", name="New schema")).to_be_visible()
        expect(page.get_by_text("magicbyte demo", exact=True)).to_be_visible()
        expect(page.locator("pre").last).to_contain_text(f"{server.url}/subjects/orders-value/versions")
        with httpx.Client(base_url=server.url, trust_env=False) as client:
            register(client, "first-value", '"string"')
        expect(page.locator("tbody a")).to_have_text("first-value")
        page.close()


@pytest.fixture(scope="module")
def many() -> Iterator[ServerProcess]:
    """A registry with 20,000 subjects."""
    with running_registry("memory:") as server:
        fill_many(server.url)
        yield server


def test_twenty_thousand_subjects(many: ServerProcess, open_page: OpenPage, watch: Watch) -> None:
    page = open_page(many.url)
    page.goto("subjects")
    expect(page.locator(".count")).to_have_text("20,000")
    table = page.locator("table.subjects")
    expect(table).to_have_attribute("aria-rowcount", str(MANY + 1))
    assert page.locator("tr").count() < 120

    search(page)
    page.keyboard.type("refund settled")
    expect(page.locator(".count")).to_have_text("200 of 20,000")
    assert page.locator("tr").count() < 120

    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    expect(page.locator(".count")).to_have_text("20,000")
    page.keyboard.press("Escape")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    last = page.locator(f"tr[aria-rowindex='{MANY + 1}']")
    expect(last).to_be_in_viewport()
    assert page.locator("tr").count() < 120
    assert watch.count("GET /overview") == 1
    assert watch.count("GET /subjects") == 0

    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    session.send("Performance.enable")
    metrics = {metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]}
    assert metrics["JSHeapUsedSize"] < 30e6, metrics["JSHeapUsedSize"]


#: Where the parts of the list are.
_PLACES = """() => ["h1", ".count", ".box", ".chips", ".chip:last-child", "thead", "tr:nth-child(20)"].map((part) => {
  const {x, y, width, height} = document.querySelector(`.list-page ${part}`).getBoundingClientRect();
  return [part, x, y, width, height];
})"""


@pytest.mark.parametrize("width", [1280, 320])
def test_the_first_rows_do_not_wait_for_the_others(
    many: ServerProcess, open_page: OpenPage, watch: Watch, width: int
) -> None:
    rest = threading.Event()
    with prefixing(many.url, rest_of_listing=rest) as url:
        page = open_page(url, width=width)
        page.goto(f"{url}/ui/subjects")
        rows = page.locator("table.subjects tbody a")
        expect(rows.first).to_be_visible()
        # The counts, the filters and the height of the page are those of all subjects.
        expect(page.locator(".count")).to_have_text("20,000")
        expect(page.get_by_role("button", name="Avro")).to_contain_text("20,000")
        expect(page.locator("table.subjects")).to_have_attribute("aria-rowcount", str(MANY + 1))
        assert page.evaluate("document.documentElement.scrollHeight") > MANY * 38
        # The columns that are shown fill the table.
        headings = page.locator("table.subjects th:visible").evaluate_all("cells => cells.map(c => c.offsetWidth)")
        assert sum(headings) == page.locator("table.subjects").evaluate("table => table.offsetWidth")
        first, places = names(page)[:20], page.evaluate(_PLACES)
        assert first == sorted(first)
        # A search waits for the others, and a row can be opened.
        search(page)
        page.keyboard.type("parcel")
        expect(page.locator("table.subjects")).to_have_count(0)
        expect(page.locator("[aria-busy='true']")).to_be_attached()
        page.get_by_role("button", name="Clear the search").click()
        expect(rows.first).to_be_visible()
        assert page.evaluate("scrollY") == 0
        rest.set()
        expect(page.locator(".peek.idle h3")).to_be_attached()
        assert names(page)[:20] == first
        assert page.evaluate(_PLACES) == places
        search(page)
        page.keyboard.type("refund settled")
        expect(page.locator(".count")).to_have_text("200 of 20,000")
        assert watch.count(f"GET {urlsplit(url).path}/overview") == 1
        page.close()


def test_a_row_is_opened_before_the_others_are_there(many: ServerProcess, open_page: OpenPage) -> None:
    rest = threading.Event()
    with prefixing(many.url, rest_of_listing=rest) as url:
        page = open_page(url)
        page.goto(f"{url}/ui/subjects")
        link = page.locator("table.subjects tbody a").first
        subject = link.inner_text()
        link.click()
        expect(page.get_by_role("heading", level=1)).to_contain_text(subject)
        page.go_back()
        expect(link).to_have_text(subject)
        rest.set()
        expect(page.locator(".peek.idle h3")).to_be_attached()
        page.close()
