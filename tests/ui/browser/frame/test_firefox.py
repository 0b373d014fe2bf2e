"""The main views in a stock Firefox, such as Debian's firefox-esr; the other files use Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic

import pytest

from magicbyte.platform.server_process import ServerProcess
from tests.ui.kit.marionette import Firefox, find, firefox

pytestmark = [pytest.mark.browser, pytest.mark.skipif(find() is None, reason="there is no Firefox: make test-firefox")]

ENTER, ESCAPE = "\ue007", "\ue00c"


@pytest.fixture(scope="module")
def running() -> Iterator[Firefox]:
    with firefox() as tab:
        yield tab


@pytest.fixture
def tab(running: Firefox) -> Iterator[Firefox]:
    """A tab; errors of its pages fail the test."""
    running.problems()
    yield running
    assert running.problems() == []


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("subjects", "customers-value"),
        ("subjects?peek=flights-value", "Last change"),
        ("subjects/flights-value", "wheels_up"),
        ("subjects/flights-value/versions/3", "106 lines"),
        ("subjects/flights-value/versions/3?view=fields", "wheels_up"),
        ("subjects/flights-value/versions/3/references", "Referred to by"),
        ("subjects/flights-value/compare?from=1&to=3", '"wheels_up"'),
        ("subjects/flights-value/settings", "Versions and deletion"),
        ("new", "Register"),
        ("config", "Other settings"),
        ("schemas/ids/1", "Where it is used"),
        ("registry", "Export"),
        ("topics", "magicbyte.ui.rest.url"),
        ("decode#hex=00000000010a", "All 6 bytes"),
        ("parts", "Parts"),
    ],
)
def test_a_view(tab: Firefox, registry: ServerProcess, path: str, shown: str) -> None:
    tab.open(f"{registry.url}/ui/{path}")
    tab.shows(shown)
    assert tab.run("return document.querySelectorAll('h1').length") == 1
    # Nothing is wider than the window.
    assert tab.run("return document.documentElement.scrollWidth <= innerWidth")


def test_search_and_the_palette(tab: Firefox, registry: ServerProcess) -> None:
    tab.open(f"{registry.url}/ui/subjects")
    tab.shows("customers-value")
    tab.type("input[type=search]", "flights val")
    tab.wait("return document.querySelectorAll('table.subjects tbody tr').length === 1")
    tab.open(f"{registry.url}/ui/registry")
    tab.shows("Export")
    tab.keys("/")
    tab.wait("return document.querySelector('dialog.palette')?.open")
    tab.keys("orders")
    tab.wait("return document.querySelector('#found [role=option]')?.textContent.includes('orders-value')")
    tab.keys(ENTER)
    tab.wait("return location.pathname.includes('/subjects/orders-value')")


def test_typing_in_the_editor_is_checked(tab: Firefox, registry: ServerProcess) -> None:
    tab.open(f"{registry.url}/ui/subjects/flights-value/edit")
    tab.wait("return [...document.querySelectorAll('*')].some((e) => e.shadowRoot?.querySelector('.cm-content'))")
    tab.run(
        "[...document.querySelectorAll('*')].find((e) => e.shadowRoot?.querySelector('.cm-content'))"
        ".shadowRoot.querySelector('.cm-content').focus()"
    )
    tab.keys("x")
    tab.shows("line 1")
    # The editor is styled: the policy lets it have its own sheets.
    height = (
        "return [...document.querySelectorAll('*')].find((e) => e.shadowRoot?.querySelector('.cm-content'))"
        ".shadowRoot.querySelector('.cm-line').getBoundingClientRect().height"
    )
    assert 10 < tab.run(height) < 40


def test_the_theme_is_chosen_and_kept(tab: Firefox, registry: ServerProcess) -> None:
    tab.open(f"{registry.url}/ui/decode")
    tab.shows("Decode")
    for theme in ("Dark", "Light"):
        tab.click('button[aria-label="Theme, time and keys"], [aria-label="Theme, time and keys"]')
        tab.wait(
            "const item = [...document.querySelectorAll('[popover] *, .menu *')]"
            ".find((e) => e.textContent.trim() === arguments[0]);"
            "item?.click(); return Boolean(item)",
            theme,
        )
        tab.wait("return document.documentElement.dataset.theme === arguments[0].toLowerCase()", theme)
        tab.open(f"{registry.url}/ui/decode")
        assert tab.run("return document.documentElement.dataset.theme") == theme.lower()
        # Modules that a page has not loaded when it is left are errors.
        tab.shows("A message with a schema")


def test_both_fonts_are_used(tab: Firefox, registry: ServerProcess) -> None:
    tab.open(f"{registry.url}/ui/subjects")
    tab.shows("customers-value")
    loaded = "[...document.fonts].filter(({family, status}) => family.includes('Variable') && status === 'loaded')"
    tab.wait(f"return {loaded}.length === 2")


def test_errors_of_pages_are_seen(running: Firefox, registry: ServerProcess) -> None:
    running.open(f"{registry.url}/ui/decode")
    running.shows("A message with a schema")
    running.problems()
    until = monotonic() + 60
    seen: list[str] = []
    while not any("Content-Security-Policy" in problem for problem in seen):
        assert monotonic() < until, "Firefox told of no violation"
        # The policy refuses it. Firefox may drop what it tells of while it is busy, so it is refused again.
        running.run(
            "const style = document.createElement('style'); style.textContent = 'b { color: red }';"
            "document.head.append(style)"
        )
        seen = running.problems()
