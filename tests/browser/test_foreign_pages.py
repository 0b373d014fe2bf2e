"""A page of another origin in a real browser: it writes nothing and reads nothing, unless it is allowed to."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from magicbyte.testing import running_registry, running_rest_proxy
from tests.http.serving import serving
from tests.waiting import until

pytestmark = pytest.mark.browser

SCHEMA = {"schema": '"int"'}
#: fetch in the page: the status and text of the answer, or what the page is told of it.
FETCH = """async ([method, url, body, type]) => {
    const content = body === null ? undefined : new Blob([body], type ? {type} : {});
    try {
        const answer = await fetch(url, {method, body: content});
        return [answer.status, await answer.text()];
    } catch (error) {
        return [0, String(error)];
    }
}"""
FAILED = [0, "TypeError: Failed to fetch"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = runpy.run_path(str(Path(__file__).with_name("chromium.py")))
    path = chromium["find"]()
    if path is None:
        pytest.fail(chromium["MISSING"], pytrace=False)
    with sync_playwright() as playwright:
        # The name of the attacker's page leads to this machine, as after DNS rebinding.
        rebound = "--host-resolver-rules=MAP page.test 127.0.0.1"
        launched = playwright.chromium.launch(executable_path=path, args=[rebound])
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    yield context.new_page()
    context.close()


class Blank(BaseHTTPRequestHandler):
    """An empty page at every path."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[int]:
    """The port of a web site that has nothing to do with our servers."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Blank)
    with serving(server):
        yield server.server_port


@pytest.fixture(scope="module")
def registry() -> Iterator[Any]:
    with running_registry("memory:") as server:
        yield server


def fetch(page: Page, method: str, url: str, body: Any = None, media_type: str | None = None) -> Any:
    return page.evaluate(FETCH, [method, url, None if body is None else json.dumps(body), media_type])


#: To `127.0.0.1` pages of these are cross-site, cross-site by a name, and same-site.
@pytest.mark.parametrize("host", ["localhost", "page.test", "127.0.0.1"])
def test_a_foreign_page_registers_nothing(page: Page, site: int, registry: Any, host: str) -> None:
    page.goto(f"http://{host}:{site}/")
    url = f"{registry.url}/subjects/s/versions"
    for media_type in (None, "text/plain", "application/octet-stream", "application/json"):
        assert fetch(page, "POST", url, SCHEMA, media_type) == FAILED
    for method in ("PUT", "DELETE"):
        assert fetch(page, method, f"{registry.url}/config", {"compatibility": "NONE"}) == FAILED
    assert fetch(page, "GET", f"{registry.url}/subjects") == FAILED
    assert httpx.get(f"{registry.url}/subjects").json() == []
    assert httpx.get(f"{registry.url}/config").json() == {"compatibilityLevel": "BACKWARD"}


def test_a_foreign_form_registers_nothing(page: Page, site: int, registry: Any) -> None:
    page.goto(f"http://localhost:{site}/")
    url = f"{registry.url}/subjects/s/versions"
    with page.expect_navigation() as navigation:
        page.evaluate(
            """url => {
                const form = Object.assign(document.createElement("form"), {method: "post", action: url});
                form.enctype = "text/plain";
                const halves = {name: '{"schema":"\\\\"int\\\\"', value: '"}'};
                form.append(Object.assign(document.createElement("input"), halves));
                document.body.append(form);
                form.submit();
            }""",
            url,
        )
    assert navigation.value.status == 403
    assert httpx.get(f"{registry.url}/subjects").json() == []


def test_a_foreign_page_produces_nothing(page: Page, site: int) -> None:
    with running_rest_proxy("127.0.0.1:1", "") as proxy:
        page.goto(f"http://localhost:{site}/")
        body = {"records": [{"value": "aGk="}]}
        assert fetch(page, "POST", f"{proxy.url}/topics/t", body) == FAILED
        assert fetch(page, "GET", f"{proxy.url}/consumers/g/instances/i/records") == FAILED
        # An answer is sent before its line is written.
        for line in ("POST /topics/t 403", "GET /consumers/g/instances/i/records 403"):
            until(lambda line=line: line in proxy.log.read_text())


def test_an_allowed_page_registers_and_reads(page: Page, site: int) -> None:
    allowed = {
        "access.control.allow.origin": f"http://localhost:{site}",
        "access.control.allow.methods": "GET,POST,PUT",
    }
    with running_registry("memory:", properties=allowed) as registry:
        page.goto(f"http://localhost:{site}/")
        url = f"{registry.url}/subjects/s/versions"
        status, text = fetch(page, "POST", url, SCHEMA, "application/vnd.schemaregistry.v1+json")
        assert (status, json.loads(text)["id"]) == (200, 1)
        assert fetch(page, "GET", f"{registry.url}/subjects") == [200, '["s"]']
        written = fetch(page, "PUT", f"{registry.url}/config", {"compatibility": "NONE"}, "application/json")
        assert written == [200, '{"compatibility":"NONE"}']
        assert fetch(page, "DELETE", f"{registry.url}/subjects/s") == FAILED
        page.goto(f"http://127.0.0.1:{site}/")
        assert fetch(page, "GET", f"{registry.url}/subjects") == FAILED


def test_our_own_page_registers(page: Page) -> None:
    with running_registry("memory:") as registry:
        page.goto(f"{registry.url}/docs")
        status, text = fetch(page, "POST", f"{registry.url}/subjects/s/versions", SCHEMA)
        assert (status, json.loads(text)["id"]) == (200, 1)


def test_the_server_refuses_a_foreign_host_name(page: Page, registry: Any) -> None:
    port = registry.url.rpartition(":")[2]
    answer = page.goto(f"http://page.test:{port}/subjects")
    assert answer is not None
    assert answer.status == 421
    assert fetch(page, "GET", "/subjects")[0] == 421
    assert fetch(page, "POST", "/subjects/s/versions", SCHEMA)[0] == 421
    assert httpx.get(f"{registry.url}/subjects").json() == []
