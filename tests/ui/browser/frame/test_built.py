"""The built page of the wheel in a real browser; the other files test the modules of the checkout."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from magicbyte.platform.server_process import ServerProcess
from tests.ui.conftest import OpenPage
from tests.ui.kit.filling import register
from tests.ui.kit.prefixing import PASSWORD, USER, prefixing
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser

APP = re.compile(r"/ui/(assets/app-[0-9a-f]{16}\.js)$")


@pytest.fixture
def page(open_page: OpenPage, built: ServerProcess) -> Page:
    """A tab of the registry of the wheel."""
    tab: Page = open_page(built.url, together=True)
    return tab


@pytest.fixture(scope="module")
def app(built: ServerProcess) -> str:
    """The address of the chunk that starts the page."""
    text = httpx.get(f"{built.url}/ui/", trust_env=False).text
    (path,) = re.findall(r'rel="modulepreload" href="([^"]+)"', text)
    return f"{built.url}/ui/{path}"


def listed(page: Page, subject: str) -> None:
    expect(page.get_by_role("link", name=subject, exact=True)).to_be_visible()


def test_the_first_visit_loads_one_module(page: Page, watch: Watch) -> None:
    page.goto("subjects")
    listed(page, "flights-value")
    loaded = {path for path in watch.requests if path.startswith("GET /ui/") and "/fonts/" not in path}
    assert len(loaded - {"GET /ui/icon.svg"}) == 2
    assert [path for path in loaded if APP.search(path)]
    assert watch.count("GET /overview") == 1


@pytest.mark.parametrize(
    ("path", "heading"),
    [
        ("registry", "Registry"),
        ("parts", "Parts"),
        ("subjects/flights-value", "flights-value"),
        ("subjects/flights-value/versions/3", "flights-value"),
        ("subjects/flights-value/versions/3?view=fields", "flights-value"),
        ("subjects/flights-value/versions/3/references", "flights-value"),
        ("subjects/flights-value/compare?from=1&to=3", "flights-value"),
        ("subjects/flights-value/edit", "flights-value"),
        ("subjects/flights-value/settings", "flights-value"),
        ("new", "New schema"),
        ("schemas/ids/1", "1"),
        ("topics", "Topics"),
        ("topics/t/configs", "t"),
        ("new-topic", "New topic"),
        ("groups", "Groups"),
        ("groups/g", "g"),
        ("brokers", "Brokers"),
        ("decode", "Decode"),
        ("config", "Settings"),
        ("nowhere", "no such page"),
    ],
)
def test_a_view_loads_only_what_index_html_names(page: Page, watch: Watch, path: str, heading: str) -> None:
    answer = page.goto(path)
    assert answer is not None
    expect(page.get_by_role("heading", level=1)).to_contain_text(heading, ignore_case=True)
    named = {f"GET /ui/{link}" for link in re.findall(r'href="(?:\.\./)*((?:assets|styles)/[^"]+)"', answer.text())}
    loaded = {request for request in watch.requests if re.search(r"^GET /ui/(assets|styles)/", request)}
    assert loaded == named


def test_links_between_views_load_their_chunks(page: Page, watch: Watch) -> None:
    page.goto("subjects")
    page.get_by_role("link", name="flights-value", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("flights-value")
    page.get_by_role("navigation", name="Of this subject").get_by_role("link", name="Compare").click()
    expect(page).to_have_url(re.compile("/compare"))
    page.go_back()
    page.go_back()
    listed(page, "flights-value")
    assert sum(bool(APP.search(request)) for request in watch.requests) == 1


def test_the_second_visit_asks_for_no_hashed_file(page: Page, watch: Watch) -> None:
    with page.expect_response("**/fonts/*.woff2") as font:
        page.goto("subjects")
    font.value.finished()
    listed(page, "flights-value")
    first = [request for request in watch.requests if APP.search(request)]
    page.goto("registry")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Registry")
    sizes = page.evaluate(
        "performance.getEntriesByType('resource').filter((entry) => /app-[0-9a-f]{16}/.test(entry.name))"
        ".map((entry) => entry.transferSize)"
    )
    assert len(first) == 1
    # From the browser's cache.
    assert set(sizes) == {0}


def test_large_texts_are_compared_in_the_worker(open_page: OpenPage, built: ServerProcess, watch: Watch) -> None:
    fields = [{"name": f"field_{number}", "type": "string"} for number in range(1500)]
    schema: dict[str, Any] = {"type": "record", "name": "Large", "fields": fields}
    longer = {**schema, "fields": [*fields, {"name": "more", "type": "int", "default": 0}]}
    with httpx.Client(base_url=built.url, trust_env=False) as client:
        for text in map(json.dumps, (schema, longer)):
            register(client, "large-value", text)
    page = open_page(built.url, together=True)
    page.goto("subjects/large-value/compare?from=1&to=2")
    expect(page.get_by_text('"name": "more"').first).to_be_visible()
    assert watch.count("GET /ui/assets/text_worker.js") == 1


def test_the_built_page_behind_a_prefix_and_a_password(built: ServerProcess, open_page: OpenPage, watch: Watch) -> None:
    with prefixing(built.url, asks_for_password=True) as url:
        page = open_page(url, http_credentials={"username": USER, "password": PASSWORD}, together=True)
        page.goto(f"{url}/ui/subjects/flights-value/compare?from=1&to=3")
        expect(page.get_by_role("heading", level=1)).to_contain_text("flights-value")
        assert watch.count("GET /sr/ui/assets/") > 1
        page.close()


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [("gzip, br", "br"), ("gzip", "gzip"), ("br;q=0, gzip", "gzip"), ("br;q=1.0", "br"), ("identity", None)],
)
def test_a_hashed_file_is_kept_and_compressed(app: str, accepted: str, coding: str | None) -> None:
    answer = httpx.get(app, headers={"Accept-Encoding": accepted}, trust_env=False)
    assert answer.headers.get("content-encoding") == coding
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["vary"] == "Accept-Encoding"


def test_names_without_a_hash_are_asked_for_again(built: ServerProcess) -> None:
    for path in ("/ui/", "/ui/subjects", "/ui/icon.svg", "/ui/assets/text_worker.js"):
        answer = httpx.get(built.url + path, trust_env=False)
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache"), path


def test_a_chunk_of_another_version_is_not_kept_as_missing(app: str) -> None:
    answer = httpx.get(re.sub("app-[0-9a-f]{16}", "app-0000000000000000", app), trust_env=False)
    assert (answer.status_code, "max-age" in answer.headers.get("cache-control", "")) == (404, False)
