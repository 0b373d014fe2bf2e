"""Evolution: all versions of a subject, what each changed, and who reads whom."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.ui.kit.filling import register

if TYPE_CHECKING:
    from magicbyte.platform.server_process import ServerProcess
    from tests.ui.conftest import OpenPage
    from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser


def test_a_row_a_version_with_its_changes(page: Page, watch: Watch) -> None:
    page.goto("subjects/flights-value")
    rows = page.get_by_role("list", name="Versions, the newest first").locator("> li")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text("Version 3")
    expect(rows.nth(0)).to_contain_text("latest")
    expect(rows.nth(0)).to_contain_text("distance int → long")
    expect(rows.nth(0)).to_contain_text("+ wheels_up = null")
    expect(rows.nth(0).locator(".badge.ok")).to_have_text("reads v2")
    expect(rows.nth(0).locator(".badge.bad")).to_have_text("v2 reads it")
    expect(rows.nth(1)).to_contain_text('+ source = "first"')
    expect(rows.nth(1).locator(".badge.ok")).to_have_text(["reads v1", "v1 reads it"])
    expect(rows.nth(2)).to_contain_text("the first version")
    dots = page.get_by_role("list", name="Versions and how they are joined")
    expect(dots.locator("a.bond")).to_have_count(2)
    expect(dots.locator("a.bond").nth(0)).to_have_class("bond both")
    expect(dots.locator("a.bond").nth(1)).to_have_class("bond half")
    expect(dots.locator("a.bond").nth(1)).to_have_text("version 3 reads version 2, and version 2 cannot read version 3")
    data = [request for request in watch.requests if re.search(r" /(subjects/|schemas|overview)", request)]
    assert len(data) == 3, data

    rows.nth(0).get_by_role("link", name="Compare").click()
    expect(page).to_have_url(re.compile(r"/compare\?from=2&to=3$"))
    page.go_back()
    expect(rows).to_have_count(3)


def test_versions_that_none_reads_are_not_joined(open_page: OpenPage, scratch: ServerProcess) -> None:
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        client.put("/config/kinds-value", json={"compatibility": "NONE"}).raise_for_status()
        register(client, "kinds-value", '{"type":"record","name":"K","fields":[{"name":"x","type":"int"}]}')
        register(client, "kinds-value", '{"type":"record","name":"K","fields":[{"name":"x","type":"string"}]}')
    page = open_page(scratch.url, theme="dark")
    page.goto("subjects/kinds-value")
    expect(page.locator("a.bond")).to_have_class("bond none")
    expect(page.locator(".version-row").first).to_contain_text("x int → string")
    expect(page.locator(".version-row .badge.bad")).to_have_count(2)


def test_a_long_subject_is_compared_back_to_its_first_version(open_page: OpenPage, scratch: ServerProcess) -> None:
    versions = 125
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        for version in range(1, versions + 1):
            field = f'{{"name":"f{version}","type":"int","default":0}}'
            register(client, "long-value", f'{{"type":"record","name":"L","fields":[{field}]}}')
    page = open_page(scratch.url)
    page.goto("subjects/long-value")
    rows = page.locator(".version-row")
    expect(rows).to_have_count(versions)
    expect(rows.last).to_contain_text("the first version")
    expect(page.get_by_text("the first version")).to_have_count(1)
    expect(rows.filter(has_text=re.compile(r"\+ f\d+ = 0"))).to_have_count(versions - 1)
    expect(page.get_by_text("not compared", exact=True)).to_have_count(0)


def test_versions_that_the_registry_does_not_compare_say_so(
    open_page: OpenPage, scratch: ServerProcess, watch: Watch
) -> None:
    watch.expect(422, "/compare")
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        for version in range(1, 4):
            field = f'{{"name":"f{version}","type":"int","default":0}}'
            register(client, "cut-value", f'{{"type":"record","name":"L","fields":[{field}]}}')
    page = open_page(scratch.url)
    too_large = {"error_code": 42213, "message": "The schemas are too large to compare"}
    page.route("**/compare?consecutive=true", lambda route: route.fulfill(status=422, json=too_large))
    page.goto("subjects/cut-value")
    rows = page.locator(".version-row")
    expect(rows.nth(0)).to_contain_text("not compared")
    expect(rows.nth(1)).to_contain_text("not compared")
    expect(rows.nth(2)).to_contain_text("the first version")
    problem = page.get_by_role("status").filter(has_text="Not all changes are shown")
    expect(problem).to_contain_text("too large to compare")


def test_deleted_versions_are_struck_and_come_back(open_page: OpenPage, scratch: ServerProcess) -> None:
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        client.delete("/subjects/flights-value/versions/2").raise_for_status()
    page = open_page(scratch.url)
    page.goto("subjects/flights-value")
    deleted = page.locator(".version-row.deleted")
    expect(deleted).to_contain_text("Version 2")
    expect(deleted.locator("a.struck")).to_have_css("text-decoration-line", "line-through")
    expect(page.locator("a.bond")).to_have_text("version 3 reads version 1, and version 1 cannot read version 3")
    deleted.get_by_role("button", name="Undelete").click()
    expect(page.locator(".version-row.deleted")).to_have_count(0)
    expect(page.locator("a.bond")).to_have_count(2)


def test_a_deleted_subject_and_one_that_never_was(open_page: OpenPage, scratch: ServerProcess, watch: Watch) -> None:
    watch.expect(404, "/compare")
    watch.expect(404, "/versions")
    page = open_page(scratch.url)
    page.goto("subjects/gone-value")
    expect(page.locator(".version-row.deleted")).to_contain_text("Version 1")
    page.goto("subjects/never-value")
    expect(page.get_by_role("heading", name="No version")).to_be_visible()
    expect(page.get_by_role("link", name="Propose the first version")).to_be_visible()


def test_a_phone_shows_all_of_it(open_page: OpenPage) -> None:
    page = open_page(width=320)
    page.goto("subjects/flights-value")
    expect(page.get_by_text("distance int → long")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 320


def address(version: int) -> str:
    """A record with a record inside, and a list of records: the versions add fields to all of them."""
    more = [{"name": name, "type": "int", "default": 0} for name in ("min", "max")[:version]]
    line = {"type": "record", "name": "Line", "fields": [{"name": "sku", "type": "string"}, *more]}
    inner = {"type": "record", "name": "Address", "fields": [{"name": "city", "type": "string"}, *more]}
    fields = [{"name": "address", "type": inner}, {"name": "lines", "type": {"type": "array", "items": line}}]
    return json.dumps({"type": "record", "name": "Place", "namespace": "acme", "fields": fields})


def test_changes_are_named_by_their_paths(open_page: OpenPage, scratch: ServerProcess) -> None:
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        for version in (0, 2):
            register(client, "places-value", address(version))
        added = [{"name": f"f{number}", "type": "int", "default": 0} for number in range(9)]
        register(client, "wide-value", json.dumps({"type": "record", "name": "W", "fields": added[:1]}))
        register(client, "wide-value", json.dumps({"type": "record", "name": "W", "fields": added}))
    page = open_page(scratch.url)
    page.goto("subjects/places-value")
    row = page.locator(".version-row").first
    expect(row.locator(".short-change")).to_have_text(
        ["+ address.min = 0", "+ address.max = 0", "+ lines[].min = 0", "+ lines[].max = 0"]
    )
    page.goto("subjects/wide-value")
    row = page.locator(".version-row").first
    expect(row.locator(".short-change")).to_have_count(4)
    row.get_by_role("link", name="and 4 more").click()
    expect(page).to_have_url(re.compile(r"/subjects/wide-value/compare\?from=1&to=2$"))


@pytest.mark.parametrize("width", [1280, 320])
def test_the_strip_shows_the_latest_version(open_page: OpenPage, scratch: ServerProcess, width: int) -> None:
    with httpx.Client(base_url=scratch.url, timeout=30, trust_env=False) as client:
        client.put("/config/strip-value", json={"compatibility": "NONE"}).raise_for_status()
        for number in range(40):
            symbols = json.dumps([f"S{symbol}" for symbol in range(number + 1)])
            register(client, "strip-value", f'{{"type": "enum", "name": "E", "symbols": {symbols}}}')
    page = open_page(scratch.url, width=width)
    held: list[Route] = []
    page.route("**/compare?consecutive=true*", lambda route: held.append(route))  # noqa: PLW0108
    page.goto("subjects/strip-value")
    strip = page.get_by_role("list", name="Versions and how they are joined")
    expect(strip.get_by_role("link", name="Version 40", exact=True)).to_be_in_viewport()
    # The comparisons make it wider.
    held[0].continue_()
    expect(strip.get_by_role("link", name=re.compile("version 40 reads version 39"))).to_have_count(1)
    expect(strip.get_by_role("link", name="Version 40", exact=True)).to_be_in_viewport()
    expect(strip.get_by_role("link", name="Version 1", exact=True)).not_to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    # By keyboard: the list scrolls, and its links have the focus in turn.
    strip.focus()
    page.keyboard.press("Home")
    page.keyboard.press("Tab")
    expect(strip.get_by_role("link", name="Version 1", exact=True)).to_be_focused()
    expect(strip.get_by_role("link", name="Version 1", exact=True)).to_be_in_viewport()
