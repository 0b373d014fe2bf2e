"""A version that comes meanwhile, before a registry without a change feed, and for a user of few rights."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from magicbyte.platform.server_process import ServerProcess
from tests.ui.conftest import OpenPage
from tests.ui.kit.editing import USER, content, edit, put, user_with
from tests.ui.kit.filling import flight, register
from tests.ui.kit.guarded import guarded_registry, signing_in
from tests.ui.kit.plain_registry import plain_registry
from tests.ui.kit.watch import Watch
from tests.ui.test_ui_command import running_ui

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def client(scratch: ServerProcess) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        yield client


def test_before_another_registry_the_registration_asks_first(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage, watch: Watch, tmp_path: Path
) -> None:
    for path in ("/overview", "/events", "/health/ready", "/outline", "/search", "/rights"):
        watch.expect(404, path)
    register(client, "plain-value", USER)
    with plain_registry(scratch.url) as url, running_ui(tmp_path, url) as http:
        page = open_page(str(http.base_url).rstrip("/"))
        edit(page, "plain-value", user_with("mine"))
        register(client, "plain-value", user_with("theirs"))
        page.locator("#register").click()
        expect(page.get_by_role("heading", name="Version 2 came meanwhile. Nothing was registered.")).to_be_visible()
        assert client.get("/subjects/plain-value/versions").json() == [1, 2]
        page.get_by_role("button", name="Theirs", exact=True).click()
        page.get_by_role("button", name="Both", exact=True).click()
        page.get_by_role("button", name="Use the merged text").click()
        page.locator("#register").click()
        page.wait_for_url("**/ui/subjects/plain-value/versions/3")
        page.close()
    stored = json.loads(client.get("/subjects/plain-value/versions/3").json()["schema"])
    assert [field["name"] for field in stored["fields"]] == ["id", "theirs", "mine"]


def test_who_may_not_read_settings_is_told_of_versions(open_page: OpenPage, watch: Watch, tmp_path: Path) -> None:
    with guarded_registry(tmp_path) as server:
        page = signing_in(server.url, open_page, watch)("writer", "subjects/flights-value/edit")
        content(page).wait_for()
        put(page, flight(1).replace('"Flight"', '"Flight", "doc": "of a day"'))
        expect(page.locator(".edit-foot")).to_contain_text("the registry decides when you register")
        with httpx.Client(base_url=server.url, auth=("admin", "admin"), trust_env=False) as admin:
            register(admin, "flights-value", flight(3).replace('"Flight"', '"Flight", "doc": "of a year"'))
        expect(page.locator(".edit-news p")).to_contain_text("Version 4 came meanwhile.")
        page.get_by_role("button", name="See both texts").click()
        expect(page.get_by_role("heading", name="Version 4 came meanwhile. Nothing was registered.")).to_be_visible()
        page.close()
