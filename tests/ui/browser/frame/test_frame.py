"""The frame of all pages: bar, search, theme, focus, sign-in, a registry that is gone, what one may not do."""

from __future__ import annotations

import base64
import re

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry
from tests.ui.conftest import OpenPage
from tests.ui.kit.filling import register
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser

FAILED = "net::ERR_"


def test_the_search_of_every_page(page: Page) -> None:
    page.goto("registry")
    page.get_by_role("button", name="Search subjects, fields and ids").click()
    page.get_by_role("combobox", name="Search").fill("flight")
    options = page.get_by_role("listbox").get_by_role("option")
    expect(options.first).to_have_text(re.compile("flights-key"))
    expect(page.get_by_role("group", name="Subjects")).to_contain_text("flights-value")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/subjects/flights-value/versions/3$"))
    page.keyboard.press("Control+k")
    expect(page.get_by_role("group", name="Visited")).to_contain_text("flights-value")
    page.get_by_role("combobox", name="Search").fill("3")
    expect(page.get_by_role("group", name="Id")).to_contain_text("id 3")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/schemas/ids/3$"))


def test_a_theme_is_chosen_and_kept(open_page: OpenPage) -> None:
    page = open_page(theme="light")
    page.goto("registry")
    html = page.locator("html")
    expect(html).to_have_attribute("data-theme", "light")
    page.get_by_role("button", name="Theme, time and keys").click()
    page.get_by_role("button", name="Dark").click()
    expect(html).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(html).to_have_attribute("data-theme", "dark")
    page.emulate_media(color_scheme="dark")
    page.get_by_role("button", name="Theme, time and keys").click()
    page.get_by_role("button", name="System").click()
    page.emulate_media(color_scheme="light")
    expect(html).to_have_attribute("data-theme", "light")


def test_the_focus_goes_to_the_heading_and_back_to_where_it_was(page: Page) -> None:
    page.goto("subjects")
    link = page.locator("tbody a", has_text="orders-value")
    link.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_title(re.compile("^orders-value"))
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.go_back()
    expect(link).to_be_focused()


def test_the_bar_tells_of_the_node_and_follows_the_log(scratch: ServerProcess, open_page: OpenPage) -> None:
    page = open_page(scratch.url)
    page.goto("registry")
    live = page.locator(".live")
    expect(live).to_contain_text("leader, offset")
    before = live.inner_text()
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        register(client, "moved-value", '"string"')
    expect(live).not_to_have_text(before)
    expect(page.locator("table.changes tbody tr").first).to_contain_text("moved-value")


def test_a_registry_that_is_gone_leaves_the_page_and_comes_back(open_page: OpenPage, watch: Watch) -> None:
    with running_registry("memory:") as server:
        with httpx.Client(base_url=server.url, trust_env=False) as client:
            register(client, "kept-value", '"string"')
        page = open_page(server.url)
        page.goto("subjects")
        expect(page.locator("tbody a")).to_have_text("kept-value")
        watch.allow_text(FAILED)
        page.context.set_offline(offline=True)
        page.get_by_role("searchbox").fill("kept")
        strip = page.locator(".strip")
        expect(strip).to_contain_text("The registry cannot be reached.")
        expect(page.locator("tbody a")).to_have_text("kept-value")
        page.context.set_offline(offline=False)
        strip.get_by_role("button", name="Ask now").click()
        expect(strip).to_have_count(0)
        with httpx.Client(base_url=server.url, trust_env=False) as client:
            register(client, "kept-key", '"string"')
        expect(page.locator("tbody a", has_text="kept-key")).to_be_visible()
        page.close()


SECRET = "secret-of-the-test"


@pytest.fixture
def guarded(open_page: OpenPage, watch: Watch) -> Page:
    """A page of a registry that answers without a token as a registry with sign-in does."""

    def guard(route: Route) -> None:
        if route.request.headers.get("authorization") == f"Bearer {SECRET}":
            return route.continue_()
        body = {"error_code": 401, "message": "Unauthorized"}
        return route.fulfill(status=401, headers={"WWW-Authenticate": "Bearer"}, json=body)

    watch.expect(401)
    page = open_page()
    for path in ("**/overview?**", "**/contexts", "**/events", "**/search?**"):
        page.route(path, guard)
    return page


def sign_in(page: Page) -> None:
    dialog = page.get_by_role("dialog", name="Sign in")
    dialog.get_by_label("Token").fill(f"Bearer {SECRET}")
    dialog.get_by_role("button", name="Sign in").click()
    expect(page.locator("tbody a", has_text="flights-value")).to_be_visible()


def test_a_bearer_token_stays_in_the_memory_of_the_tab(guarded: Page, watch: Watch) -> None:
    guarded.goto("subjects")
    sign_in(guarded)
    stored = guarded.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
    assert SECRET not in stored
    assert SECRET not in guarded.url
    assert not any(SECRET in request for request in watch.requests)


def test_a_browser_without_a_password_gets_a_form(open_page: OpenPage, watch: Watch) -> None:
    """Chromium asks for passwords itself; here as if its user had closed that question."""
    expected = "Basic " + base64.b64encode("zoë:wonder land".encode()).decode()

    def guard(route: Route) -> None:
        if route.request.headers.get("authorization") == expected:
            return route.continue_()
        body = {"error_code": 401, "message": "Unauthorized"}
        return route.fulfill(status=401, headers={"WWW-Authenticate": 'Basic realm="registry", Bearer'}, json=body)

    watch.expect(401)
    page = open_page()
    for path in ("**/overview?**", "**/contexts", "**/events", "**/search?**"):
        page.route(path, guard)
    page.goto("subjects")
    dialog = page.get_by_role("dialog", name="Sign in")
    expect(dialog).to_contain_text("a name and a password, or a bearer token")
    expect(dialog.get_by_label("Name")).to_be_focused()
    submit = dialog.get_by_role("button", name="Sign in")
    dialog.get_by_label("Name").fill("zoë")
    expect(submit).to_be_disabled()
    dialog.get_by_label("Password").fill("wrong")
    submit.click()
    expect(dialog).to_contain_text("The name or the password was refused.")
    dialog.get_by_label("Name").fill("zoë")
    dialog.get_by_label("Password").fill("wonder land")
    submit.click()
    expect(page.locator("tbody a", has_text="flights-value")).to_be_visible()
    assert "wonder" not in page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}]) + location.href")


def test_who_does_not_sign_in_sees_why_nothing_is_shown(guarded: Page) -> None:
    guarded.goto("subjects")
    guarded.get_by_role("dialog", name="Sign in").get_by_role("button", name="Cancel").click()
    expect(guarded.locator("main")).to_contain_text("Unauthorized")
    expect(guarded.locator(".skeleton")).to_have_count(0)


def test_the_list_waits_for_the_token_if_it_is_refused_before_the_first_render(guarded: Page) -> None:
    # The page renders when its first rows are there, or after 100 ms without them.
    guarded.add_init_script("""
        const later = setTimeout, send = fetch;
        window.held = [];
        window.setTimeout = (run, ms, ...rest) => ms === 100 ? (held.push(run), 0) : later(run, ms, ...rest);
        window.refused = new Promise((resolve) => {
            window.fetch = async (...request) => {
                const response = await send(...request);
                if (response.status === 401) later(resolve);
                return response;
            };
        });
    """)
    guarded.goto("subjects")
    guarded.evaluate("refused.then(() => held.forEach((run) => run()))")
    sign_in(guarded)


def test_what_one_may_not_do_is_off_with_the_reason(open_page: OpenPage, watch: Watch) -> None:
    watch.expect(403)
    page = open_page()
    refusal = {"error_code": 403, "message": "User:alice may not DELETE subject customers-value"}
    page.route("**/subjects/customers-value", lambda route: route.fulfill(status=403, json=refusal))
    page.goto("subjects?peek=customers-value")
    expect(page.locator("tbody tr.on")).to_be_visible()
    page.keyboard.press("x")
    selected = page.get_by_role("region", name="Selected subjects")
    selected.get_by_role("button", name="Delete").click()
    expect(page.locator(".toast").first).to_contain_text("User:alice may not DELETE")
    page.keyboard.press("x")
    delete = selected.get_by_role("button", name="Delete")
    expect(delete).to_have_attribute("aria-disabled", "true")
    expect(selected.get_by_role("tooltip")).to_have_text("User:alice may not DELETE subject customers-value")


def test_a_read_only_page_says_so(open_page: OpenPage) -> None:
    with running_registry(
        "memory:", properties={"magicbyte.ui.read.only": "true", "magicbyte.ui.name": "production"}
    ) as server:
        with httpx.Client(base_url=server.url, trust_env=False) as client:
            register(client, "kept-value", '"string"')
        page = open_page(server.url)
        page.goto("subjects")
        expect(page.locator(".bar")).to_contain_text("production")
        expect(page.locator(".bar")).to_contain_text("read-only")
        new = page.get_by_role("button", name="New schema")
        expect(new).to_have_attribute("aria-disabled", "true")
        expect(page.locator(".reason")).to_have_text("This page is read-only: magicbyte.ui.read.only is set.")
        page.close()


def test_a_page_behind_a_slow_network_shows_rows_of_their_height(open_page: OpenPage) -> None:
    page = open_page()
    held: list[Route] = []
    page.route("**/overview?**", lambda route: held.append(route))  # noqa: PLW0108  it must take attributes
    page.goto("subjects", wait_until="commit")
    expect(page.locator(".skeleton")).to_be_visible()
    expect(page.get_by_text("Still asking.")).to_be_visible()
    for route in held:
        route.continue_()
    expect(page.locator("tbody a", has_text="flights-value")).to_be_visible()


def test_a_path_of_no_page(page: Page) -> None:
    page.goto("nowhere/at/all")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is no such page")
    page.get_by_role("main").get_by_role("link", name="Subjects").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Subjects")


def test_keys_are_in_a_table(page: Page) -> None:
    page.goto("subjects")
    expect(page.locator("tbody tr").first).to_be_visible()
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("Open the row")
    expect(keys).to_contain_text("Go to topics")
    page.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    page.keyboard.press("g")
    page.keyboard.press("d")
    expect(page.get_by_role("heading", level=1)).to_have_text("Decode")


def test_counts_are_those_of_the_list_behind_them(page: Page, watch: Watch) -> None:
    watch.expect(404, "/contexts/.eu/config")

    def told() -> dict[str, str]:
        counts = page.locator("dl.counts")
        expect(counts).to_be_visible()
        names, numbers = (counts.locator(tag).all_text_contents() for tag in ("dt", "dd"))
        return dict(zip(names, numbers, strict=True))

    page.goto("registry")
    expect(page.get_by_role("heading", name="Contents of the default context")).to_be_visible()
    counts = told()
    assert (counts["Subjects"], counts["Avro"], counts["Subjects of other contexts"]) == ("7", "4", "1")
    page.locator("dl.counts").get_by_role("link", name="Subjects", exact=True).click()
    expect(page.locator(".page-head .count")).to_have_text("7")
    page.goto("contexts/.eu/registry")
    expect(page.get_by_role("heading", name="Contents of the context .eu")).to_be_visible()
    counts = told()
    assert (counts["Subjects"], counts["Deleted subjects"], counts["Subjects of other contexts"]) == ("1", "0", "7")


def test_an_export_is_tried_and_imported(scratch: ServerProcess, open_page: OpenPage) -> None:
    page = open_page(scratch.url)
    page.goto("registry")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export everything").click()
    with running_registry("memory:") as empty:
        other = open_page(empty.url)
        other.goto("registry")
        other.get_by_label("Import a file").set_input_files(download.value.path())
        expect(other.get_by_text("Tried, nothing written")).to_be_visible()
        assert httpx.get(f"{empty.url}/subjects", trust_env=False).json() == []
        other.get_by_role("button", name=re.compile(r"^Import \d+$")).click()
        expect(other.locator(".toast")).to_contain_text("imported from")
        assert "flights-value" in httpx.get(f"{empty.url}/subjects", trust_env=False).json()
        other.close()
