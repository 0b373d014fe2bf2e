"""Keys that lead from a subject's pages to its editor."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from magicbyte.platform.server_process import ServerProcess
from tests.ui.conftest import OpenPage
from tests.ui.kit.filling import flight, register

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("path", "version"),
    [
        ("subjects/flights-value/compare?from=1&to=2", 2),
        ("subjects/flights-value/compare?from=3&to=1", 1),
        ("subjects/flights-value/compare", 3),
        ("subjects/flights-value/versions/2", 2),
        ("subjects/flights-value", 3),
    ],
)
def test_e_opens_the_editor_from_the_version_in_sight(page: Page, path: str, version: int) -> None:
    page.goto(path)
    expect(page.get_by_text(f"Version {version}").first).to_be_visible()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    page.keyboard.press("e")
    expect(page).to_have_url(re.compile(rf"/subjects/flights-value/edit\?from={version}$"))
    expect(page.get_by_role("combobox", name="Start from")).to_have_value(str(version))
    expect(page.get_by_text(f"as version {version}", exact=True)).to_be_visible()


def test_the_help_of_compare_names_the_key(page: Page) -> None:
    page.goto("subjects/flights-value/compare?from=1&to=2")
    expect(page.locator(".pair:visible").first).to_be_visible()
    page.keyboard.press("?")
    row = page.get_by_role("dialog", name="Keys").locator("dl > div", has=page.get_by_text("e", exact=True))
    expect(row).to_contain_text("propose a version, from the new side")


def test_a_deleted_version_on_the_new_side_can_be_the_start(scratch: ServerProcess, open_page: OpenPage) -> None:
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        for version in (1, 2):
            register(client, "back-value", flight(version))
        client.delete("/subjects/back-value/versions/2").raise_for_status()
    page = open_page(scratch.url)
    page.goto("subjects/back-value/compare?from=1&to=2")
    expect(page.locator(".pair:visible").first).to_be_visible()
    page.keyboard.press("e")
    expect(page.get_by_text("as version 2", exact=True)).to_be_visible()
    expect(page.get_by_role("combobox", name="Start from")).to_have_value("2")
    expect(page.locator(".edit-foot")).to_contain_text("Registering asks for version 1 to be the latest still.")
