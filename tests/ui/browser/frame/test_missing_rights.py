"""Controls that write say which right is missing before one writes: `GET /rights` tells the page."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Route, expect

from magicbyte.platform.server_process import ServerProcess
from tests.ui.conftest import OpenPage
from tests.ui.kit.guarded import As, guarded_registry, signing_in
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with guarded_registry(tmp_path_factory.mktemp("guarded")) as server:
        yield server


@pytest.fixture
def signed_in(guarded: ServerProcess, open_page: OpenPage, watch: Watch) -> As:
    return signing_in(guarded.url, open_page, watch)


def lack(operations: str, resource: str) -> str:
    return f"You lack the {'rights' if ' and ' in operations else 'right'} {operations} on {resource}."


FLIGHTS, FROZEN, GONE = (f"the subject {name}-value" for name in ("flights", "frozen", "gone"))


@pytest.mark.parametrize(
    ("user", "path", "controls"),
    [
        ("reader", "subjects", {"New schema": lack("WRITE", "any subject")}),
        ("reader", "subjects/flights-value", {"Propose version 4": lack("WRITE", FLIGHTS)}),
        ("reader", "subjects/flights-value/versions/3", {"Propose version 4": lack("WRITE", FLIGHTS)}),
        ("reader", "subjects/flights-value/compare?from=1&to=3", {"Propose version 4": lack("WRITE", FLIGHTS)}),
        ("reader", "subjects/flights-value/edit", {"Register version 4": lack("WRITE", FLIGHTS)}),
        ("writer", "new?topic=secret", {"Register": lack("WRITE", "the subject secret-value")}),
        (
            "writer",
            "subjects/flights-value/settings",
            dict.fromkeys(("Delete version 3", "Delete the subject", "Purge the subject"), lack("DELETE", FLIGHTS)),
        ),
        (
            "auditor",
            "subjects/frozen-value/settings",
            dict.fromkeys(("Set BACKWARD", "Set READONLY", "Inherit", "Save"), lack("ALTER_CONFIGS", FROZEN)),
        ),
        (
            "auditor",
            "subjects/gone-value/settings",
            {
                "Undelete version 1": lack("WRITE and DELETE", GONE),
                "Undelete the subject": lack("WRITE and DELETE", GONE),
                "Purge version 1": lack("DELETE", GONE),
            },
        ),
        ("auditor", "subjects/gone-value", {"Undelete": lack("WRITE and DELETE", GONE)}),
        (
            "auditor",
            "config",
            dict.fromkeys(("Set BACKWARD", "Set READWRITE", "Save"), lack("ALTER_CONFIGS", "the registry")),
        ),
        (
            "auditor",
            "contexts/.eu/config",
            dict.fromkeys(("Set BACKWARD", "Set READWRITE", "Save"), lack("ALTER_CONFIGS", "the context .eu")),
        ),
        ("writer", "registry", {"Import a file": lack("ALTER_CONFIGS", "any subject")}),
        ("reader", "registry", {"Import a file": lack("WRITE and ALTER_CONFIGS", "any subject")}),
    ],
)
def test_a_control_says_which_right_is_missing(
    signed_in: As, watch: Watch, user: str, path: str, controls: dict[str, str]
) -> None:
    page = signed_in(user, path)
    main = page.locator("main")
    for name, reason in controls.items():
        control = main.get_by_role("button", name=re.compile(rf"^{name}\b"))
        expect(control).to_have_accessible_description(reason)
        expect(control).to_be_disabled()
        # Whoever works by keyboard comes to it, and reads why.
        control.focus()
        expect(control).to_be_focused()
        page.keyboard.press("Enter")
    assert [request for request in watch.requests if re.match("PUT|DELETE|POST /(subjects|import)", request)] == []
    assert watch.count("GET /rights") + watch.count("GET /contexts/.eu/rights") == 1


@pytest.mark.parametrize(
    ("user", "path", "names"),
    [
        ("admin", "subjects", ["New schema"]),
        ("writer", "subjects", ["New schema"]),
        ("writer", "subjects/flights-value", ["Propose version 4"]),
        ("admin", "subjects/flights-value/settings", ["Delete version 3", "Delete the subject", "Purge the subject"]),
    ],
)
def test_a_control_with_its_rights_can_be_used(signed_in: As, user: str, path: str, names: list[str]) -> None:
    page = signed_in(user, path)
    with page.expect_response(re.compile("/rights")):
        page.reload()
    for name in names:
        role = "link" if name in ("New schema", "Propose version 4") else "button"
        expect(page.locator("main").get_by_role(role, name=name)).to_be_enabled()


def test_fields_of_settings_are_read_with_the_reason(signed_in: As) -> None:
    page = signed_in("auditor", "subjects/flights-value/settings")
    card = page.get_by_role("region", name="Other settings")
    reason = lack("ALTER_CONFIGS", FLIGHTS)
    for name in ("Alias", "Default metadata"):
        field = card.get_by_role("textbox", name=name)
        expect(field).to_have_accessible_description(reason)
        expect(field).not_to_be_editable()
        field.focus()
        expect(field).to_be_focused()
    for title, select in (("Compatibility level", "Compatibility level"), ("Mode", "Mode")):
        card = page.get_by_role("region", name=title, exact=True)
        expect(card.get_by_role("combobox", name=select)).to_have_accessible_description(reason)
        expect(card.get_by_role("combobox", name=select)).to_be_disabled()


def test_the_selected_bar_asks_for_the_selected_subjects_alone(signed_in: As, watch: Watch) -> None:
    page = signed_in("reader", "subjects?peek=flights-value")
    expect(page.locator("tbody tr.on")).to_be_visible()
    page.keyboard.press("x")
    delete = page.get_by_role("region", name="Selected subjects").get_by_role("button", name="Delete")
    expect(delete).to_have_accessible_description(lack("DELETE", FLIGHTS))
    assert [request for request in watch.requests if request.startswith("GET /rights")] == [
        "GET /rights",
        "GET /rights?subject=flights-value",
    ]


def test_another_user_has_other_rights(guarded: ServerProcess, open_page: OpenPage, watch: Watch) -> None:
    watch.expect(401)
    watch.expect(403)
    page = open_page(guarded.url)
    # As if the browser's own question had been closed: the form asks.
    asks = {"WWW-Authenticate": "Basic"}
    refused = {"error_code": 401, "message": "Unauthorized"}
    signed_out = [True]

    def guard(route: Route) -> None:
        if signed_out[0] or "authorization" not in route.request.headers:
            signed_out[0] = False
            return route.fulfill(status=401, headers=asks, json=refused)
        return route.continue_()

    page.route(re.compile(r"^http://[^/]+/(overview|rights|subjects/[^/]+/compare|schemas|contexts|events)\b"), guard)

    def sign_in(name: str) -> None:
        dialog = page.get_by_role("dialog", name="Sign in")
        dialog.get_by_label("Name").fill(name)
        dialog.get_by_label("Password").fill(name)
        dialog.get_by_role("button", name="Sign in").click()

    page.goto("subjects")
    sign_in("reader")
    new = page.get_by_role("button", name="New schema")
    expect(new).to_have_accessible_description(lack("WRITE", "any subject"))
    # The credentials expire, and another user signs in.
    signed_out[0] = True
    page.locator("tbody a", has_text="flights-value").click()
    sign_in("writer")
    expect(page.get_by_role("link", name="Propose version 4")).to_be_visible()
    page.get_by_role("link", name="Subjects").first.click()
    expect(page.get_by_role("link", name="New schema")).to_be_visible()


def test_a_registry_that_does_not_tell_rights_is_asked_once(signed_in: As, watch: Watch) -> None:
    watch.expect(404, "/rights")
    page = signed_in("reader", "decode")
    missing = {"error_code": 404, "message": "HTTP 404 Not Found"}
    page.route(re.compile(r"^http://[^/]+/rights\b"), lambda route: route.fulfill(status=404, json=missing))
    page.get_by_role("link", name="Subjects").first.click()
    expect(page.get_by_role("link", name="New schema")).to_be_visible()
    page.locator("tbody a", has_text="flights-value").click()
    page.get_by_role("link", name="Propose version 4").click()
    expect(page.get_by_role("button", name="Register version 4")).to_be_visible()
    assert watch.count("GET /rights") == 1
    # The refusal is told afterwards, as the registry says it.
    page.get_by_role("link", name="flights-value").first.click()
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("button", name="Delete version 3").click()
    denied = "User is denied operation Delete on Subject: flights-value"
    expect(page.locator(".toast")).to_contain_text(denied)
    expect(page.get_by_role("button", name="Delete version 3")).to_have_accessible_description(denied)
