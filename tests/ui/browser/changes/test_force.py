"""`force=true`, where the registry suggests it: registering without a comparison, and IMPORT over live versions."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry
from tests.ui.conftest import OpenPage
from tests.ui.kit.axe import findings
from tests.ui.kit.editing import put
from tests.ui.kit.filling import register
from tests.ui.kit.guarded import As, access_settings, signing_in
from tests.ui.kit.watch import Watch
from tests.waiting import PATIENCE

pytestmark = pytest.mark.browser

USERS = ("admin", "writer", "forcer")
RULES = """\
allow User:writer READ,WRITE SUBJECT LITERAL wide-value
allow User:forcer READ,WRITE,ALTER_CONFIGS SUBJECT LITERAL wide-value
"""
SUGGESTION = "or register it with force=true"


def namesakes(other: str) -> str:
    """A union of records that have one name in many namespaces: the registry does not compare so many pairs."""
    fields = [{"name": "a", "type": "int"}, {"name": other, "type": "string"}]
    return json.dumps([{"type": "record", "name": "R", "namespace": f"n{at}", "fields": fields} for at in range(600)])


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("forced")
    properties = access_settings(folder, "registry", RULES, USERS)
    with running_registry("memory:", properties=properties) as server:
        with httpx.Client(base_url=server.url, auth=("admin", "admin"), trust_env=False) as client:
            register(client, "wide-value", namesakes("b"))
        yield server


@pytest.fixture
def signed_in(guarded: ServerProcess, open_page: OpenPage, watch: Watch) -> As:
    watch.expect(422)
    return signing_in(guarded.url, open_page, watch)


def propose(page: Page, other: str) -> None:
    """Propose a text that is too costly to compare, and try to register it."""
    put(page, namesakes(other))
    # The comparison is given up after more than a second of a worker, which has a low priority.
    foot = page.locator(".edit-foot")
    expect(foot).to_contain_text("The registry decides when you register.", timeout=PATIENCE * 1000)
    page.locator("#register").click()
    expect(foot.locator(".bad-text")).to_contain_text(SUGGESTION, timeout=PATIENCE * 1000)


def versions(server: ServerProcess) -> list[int]:
    answer = httpx.get(f"{server.url}/subjects/wide-value/versions", auth=("admin", "admin"), trust_env=False)
    found: list[int] = answer.json()
    return found


def test_who_lacks_the_right_sees_which_one(signed_in: As, guarded: ServerProcess, watch: Watch) -> None:
    page = signed_in("writer", "subjects/wide-value/edit")
    before = versions(guarded)
    propose(page, "c")
    offer = page.get_by_role("group", name="Register with force")
    expect(offer).to_contain_text("the registry compares the text with no version")
    button = offer.get_by_role("button", name="Register with force")
    expect(button).to_have_accessible_description("You lack the right ALTER_CONFIGS on the subject wide-value.")
    expect(button).to_have_attribute("aria-disabled", "true")
    button.click(force=True)
    # To skip the check is another right than to register: that one stays.
    expect(page.locator("#register")).to_be_visible()
    assert watch.count("POST /subjects/wide-value/versions?force=true") == 0
    assert versions(guarded) == before


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 320)])
def test_who_has_the_right_registers_with_force(
    guarded: ServerProcess, open_page: OpenPage, watch: Watch, theme: str, width: int
) -> None:
    watch.expect(422)
    credentials = {"username": "forcer", "password": "forcer"}
    page = open_page(guarded.url, http_credentials=credentials, theme=theme, width=width)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("subjects/wide-value/edit")
    before = versions(guarded)
    propose(page, f"d{width}")
    button = page.get_by_role("button", name="Register with force", exact=True)
    expect(button).not_to_have_attribute("aria-disabled", "true")
    assert findings(page) == []
    page.get_by_role("button", name="Copy as curl with force").click()
    expect(page.locator(".toast")).to_contain_text("curl command copied")
    copied = str(page.evaluate("navigator.clipboard.readText()"))
    assert "/subjects/wide-value/versions?force=true" in copied
    assert f"If-Match: {before[-1]}" in copied
    with page.expect_request(lambda sent: "force=true" in sent.url) as sent:
        button.click()
    assert sent.value.headers["if-match"] == str(before[-1])
    page.wait_for_url(f"**/ui/subjects/wide-value/versions/{before[-1] + 1}")
    assert versions(guarded) == [*before, before[-1] + 1]


def test_import_over_live_versions(scratch: ServerProcess, open_page: OpenPage, watch: Watch) -> None:
    watch.expect(422, "/mode/live-value")
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        register(client, "live-value", '"int"')
        page = open_page(scratch.url)
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.goto("subjects/live-value/settings")
        card = page.get_by_role("region", name="Mode", exact=True)
        offer = card.get_by_role("group", name="With force")
        expect(offer).to_have_count(0)
        card.get_by_role("combobox", name="Mode").select_option("IMPORT")
        card.get_by_role("button", name="Set IMPORT", exact=True).click()
        expect(offer).to_contain_text("Not changed: Cannot import since found existing subjects")
        expect(offer).to_contain_text("keeps the versions")
        assert client.get("/mode/live-value").status_code == 404
        offer.get_by_role("button", name="Copy as curl with force").click()
        expect(page.locator(".toast").last).to_contain_text("curl command copied")
        assert "/mode/live-value?force=true" in str(page.evaluate("navigator.clipboard.readText()"))
        card.get_by_role("combobox", name="Mode").select_option("READONLY")
        expect(offer).to_have_count(0)
        card.get_by_role("combobox", name="Mode").select_option("IMPORT")
        card.get_by_role("button", name="Set IMPORT", exact=True).click()
        assert findings(page) == []
        offer.get_by_role("button", name="Set IMPORT with force").click()
        expect(card).to_contain_text("IMPORT its own")
        assert client.get("/mode/live-value").json() == {"mode": "IMPORT"}
        page.get_by_role("button", name="Undo").click()
        expect(card).to_contain_text("READWRITE from the registry")
        assert client.get("/subjects/live-value/versions").json() == [1]
