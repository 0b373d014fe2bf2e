"""The page of the API's description in a real browser, under its policy."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from magicbyte.testing import running_registry

pytestmark = pytest.mark.browser


@pytest.fixture
def page() -> Iterator[Page]:
    chromium = runpy.run_path(str(Path(__file__).with_name("chromium.py")))
    path = chromium["find"]()
    if path is None:
        pytest.fail(chromium["MISSING"], pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        yield browser.new_page()
        browser.close()


def test_the_page_works_under_its_policy_and_nothing_else_does(page: Page) -> None:
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    with running_registry() as server:
        page.goto(f"{server.url}/docs")
        page.get_by_text("/subjects", exact=True).first.click()
        assert page.locator(".method").first.evaluate("element => getComputedStyle(element).display") == "inline-block"
        page.get_by_role("button", name="Send").first.click()
        page.locator("pre:visible").first.wait_for()
        assert page.locator("pre:visible").first.inner_text().startswith("200")
        # The page's icon is none of the server's routes.
        assert [text for text in said if "favicon" not in text and "404" not in text] == []
        for attempt in (
            "document.body.innerHTML = '<b>x</b>'",
            "eval('1')",
            "document.head.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = 1'}))",
        ):
            tried = f"try {{ {attempt}; return window.ran; }} catch (error) {{ return 'refused'; }}"
            assert page.evaluate(f"() => {{ {tried} }}") in ("refused", None), attempt
        assert page.evaluate("() => fetch('http://127.0.0.1:1/').then(() => 'sent', () => 'refused')") == "refused"
        assert any(
            "Content Security Policy" in text or "TrustedHTML" in text or "TrustedScript" in text for text in said
        )
