"""The page in a real browser, as the servers send it: on the first visit, behind a proxy, and with a sign-in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import Page, expect

from magicbyte.platform.server_process import ServerProcess
from magicbyte.security.sign_in.password_hash import hash_password
from magicbyte.testing import running_registry
from tests.ui.conftest import OpenPage
from tests.ui.kit.filling import FILLED, ODD_SUBJECT, flight, register
from tests.ui.kit.prefixing import PASSWORD, USER, prefixing
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser


def listed(page: Page, subject: str) -> None:
    expect(page.get_by_role("link", name=subject, exact=True)).to_be_visible()


def test_the_first_visit(page: Page, watch: Watch) -> None:
    page.goto("../")
    expect(page).to_have_url(page.url.partition("/ui/")[0] + "/ui/")
    for subject in FILLED:
        listed(page, subject)
    assert watch.count("GET /overview") == 1
    assert watch.count("GET /subjects") == 0
    # All modules are named by index.html, so none waits for another.
    index = httpx.get(page.url).text
    modules = {path for path in watch.requests if path.endswith(".js")}
    assert {path.rpartition("/")[2] for path in modules if f"{path.removeprefix('GET /ui/')}" not in index} == set()


def test_the_second_visit_loads_no_file_again(page: Page) -> None:
    page.goto("subjects")
    listed(page, "flights-value")
    statuses: dict[str, int] = {}
    page.on("response", lambda response: statuses.update({response.url.partition("/ui/")[2]: response.status}))
    page.reload()
    listed(page, "flights-value")
    # A browser gets headers alone; others of a checkout may be edited while the test runs.
    assert {name: statuses[name] for name in ("vendor/ui.js", "fonts/inter.woff2")} == {
        "vendor/ui.js": 304,
        "fonts/inter.woff2": 304,
    }


def test_a_subject_with_an_odd_name(page: Page) -> None:
    page.goto("subjects")
    page.get_by_role("link", name=ODD_SUBJECT, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(ODD_SUBJECT)
    expect(page).to_have_url(f"{page.url.partition('/ui/')[0]}/ui/subjects/{quote(ODD_SUBJECT, safe='')}/versions/1")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_contain_text(ODD_SUBJECT)


def test_behind_a_proxy_with_a_prefix_and_a_password(registry: ServerProcess, open_page: OpenPage) -> None:
    with prefixing(registry.url, asks_for_password=True) as url:
        page = open_page(url, http_credentials={"username": USER, "password": PASSWORD})
        page.goto(f"{url}/")
        expect(page).to_have_url(f"{url}/ui/")
        page.get_by_role("link", name="flights-value", exact=True).click()
        expect(page).to_have_url(f"{url}/ui/subjects/flights-value/versions/3")
        expect(page.get_by_role("heading", level=1)).to_contain_text("flights-value")
        page.reload()
        expect(page.get_by_role("heading", level=1)).to_contain_text("flights-value")
        page.goto(f"{url}/ui/subjects/{quote(ODD_SUBJECT, safe='')}/versions/1")
        expect(page.get_by_role("heading", level=1)).to_contain_text(ODD_SUBJECT)
        page.close()


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[ServerProcess]:
    """A registry that asks alice for a password."""
    users = tmp_path / "users"
    users.write_text(f"alice:{hash_password('wonderland')}\n")
    users.chmod(0o600)
    properties = {
        "authentication.method": "BASIC",
        "magicbyte.authorization": "none",
        "magicbyte.users.file": str(users),
    }
    with running_registry("memory:", properties=properties) as server:
        with httpx.Client(base_url=server.url, auth=("alice", "wonderland"), trust_env=False) as client:
            register(client, "flights-value", flight(1))
        yield server


def test_the_browser_asks_for_the_password(guarded: ServerProcess, open_page: OpenPage, watch: Watch) -> None:
    # Without credentials each question gets a 401, for which the browser asks its user.
    watch.expect(401)
    page = open_page(guarded.url, http_credentials={"username": "alice", "password": "wonderland"})
    page.goto(f"{guarded.url}/ui/subjects")
    listed(page, "flights-value")
    page.get_by_role("link", name="flights-value", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("flights-value")
    assert "wonderland" not in page.evaluate(
        "() => JSON.stringify({...localStorage, ...sessionStorage}) + location.href"
    )


def test_the_name_of_an_attacker_is_not_served(registry: ServerProcess, open_page: OpenPage, watch: Watch) -> None:
    port = registry.url.rpartition(":")[2]
    watch.expect(421)
    watch.hosts.add(f"evil.test:{port}")
    page = open_page(f"http://evil.test:{port}")
    answer = page.goto("subjects")
    assert answer is not None
    assert answer.status == 421
