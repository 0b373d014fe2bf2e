"""References both ways, and the users of an id or a guid."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import httpx
import pytest
from playwright.sync_api import Page, expect

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
    expect(held).to_contain_text("Version 1 cannot be deleted for good while 2 versions refer to it")
    expect(held).to_contain_text("orders-value v1")
    expect(held).to_contain_text("orders-value v2")
    expect(page.get_by_role("region", name="Refers to")).to_contain_text("nothing")
    expect(page.locator(".graph-lines path")).to_have_count(2)


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
