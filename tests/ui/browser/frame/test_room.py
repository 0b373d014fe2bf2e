"""Views use their room: tabs without gaps, settings and Decode in two columns, toasts that cover nothing."""

from __future__ import annotations

from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from magicbyte.platform.server_process import ServerProcess
from tests.ui.conftest import OpenPage

pytestmark = pytest.mark.browser

WORDS = """() => [...document.querySelectorAll(".tabs a")].map((tab) => {
  const range = document.createRange();
  range.selectNodeContents(tab.firstChild);
  const { left, right } = range.getBoundingClientRect();
  return [left, right];
})"""
#: Where two boxes overlap: controls and the last row below the toasts.
COVERED = """() => {
  const edge = document.querySelector(".toasts").getBoundingClientRect().top;
  return [...document.querySelectorAll("main :is(button, a, input, select, textarea), main section")]
    .filter((element) => element.getClientRects().length && element.getBoundingClientRect().bottom > edge + 0.5)
    .map((element) => element.textContent.trim().slice(0, 40));
}"""


def test_tabs_are_as_far_apart_with_numbers_as_without(open_page: OpenPage) -> None:
    page = open_page()
    page.goto("subjects/flights-value/versions/3")
    expect(page.locator(".tabs .n").first).to_have_text("21")
    words = page.evaluate(WORDS)
    gaps = {round(after[0] - before[1]) for before, after in pairwise(words)}
    assert gaps == {32}
    # A number ends before the next word.
    assert page.evaluate(
        "[...document.querySelectorAll('.tabs a:not(:last-child) .n')].every((number) =>"
        " number.getBoundingClientRect().right < number.parentElement.nextSibling.getBoundingClientRect().left)"
    )


@pytest.mark.parametrize("width", [1280, 1920])
@pytest.mark.parametrize(
    ("path", "left", "right"),
    [
        ("subjects/flights-value/settings", '.card[aria-label="Mode"]', '.card[aria-label="Other settings"]'),
        ("config", '.card[aria-label="Mode"]', '.card[aria-label="Other settings"]'),
        ("decode", ".decode-input", ".decode-answer"),
        ("decode#hex=00000000010a", ".decode-input", ".decode-answer"),
    ],
)
def test_two_columns_fill_the_width(open_page: OpenPage, width: int, path: str, left: str, right: str) -> None:
    page = open_page(width=width)
    page.goto(path)
    one, other = page.locator(left).bounding_box(), page.locator(right).bounding_box()
    assert one is not None
    assert other is not None
    assert one["x"] + one["width"] < other["x"]
    # As far as any page goes: 1680 px.
    assert other["x"] + other["width"] > min(width, 1680) - 60
    assert one["width"] > width * 0.3


@pytest.mark.parametrize("path", ["subjects/flights-value/settings", "config", "decode#hex=00000000010a"])
def test_one_column_on_a_phone(open_page: OpenPage, path: str) -> None:
    page = open_page(width=320)
    page.goto(path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.locator(".card").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 320


def toasted(page: Page) -> None:
    """Show a toast by copying a link."""
    page.keyboard.press("y")
    expect(page.locator(".toast")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 320])
@pytest.mark.parametrize(
    "path", ["subjects", "subjects/flights-value/settings", "subjects/flights-value/versions/3", "registry"]
)
def test_a_toast_covers_nothing_at_the_end_of_a_page(open_page: OpenPage, width: int, path: str) -> None:
    page = open_page(width=width, permissions=["clipboard-write"])
    page.goto(path)
    page.locator("main h1").wait_for()
    page.wait_for_load_state("load")
    expect(page.locator(".card, table").first).to_be_visible()
    toasted(page)
    # What comes later, such as the last changes, makes the page longer; the toast stays for a while.
    page.wait_for_function(
        f"() => {{ scrollTo(0, 1e6); return document.querySelector('.toast') && !({COVERED})().length }}"
    )


def test_a_toast_leaves_the_foot_of_the_editor(open_page: OpenPage) -> None:
    page = open_page(permissions=["clipboard-write"])
    page.goto("subjects/flights-value/edit")
    expect(page.locator(".edit-foot")).to_be_visible()
    page.locator(".edit-foot").get_by_role("button", name="curl").first.click()
    expect(page.locator(".toast")).to_be_visible()
    foot, strip = page.locator(".edit-foot").bounding_box(), page.locator(".toasts").bounding_box()
    assert foot is not None
    assert strip is not None
    assert foot["y"] + foot["height"] <= strip["y"] + 0.5


def test_the_focused_control_is_not_covered(open_page: OpenPage, scratch: ServerProcess) -> None:
    page = open_page(scratch.url, height=500, permissions=["clipboard-write"])
    page.goto("subjects/flights-value/settings")
    buttons = page.get_by_role("button", name="Copy as curl")
    expect(buttons.first).to_be_visible()
    # The button lies at the lower edge of the window.
    buttons.last.evaluate("button => scrollBy(0, button.getBoundingClientRect().bottom - innerHeight)")
    buttons.last.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_be_visible()
    button, strip = buttons.last.bounding_box(), page.locator(".toasts").bounding_box()
    assert button is not None
    assert strip is not None
    assert button["y"] + button["height"] <= strip["y"] + 0.5
