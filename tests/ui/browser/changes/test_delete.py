"""Deleting: softly with Undo, back by Undelete, for good by typing the name."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import expect

from magicbyte.platform.server_process import ServerProcess
from tests.ui.conftest import OpenPage
from tests.ui.kit.filling import ODD_SUBJECT, register
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser


def test_a_version_is_deleted_and_undone(scratch: ServerProcess, open_page: OpenPage) -> None:
    page = open_page(scratch.url)
    page.goto("subjects/flights-value/settings")
    page.get_by_role("button", name="Delete version 2").click()
    expect(page.get_by_role("button", name="Undelete version 2")).to_be_visible()
    expect(page.locator(".versions s")).to_have_text("Version 2")
    assert versions_of(scratch, "flights-value") == [1, 3]
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Delete version 2", exact=True)).to_be_visible()
    assert versions_of(scratch, "flights-value") == [1, 2, 3]


def test_undo_restores_only_what_was_deleted(scratch: ServerProcess, open_page: OpenPage) -> None:
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        for text in ('"int"', '"long"', '"float"'):
            register(client, "numbers-value", text)
        client.delete("/subjects/numbers-value/versions/1").raise_for_status()
    page = open_page(scratch.url)
    page.goto("subjects/numbers-value/settings")
    page.get_by_role("button", name="Delete the subject").click()
    expect(page.get_by_role("button", name="Undelete the subject")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".toast").filter(has_text="2 versions are live again.")).to_be_visible()
    expect(page.get_by_role("button", name="Delete version 3")).to_be_visible()
    assert versions_of(scratch, "numbers-value") == [2, 3]


def test_a_deleted_subject_is_brought_back(scratch: ServerProcess, open_page: OpenPage) -> None:
    page = open_page(scratch.url)
    page.goto("subjects/gone-value/settings")
    page.get_by_role("button", name="Undelete the subject").click()
    expect(page.get_by_role("button", name="Delete version 1")).to_be_visible()
    expect(page.locator(".toast")).to_contain_text("Version 1 is live again.")
    assert versions_of(scratch, "gone-value") == [1]


def test_a_subject_is_purged_by_typing_its_name(scratch: ServerProcess, open_page: OpenPage) -> None:
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        for text in ('"int"', '"long"'):
            register(client, "purged-value", text)
    page = open_page(scratch.url)
    page.goto("subjects/purged-value/settings")
    page.get_by_role("button", name="Purge the subject").click()
    dialog = page.get_by_role("dialog", name="Purge purged-value?")
    expect(dialog).to_contain_text("This removes 2 versions, 2 of them live, for good.")
    expect(dialog).to_contain_text("No other schema refers to it.")
    purge = dialog.get_by_role("button", name="Purge")
    expect(purge).to_have_attribute("aria-disabled", "true")
    dialog.get_by_role("textbox").fill("purged-valu")
    expect(purge).to_have_attribute("aria-disabled", "true")
    dialog.get_by_role("textbox").fill("purged-value")
    purge.click()
    page.wait_for_url("**/ui/subjects")
    gone = httpx.get(f"{scratch.url}/subjects/purged-value/versions?deleted=true", trust_env=False)
    assert gone.status_code == 404


def test_referrers_are_named_before_a_purge(scratch: ServerProcess, open_page: OpenPage, watch: Watch) -> None:
    watch.expect(422, "/subjects/payments-value")
    page = open_page(scratch.url)
    page.goto("subjects/payments-value/settings")
    page.get_by_role("button", name="Purge the subject").click()
    dialog = page.get_by_role("dialog", name="Purge payments-value?")
    expect(dialog).to_contain_text("The registry will refuse it as long as these refer to it:")
    expect(dialog.get_by_role("listitem")).to_have_text(f"{ODD_SUBJECT} version 1")
    dialog.get_by_role("textbox").fill("payments-value")
    dialog.get_by_role("button", name="Purge").click()
    expect(page.locator(".toast")).to_contain_text("Not changed: One or more references exist")
    assert versions_of(scratch, "payments-value") == [1]


def versions_of(server: ServerProcess, subject: str) -> list[int]:
    answer: list[int] = httpx.get(f"{server.url}/subjects/{subject}/versions", trust_env=False).json()
    return answer
