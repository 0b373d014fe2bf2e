"""The views of pipelines: real metrics ports, real markers, ports that are gone, and users of few rights."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from magicbyte.testing import running_registry
from tests.ui.conftest import OpenPage
from tests.ui.kit.axe import findings
from tests.ui.kit.guarded import signing_in
from tests.ui.kit.lake import Lake, running_lake
from tests.ui.kit.pipelines import running_pipeline
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    with running_lake(tmp_path_factory.mktemp("lake")) as lake:
        yield lake


def row(page: Page, name: str) -> Locator:
    return page.locator(".pipeline-table tbody tr", has=page.get_by_role("link", name=name, exact=True))


def test_the_table(lake: Lake, open_page: OpenPage, watch: Watch) -> None:
    page = open_page(lake.url)
    page.goto("pipelines")
    expect(page).to_have_title("Pipelines - Magicbyte")
    expect(page.locator(".pipeline-table .name")).to_have_text(["died", "fares", "flights", "gone"])
    flights = row(page, "flights").get_by_role("cell")
    expect(flights.nth(1)).to_have_text("running")
    expect(flights.nth(2)).to_contain_text("1,204")
    expect(flights.nth(2)).to_contain_text("marker 1,204")
    expect(flights.nth(2)).to_contain_text(re.compile(r" (s|min) ago"))
    expect(flights.nth(3)).to_have_text("5,123")
    expect(flights.nth(4)).to_have_text("9")
    expect(flights.nth(5).get_by_role("link")).to_have_text("2")
    expect(flights.nth(5).get_by_role("link")).to_have_attribute("href", "/ui/dead-letters/flights-dead")
    expect(flights.nth(6).locator("time")).to_have_attribute("datetime", "2026-01-01T07:55:00.000Z")
    expect(flights.nth(7)).to_contain_text(re.compile(r" (s|min) ago"))
    fares = row(page, "fares").get_by_role("cell")
    # A text of others is shown with its invisible characters.
    expect(fares.nth(1)).to_have_text("failederrors.at-most: 512 of the 600 records U+202E are dead")
    expect(fares.nth(6)).to_have_text("none")
    gone = row(page, "gone").get_by_role("cell")
    expect(gone.nth(1)).to_have_text("not reachablethe port cannot be reached")
    expect(gone.nth(2)).to_contain_text("marker 12")
    died = row(page, "died").get_by_role("cell")
    expect(died.nth(1)).to_have_text("only markers")
    expect(died.nth(2)).to_contain_text("marker 7")
    expect(page.get_by_role("navigation", name="Main").get_by_role("link", name="Pipelines")).to_have_attribute(
        "aria-current", "page"
    )
    # The page asks again every 5 s.
    data = {request for request in watch.requests if ".json" in request or "/ui/rest" in request}
    assert data == {"GET /ui/pipelines.json"}


def test_a_pipeline(lake: Lake, open_page: OpenPage) -> None:
    page = open_page(lake.url)
    page.goto("pipelines")
    row(page, "flights").get_by_role("link", name="flights", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("flights")
    expect(page).to_have_title("flights: pipeline - Magicbyte")
    state = page.locator("section.card", has=page.get_by_role("heading", name="State", exact=True))
    expect(state).to_contain_text(lake.flights.url)
    expect(state).to_contain_text("1,204")
    rows = page.locator("section.card", has=page.get_by_role("heading", name="Rows since the run began"))
    expect(rows.get_by_role("link", name="flights-dead")).to_have_attribute("href", "/ui/dead-letters/flights-dead")
    expect(rows).to_contain_text("Failed: delay in range")
    inputs = page.locator("section.card", has=page.get_by_role("heading", name="Inputs")).locator("tbody tr")
    expect(inputs).to_have_count(3)
    # Most behind first; the marker tells where the next batch begins.
    expect(inputs.nth(0).get_by_role("cell")).to_have_text(["flights", "0", "5,120", "3615"])
    expect(inputs.nth(1).get_by_role("cell")).to_have_text(["flights", "1", "3", ""])
    sinks = page.locator("section.card", has=page.get_by_role("heading", name="Sinks"))
    expect(sinks).to_contain_text("topic flights-out")
    expect(sinks.locator("tbody tr").get_by_role("cell").nth(1)).to_have_text("1,204")
    steps = page.locator("section.card", has=page.get_by_role("heading", name="Steps that remember rows"))
    expect(steps.locator("tbody tr").get_by_role("cell")).to_have_text(["0-stateStoreSave", "41,022", "6,000", "9"])
    change = page.locator("section.card", has=page.get_by_role("heading", name="Last change"))
    expect(change.get_by_role("link", name="id 7")).to_have_attribute("href", "/ui/schemas/ids/7")
    expect(change).to_contain_text("ALTER TABLE t ADD COLUMN a")
    command = f"magicbyte pipeline status {lake.flights.file}"
    expect(page.locator(".pipeline-commands pre").first).to_have_text(command)
    expect(page.locator(".pipeline-commands pre").nth(1)).to_have_text(f"curl {lake.flights.url}/health")


def test_a_pipeline_that_only_markers_tell_of(lake: Lake, open_page: OpenPage) -> None:
    page = open_page(lake.url)
    page.goto("pipelines/died")
    expect(page.get_by_text("No metrics port of it is known.")).to_be_visible()
    inputs = page.locator("section.card", has=page.get_by_role("heading", name="Inputs")).locator("tbody tr")
    expect(inputs.get_by_role("cell")).to_have_text(["flights", "0", "", "24"])
    page.goto("pipelines/nobody")
    expect(page.get_by_role("heading", name="No pipeline of this name is known")).to_be_visible()
    expect(page.get_by_role("link", name="All pipelines")).to_have_attribute("href", "/ui/pipelines")


def test_the_views_follow_a_pipeline(lake: Lake, open_page: OpenPage) -> None:
    with running_pipeline(lake.folder, "moving") as moving:
        moving.batch(1, read=10, dead=0)
        with running_registry("memory:", properties={"magicbyte.ui.pipelines": moving.url}) as registry:
            page = open_page(registry.url)
            page.goto("pipelines/moving")
            batches = page.locator("section.card", has=page.get_by_role("heading", name="Last batches"))
            expect(batches.locator("tbody tr")).to_have_count(1)
            moving.batch(2, read=30, dead=1, lag=0)
            expect(batches.locator("tbody tr")).to_have_count(2)
            cells = batches.locator("tbody tr").first.get_by_role("cell")
            expect(cells.nth(0)).to_have_text("2")
            # Rows are those of the batch, not of the run.
            expect(cells.nth(3)).to_have_text("30")
            expect(cells.nth(4)).to_have_text("29")
            expect(cells.nth(5)).to_have_text("1")
            expect(batches.locator("tbody tr").last.get_by_role("cell").nth(3)).to_have_text("")
            moving.metrics.close()
            expect(page.locator(".head")).to_contain_text("not reachable")
            # What stays is marked as old.
            expect(page.locator(".head .badge", has_text="figures of")).to_contain_text(" s ago")
            page.close()


def test_a_server_that_goes_leaves_old_figures(lake: Lake, open_page: OpenPage, watch: Watch) -> None:
    watch.allow_text("ERR_CONNECTION_REFUSED")
    with running_registry("memory:", properties={"magicbyte.ui.pipelines": lake.flights.url}) as registry:
        page = open_page(registry.url)
        page.goto("pipelines")
        expect(page.locator("[data-asked]")).to_contain_text("asked ")
        expect(page.locator("[data-asked] .badge")).to_have_count(0)
        page.route("**/ui/pipelines.json", lambda route: route.abort("connectionrefused"))
        expect(page.locator(".strip", has_text="The pipelines cannot be asked")).to_be_visible()
        expect(page.locator("[data-asked] .badge")).to_contain_text("old: asked ")
        expect(row(page, "flights")).to_be_visible()
        # The page also asks by itself, and an answer removes the button, perhaps before a click.
        with page.expect_request("**/ui/pipelines.json"):
            page.get_by_role("button", name="Ask now").last.click()
        page.unroute("**/ui/pipelines.json")
        expect(page.locator("[data-asked] .badge")).to_have_count(0)
        page.close()


def test_a_page_that_is_hidden_does_not_ask(lake: Lake, open_page: OpenPage, watch: Watch) -> None:
    page = open_page(lake.url)
    page.goto("pipelines")
    expect(row(page, "flights")).to_be_visible()
    hide = "state => Object.defineProperty(document, 'visibilityState', {value: state, configurable: true})"
    page.evaluate(hide, "hidden")
    page.wait_for_timeout(200)
    asked = watch.count("GET /ui/pipelines.json")
    # Longer than the pause between two questions.
    page.wait_for_timeout(6_000)
    assert watch.count("GET /ui/pipelines.json") == asked
    page.evaluate(hide, "visible")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    with page.expect_response("**/ui/pipelines.json"):
        pass


def test_keys_and_search_lead_to_pipelines(lake: Lake, open_page: OpenPage) -> None:
    page = open_page(lake.url)
    page.goto("decode")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("p")
    expect(page.get_by_role("heading", level=1)).to_have_text("Pipelines")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("Go to pipelines")
    page.keyboard.press("Escape")
    page.goto("decode")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Search")).to_be_focused()
    page.keyboard.type("pipel")
    page.get_by_role("option", name="Pipelines").click()
    expect(row(page, "flights")).to_be_visible()
    page.keyboard.press("c")
    expect(page.locator(".toast, dialog")).to_be_visible()


def test_without_pipelines_the_page_tells_how_to_set_them(open_page: OpenPage) -> None:
    page = open_page()
    page.goto("pipelines")
    expect(page.get_by_role("heading", name="No pipelines are known")).to_be_visible()
    expect(page.locator(".snippet pre").nth(1)).to_have_text("magicbyte.ui.pipelines=http://127.0.0.1:9109")
    main = page.get_by_role("navigation", name="Main")
    expect(main.get_by_role("link", name="Topics")).to_be_visible()
    expect(main.get_by_role("link", name="Pipelines")).to_have_count(0)


def test_markers_bring_pipelines_into_the_bar(lake: Lake, open_page: OpenPage) -> None:
    """Without a configured port, the topic of markers tells that there are pipelines."""
    with running_registry("memory:", properties={"magicbyte.ui.rest.url": lake.rest_url}) as registry:
        page = open_page(registry.url)
        page.goto("decode")
        link = page.get_by_role("navigation", name="Main").get_by_role("link", name="Pipelines")
        expect(page.get_by_role("navigation", name="Main").get_by_role("link", name="Topics")).to_be_visible()
        expect(link).to_have_count(0)
        page.goto("topics")
        expect(link).to_be_visible()
        link.click()
        expect(page.locator(".pipeline-table .name")).to_have_text(["died", "flights", "gone"])
        page.goto("decode")
        expect(link).to_be_visible()
        page.close()


def test_a_user_who_may_not_read_the_markers(lake: Lake, open_page: OpenPage, watch: Watch) -> None:
    page = signing_in(lake.guarded_url, open_page, watch)("stranger", "pipelines")
    expect(page.locator("[data-markers=forbidden]")).to_contain_text(
        "You may not read the markers of Kafka sinks. That needs READ on the topic _magicbyte_pipelines"
    )
    expect(page.locator(".pipeline-table .name")).to_have_text(["fares", "flights", "gone"])
    # Not green, and not empty: it says that the user may not see the marker.
    gone = row(page, "gone").get_by_role("cell")
    expect(gone.nth(1)).to_contain_text("not reachable")
    expect(gone.nth(2).locator("[data-gap=forbidden]")).to_have_text("you may not read it")
    expect(row(page, "flights").get_by_role("cell").nth(7)).to_have_text("you may not read it")
    page.goto("pipelines/flights")
    expect(page.locator("[data-markers=forbidden]")).to_be_visible()
    sinks = page.locator("section.card", has=page.get_by_role("heading", name="Sinks"))
    expect(sinks.locator("[data-gap=forbidden]")).to_be_visible()
    reader = signing_in(lake.guarded_url, open_page, watch)("reader", "pipelines")
    expect(reader.locator(".pipeline-table .name")).to_have_text(["died", "fares", "flights", "gone"])
    expect(reader.locator("[data-markers]")).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
@pytest.mark.parametrize("user", ["admin", "stranger"])
def test_axe_finds_nothing(lake: Lake, open_page: OpenPage, watch: Watch, theme: str, width: int, user: str) -> None:
    for status in (401, 403, 404):
        watch.expect(status)
    page = open_page(lake.guarded_url, theme=theme, width=width, http_credentials={"username": user, "password": user})
    found = {}
    for path, ready in {
        "pipelines": ".pipeline-table tbody tr",
        "pipelines/flights": ".pipeline-commands",
        "pipelines/fares": ".pipeline-commands",
        "pipelines/nobody": ".state h2",
    }.items():
        page.goto(path)
        expect(page.locator(ready).first).to_be_visible()
        problems = findings(page)
        assert page.locator("h1").count() == 1, path
        if page.evaluate("document.documentElement.scrollWidth") > width:
            problems.append("the page is wider than the window")
        if problems:
            found[path] = problems
    assert found == {}


def test_one_request_and_the_files(lake: Lake, open_page: OpenPage, watch: Watch) -> None:
    page = open_page(lake.url)
    page.goto("pipelines/flights")
    expect(page.locator(".pipeline-commands")).to_be_visible()
    data = {request for request in watch.requests if ".json" in request or "/ui/rest" in request}
    assert data == {"GET /ui/pipelines.json?name=flights"}
