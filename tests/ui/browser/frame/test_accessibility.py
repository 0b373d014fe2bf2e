"""Accessibility: axe-core finds nothing on any page, in both themes, wide and at 320 px; and by keyboard alone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from magicbyte.testing import running_registry
from tests.ui.conftest import OpenPage
from tests.ui.kit.axe import findings
from tests.ui.kit.pages import PAGES
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser

WIDTHS = (1280, 320)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing(open_page: OpenPage, watch: Watch, theme: str, width: int) -> None:
    watch.expect(404)
    page = open_page(theme=theme, width=width)
    found: dict[str, list[str]] = {}
    for path, ready in PAGES.items():
        page.goto(path)
        expect(page.locator(ready).first).to_be_visible()
        expect(page.locator("[aria-busy=true]")).to_have_count(0)
        problems = findings(page)
        assert page.locator("h1").count() == 1, path
        if page.evaluate("document.documentElement.scrollWidth") > width:
            problems.append("the page is wider than the window")
        if problems:
            found[path] = problems
    assert found == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_what_opens(open_page: OpenPage, theme: str) -> None:
    page = open_page(theme=theme)
    page.goto("subjects")
    expect(page.locator("tbody tr").first).to_be_visible()
    page.get_by_role("button", name="Theme, time and keys").click()
    expect(page.get_by_role("button", name="Dark")).to_be_visible()
    assert findings(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    assert findings(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.keyboard.type("flights")
    expect(page.get_by_role("listbox").get_by_role("option").first).to_be_visible()
    assert findings(page) == []


def test_an_empty_registry_is_accessible(open_page: OpenPage) -> None:
    with running_registry("memory:") as server:
        page = open_page(server.url, width=320)
        page.goto("subjects")
        expect(page.get_by_role("link", name="New schema")).to_be_visible()
        assert findings(page) == []
        page.close()


def test_a_journey_by_keyboard(page: Page) -> None:
    page.goto("subjects")
    expect(page.locator("tbody tr").first).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    page.keyboard.press("/")
    page.keyboard.type("flights-v")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/subjects/flights-value/versions/3$"))
    expect(page.locator(".code")).to_be_visible()
    page.keyboard.press("d")
    expect(page).to_have_url(re.compile(r"/subjects/flights-value/compare"))
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.keyboard.press("g")
    page.keyboard.press("r")
    expect(page.get_by_role("heading", level=1)).to_have_text("Registry")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.keyboard.press("Control+k")
    page.keyboard.type("orders")
    expect(page.get_by_role("listbox").get_by_role("option", name="orders-value")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/subjects/orders-value/versions/2$"))
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Registry")


def test_single_keys_can_be_turned_off(page: Page) -> None:
    page.goto("decode")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("?")
    page.get_by_role("checkbox", name="Single keys work").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Search")).to_have_count(1)
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_have_count(0)
