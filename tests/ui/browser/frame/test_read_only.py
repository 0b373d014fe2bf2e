"""A page that may only read: it says so, and none of its controls that write can be pressed."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from magicbyte.testing import running_registry
from tests.ui.conftest import OpenPage
from tests.ui.kit.filling import fill

pytestmark = pytest.mark.browser

#: The words on controls that write.
WRITES = re.compile(
    r"^\s*(Register|New schema|Propose|Save|Undelete|Delete|Purge|Import|Set |Undo|Inherit|Produce)\b", re.IGNORECASE
)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running_registry("memory:", properties={"magicbyte.ui.read.only": "true"}) as server:
        fill(server.url)
        yield server.url


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("subjects", "payments-value"),
        ("subjects/flights-value", "distance"),
        ("subjects/flights-value/versions/3", "wheels_up"),
        ("subjects/flights-value/edit", "This page is read-only: magicbyte.ui.read.only is set."),
        ("new?topic=fresh&part=value", "This page is read-only: magicbyte.ui.read.only is set."),
        ("subjects/flights-value/settings", "BACKWARD"),
        ("config", "BACKWARD"),
        ("registry", "Last"),
    ],
)
def test_no_control_that_writes_can_be_pressed(url: str, open_page: OpenPage, path: str, shown: str) -> None:
    page = open_page(url)
    page.goto(path)
    main = page.locator("main")
    expect(main).to_contain_text(shown)
    expect(page.locator(".bar")).to_contain_text("read-only")
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    pressable = main.locator("button:not([aria-disabled=true]):not(:disabled), a.btn")
    words = [text.strip() for text in pressable.all_inner_texts()]
    assert [text for text in words if WRITES.match(text) and "as file" not in text] == []
    assert main.locator("input[type=file]:not(:disabled)").count() == 0
