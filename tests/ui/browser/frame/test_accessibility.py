"""Accessibility: axe-core finds nothing on any page, in both themes, wide and at 320 px; and by keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry
from tests.ui.conftest import OpenPage
from tests.ui.kit.axe import findings
from tests.ui.kit.guarded import guarded_registry
from tests.ui.kit.pages import OF_BROKER, PAGES, views, visited
from tests.ui.kit.watch import Watch

# A test visits up to 40 views: a loaded machine takes minutes for that.
pytestmark = [pytest.mark.browser, pytest.mark.timeout(1200)]

WIDTHS = (1280, 320)


#: What users of few rights see: nothing, gaps in the place of what they may not read, and controls with reasons.
OF_FEW_RIGHTS = {
    "reader": (
        *("subjects", "subjects/flights-value", "subjects/flights-value/versions/3", "subjects/secret-value"),
        *("subjects/flights-value/versions/3?view=fields", "subjects/flights-value/compare?from=1&to=3"),
        *(
            "subjects/flights-value/edit",
            "subjects/flights-value/settings",
            "subjects/shared-value/versions/1/references",
        ),
        *("new?topic=secret", "schemas/ids/5", "registry", "config", "topics"),
    ),
    "auditor": (
        *("subjects?peek=flights-value", "subjects/frozen-value/settings", "subjects/gone-value/settings", "config"),
        *("subjects/gone-value", "subjects/shared-value/versions/1/references", "registry", "contexts/.eu/config"),
    ),
    "stranger": ("subjects", "registry"),
}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with guarded_registry(tmp_path_factory.mktemp("guarded")) as server:
        yield server


@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing(open_page: OpenPage, watch: Watch, width: int) -> None:
    watch.expect(404)
    page = open_page(width=width)
    found = {path: problems_of(page, path, ready) for path, ready in PAGES.items()}
    assert {path: problems for path, problems in found.items() if problems} == {}


@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing_for_users_of_few_rights(
    guarded: ServerProcess, open_page: OpenPage, watch: Watch, width: int
) -> None:
    for status in (401, 403, 404):
        watch.expect(status)
    found = {}
    for user, paths in OF_FEW_RIGHTS.items():
        credentials = {"username": user, "password": user}
        page = open_page(guarded.url, width=width, http_credentials=credentials)
        found |= {f"{user}: {path}": problems_of(page, path, "h1") for path in paths}
    assert {path: problems for path, problems in found.items() if problems} == {}


def problems_of(page: Page, path: str, ready: str) -> list[str]:
    """The faults of a page in both themes."""
    page.goto(path)
    expect(page.locator(ready).first).to_be_visible()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    problems = []
    for theme in ("dark", "light"):
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]  # one of them
        expect(page.locator(f"html[data-theme={theme}]")).to_have_count(1)
        problems += [f"{theme}: {problem}" for problem in findings(page, colors_only=theme == "light")]
    if page.locator("h1").count() != 1:
        problems.append("not one h1")
    width = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    if width[0] > width[1]:
        problems.append("the page is wider than the window")
    return problems


def test_every_view_is_visited() -> None:
    assert set(views().values()) - visited() == OF_BROKER


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
