"""Long names on a phone: their ends, which tell them apart, are in sight."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import Locator, expect

from magicbyte.platform.server_process import ServerProcess
from tests.ui.conftest import OpenPage
from tests.ui.kit.filling import register

pytestmark = pytest.mark.browser

BASE = "billing.settlements.europe.refund-settled-by-provider.v3-key"
USER = "billing.settlements.europe.refund-settled-by-provider.v3-value"
#: Whether the last characters of an element's text can be seen, and nothing is over them.
END_IN_SIGHT = """element => {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    let last = null;
    for (let node = texts.nextNode(); node; node = texts.nextNode()) if (node.data.trim()) last = node;
    const range = document.createRange();
    range.setStart(last, Math.max(0, last.data.trimEnd().length - 3));
    range.setEnd(last, last.data.trimEnd().length);
    const box = range.getBoundingClientRect();
    const shown = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return box.right <= innerWidth && element.contains(shown);
}"""


@pytest.fixture(scope="module")
def named(scratch: ServerProcess) -> str:
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        register(client, BASE, '{"type": "record", "name": "Base", "fields": []}')
        text = '{"type": "record", "name": "User", "fields": [{"name": "base", "type": "Base"}]}'
        register(client, USER, text, references=[{"name": "Base", "subject": BASE, "version": 1}])
    return scratch.url


def end_is_in_sight(name: Locator) -> None:
    name.scroll_into_view_if_needed()
    assert name.evaluate(END_IN_SIGHT), name


@pytest.mark.parametrize("width", [320, 1280])
def test_the_end_of_a_name_is_in_sight(named: str, open_page: OpenPage, width: int) -> None:
    page = open_page(named, width=width)
    page.goto("subjects?q=settled")
    for subject in (BASE, USER):
        # For screen readers and for copying it is the whole name.
        link = page.get_by_role("link", name=subject, exact=True)
        expect(link).to_have_text(subject)
        end_is_in_sight(link)
    page.goto(f"subjects/{USER}")
    end_is_in_sight(page.get_by_role("heading", level=1))
    for crumb in page.locator(".crumb li").all():
        end_is_in_sight(crumb)
    page.goto(f"subjects/{USER}/versions/1/references")
    expect(page.locator(".graph-node")).to_have_count(2)
    for node in page.locator(".graph-node b").all():
        end_is_in_sight(node)
    page.goto(f"subjects/{BASE}/settings")
    end_is_in_sight(page.locator(".versions .held a"))
    page.goto(f"subjects/{USER}/compare?fromSubject={BASE}&from=1&to=1")
    expect(page.locator(".controls .ends").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    if width == 320:
        for name in page.locator(".texts .ends:visible, .controls .ends:visible").all():
            end_is_in_sight(name)
    page.keyboard.press("Control+k")
    page.keyboard.type("settled")
    options = page.get_by_role("listbox", name="Found").get_by_role("option")
    expect(options.first).to_be_visible()
    for option in options.all()[:2]:
        end_is_in_sight(option.locator(".mono").first)
    assert page.evaluate("document.documentElement.scrollWidth") == width
