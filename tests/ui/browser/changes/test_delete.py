"""Deleting: softly with Undo, back by Undelete, for good by typing the name."""

from __future__ import annotations

from urllib.parse import quote

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


def test_a_subject_is_purged_by_typing_its_name(scratch: ServerProcess, open_page: OpenPage, watch: Watch) -> None:
    # The page hears of the soft deletion, and may read the versions again before it leaves.
    watch.expect(404, "/subjects/purged-value/versions")
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


HELD = "1 version refers to it, so it cannot be deleted."


def test_who_holds_a_version_is_named_before_the_click(
    scratch: ServerProcess, open_page: OpenPage, watch: Watch
) -> None:
    page = open_page(scratch.url)
    page.goto("subjects/payments-value/settings")
    card = page.get_by_role("region", name="Versions and deletion")
    expect(card.get_by_role("listitem")).to_contain_text(f"Held by {ODD_SUBJECT} v1")
    expect(card.locator(".delete-foot")).to_contain_text(f"Held by {ODD_SUBJECT} v1")
    for name in ("Delete version 1", "Delete the subject", "Purge the subject"):
        button = card.get_by_role("button", name=name)
        expect(button).to_have_accessible_description(HELD)
        button.focus()
        page.keyboard.press("Enter")
    assert watch.count("DELETE") == 0
    link = card.get_by_role("listitem").get_by_role("link", name=f"{ODD_SUBJECT} v1")
    link.click()
    expect(page.get_by_role("region", name="Refers to").get_by_role("link")).to_contain_text("payments-value")
    page.go_back()
    # The last holder goes in another tab.
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        client.delete(f"/subjects/{quote(ODD_SUBJECT, safe='')}").raise_for_status()
        try:
            expect(card.get_by_role("button", name="Delete version 1")).to_be_enabled()
            expect(card.get_by_role("button", name="Purge the subject")).to_have_accessible_description(HELD)
            expect(card.locator(".held")).to_have_count(0)
        finally:
            client.post(f"/subjects/{quote(ODD_SUBJECT, safe='')}/undelete").raise_for_status()


def test_a_refusal_names_who_holds_the_version(scratch: ServerProcess, open_page: OpenPage, watch: Watch) -> None:
    """The holder comes after the page has asked for the holders."""
    watch.expect(422, "/subjects/payments-value")
    page = open_page(scratch.url)
    none = {"versions": [], "total": 0, "cut": False}
    page.route("**/subjects/payments-value/referencedby", lambda route: route.fulfill(json=none))
    page.goto("subjects/payments-value/settings")
    page.get_by_role("button", name="Delete version 1").click()
    toast = page.locator(".toast")
    expect(toast).to_contain_text("Not changed: One or more references exist")
    expect(toast).to_contain_text(f"Held by {ODD_SUBJECT} v1.")
    assert versions_of(scratch, "payments-value") == [1]


def test_the_selected_bar_names_who_holds_a_subject(scratch: ServerProcess, open_page: OpenPage, watch: Watch) -> None:
    register_pair(scratch)
    page = open_page(scratch.url)
    page.goto("subjects?q=pair&peek=pair.base-value")
    expect(page.locator("tbody tr.on")).to_be_visible()
    page.keyboard.press("x")
    bar = page.get_by_role("region", name="Selected subjects")
    expect(bar).to_contain_text("pair.base-value: Held by pair.user-value v1")
    delete = bar.get_by_role("button", name="Delete")
    expect(delete).to_have_accessible_description(HELD)
    # With its holder, which is deleted first although it is selected last.
    page.get_by_role("row", name="pair.user-value").click()
    expect(page.locator("tbody tr.on")).to_contain_text("pair.user-value")
    page.keyboard.press("x")
    expect(bar.locator(".held")).to_have_count(0)
    watch.expect(422, "/subjects/pair.base-value")
    delete.click()
    expect(page.locator(".toast")).to_contain_text("2 subjects deleted")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".toast").filter(has_text="2 subjects restored")).to_be_visible()
    assert versions_of(scratch, "pair.base-value") == versions_of(scratch, "pair.user-value") == [1]


def test_a_registry_that_lists_referrers_by_version_alone_names_them_in_the_dialog(
    scratch: ServerProcess, open_page: OpenPage, watch: Watch
) -> None:
    watch.expect(404, "/referencedby")
    page = open_page(scratch.url)
    missing = {"error_code": 404, "message": "HTTP 404 Not Found"}
    page.route("**/subjects/payments-value/referencedby", lambda route: route.fulfill(status=404, json=missing))
    page.goto("subjects/payments-value/settings")
    page.get_by_role("button", name="Purge the subject").click()
    dialog = page.get_by_role("dialog", name="Purge payments-value?")
    expect(dialog).to_contain_text("The registry will refuse it as long as these refer to it:")
    expect(dialog.get_by_role("listitem")).to_have_text(f"{ODD_SUBJECT} version 1")


def register_pair(server: ServerProcess) -> None:
    with httpx.Client(base_url=server.url, trust_env=False) as client:
        register(client, "pair.base-value", '{"type": "record", "name": "Base", "fields": []}')
        refers = {"name": "Base", "subject": "pair.base-value", "version": 1}
        user = '{"type": "record", "name": "User", "fields": [{"name": "base", "type": "Base"}]}'
        register(client, "pair.user-value", user, references=[refers])


def versions_of(server: ServerProcess, subject: str) -> list[int]:
    answer: list[int] = httpx.get(f"{server.url}/subjects/{subject}/versions", trust_env=False).json()
    return answer
