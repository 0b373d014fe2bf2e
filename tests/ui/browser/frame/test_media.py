"""The page with forced colours, and at 200 %."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.ui.conftest import OpenPage
from tests.ui.kit.axe import findings
from tests.ui.kit.pages import PAGES
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser


def style(element: Locator, name: str) -> str:
    """A computed style."""
    value: str = element.first.evaluate("(element, name) => getComputedStyle(element)[name]", name)
    return value


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_forced_colours_show_what_is_chosen(open_page: OpenPage, theme: str) -> None:
    page = open_page(theme=theme, forced_colors="active")
    page.goto("subjects/flights-value/versions/3#L32")
    expect(page.locator("#L32")).to_be_in_viewport()
    # A ground is not shown, so an outline is.
    assert style(page.locator("#L32"), "outlineStyle") == "solid"
    assert style(page.locator("#L31"), "outlineStyle") == "none"
    assert style(page.locator(".nav a[aria-current]"), "outlineStyle") == "solid"
    assert style(page.locator(".nav a:not([aria-current])"), "outlineStyle") == "none"
    # A transparent border would be shown as that of the chosen tab.
    chosen = style(page.locator(".tabs a[aria-current]"), "borderBottomColor")
    other = style(page.locator(".tabs a:not([aria-current])"), "borderBottomColor")
    ground = style(page.locator("body"), "backgroundColor")
    assert chosen != ground
    assert other == ground
    page.goto("subjects?peek=flights-value")
    expect(page.locator("tr.on")).to_be_visible()
    assert style(page.locator("tr.on"), "outlineStyle") == "solid"
    page.goto("subjects/flights-value/compare?from=1&to=3")
    expect(page.locator(".change[aria-current]")).to_be_visible()
    assert style(page.locator(".change[aria-current]"), "outlineStyle") == "solid"


def test_forced_colours_show_what_may_not_be_used(open_page: OpenPage) -> None:
    page = open_page(forced_colors="active")
    page.goto("subjects/flights-value/edit")
    register = page.get_by_role("button", name="Register version 4")
    expect(register).to_have_attribute("aria-disabled", "true")
    save = page.get_by_role("button", name="Save as file")
    assert style(register, "color") != style(save, "color")


def test_nothing_is_lost_at_twice_the_size(open_page: OpenPage, watch: Watch) -> None:
    """WCAG 1.4.4: a window of 1280x800 at 200 % has room for 640x400."""
    watch.expect(404)
    page = open_page(width=640, height=400, device_scale_factor=2)
    problems: dict[str, list[str]] = {}
    for path, ready in PAGES.items():
        page.goto(path)
        expect(page.locator(ready).first).to_be_visible()
        expect(page.locator("[aria-busy=true]")).to_have_count(0)
        of_page = findings(page)
        if page.evaluate("document.documentElement.scrollWidth") > 640:
            of_page.append("the page is wider than the window")
        if of_page:
            problems[path] = of_page
    assert problems == {}
    # The bar leaves with the text: it would take a quarter of such a window.
    page.goto("subjects/flights-value/versions/3#L60")
    expect(page.locator("#L60")).to_be_in_viewport()
    expect(page.locator(".bar")).not_to_be_in_viewport()
