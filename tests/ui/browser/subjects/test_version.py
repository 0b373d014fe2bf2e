"""A version: its text, its fields, and what is known of it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.ui.kit.filling import ODD_SUBJECT, register

if TYPE_CHECKING:
    from magicbyte.platform.server_process import ServerProcess
    from tests.ui.conftest import OpenPage
    from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser

CLIPBOARD = ["clipboard-read", "clipboard-write"]


def test_pretty_and_as_stored(open_page: OpenPage, registry: ServerProcess, watch: Watch) -> None:
    stored = httpx.get(f"{registry.url}/subjects/flights-value/versions/3/schema", trust_env=False).text
    page = open_page(permissions=CLIPBOARD)
    page.goto("subjects/flights-value/versions/3")
    expect(page.get_by_text("106 lines")).to_be_visible()
    expect(page.locator("#L32")).to_have_text(re.compile(r'^\s*32\s*"type": "long"$'))
    expect(page.get_by_role("heading", level=1)).to_have_text("flights-value")
    expect(page).to_have_title("flights-value: version 3 - Magicbyte")
    expect(page.get_by_role("link", name="Fields")).to_have_text("Fields21")
    data = [request for request in watch.requests if "/ui/" not in request and "/subjects/" in request]
    assert len(data) <= 3, data

    page.get_by_role("button", name="As stored").click()
    expect(page.get_by_text("1 line", exact=True)).to_be_visible()
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_text("Copied").first).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == stored
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "flights-value-v3.avsc"
    assert download.value.path().read_text() == stored


def test_lines_are_anchors(open_page: OpenPage) -> None:
    page = open_page(permissions=CLIPBOARD)
    page.goto("subjects/flights-value/versions/3#L30-L33")
    expect(page.locator(".l.on")).to_have_count(4)
    expect(page.locator("#L30")).to_be_in_viewport()
    page.locator("#L31 > a").click()
    expect(page).to_have_url(re.compile(r"#L31$"))
    page.locator("#L33 > a").click(modifiers=["Shift"])
    expect(page).to_have_url(re.compile(r"#L31-L33$"))
    expect(page.locator(".l.on")).to_have_count(3)
    page.get_by_role("button", name="Copy lines").click()
    expect(page.get_by_text("Copied").first).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == '      "name": "distance",\n      "type": "long"\n    },'
    page.keyboard.press("y")
    expect(page.get_by_text("Address copied").first).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").endswith("/ui/subjects/flights-value/versions/3#L31-L33")


def test_copy_as_curl_and_programs(open_page: OpenPage, registry: ServerProcess) -> None:
    page = open_page(permissions=CLIPBOARD)
    page.goto("subjects/flights-value/versions/3")
    expected = {
        "curl": f"curl {registry.url}/subjects/flights-value/versions/3",
        "Python": 'client.get_version("flights-value", 3)',
        "Java": 'client.getSchemaMetadata("flights-value", 3)',
        "Node": 'await client.getSchemaMetadata("flights-value", 3)',
        "Go": 'client.GetSchemaMetadata("flights-value", 3)',
        "magicbyte produce": f"magicbyte produce flights --schema-registry-url {registry.url} --value-schema-id 3",
        "Spark": f'from_confluent_avro("value", subject="flights-value", registry="{registry.url}")',
    }
    for name, text in expected.items():
        page.get_by_role("button", name="Copy as").click()
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.locator(".toast").filter(has_text=f"{name}").last).to_be_visible()
        assert text in page.evaluate("navigator.clipboard.readText()")


def test_numbers_keep_their_digits(open_page: OpenPage, scratch: ServerProcess) -> None:
    text = '{"type":"record","name":"N","fields":[{"name":"n","type":"long","default":9223372036854775807,"x":1.0}]}'
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        register(client, "digits-value", text)
    page = open_page(scratch.url, permissions=CLIPBOARD)
    page.goto("subjects/digits-value/versions/1")
    expect(page.locator(".l", has_text='"default": 9223372036854775807,')).to_be_visible()
    expect(page.locator(".l", has_text='"x": 1.0')).to_be_visible()
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_text("Copied").first).to_be_visible()
    assert json.loads(page.evaluate("navigator.clipboard.readText()"))["fields"][0]["default"] == 9223372036854775807
    page.goto("subjects/digits-value/versions/1?view=fields")
    expect(page.get_by_role("row", name="n long = 9223372036854775807")).to_be_visible()


def test_versions_are_walked_by_key(page: Page) -> None:
    page.goto("subjects/flights-value/versions/3")
    expect(page.get_by_role("link", name="version 2")).to_be_visible()
    page.keyboard.press("[")
    expect(page).to_have_url(re.compile(r"/versions/2$"))
    expect(page.get_by_text("94 lines")).to_be_visible()
    expect(page.get_by_role("link", name="version 1")).to_be_visible()
    page.keyboard.press("[")
    expect(page).to_have_url(re.compile(r"/versions/1$"))
    page.keyboard.press("f")
    expect(page).to_have_url(re.compile(r"/versions/1\?view=fields$"))
    page.keyboard.press("u")
    expect(page).to_have_url(re.compile(r"/subjects/flights-value$"))


def test_references_in_the_text_are_links(page: Page) -> None:
    page.goto("subjects/orders-value/versions/1")
    page.locator(".l").get_by_role("link", name="acme/common/address.proto").click()
    expect(page).to_have_url(re.compile(r"/subjects/acme%2Fcommon%2Faddress.proto/versions/1$"))
    expect(page.locator(".l", has_text="string country = 3;")).to_be_visible()


def test_fields_in_words(page: Page) -> None:
    page.goto("subjects/flights-value/versions/3?view=fields")
    wheels = page.get_by_role("row", name="wheels_up")
    expect(wheels).to_contain_text("null | timestamp-millis = null")
    expect(wheels).to_contain_text("When the aircraft left the ground")
    expect(wheels).to_contain_text("v3")
    expect(page.get_by_role("row", name="source")).to_contain_text('string = "first"')
    expect(page.get_by_role("row", name="source")).to_contain_text("v2")
    expect(page.get_by_role("row", name="distance")).to_contain_text("v1")
    wheels.hover()
    wheels.get_by_role("link", name="Link to wheels_up").click()
    expect(page).to_have_url(re.compile(r"view=fields#nyc\.Flight\.wheels_up$"))
    page.reload()
    expect(page.locator("tr.on")).to_contain_text("wheels_up")
    expect(page.locator("tr.on")).to_be_in_viewport()


def test_fields_of_the_other_types(page: Page) -> None:
    page.goto("subjects/orders-value/versions/2?view=fields")
    ship_to = page.get_by_role("row", name="ship_to")
    expect(ship_to).to_contain_text("#4")
    expect(page.get_by_role("row", name="quantity")).to_contain_text("int32")
    expect(page.get_by_role("row", name="unit")).to_contain_text("v2")
    page.goto("subjects/customers-value/versions/1?view=fields")
    expect(page.get_by_role("row", name="email").first).to_contain_text("string")


def test_metadata_tags_and_rules(open_page: OpenPage, scratch: ServerProcess) -> None:
    body = {
        "schema": '{"type":"record","name":"Owned","fields":[{"name":"x","type":"string"}]}',
        "metadata": {
            "properties": {"owner": "<b>team</b>", "site": "https://example.org/x", "link": "javascript:alert(1)"},
            "tags": {"Owned.x": ["PII"]},
        },
        "ruleSet": {
            "domainRules": [
                {"name": "check", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "size(message.x) > 0"}
            ]
        },
    }
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        client.post("/subjects/owned-value/versions", json=body).raise_for_status()
    page = open_page(scratch.url)
    page.goto("subjects/owned-value/versions/1")
    facts = page.get_by_role("complementary", name="About this version")
    expect(facts).to_contain_text("<b>team</b>")
    expect(facts.get_by_role("link", name="https://example.org/x")).to_have_attribute("rel", "noreferrer noopener")
    expect(facts.get_by_text("javascript:alert(1)")).to_be_visible()
    expect(facts.get_by_role("link", name="javascript:alert(1)")).to_have_count(0)
    expect(facts).to_contain_text("PII")
    expect(facts).to_contain_text("condition, write, cel")
    expect(facts).to_contain_text("size(message.x) > 0")


def test_a_deleted_version_is_shown_and_comes_back(open_page: OpenPage, scratch: ServerProcess) -> None:
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        client.delete("/subjects/flights-value/versions/2").raise_for_status()
    page = open_page(scratch.url)
    page.goto("subjects/flights-value/versions/2")
    expect(page.get_by_text("Version 2 is soft-deleted")).to_be_visible()
    page.get_by_role("button", name="Undelete").click()
    expect(page.get_by_text("Version 2 is soft-deleted")).to_be_hidden()
    assert httpx.get(f"{scratch.url}/subjects/flights-value/versions", trust_env=False).json() == [1, 2, 3]


def test_a_new_version_arrives_as_a_line(open_page: OpenPage, scratch: ServerProcess) -> None:
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        client.put("/config/arriving-value", json={"compatibility": "NONE"}).raise_for_status()
        for text in ('"int"', '"long"', '"float"'):
            register(client, "arriving-value", text)
        page = open_page(scratch.url)
        page.goto("subjects/arriving-value/versions/2")
        expect(page.locator("#L1")).to_contain_text('"long"')
        expect(page.get_by_role("link", name="Propose version 4")).to_be_visible()
        # The feed starts at this offset.
        expect(page.locator(".live .words")).to_have_text(re.compile("offset"))
        line = page.get_by_role("status").filter(has_text="has come")
        expect(line).to_have_count(0)
        register(client, "arriving-value", '"double"')
    expect(line).to_have_text("Version 4 has come. Compare with it or open it.")
    expect(page.locator("#L1")).to_contain_text('"long"')
    expect(page).to_have_url(re.compile(r"/ui/subjects/arriving-value/versions/2$"))
    compare = line.get_by_role("link", name="Compare with it")
    expect(compare).to_have_attribute("href", re.compile(r"/ui/subjects/arriving-value/compare\?from=2&to=4$"))
    line.get_by_role("link", name="open it").click()
    expect(page).to_have_url(re.compile(r"/ui/subjects/arriving-value/versions/4$"))
    expect(page.locator("#L1")).to_contain_text('"double"')
    expect(line).to_have_count(0)


def test_what_is_not_there_has_ways_on(page: Page, watch: Watch) -> None:
    watch.expect(404)
    page.goto("subjects/flights-value/versions/9")
    expect(page.get_by_role("alert")).to_contain_text("Not there")
    page.get_by_role("link", name="Version 3", exact=True).click()
    expect(page.get_by_text("106 lines")).to_be_visible()
    page.goto("subjects/flight-values/versions/latest")
    expect(page.get_by_role("link", name="Search for flight values")).to_be_visible()


def test_a_name_with_everything_in_it(page: Page) -> None:
    page.goto("subjects/a%2Fb%20%252F%3F%23%C3%A9/versions/1")
    expect(page.get_by_role("heading", level=1)).to_have_text(ODD_SUBJECT)
    page.get_by_role("link", name="shop.Payment").first.click()
    expect(page).to_have_url(re.compile(r"/subjects/payments-value/versions/1$"))


def test_a_long_text_has_the_lines_near_the_view(open_page: OpenPage, scratch: ServerProcess) -> None:
    fields = [{"name": f"field_{number}", "type": "int"} for number in range(3000)]
    with httpx.Client(base_url=scratch.url, timeout=60, trust_env=False) as client:
        register(client, "long-value", json.dumps({"type": "record", "name": "Long", "fields": fields}))
    page = open_page(scratch.url)
    page.goto("subjects/long-value/versions/1#L12003")
    expect(page.get_by_text("12,006 lines")).to_be_visible()
    expect(page.locator("#L12003")).to_be_in_viewport()
    expect(page.locator("#L1")).to_have_count(0)
    # A number on two lines would make its line higher than the others, and the list than its spacers.
    assert page.locator("#L12003").evaluate("line => line.getBoundingClientRect().height") == 20


def test_numbers_of_tabs_come_without_a_shift(page: Page) -> None:
    held: list[Route] = []
    page.route("**/outline*", lambda route: held.append(route))  # noqa: PLW0108  it must take attributes
    page.goto("subjects/flights-value/versions/3")
    expect(page.get_by_text("106 lines")).to_be_visible()
    tabs = page.get_by_role("navigation", name="Of this subject").get_by_role("link")
    evolution = tabs.filter(has_text="Evolution")
    expect(evolution).to_have_text("Evolution3")
    before = [tab.bounding_box() for tab in tabs.all()]
    expect(tabs.nth(1)).to_have_text("Fields")
    for route in held:
        route.continue_()
    expect(tabs.nth(1)).to_have_text("Fields21")
    assert [tab.bounding_box() for tab in tabs.all()] == before


def test_a_phone_shows_all_of_it(open_page: OpenPage) -> None:
    page = open_page(width=320, theme="dark")
    page.goto("subjects/flights-value/versions/3")
    expect(page.get_by_text("106 lines")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    page.goto("subjects/flights-value/versions/3?view=fields")
    expect(page.get_by_text("wheels_up")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    # The tabs scroll to the current one.
    page.goto("subjects/flights-value/settings")
    expect(page.locator(".tabs a[aria-current]")).to_be_in_viewport(ratio=0.9)
