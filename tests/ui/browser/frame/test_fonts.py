"""All views of a session have the same faces, also after a first visit over a slow link."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import CDPSession, Error, Page, Route, expect

from magicbyte.platform.server_process import ServerProcess
from tests.ui.conftest import OpenPage

pytestmark = pytest.mark.browser

#: A view, a text that it shows, and selectors of its texts by face.
VIEWS = [
    ("subjects", "customers-value", {"main h1": "Inter", "table.subjects a": "JetBrains Mono"}),
    ("subjects/flights-value/versions/3", "106 lines", {".tabs a": "Inter", ".code .t": "JetBrains Mono"}),
    ("subjects/flights-value/compare?from=1&to=3", "wheels_up", {".tabs a": "Inter", "h1": "JetBrains Mono"}),
    ("decode", "A message with a schema", {"h1": "Inter"}),
]


def faces(session: CDPSession, selector: str) -> set[str]:
    """The faces that the browser draws an element's text with."""
    session.send("DOM.enable")
    session.send("CSS.enable")
    while True:
        root: dict[str, Any] = session.send("DOM.getDocument")["root"]
        node = session.send("DOM.querySelector", {"nodeId": root["nodeId"], "selector": selector})["nodeId"]
        try:
            fonts = session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
        except Error as error:
            # The view has drawn the element anew since; a test that waits in vain ends by its limit.
            if "Could not find node" not in error.message:
                raise
        else:
            return {font["familyName"] for font in fonts}


def assert_faces(page: Page, session: CDPSession) -> None:
    for path, shown, expected in VIEWS:
        page.goto(path)
        expect(page.get_by_text(shown).first).to_be_visible()
        page.evaluate("document.fonts.ready.then(() => {})")
        for selector, family in expected.items():
            found = faces(session, selector)
            assert {name.partition(" Variable")[0] for name in found} == {family}, (path, selector)


def test_each_view_has_the_same_faces(open_page: OpenPage, built: ServerProcess) -> None:
    page = open_page(built.url)
    assert_faces(page, page.context.new_cdp_session(page))


def test_fonts_that_come_late_are_used_by_the_first_view(open_page: OpenPage) -> None:
    page = open_page()
    session = page.context.new_cdp_session(page)
    held: list[Route] = []
    page.route("**/*.woff2", lambda route: held.append(route))  # noqa: PLW0108  it must take attributes
    # The event `load` waits for the fonts.
    page.goto("subjects/flights-value/versions/3", wait_until="commit")
    expect(page.get_by_text("106 lines")).to_be_visible()
    # Long after the time in which a browser waits for a font.
    page.wait_for_timeout(3500)
    assert not any(name.startswith("Inter") for name in faces(session, ".tabs a"))
    before = [box.bounding_box() for box in page.locator(".tabs a").all()]
    height = page.evaluate("document.documentElement.scrollHeight")
    for route in held:
        route.continue_()
    # `fonts.ready` may be of the moment before they come; a test that waits in vain ends by its limit.
    while faces(session, ".tabs a") != {"Inter"}:
        page.wait_for_timeout(100)
    # The fallback has nearly the measures of Inter: words stay where they are, and no line is higher.
    after = [box.bounding_box() for box in page.locator(".tabs a").all()]
    for one, other in zip(before, after, strict=True):
        assert one is not None
        assert other is not None
        assert abs(one["x"] - other["x"]) < 16
        assert abs(one["y"] - other["y"]) < 2
    assert abs(page.evaluate("document.documentElement.scrollHeight") - height) < 40
    page.get_by_role("link", name="Compare").first.click()
    expect(page.get_by_text("wheels_up").first).to_be_visible()
    assert faces(session, ".tabs a") == {"Inter"}
