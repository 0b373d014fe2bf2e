"""The page in states that are not the usual one: another registry, a bearer token, the registry gone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx
import pytest
from playwright.sync_api import Page, expect

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry
from tests.security.matrix.credentials import GROUP_ID, Identities
from tests.ui.conftest import OpenPage
from tests.ui.kit.editing import content, put
from tests.ui.kit.filling import FILLED, register
from tests.ui.kit.plain_registry import plain_registry
from tests.ui.kit.watch import Watch
from tests.ui.test_ui_command import running_ui
from tests.waiting import PATIENCE

pytestmark = pytest.mark.browser

#: The routes of our registry that another one answers with 404.
EXTENSIONS = (
    "/overview",
    "/events",
    "/health/ready",
    "/outline",
    "/compare",
    "/graph",
    "/search",
    "/rights",
    "/referencedby",
)


@pytest.fixture(scope="module")
def in_front(scratch: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`magicbyte ui` in front of a registry without our extensions."""
    folder = tmp_path_factory.mktemp("ui")
    with plain_registry(scratch.url) as url, running_ui(folder, url) as http:
        yield str(http.base_url).rstrip("/")


@pytest.fixture
def plain(in_front: str, open_page: OpenPage, watch: Watch) -> Page:
    for path in EXTENSIONS:
        watch.expect(404, path)
    return open_page(in_front)


def test_the_list_before_another_registry(plain: Page) -> None:
    plain.goto("subjects")
    rows = plain.locator("table.subjects tbody a")
    expect(rows).to_have_text(list(FILLED))
    # Names are all that such a registry lists: no column, count or search may say more.
    expect(plain.locator("table.subjects thead th")).to_have_text(["Subject"])
    expect(plain.get_by_role("group", name="Filters").get_by_role("button")).to_have_text([re.compile("Deleted")])
    expect(plain.get_by_role("complementary")).to_contain_text("7 subjects")
    expect(plain.get_by_role("complementary")).not_to_contain_text("versions")
    plain.get_by_role("searchbox").fill("flights")
    expect(rows).to_have_text(["flights-key", "flights-value"])
    rows.last.click()
    expect(plain.get_by_text("Version 3").first).to_be_visible()
    expect(plain.locator("main")).to_contain_text('"distance"')


def test_versions_before_another_registry(plain: Page) -> None:
    plain.goto("subjects/flights-value")
    versions = plain.get_by_role("list", name="Versions, the newest first").get_by_role("listitem")
    expect(versions).to_have_count(3)
    expect(plain.get_by_role("navigation", name="Of this subject").get_by_role("link")).to_have_text(
        ["Schema", "Compare", "Evolution", "Settings"]
    )
    expect(plain.locator("main")).not_to_contain_text("404")
    expect(plain.locator("main")).not_to_contain_text("the first version")
    expect(plain.get_by_text("both read each other")).to_have_count(0)
    versions.first.get_by_role("link", name="Compare").click()
    expect(plain).to_have_url(re.compile(r"/compare\?from=2&to=3$"))


@pytest.mark.parametrize(
    "path",
    ["subjects/flights-value/versions/3?view=fields", "subjects/orders-value/versions/1/references"],
)
def test_a_view_that_another_registry_lacks(plain: Page, path: str) -> None:
    plain.goto(path)
    expect(plain.get_by_role("heading", name="This registry does not have this view")).to_be_visible()
    expect(plain.get_by_role("alert")).to_have_count(0)


def test_texts_are_compared_before_another_registry(plain: Page) -> None:
    plain.goto("subjects/flights-value/compare?from=1&to=3")
    expect(plain.get_by_role("heading", name="The registry's level allows this step")).to_be_visible()
    expect(plain.locator("main")).to_contain_text('"name": "wheels_up"')
    expect(plain.locator(".compared")).to_have_class(re.compile("texts-only"))


def test_the_editor_before_another_registry_shows_its_messages_and_registers(
    plain: Page, scratch: ServerProcess
) -> None:
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        register(client, "plain-value", user("id"))
    plain.goto("subjects/plain-value/edit")
    expect(plain.get_by_role("heading", name="The registry's level allows this step")).to_be_visible()
    expect(plain.get_by_role("heading", name="Who breaks")).to_have_count(0)
    put(plain, user("id", "name"))
    expect(plain.get_by_role("heading", name="The registry's level refuses this step")).to_be_visible()
    expect(plain.locator(".verdict.bad")).to_contain_text("READER_FIELD_MISSING_DEFAULT_VALUE")
    expect(plain.get_by_text("refused under BACKWARD")).to_be_visible()
    button = plain.get_by_role("button", name="Register version 2")
    expect(button).to_have_attribute("aria-disabled", "true")
    put(plain, user())
    expect(plain.get_by_role("heading", name="The registry's level allows this step")).to_be_visible()
    expect(button).not_to_have_attribute("aria-disabled", "true")
    button.click()
    expect(plain.locator(".toast")).to_contain_text("Version 2 is registered")
    stored = httpx.get(f"{scratch.url}/subjects/plain-value/versions", trust_env=False)
    assert stored.json() == [1, 2]


def test_a_new_subject_before_another_registry(plain: Page, scratch: ServerProcess) -> None:
    plain.goto("new")
    expect(content(plain)).to_be_visible()
    button = plain.get_by_role("button", name="Register version 1")
    expect(plain.locator(".reason").filter(has_text="The subject has no name yet.")).to_have_count(1)
    plain.goto("new?topic=fresh&part=value")
    expect(button).not_to_have_attribute("aria-disabled", "true")
    button.click()
    expect(plain.locator(".toast")).to_contain_text("Version 1 is registered")
    assert httpx.get(f"{scratch.url}/subjects/fresh-value/versions", trust_env=False).json() == [1]


def user(*fields: str) -> str:
    """The text of a record with these fields."""
    return json.dumps({"type": "record", "name": "User", "fields": [{"name": name, "type": "int"} for name in fields]})


def test_settings_before_another_registry(plain: Page) -> None:
    plain.goto("subjects/payments-value/settings")
    expect(plain.get_by_text("A registry of another kind may not have all of these.")).to_be_visible()


def test_the_registry_stops_and_comes_back(open_page: OpenPage, watch: Watch, tmp_path: Path) -> None:
    watch.allow_text("net::ERR_")
    with running_registry(f"sqlite:///{tmp_path / 'store'}") as server:
        with httpx.Client(base_url=server.url, trust_env=False) as client:
            register(client, "kept-value", user("id"))
        listed = open_page(server.url)
        listed.goto("subjects")
        rows = listed.locator("tbody a")
        expect(rows).to_have_text("kept-value")
        editor = open_page(server.url, context=listed.context)
        editor.goto("subjects/kept-value/edit")
        expect(editor.locator(".places-none")).to_have_text("Nothing breaks, in any version.")

        server.kill()
        put(editor, user())
        for page in (editor, listed):
            expect(page.locator(".strip")).to_contain_text("The registry cannot be reached.")
        expect(rows).to_have_text("kept-value")
        expect(content(editor)).to_contain_text('"fields": []')
        # The verdicts on the earlier text are gone.
        expect(editor.locator(".places-none")).to_have_text("Not checked: The registry cannot be reached.")
        expect(editor.get_by_text("verdict: unknown")).to_be_visible()
        expect(editor.get_by_text("allowed under BACKWARD")).to_have_count(0)
        expect(editor.locator(".who tbody td")).to_have_text(["unknown", "unknown"])

        server.start()
        for page in (editor, listed):
            expect(page.locator(".strip")).to_have_count(0, timeout=PATIENCE * 1000)
        expect(content(editor)).to_contain_text('"fields": []')
        expect(editor.get_by_text("allowed under BACKWARD")).to_be_visible()
        editor.get_by_role("button", name="Register version 2").click()
        expect(editor.locator(".toast")).to_contain_text("Version 2 is registered")
        expect(listed.locator("tbody tr").first.locator(".c-versions")).to_have_text("2")
        listed.close()
        editor.close()


@pytest.mark.parametrize("path", ["subjects/flight-valu", "subjects/flight-valu/versions/1"])
def test_a_subject_that_is_not_there_names_the_nearest(open_page: OpenPage, watch: Watch, path: str) -> None:
    watch.expect(404, "flight-valu")
    page = open_page()
    page.goto(path)
    main = page.get_by_role("main")
    main.get_by_role("link", name="flights-value", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("flights-value")
    expect(page.get_by_role("list", name="Versions, the newest first").get_by_role("listitem")).to_have_count(3)


def test_a_deleted_subject_offers_undelete(scratch: ServerProcess, open_page: OpenPage, watch: Watch) -> None:
    # Its only version is deleted, so the list of live ones is not there.
    watch.expect(404, "/subjects/gone-value/versions")
    page = open_page(scratch.url)
    page.goto("subjects/gone-value/versions/1")
    expect(page.get_by_role("note")).to_contain_text("Version 1 is soft-deleted")
    page.get_by_role("button", name="Undelete").click()
    expect(page.locator(".toast")).to_contain_text("Version 1 of gone-value is live again.")
    expect(page.get_by_role("note")).to_have_count(0)
    assert httpx.get(f"{scratch.url}/subjects/gone-value/versions", trust_env=False).json() == [1]


def test_a_token_signs_in(open_page: OpenPage, watch: Watch, tmp_path: Path) -> None:
    identities = Identities(tmp_path)
    properties = {
        **identities.properties,
        "authentication.method": "BEARER",
        "schema.registry.group.id": GROUP_ID,
        "magicbyte.storage": "memory:",
    }
    token = identities.token(sub="subject-read").removeprefix("Bearer ")
    with running_registry("memory:", properties=properties) as server:
        url = f"{server.url}/subjects/{quote('open.there')}/versions"
        body = {"schema": user("id")}
        answer = httpx.post(url, json=body, headers={"Authorization": identities.token()}, trust_env=False)
        assert answer.status_code == 200, answer.text
        watch.expect(401)
        watch.expect(403)
        watch.allow_text("net::ERR_")
        page = open_page(server.url)
        page.goto("subjects")
        dialog = page.get_by_role("dialog", name="Sign in")
        dialog.get_by_label("Token").fill("wrong")
        dialog.get_by_role("button", name="Sign in").click()
        expect(dialog).to_contain_text("The token was refused.")
        dialog.get_by_label("Token").fill(token)
        dialog.get_by_role("button", name="Sign in").click()
        expect(page.locator("tbody a")).to_have_text("open.there")
        expect(page.locator(".bar")).to_be_visible()

        page.locator("tbody a").click()
        expect(page.locator("main")).to_contain_text('"name": "User"')
        # The level and the mode may not be read, and nothing may be written.
        page.keyboard.press("e")
        expect(page.locator(".cm-content")).to_contain_text('"name": "User"')
        page.locator(".cm-content").press("Control+End")
        page.keyboard.type("\n")
        kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])")
        assert token not in kept
        assert not any(token in request for request in watch.requests)
        assert token not in server.log.read_text()
        assert urlsplit(page.url).netloc == urlsplit(server.url).netloc
        page.close()
