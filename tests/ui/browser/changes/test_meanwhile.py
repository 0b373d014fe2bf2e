"""Changes of a subject while one edits: the editor says so, and keeps the text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import Route, expect

from magicbyte.platform.server_process import ServerProcess
from tests.ui.conftest import OpenPage
from tests.ui.kit.axe import findings
from tests.ui.kit.editing import USER, content, edit, expect_cell, user_with
from tests.ui.kit.filling import register
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def client(scratch: ServerProcess) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        yield client


def test_a_new_version_is_told_and_the_text_is_checked_against_it(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage
) -> None:
    register(client, "told-value", USER)
    page = open_page(scratch.url)
    edit(page, "told-value", user_with("mine"))
    content(page).click()
    page.keyboard.press("Control+End")
    first = content(page).locator(".cm-line").first
    place = first.bounding_box()
    register(client, "told-value", user_with("theirs"))
    line = page.locator(".edit-news p")
    expect(line).to_contain_text("Version 2 came meanwhile. Your text is checked against it, too.")
    expect_cell(page, 2, 0, "✓ reads all, asked for by the level")
    expect(page.locator(".edit-foot")).to_contain_text("Registering shows both texts first.")
    # Nothing jumps: the text stands where it stood, and one goes on typing.
    expect(content(page)).to_be_focused()
    assert first.bounding_box() == place
    page.keyboard.type(" ")
    expect(content(page)).to_contain_text('"mine"')
    assert page.locator("[role=dialog], .conflict").count() == 0


def test_register_shows_both_texts_before_it_sends_the_new_base(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage, watch: Watch
) -> None:
    register(client, "shown-value", USER)
    page = open_page(scratch.url)
    edit(page, "shown-value", user_with("mine"))
    register(client, "shown-value", user_with("theirs"))
    expect(page.locator(".edit-news p")).to_have_count(1)
    page.locator("#register").click()
    expect(page.get_by_role("heading", name="Version 2 came meanwhile. Nothing was registered.")).to_be_focused()
    assert watch.count("POST /subjects/shown-value/versions") == 0
    expect(page.locator("#register")).to_have_attribute("aria-disabled", "true")
    page.get_by_role("button", name="Three texts").click()
    for name, line in (("Yours", '"name": "mine"'), ("Theirs", '"name": "theirs"'), ("The start", '"name": "id"')):
        expect(page.get_by_role("region", name=name).get_by_text(line)).to_be_visible()
    page.get_by_role("button", name="Keep my text, on top of version 2").click()
    expect(content(page)).to_be_focused()
    expect(page.locator(".edit-news p")).to_have_count(0)
    with page.expect_request(lambda sent: sent.method == "POST" and sent.url.endswith("/versions")) as sent:
        page.get_by_role("button", name="Register version 3").click()
    assert sent.value.headers["if-match"] == "2"
    page.wait_for_url("**/ui/subjects/shown-value/versions/3")
    assert json.loads(client.get("/subjects/shown-value/versions/3").json()["schema"])["fields"][1]["name"] == "mine"


def test_a_version_that_comes_with_the_registration_leads_to_both_texts(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage, watch: Watch
) -> None:
    watch.expect(412, "/subjects/raced-value/versions")
    register(client, "raced-value", USER)
    page = open_page(scratch.url)
    edit(page, "raced-value", user_with("mine"))

    def overtake(route: Route) -> None:
        if route.request.method == "POST":
            register(client, "raced-value", user_with("theirs"))
        route.continue_()

    page.route("**/subjects/raced-value/versions", overtake)
    page.locator("#register").click()
    expect(page.get_by_role("heading", name="Version 2 came meanwhile. Nothing was registered.")).to_be_visible()
    expect(page.locator(".edit-foot")).to_contain_text("Not registered: another version came meanwhile.")
    page.get_by_role("button", name="Back to the editor").click()
    expect(content(page)).to_contain_text('"mine"')


def test_level_and_mode_are_told(client: httpx.Client, scratch: ServerProcess, open_page: OpenPage) -> None:
    register(client, "set-value", USER)
    page = open_page(scratch.url)
    edit(page, "set-value", '{"type":"record","name":"User","fields":[]}')
    expect(page.get_by_text("allowed under BACKWARD")).to_be_visible()
    client.put("/config/set-value", json={"compatibility": "FULL"}).raise_for_status()
    expect(page.get_by_text("The level is FULL now; it was BACKWARD.")).to_be_visible()
    expect(page.get_by_text("refused under FULL")).to_be_visible()
    client.put("/mode/set-value", json={"mode": "READONLY"}).raise_for_status()
    expect(page.get_by_text("The mode is READONLY now; it was READWRITE.")).to_be_visible()
    expect(page.get_by_text("No new versions: the mode is READONLY, its own.")).to_be_visible()
    expect(page.locator("#register")).to_have_count(0)
    page.get_by_role("button", name="Close").first.click()
    expect(page.locator(".edit-news p")).to_have_count(1)
    client.delete("/mode/set-value").raise_for_status()
    expect(page.locator(".edit-news p")).to_have_count(0)
    expect(page.locator("#register")).to_be_visible()
    expect(content(page)).to_contain_text('"fields": []')


def test_settings_of_the_registry_are_told_too(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage
) -> None:
    register(client, "inherits-value", USER)
    page = open_page(scratch.url)
    edit(page, "inherits-value", user_with("mine"))
    client.put("/config", json={"compatibility": "FORWARD"}).raise_for_status()
    expect(page.get_by_text("The level is FORWARD now; it was BACKWARD.")).to_be_visible()
    client.delete("/config").raise_for_status()
    expect(page.locator(".edit-news p")).to_have_count(0)


def test_a_subject_that_is_deleted_meanwhile_is_registered_anew(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage, watch: Watch
) -> None:
    watch.expect(404, "/subjects/lost-value/versions")
    register(client, "lost-value", USER)
    page = open_page(scratch.url)
    edit(page, "lost-value", user_with("mine"))
    client.delete("/subjects/lost-value").raise_for_status()
    expect(page.locator(".edit-news p")).to_contain_text("The subject was deleted meanwhile. Your text is kept.")
    expect(page.locator("#register")).to_have_attribute("aria-disabled", "true")
    expect(page.locator("#register")).to_have_text("Register")
    expect(content(page)).to_contain_text('"mine"')
    page.get_by_role("button", name="Register it anew").click()
    expect(page.locator(".edit-news p")).to_have_count(0)
    with page.expect_request(lambda sent: sent.method == "POST" and sent.url.endswith("/versions")) as sent:
        page.locator("#register").click()
    assert "if-match" not in sent.value.headers
    page.wait_for_url("**/ui/subjects/lost-value/versions/2")
    assert client.get("/subjects/lost-value/versions").json() == [2]


def test_a_registration_after_a_deletion_without_a_feed(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage, watch: Watch
) -> None:
    watch.expect(404)
    register(client, "deaf-value", USER)
    page = open_page(scratch.url)
    page.route("**/events", lambda route: route.fulfill(status=404, json={"error_code": 404, "message": "none"}))
    edit(page, "deaf-value", user_with("mine"))
    client.delete("/subjects/deaf-value").raise_for_status()
    page.locator("#register").click()
    expect(page.locator(".edit-news p")).to_contain_text("The subject was deleted meanwhile. Your text is kept.")
    expect(content(page)).to_contain_text('"mine"')


def test_a_latest_version_that_is_deleted(client: httpx.Client, scratch: ServerProcess, open_page: OpenPage) -> None:
    register(client, "shorter-value", USER)
    register(client, "shorter-value", user_with("theirs"))
    page = open_page(scratch.url)
    edit(page, "shorter-value", user_with("theirs", "mine"))
    client.delete("/subjects/shorter-value/versions/2").raise_for_status()
    line = "Version 2 was deleted meanwhile: version 1 is the latest now."
    expect(page.locator(".edit-news p")).to_contain_text(line)
    page.get_by_role("button", name="See both texts").click()
    expect(page.get_by_role("heading", name="Version 2 was deleted meanwhile. Nothing was registered.")).to_be_visible()
    page.get_by_role("button", name="Keep my text, on top of version 1").click()
    with page.expect_request(lambda sent: sent.method == "POST" and sent.url.endswith("/versions")) as sent:
        page.locator("#register").click()
    assert sent.value.headers["if-match"] == "1"
    page.wait_for_url("**/ui/subjects/shorter-value/versions/3")


def test_two_tabs_tell_each_other(client: httpx.Client, scratch: ServerProcess, open_page: OpenPage) -> None:
    register(client, "tabs-value", USER)
    one = open_page(scratch.url)
    other = open_page(scratch.url, context=one.context)
    edit(one, "tabs-value", user_with("one"))
    edit(other, "tabs-value", user_with("other"))
    one.locator("#register").click()
    one.wait_for_url("**/ui/subjects/tabs-value/versions/2")
    expect(one.locator(".edit-news p")).to_have_count(0)
    other.bring_to_front()
    expect(other.locator(".edit-news p")).to_contain_text("Version 2 came meanwhile.")
    expect(content(other)).to_contain_text('"other"')


@pytest.mark.parametrize("subject", ["a/b new %2F?#é", ":.eu:news-value"])
def test_changes_of_odd_names_and_of_contexts_are_told(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage, subject: str
) -> None:
    register(client, subject, USER)
    page = open_page(scratch.url)
    if subject.startswith(":.eu:"):
        page.goto("contexts/.eu/subjects/news-value/edit")
    else:
        page.goto(f"subjects/{quote(subject, safe='')}/edit")
    expect(page.get_by_text("says the same as version 1")).to_be_visible()
    register(client, subject, user_with("theirs"))
    expect(page.locator(".edit-news p")).to_contain_text("Version 2 came meanwhile.")


def test_a_new_subject_that_somebody_else_registers(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage
) -> None:
    page = open_page(scratch.url)
    page.goto("new?subject=first-value")
    expect(page.get_by_role("button", name="Register version 1")).to_be_visible()
    register(client, "first-value", USER)
    expect(page.get_by_text("first-value exists, with 1 version. This text would be the next one.")).to_be_visible()
    expect(page.get_by_role("button", name="Register version 2")).to_be_visible()
    expect_cell(page, 1, 0, "✕ 2 places, asked for by the level")


def test_a_refusal_keeps_the_text(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage, watch: Watch
) -> None:
    watch.expect(409, "/subjects/strict-value/versions")
    watch.expect(404, "/events")
    register(client, "strict-value", USER)
    page = open_page(scratch.url)
    page.route("**/events", lambda route: route.fulfill(status=404, json={"error_code": 404, "message": "none"}))
    edit(page, "strict-value", '{"type": "record", "name": "User", "fields": []}')
    client.put("/config/strict-value", json={"compatibility": "FULL"}).raise_for_status()
    page.locator("#register").click()
    expect(page.get_by_text("refused under FULL")).to_be_visible()
    expect(page.locator(".edit-foot")).to_contain_text("Refused: ")
    expect(page.locator(".edit-news p")).to_contain_text("The level is FULL now; it was BACKWARD.")
    expect(page.locator(".cell.need")).to_have_count(2)
    expect(content(page)).to_contain_text('"fields": []')


def test_a_draft_is_offered_when_a_newer_version_came(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage
) -> None:
    register(client, "drafted-value", USER)
    page = open_page(scratch.url)
    edit(page, "drafted-value", user_with("mine"))
    expect(page.get_by_text("1 edit since version 1")).to_be_visible()
    register(client, "drafted-value", user_with("theirs"))
    expect(page.locator(".edit-news p")).to_have_count(1)
    page.reload()
    expect(content(page)).to_contain_text('"theirs"')
    page.get_by_role("button", name="Open the draft since version 1").click()
    expect(content(page)).to_contain_text('"mine"')
    expect(page.get_by_text("Version 2 came meanwhile. Registering shows both texts first.")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_the_lines_and_the_merge_are_accessible(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage, theme: str, width: int
) -> None:
    subject = f"axe-{theme}-{width}-value"
    register(client, subject, USER)
    page = open_page(scratch.url, theme=theme, width=width)
    edit(page, subject, user_with("mine", "more").replace('"int"', '"long"', 1))
    register(client, subject, user_with("theirs").replace("User", "User"))
    client.put(f"/config/{subject}", json={"compatibility": "NONE"}).raise_for_status()
    expect(page.locator(".edit-news p")).to_have_count(2)
    assert findings(page) == []
    page.get_by_role("button", name="See both texts").click()
    for view in ("Merged", "Three texts"):
        page.get_by_role("button", name=view, exact=True).click()
        assert findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
