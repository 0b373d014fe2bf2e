"""References both ways, and the users of an id or a guid."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.ui.kit.filling import register

if TYPE_CHECKING:
    from magicbyte.platform.server_process import ServerProcess
    from tests.ui.conftest import OpenPage
    from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser

ADDRESS = "subjects/acme%2Fcommon%2Faddress.proto/versions/1/references"


def test_the_graph_both_ways(page: Page) -> None:
    page.goto("subjects/orders-value/versions/1/references")
    refers = page.get_by_role("region", name="Refers to")
    expect(refers.get_by_role("link")).to_have_text(re.compile("acme/common/address.proto"))
    expect(page.get_by_role("region", name="Referred to by")).to_contain_text("nothing")
    expect(page.get_by_text("Nothing refers to version 1")).to_be_visible()
    expect(page.locator(".graph-lines path")).to_have_count(1)
    refers.get_by_role("link").click()
    expect(page).to_have_url(re.compile(ADDRESS + "$"))
    expect(page.get_by_role("region", name="Referred to by").get_by_role("link")).to_have_count(2)


def test_the_tab_counts_both_directions(page: Page) -> None:
    tab = page.get_by_role("navigation", name="Of this subject").get_by_role("link", name=re.compile("^References"))
    page.goto("subjects/acme%2Fcommon%2Faddress.proto/versions/1")
    expect(page.get_by_role("heading", level=1)).to_have_text("acme/common/address.proto")
    expect(tab).to_have_text("References")
    page.goto(ADDRESS)
    expect(tab).to_have_text("References2")
    page.goto("subjects/orders-value/versions/1/references")
    expect(tab).to_have_text("References1")


def test_who_holds_a_version(page: Page) -> None:
    page.goto(ADDRESS)
    held = page.get_by_role("note")
    expect(held).to_contain_text("Version 1 cannot be deleted while 2 versions refer to it")
    expect(held).to_contain_text("orders-value v1")
    expect(held).to_contain_text("orders-value v2")
    expect(page.get_by_role("region", name="Refers to")).to_contain_text("nothing")
    expect(page.locator(".graph-lines path")).to_have_count(2)
    expect(page.get_by_role("region", name="Referred to by")).to_contain_text("used by 2 versions of 1 subject")
    held.get_by_role("link", name="orders-value v2").click()
    expect(page).to_have_url(re.compile("subjects/orders-value/versions/2/references$"))


def test_an_id_is_used_by_context(page: Page, registry: ServerProcess) -> None:
    page.goto("schemas/ids/1")
    expect(page.get_by_role("heading", level=1)).to_have_text("Schema id 1")
    row = page.get_by_role("row", name="default 1")
    expect(row.get_by_role("link", name="flights-value v1")).to_be_visible()
    # The same text in the context .eu, under an id of its own.
    other = page.get_by_role("row", name=".eu 1")
    other.get_by_role("link", name="see its subjects").click()
    expect(page).to_have_url(re.compile(r"/ui/contexts/\.eu/schemas/ids/1$"))
    page.get_by_role("link", name="orders-value v1").click()
    expect(page).to_have_url(re.compile(r"/ui/contexts/\.eu/subjects/orders-value/versions/1$"))
    guid = httpx.get(f"{registry.url}/schemas/ids/1", trust_env=False).json()["guid"]
    page.goto(f"schemas/guids/{guid}")
    expect(page.get_by_role("heading", level=1)).to_contain_text(guid)
    expect(page.get_by_role("link", name="flights-value v1")).to_be_visible()


def test_an_id_that_is_not_there(page: Page, watch: Watch) -> None:
    watch.expect(404)
    page.goto("schemas/ids/4711")
    expect(page.get_by_role("alert")).to_contain_text("Not there")
    page.get_by_role("link", name="All subjects").click()
    expect(page.get_by_role("link", name="flights-value", exact=True)).to_be_visible()


def test_a_phone_stacks_the_columns(open_page: OpenPage) -> None:
    page = open_page(width=320, theme="dark")
    page.goto(ADDRESS)
    expect(page.get_by_role("note")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 320


@pytest.fixture(scope="module")
def used(scratch: ServerProcess) -> str:
    """A registry whose middle-value 60 versions of 30 subjects use, one through another; it uses 30 others."""
    with httpx.Client(base_url=scratch.url, timeout=30, trust_env=False) as client:
        names = [f"part{number}-value" for number in range(30)]
        for number, name in enumerate(names):
            register(client, name, record(f"Part{number}"))
        references = [{"name": f"Part{number}", "subject": name, "version": 1} for number, name in enumerate(names)]
        register(
            client, "middle-value", record("Middle", *(f"Part{number}" for number in range(30))), references=references
        )
        middle = [{"name": "Middle", "subject": "middle-value", "version": 1}]
        for number in range(30):
            subject = f"user{number}-value"
            client.put(f"/config/{subject}", json={"compatibility": "NONE"}).raise_for_status()
            for version in range(2 if number else 1):
                register(client, subject, record(f"User{number}", *["Middle"] * (version + 1)), references=middle)
        through = [{"name": "User0", "subject": "user0-value", "version": 1}]
        register(client, "user0-value", record("Top", "User0"), references=through)
    return scratch.url


def record(name: str, *types: str) -> str:
    fields = [{"name": f"f{index}", "type": kind} for index, kind in enumerate(types)]
    return json.dumps({"type": "record", "name": name, "fields": fields})


MIDDLE = "subjects/middle-value/versions/1/references"


def middle_of(page: Page) -> float:
    """The place of the version in the window, from 0 at its top to 1 at its bottom."""
    box = page.locator("[data-node=start]").bounding_box()
    assert box is not None
    return (box["y"] + box["height"] / 2) / page.evaluate("innerHeight")


def test_the_version_stays_in_the_middle_of_the_window(used: str, open_page: OpenPage) -> None:
    page = open_page(used)
    page.goto(MIDDLE)
    users = page.get_by_role("region", name="Referred to by")
    expect(users).to_contain_text("used by 60 versions of 30 subjects")
    expect(page.get_by_role("note")).to_contain_text("59 versions refer to it")
    expect(page.locator(".graph-lines path")).to_have_count(89)
    assert 0.35 < middle_of(page) < 0.7
    lines = page.locator(".graph-lines path").first.get_attribute("d")
    users.get_by_role("link").nth(40).scroll_into_view_if_needed()
    expect(page.locator(".graph-lines path").first).not_to_have_attribute("d", lines or "")
    assert 0.4 < middle_of(page) < 0.6
    # What it refers to is on its left, and who uses it on its right.
    left, right = (page.get_by_role("region", name=name).bounding_box() for name in ("Refers to", "Referred to by"))
    here = page.get_by_role("region", name="This version").bounding_box()
    assert left is not None
    assert here is not None
    assert right is not None
    assert left["x"] + left["width"] <= here["x"]
    assert here["x"] + here["width"] <= right["x"]


def test_a_phone_shows_the_version_first(used: str, open_page: OpenPage) -> None:
    page = open_page(used, width=320, height=640)
    page.goto(MIDDLE)
    expect(page.locator("[data-node=start]")).to_be_in_viewport()
    assert 0.3 < middle_of(page) < 0.7
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    # Going back keeps the place.
    page.get_by_role("region", name="Referred to by").get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("user0-value")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("middle-value")
    expect(page.get_by_role("region", name="Referred to by").get_by_role("link").first).to_be_in_viewport()


def test_users_that_are_cut_are_at_least_so_many(page: Page, registry: ServerProcess) -> None:
    graph = httpx.get(f"{registry.url}/{ADDRESS.replace('references', 'graph')}", trust_env=False).json()
    page.route("**/graph", lambda route: route.fulfill(json={**graph, "cut": True}))
    page.goto(ADDRESS)
    users = page.get_by_role("region", name="Referred to by")
    expect(users).to_contain_text("used by at least 2 versions of at least 1 subject")
    expect(page.get_by_text("The graph goes on beyond what is shown")).to_be_visible()
