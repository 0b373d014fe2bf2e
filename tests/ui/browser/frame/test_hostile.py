"""Hostile names, docs and texts are texts: no page runs them, hides them or falls over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry
from tests.ui.conftest import OpenPage
from tests.ui.kit.hostile import HOSTILE, IMAGE, fill_hostile
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser

PATHS = (
    "versions/2",
    "versions/2?view=fields",
    "compare?from=1&to=2",
    "",
    "versions/2/references",
    "edit",
    "settings",
)


@pytest.fixture(scope="module")
def hostile() -> Iterator[ServerProcess]:
    with running_registry("memory:") as server:
        fill_hostile(server.url)
        yield server


def assert_harmless(page: Page) -> None:
    """No element came from a text."""
    # The editor's own images have no source.
    assert page.locator("img:not(.cm-widgetBuffer), img[src], iframe, object, embed").count() == 0
    # The script of index.html is in its head.
    assert (page.locator("head script").count(), page.locator("body script").count()) == (1, 0)
    assert page.locator("a[href^='javascript' i]").count() == 0
    assert page.locator("[onerror], [onclick], [onload]").count() == 0
    assert "\u202e" not in page.locator("body").inner_text()


@pytest.mark.parametrize("subject", HOSTILE)
def test_all_pages_of_a_hostile_subject(hostile: ServerProcess, open_page: OpenPage, subject: str) -> None:
    page = open_page(hostile.url)
    for path in PATHS:
        page.goto(f"subjects/{quote(subject, safe='')}" + (f"/{path}" if path else ""))
        expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE[subject])
        expect(page.locator("[aria-busy=true]")).to_have_count(0, timeout=60_000)
        expect(page.locator("[data-failure]")).to_have_count(0)
        assert_harmless(page)


def test_lists_of_hostile_subjects(hostile: ServerProcess, open_page: OpenPage) -> None:
    page = open_page(hostile.url)
    page.goto(f"subjects?peek={quote(IMAGE, safe='')}")
    expect(page.locator("tbody tr")).to_have_count(len(HOSTILE) - 1)
    expect(page.locator("tbody tr.on a")).to_have_text(IMAGE)
    expect(page.locator(".peek h2")).to_have_text(IMAGE)
    expect(page.locator("tbody").get_by_text("U+202E")).to_be_visible()
    expect(page.locator("tbody a", has_text="spaced")).to_have_text("U+0020spaced  valueU+0020U+0020")
    assert_harmless(page)
    page.get_by_role("searchbox").fill("value")
    expect(page.locator("tbody a", has_text="spaced").locator(".char")).to_have_count(3)
    page.get_by_role("searchbox").fill("onerror")
    expect(page.locator("tbody a")).to_have_text(IMAGE)
    # The end of a name is an element of its own.
    assert "".join(page.locator("tbody a mark").all_inner_texts()) == "onerror"
    page.goto("registry")
    expect(page.locator("table.changes")).to_contain_text(IMAGE)
    assert_harmless(page)
    page.keyboard.press("/")
    page.keyboard.type("alert")
    expect(page.get_by_role("listbox").get_by_role("option").first).to_be_visible()
    assert_harmless(page)


def test_a_subject_called_new_is_not_the_page_for_new_schemas(hostile: ServerProcess, open_page: OpenPage) -> None:
    page = open_page(hostile.url)
    page.goto("subjects")
    page.locator("tbody a", has_text=re.compile("^new$")).click()
    expect(page).to_have_url(re.compile(r"/subjects/new/versions/2$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("new")


def test_texts_in_the_url_are_texts(open_page: OpenPage, watch: Watch) -> None:
    watch.expect(404)
    page = open_page()
    for path in (
        f"subjects?q={quote(IMAGE)}",
        f"subjects?peek={quote(IMAGE)}&sort={quote(IMAGE)}&type={quote(IMAGE)}&in={quote(IMAGE)}",
        f"nowhere/{quote(IMAGE, safe='')}",
        f"contexts/{quote(IMAGE, safe='')}/subjects",
        f"subjects/{quote(IMAGE, safe='')}/versions/1",
        "subjects/%E0%A4%A/versions/1",
    ):
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert_harmless(page)
