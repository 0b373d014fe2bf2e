"""The modules of the checkout in a real browser: on the first visit, behind a proxy, and with a sign-in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx
import pytest
from playwright.sync_api import Page, expect

from magicbyte.platform.server_process import ServerProcess
from magicbyte.security.sign_in.password_hash import hash_password
from magicbyte.testing import running_registry
from tests.ui.conftest import OpenPage
from tests.ui.kit.filling import FILLED, ODD_SUBJECT, fill, flight, register
from tests.ui.kit.prefixing import PASSWORD, USER, prefixing
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def registry() -> Iterator[ServerProcess]:
    """A registry that serves the modules of the checkout; tests only read it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONPATH", raising=False)
        with running_registry("memory:") as server:
            fill(server.url)
            yield server


def listed(page: Page, subject: str) -> None:
    expect(page.get_by_role("link", name=subject, exact=True)).to_be_visible()


def test_the_first_visit(page: Page, watch: Watch) -> None:
    page.goto("../")
    expect(page).to_have_url(page.url.partition("/ui/")[0] + "/ui/")
    for subject in FILLED:
        listed(page, subject)
    assert watch.count("GET /overview") == 1
    assert watch.count("GET /subjects") == 0
    # index.html contains the styles and the configuration; the modules of other views are not loaded.
    loaded = {path for path in watch.requests if path.startswith("GET /ui/")}
    others = ("GET /ui/config.json", "GET /ui/vendor/editor.js", "GET /ui/views/compare/compare.js")
    assert {path for path in loaded if path.endswith(".css") or path in others} == set()
    assert "GET /ui/views/list/list.js" in loaded


def test_the_second_visit_loads_no_file_again(page: Page) -> None:
    with page.expect_response("**/fonts/inter.woff2") as font:
        page.goto("subjects")
    font.value.finished()
    # A browser gets headers alone; others of a checkout may be edited while the test runs.
    with page.expect_response("**/fonts/inter.woff2") as font:
        page.reload()
    assert font.value.status == 304


def test_a_subject_with_an_odd_name(page: Page) -> None:
    page.goto("subjects")
    page.get_by_role("link", name=ODD_SUBJECT, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(ODD_SUBJECT)
    expect(page).to_have_url(f"{page.url.partition('/ui/')[0]}/ui/subjects/{quote(ODD_SUBJECT, safe='')}/versions/1")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_contain_text(ODD_SUBJECT)


def test_behind_a_proxy_with_a_prefix_and_a_password(
    registry: ServerProcess, open_page: OpenPage, watch: Watch
) -> None:
    with prefixing(registry.url, asks_for_password=True) as url:
        page = open_page(url, http_credentials={"username": USER, "password": PASSWORD})
        page.goto(f"{url}/")
        expect(page).to_have_url(f"{url}/ui/")
        listed(page, "flights-value")
        assert [request for request in watch.requests if "/overview" in request] == [
            f"GET {urlsplit(url).path}/overview?deleted=true&head=50"
        ]
        page.get_by_role("link", name="flights-value", exact=True).click()
        expect(page).to_have_url(f"{url}/ui/subjects/flights-value/versions/3")
        expect(page.get_by_role("heading", level=1)).to_contain_text("flights-value")
        page.reload()
        expect(page.get_by_role("heading", level=1)).to_contain_text("flights-value")
        page.goto(f"{url}/ui/subjects/{quote(ODD_SUBJECT, safe='')}/versions/1")
        expect(page.get_by_role("heading", level=1)).to_contain_text(ODD_SUBJECT)
        page.close()


def test_a_proxy_that_decodes_slashes_is_named(registry: ServerProcess, open_page: OpenPage, watch: Watch) -> None:
    watch.expect(404)
    with prefixing(registry.url, decodes_slashes=True) as url:
        page = open_page(url)
        page.goto(f"{url}/ui/subjects")
        page.get_by_role("link", name=ODD_SUBJECT, exact=True).click()
        expect(page.get_by_role("heading", name="The address is changed on its way")).to_be_visible()
        expect(page.get_by_role("alert")).to_contain_text("A proxy in front of the registry turns %2F into a slash")
        page.get_by_role("navigation", name="Of this subject").get_by_role("link", name="Compare").click()
        expect(page.get_by_role("heading", name="The address is changed on its way")).to_be_visible()
        # Asked once.
        assert watch.count(f"GET {urlsplit(url).path}/subjects/a%2Fb/versions") == 1
        # The server takes the address of a reload for a deeper one, so the links in its answer lead too far up.
        page.goto(f"{url}/ui/subjects/{quote(ODD_SUBJECT, safe='')}/versions/1")
        expect(page.get_by_role("heading", name="The address is changed on its way")).to_be_visible()
        expect(page.get_by_role("navigation", name="Main")).to_be_visible()
        # Names without a slash are reached as ever.
        page.goto(f"{url}/ui/subjects/flights-value/versions/3")
        expect(page.get_by_text("106 lines")).to_be_visible()
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
    assert watch.count("GET /overview") == 1
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
