"""Compare: who reads what, what changed, and the registry's words at the line."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.ui.kit.filling import ODD_SUBJECT, flight, register

if TYPE_CHECKING:
    from magicbyte.platform.server_process import ServerProcess
    from tests.ui.conftest import OpenPage
    from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser

FLIGHTS = "subjects/flights-value/compare?from=1&to=3"


def note(page: Page) -> Locator:
    """The notes under the lines."""
    return page.locator(".texts").get_by_role("note")


def changed(page: Page) -> Locator:
    """The buttons of the list of changes."""
    return page.get_by_role("complementary", name="Changes").get_by_role("button")


def test_who_reads_whom_and_why_not(page: Page, watch: Watch) -> None:
    page.goto(FLIGHTS)
    cards = page.locator(".verdict")
    expect(cards.nth(0)).to_contain_text("Version 3 reads what version 1 wrote")
    expect(cards.nth(0)).to_contain_text(
        "Backward holds. Upgrade readers first: two new fields have defaults, and int is read as long."
    )
    expect(cards.nth(1)).to_contain_text("Version 1 cannot read what version 3 writes")
    expect(cards.nth(1)).to_contain_text(
        "Forward breaks at one place. BACKWARD allows it; readers still on version 1 stop."
    )
    expect(page).to_have_title("flights-value: 1 to 3 - Magicbyte")

    expect(changed(page)).to_have_count(3)
    expect(changed(page).nth(0)).to_have_text(re.compile(r"changed\s*distance\s*breaks\s*old readers\s*int → long"))
    expect(changed(page).nth(1)).to_contain_text('string = "first"')
    expect(changed(page).nth(2)).to_contain_text("null | timestamp-millis = null")
    expect(changed(page).nth(2)).to_contain_text("When the aircraft left the ground")
    expect(page.get_by_text("18 fields as they were")).to_be_visible()
    levels = page.locator(".other-levels dd")
    expect(levels).to_have_text(["allowed", "refused", "refused"])

    # The finding is at line 32 of both pretty texts, with the registry's words under it.
    expect(page.get_by_text("29 lines as they were")).to_be_visible()
    expect(page.locator(".pair .del:visible")).to_have_text(re.compile(r'32\s*\u2212\s*removed\s*"type": "int"'))
    expect(page.locator(".pair .add:visible").first).to_have_text(re.compile(r'32\s*\+\s*added\s*"type": "long"'))
    expect(page.locator(".pair .del mark:visible")).to_have_text('"int"')
    expect(note(page)).to_have_count(1)
    expect(note(page)).to_contain_text("Breaks readers with version 1, on data written with version 3")
    expect(note(page)).to_contain_text("TYPE_MISMATCH, from new to old /fields/6/type")
    expect(note(page)).to_contain_text(
        "The old schema has INT where the new schema has LONG. A reader cannot make INT of the LONG that was written."
    )
    expect(note(page)).to_contain_text("Remedy")
    expect(note(page)).to_contain_text('"distance":0')
    expect(note(page)).to_contain_text("The reader refuses it.")
    data = [request for request in watch.requests if "/ui/" not in request and "/subjects/" in request]
    assert len(data) == 3, data


def test_the_address_is_the_state(open_page: OpenPage, watch: Watch) -> None:
    first = open_page()
    first.goto(FLIGHTS)
    first.get_by_role("button", name="Unified").click()
    expect(changed(first)).to_have_count(3)
    first.keyboard.press("n")
    expect(changed(first).nth(1)).to_have_attribute("aria-current", "true")
    expect(first).to_have_url(re.compile(r"\?from=1&to=3&view=unified#nyc\.Flight\.source$"))

    second = open_page(theme="dark")
    second.goto(first.url)
    expect(changed(second).nth(1)).to_have_attribute("aria-current", "true")
    expect(second.get_by_role("button", name="Unified")).to_have_attribute("aria-pressed", "true")
    lines = second.locator(".single .l:visible")
    expect(lines.filter(has_text='"type": "int"').first).to_have_text(re.compile(r"^\s*32\s*\u2212"))
    second.keyboard.press("p")
    expect(changed(second).nth(0)).to_have_attribute("aria-current", "true")


def test_print_is_light_unified_and_unfolded(open_page: OpenPage) -> None:
    page = open_page(theme="dark")
    page.goto(FLIGHTS)
    expect(note(page)).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator(".l.new", has_text='"year"')).to_be_visible()
    expect(page.get_by_text("29 lines as they were")).to_be_hidden()
    expect(page.locator(".controls")).to_be_hidden()
    removed, added = page.locator(".pair .del").bounding_box(), page.locator(".pair .add").first.bounding_box()
    assert removed
    assert added
    assert removed["x"] == added["x"]
    assert removed["y"] < added["y"]
    assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--ink').trim()") == "#000000"
    assert page.pdf().startswith(b"%PDF")
    address = page.url
    assert (page.locator("body").get_attribute("data-printed") or "").startswith(f"{address}, ")


def test_folds_open_and_the_whole_text_is_shown(page: Page) -> None:
    page.goto(FLIGHTS)
    year = page.locator(".pair .new", has_text='"year"')
    expect(year).to_be_hidden()
    page.get_by_role("button", name="29 lines as they were").click()
    expect(year).to_be_visible()
    page.get_by_role("button", name="Whole text").click()
    expect(page.get_by_role("button", name="lines as they were")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"all=1"))
    expect(page.locator(".pair")).to_have_count(106)


def test_the_newest_against_the_one_before(page: Page) -> None:
    page.goto("subjects/flights-value/versions/3")
    expect(page.get_by_role("link", name="compare 2 to 3")).to_be_visible()
    page.keyboard.press("d")
    expect(page).to_have_url(re.compile(r"/compare\?from=2&to=3$"))
    expect(page.locator(".verdict").nth(1)).to_contain_text("Version 2 cannot read what version 3 writes")
    page.goto("subjects/flights-value/compare")
    expect(page.locator(".verdict").nth(1)).to_contain_text("Version 2 cannot read what version 3 writes")


def test_any_two_versions_of_any_two_subjects(page: Page) -> None:
    page.goto(FLIGHTS)
    page.get_by_role("button", name="Old side: version 1").click()
    page.get_by_role("link", name="Version 2 id 2").click()
    expect(page).to_have_url(re.compile(r"from=2&to=3"))
    expect(changed(page)).to_have_count(2)
    page.get_by_role("link", name="Swap the sides").click()
    expect(page).to_have_url(re.compile(r"from=3&to=2"))
    expect(page.locator(".verdict").nth(0)).to_contain_text("Version 2 cannot read what version 3 wrote")
    page.get_by_role("button", name="Old side: version 3").click()
    page.get_by_role("combobox", name="The latest version of another subject").fill("payments-value")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"from=1&to=2&fromSubject=payments-value"))
    expect(page.locator(".verdict").nth(0)).to_contain_text(
        "Version 2 cannot read what version 1 of payments-value wrote"
    )


def test_a_version_beside_itself_has_no_change(page: Page) -> None:
    page.goto("subjects/flights-value/compare?from=3&to=3")
    expect(page.get_by_text("The texts are the same, token by token.")).to_be_visible()
    expect(page.get_by_text("0 changes")).to_be_visible()
    expect(page.locator(".verdict").nth(0)).to_contain_text("Backward holds. Nothing changed.")


def test_json_schema_shows_instances(open_page: OpenPage, scratch: ServerProcess) -> None:
    user = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "email": {"type": "string"},
            "tags": {"type": "array", "prefixItems": [{"type": "string"}]},
        },
        "required": ["id"],
        "additionalProperties": False,
    }
    properties = {name: value for name, value in user["properties"].items() if name != "tags"}  # type: ignore[attr-defined]
    stricter = user | {"properties": properties, "required": ["id", "email"]}
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        client.put("/config/users-value", json={"compatibility": "NONE"}).raise_for_status()
        register(client, "users-value", json.dumps(user), "JSON")
        register(client, "users-value", json.dumps(stricter), "JSON")
    page = open_page(scratch.url)
    page.goto("subjects/users-value/compare")
    expect(page.locator(".verdict").nth(0)).to_contain_text("Backward breaks at two places. NONE allows it")
    expect(changed(page).nth(0)).to_contain_text("optional → required")
    required = note(page).filter(has_text="REQUIRED_ATTRIBUTE_ADDED")
    expect(required).to_contain_text('"email" is a required property')
    removed = note(page).filter(has_text="PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL")
    expect(removed.locator("code")).to_have_text(re.compile(r'^\{.*"id":.*\}$'))


def test_protobuf_breaks_in_both_directions(open_page: OpenPage, scratch: ServerProcess) -> None:
    numbered = "".join(f"  string field_{number} = {number};\n" for number in range(1, 15))
    text = 'syntax = "proto3";\npackage acme.orders;\n\nmessage Order {{\n{}  {} total = 15;\n}}\n'
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        client.put("/config/totals-value", json={"compatibility": "NONE"}).raise_for_status()
        register(client, "totals-value", text.format(numbered, "int32"), "PROTOBUF")
        register(client, "totals-value", text.format(numbered, "string"), "PROTOBUF")
    page = open_page(scratch.url)
    page.goto("subjects/totals-value/compare")
    expect(page.locator(".pair .del:visible")).to_have_text(re.compile(r"19\s*\u2212\s*removed\s*int32 total = 15;"))
    expect(page.locator(".pair .add:visible")).to_have_text(re.compile(r"19\s*\+\s*added\s*string total = 15;"))
    expect(changed(page)).to_contain_text("int32 → string")
    expect(changed(page)).to_contain_text("both ways")
    expect(note(page)).to_have_count(2)
    expect(note(page).filter(has_text="Breaks readers with version 1")).to_contain_text('{"total":"a"}')
    expect(note(page).filter(has_text="Breaks readers with version 2")).to_contain_text('{"total":1}')
    expect(page.get_by_role("button", name="17 lines as they were, then in Order")).to_be_hidden()


def test_a_message_that_was_added_is_removed_on_the_way_back(open_page: OpenPage, scratch: ServerProcess) -> None:
    text = 'syntax = "proto3";\npackage acme;\n\nmessage Old {{\n  string id = 1;\n}}\n{}'
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        register(client, "grown-value", text.format(""), "PROTOBUF")
        register(client, "grown-value", text.format("\nmessage New {\n  string id = 1;\n}\n"), "PROTOBUF")
    page = open_page(scratch.url)
    page.goto("subjects/grown-value/compare")
    expect(note(page)).to_contain_text("Breaks readers with version 1, on data written with version 2")
    expect(note(page).locator(".rule")).to_have_text(re.compile("^MESSAGE_REMOVED, from new to old "))
    page.goto("subjects/grown-value/compare?from=2&to=1")
    expect(note(page)).to_contain_text("Breaks readers with version 1, on data written with version 2")
    expect(note(page).locator(".rule")).to_have_text(re.compile("^MESSAGE_REMOVED (?!from)"))


def test_a_deleted_version_is_compared_as_deleted(page: Page) -> None:
    page.goto("subjects/gone-value/compare?from=1&to=1")
    expect(page.get_by_role("button", name=re.compile("^Old side: Version 1.*deleted"))).to_be_visible()


def test_large_texts_are_compared_in_a_worker(open_page: OpenPage, scratch: ServerProcess) -> None:
    fields = [{"name": f"field_{number}", "type": "int", "doc": "x" * 2000} for number in range(30)]
    wider = [field | {"type": "long"} if field["name"] == "field_20" else field for field in fields]
    with httpx.Client(base_url=scratch.url, timeout=60, trust_env=False) as client:
        for version in (fields, wider):
            register(client, "wide-value", json.dumps({"type": "record", "name": "Wide", "fields": version}))
    page = open_page(scratch.url)
    workers: list[str] = []
    page.on("worker", lambda worker: workers.append(worker.url))
    page.goto("subjects/wide-value/compare")
    expect(page.locator(".pair .del:visible")).to_have_text(re.compile(r'107\s*\u2212\s*removed\s*"type": "int",'))
    assert [url.rpartition("/")[2] for url in workers] == ["text_worker.js"]


def test_another_registry_has_texts_and_messages(page: Page, watch: Watch) -> None:
    watch.expect(404, "/compare")
    page.route(
        "**/subjects/flights-value/compare?**",
        lambda route: (
            route.fallback()
            if "/ui/" in route.request.url
            else route.fulfill(status=404, json={"error_code": 404, "message": "HTTP 404 Not Found"})
        ),
    )
    page.goto("subjects/flights-value/compare?from=1&to=3")
    expect(page.locator(".verdict")).to_contain_text("The registry's level allows this step")
    expect(page.locator(".pair .del:visible")).to_have_text(re.compile(r'32\s*\u2212\s*removed\s*"type": "int"'))


def test_a_version_that_is_not_there(page: Page, watch: Watch) -> None:
    watch.expect(404)
    page.goto("subjects/flights-value/compare?from=1&to=9")
    expect(page.get_by_role("alert")).to_contain_text("Not there")
    expect(page.get_by_role("heading", level=1)).to_have_text("flights-value")


def test_names_and_texts_of_others_stay_texts(open_page: OpenPage, scratch: ServerProcess) -> None:
    hostile = {
        "type": "record",
        "name": "Odd",
        "doc": "<img src=x onerror=alert(1)> \u202egnp",
        "fields": [{"name": "x", "type": "string", "default": "</script>"}],
    }
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        client.put("/config/" + "a%2Fb%20%252F%3F%23%C3%A9", json={"compatibility": "NONE"}).raise_for_status()
        register(client, ODD_SUBJECT, json.dumps(hostile, ensure_ascii=False))
    page = open_page(scratch.url)
    page.goto("subjects/a%2Fb%20%252F%3F%23%C3%A9/compare")
    expect(page.get_by_role("heading", level=1)).to_have_text(ODD_SUBJECT)
    expect(page.locator(".texts .char", has_text="U+202E").first).to_be_visible()
    expect(changed(page).filter(has_text="x").first).to_be_visible()


def test_a_phone_shows_one_column(open_page: OpenPage) -> None:
    page = open_page(width=320)
    page.goto(FLIGHTS)
    expect(page.locator(".single .del:visible")).to_contain_text('"type": "int"')
    expect(page.get_by_role("button", name="Split")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") == 320


def test_flight_texts_are_what_the_lines_say() -> None:
    """The literal lines of this file rest on these texts."""
    assert flight(3).index('"type":"long"') == 276


@pytest.mark.parametrize("view", ["split", "unified"])
def test_a_screen_reader_hears_an_unchanged_line_once(page: Page, view: str) -> None:
    page.goto(f"{FLIGHTS}&all=true&view={view}")
    expect(page.locator(".pair, .single").first).to_be_visible()
    session = page.context.new_cdp_session(page)
    session.send("Accessibility.enable")
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    heard = [
        node["name"]["value"].strip() for node in nodes if node["role"]["value"] == "StaticText" and not node["ignored"]
    ]
    # Lines of an unchanged field, of a changed one and of a new one; and the changed line of both texts.
    assert [heard.count(text) for text in ('"carrier"', '"distance"', '"wheels_up"')] == [1, 1, 1]
    assert (heard.count("removed"), "added" in heard) == (1, True)
