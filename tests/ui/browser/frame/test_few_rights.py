"""The page of users of few rights, who sign in at a registry with access rules: `tests.ui.kit.guarded`."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from magicbyte.platform.server_process import ServerProcess
from tests.ui.conftest import OpenPage
from tests.ui.kit.editing import content, put
from tests.ui.kit.filling import flight
from tests.ui.kit.guarded import As, guarded_registry, signing_in
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser

#: No schema, level or mode of another state than the true one may be on a page.
CLAIMS = re.compile(r"BACKWARD(?!_)|READWRITE|has no version|no schema yet|\ballowed\b")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with guarded_registry(tmp_path_factory.mktemp("guarded")) as server:
        yield server


@pytest.fixture
def signed_in(guarded: ServerProcess, open_page: OpenPage, watch: Watch) -> As:
    return signing_in(guarded.url, open_page, watch)


def test_the_list_marks_what_may_not_be_read(signed_in: As) -> None:
    page = signed_in("lister", "subjects")
    row = page.locator("table.subjects tbody tr", has_text="secret-value")
    expect(row.locator(".c-type")).to_have_text("forbidden")
    expect(row.locator(".c-level")).to_have_text("you may not read it")
    expect(page.get_by_role("button", name=re.compile("^Avro"))).to_contain_text("1")
    expect(page.locator(".chips [data-gap=forbidden]")).to_have_text("5 that you may not read")
    row.locator(".c-changed").click()
    peek = page.get_by_role("complementary", name="The subject in brief")
    expect(peek.get_by_text("level: you may not read it")).to_be_visible()
    expect(peek.get_by_text("Last change")).to_be_visible()
    expect(peek.locator(".peek-part [data-gap=forbidden]")).to_have_text("you may not read it")


@pytest.mark.parametrize(
    ("user", "reason"),
    [
        ("lister", "The subject has 2 versions, and the access rules do not let you read them."),
        ("reader", "User is denied operation Describe on Subject: secret-value"),
    ],
)
def test_evolution_of_a_forbidden_subject_is_not_empty(signed_in: As, user: str, reason: str) -> None:
    page = signed_in(user, "subjects/secret-value")
    gap = page.locator(".evolution [data-gap=forbidden]")
    expect(gap.get_by_role("heading", name="You may not read it")).to_be_visible()
    expect(gap).to_contain_text(reason)
    expect(page.locator("main")).not_to_contain_text("No version")


def test_evolution_of_an_absent_subject_is_empty(signed_in: As) -> None:
    page = signed_in("admin", "subjects/none-value")
    expect(page.get_by_role("heading", name="No version")).to_be_visible()
    expect(page.locator("[data-gap]")).to_have_count(0)


@pytest.mark.parametrize(
    "path",
    [
        "subjects/secret-value/versions/1",
        "subjects/secret-value/versions/1?view=fields",
        "subjects/secret-value/compare?from=1&to=2",
        "subjects/secret-value/versions/1/references",
        "subjects/secret-value/edit",
    ],
)
def test_a_forbidden_schema_is_not_absent(signed_in: As, path: str) -> None:
    page = signed_in("lister", path)
    expect(page.get_by_role("heading", name="Not allowed")).to_be_visible()
    expect(page.locator("main")).not_to_contain_text(CLAIMS)


@pytest.mark.parametrize("path", ["schemas/ids/5", "decode#hex=0000000005"])
def test_an_id_that_may_not_be_read_looks_unknown_and_the_page_says_so(signed_in: As, path: str) -> None:
    page = signed_in("reader", path)
    expect(page.get_by_text("The registry says the same of a schema that you may not read.")).to_be_visible()


def test_the_head_of_a_subject_says_that_its_level_is_hidden(signed_in: As) -> None:
    page = signed_in("reader", "subjects/flights-value")
    expect(page.locator(".head-name [data-gap=forbidden]")).to_have_text("level: you may not read it")
    page = signed_in("settler", "subjects/frozen-value")
    expect(page.locator(".head-name .badge", has_text="BACKWARD")).to_be_visible()
    expect(page.locator(".head-name [data-gap]")).to_have_count(0)


def test_compare_does_not_judge_by_a_hidden_level(signed_in: As) -> None:
    page = signed_in("reader", "subjects/flights-value/compare?from=1&to=3")
    levels = page.locator(".other-levels")
    expect(levels.locator("[data-gap=forbidden]")).to_have_text("you may not read it")
    expect(levels.get_by_text("now", exact=True)).to_have_count(0)


def test_the_editor_says_what_it_does_not_know_beside_register(signed_in: As) -> None:
    page = signed_in("writer", "subjects/flights-value/edit")
    content(page).wait_for()
    put(page, flight(1).replace('"Flight"', '"Flight", "doc": "of a day"'))
    expect(page.locator(".head-name [data-gap=forbidden]")).to_have_text("level: you may not read it")
    expect(page.locator(".edit-foot")).to_contain_text(
        "You may not read the level and the mode: the registry decides when you register."
    )
    expect(page.locator(".head-name .badge.ok, .head-name .badge.bad")).to_have_count(0)
    expect(page.get_by_role("button", name="Register version 4")).to_be_enabled()


def test_a_new_schema_of_a_forbidden_name_is_not_a_first_version(signed_in: As) -> None:
    page = signed_in("reader", "new?topic=secret")
    expect(page.locator(".edit-foot")).to_contain_text(
        "Not checked: User is denied operation Read on Subject: secret-value. The registry decides when you register."
    )
    expect(page.locator(".head-name [data-gap=forbidden]")).to_have_text("verdict: you may not read it")
    expect(page.locator(".who")).not_to_contain_text("The first version")
    expect(page.get_by_role("button", name="Register", exact=True)).to_be_visible()


@pytest.mark.parametrize(("subject", "mode"), [("frozen-value", "READONLY"), ("moved-value", "IMPORT")])
def test_a_subject_that_refuses_versions_is_not_allowed(signed_in: As, subject: str, mode: str) -> None:
    page = signed_in("settler", f"subjects/{subject}/edit")
    expect(page.locator(".head-name .badge.bad")).to_have_text(f"refused by the mode {mode}")
    expect(page.locator(".edit-foot")).to_contain_text(f"No new versions: the mode is {mode}, its own.")
    expect(page.locator(".head-name .badge.ok")).to_have_count(0)
    expect(page.locator("main")).not_to_contain_text("allowed under")


def test_settings_show_what_may_be_read_beside_what_may_not(signed_in: As) -> None:
    page = signed_in("reader", "subjects/flights-value/settings")
    expect(page.get_by_role("region", name="Versions and deletion").get_by_role("listitem")).to_have_count(3)
    for name in ("Compatibility level", "Mode", "Other settings"):
        card = page.get_by_role("region", name=name)
        expect(card).to_contain_text("User is denied operation DescribeConfigs on Subject: flights-value")
        expect(card.get_by_role("combobox")).to_have_count(0)
    expect(page.locator("main")).not_to_contain_text(CLAIMS)
    page = signed_in("settler", "subjects/frozen-value/settings")
    expect(page.get_by_role("region", name="Mode", exact=True)).to_contain_text("READONLY")
    expect(page.get_by_role("region", name="Compatibility level")).to_contain_text("BACKWARD")
    page = signed_in("reader", "subjects/secret-value/settings")
    expect(page.get_by_role("region", name="Versions and deletion").locator("[data-gap=forbidden]")).to_be_visible()


def test_the_registry_says_that_its_settings_are_hidden(signed_in: As) -> None:
    page = signed_in("lister", "config")
    expect(page.locator("main [data-gap=forbidden]")).to_have_count(3)
    expect(page.locator("main")).not_to_contain_text(CLAIMS)
    page.goto("registry")
    node = page.locator("section.card", has_text="This node")
    expect(node.locator("[data-gap=forbidden]")).to_have_text("you may not read it")
    counts = page.locator("dl.counts")
    expect(counts).to_be_visible()
    names, numbers = (counts.locator(tag).all_text_contents() for tag in ("dt", "dd"))
    told = dict(zip(names, numbers, strict=True))
    assert told["Avro"] == "1"
    assert told["With schemas that you may not read"] == "5"
    assert told["With a level that you may not read"] == "6"


def test_counts_are_of_what_one_may_see(signed_in: As) -> None:
    page = signed_in("stranger", "registry")
    contents = page.locator("section.card", has_text="Contents of the default context")
    expect(contents).to_contain_text("what you may see")
    expect(page.get_by_text("Nothing that you may see has changed since this page was opened.")).to_be_visible()
    expect(page.locator("dt", has_text="Role").locator("+ dd")).to_have_text("unknown")
    expect(page.get_by_text("All versions that you may see")).to_be_visible()
    page.goto("subjects")
    expect(page.get_by_text("it has none yet, or none that you may see")).to_be_visible()
    page = signed_in("reader", "subjects?q=secret")
    expect(page.get_by_role("heading", name="Nothing that you may see has secret in its name")).to_be_visible()


def test_a_search_that_found_nothing_or_failed_says_so(signed_in: As, watch: Watch) -> None:
    watch.expect(429, "/search")
    page = signed_in("reader", "decode")
    page.get_by_role("button", name="Search subjects, fields and ids").click()
    page.get_by_role("combobox", name="Search").fill("secret")
    expect(page.get_by_text("Nothing that you may see is found.")).to_be_visible()
    refused = {"error_code": 429, "message": "Too many searches"}
    page.route("**/search?**", lambda route: route.fulfill(status=429, json=refused))
    page.get_by_role("combobox", name="Search").fill("secrets")
    expect(page.get_by_text("Not all was searched: Too many searches")).to_be_visible()
    expect(page.get_by_text("Nothing that you may see is found.")).to_have_count(0)


def test_a_version_with_hidden_referrers_is_not_said_to_have_none(signed_in: As) -> None:
    page = signed_in("reader", "subjects/shared-value/versions/1/references")
    expect(page.get_by_text("Nothing that you may see refers to version 1.")).to_be_visible()
    expect(page.get_by_text("A schema that you may not see can keep it from being deleted.")).to_be_visible()
    expect(page.get_by_role("region", name="Referred to by")).to_contain_text("nothing that you may see")
    expect(page.get_by_role("link", name=re.compile("^References"))).to_have_text("References")
    page = signed_in("admin", "subjects/shared-value/versions/1/references")
    expect(page.get_by_role("note")).to_contain_text("1 version refers to it: holder-value v1")


def test_an_export_names_what_it_lacks(signed_in: As) -> None:
    page = signed_in("lister", "subjects?peek=secret-value")
    expect(page.locator("tbody tr.on")).to_be_visible()
    page.keyboard.press("x")
    page.get_by_role("region", name="Selected subjects").get_by_role("button", name="Export").click()
    lacks = "The export lacks 1 subject (gone, or you may not read it): secret-value"
    expect(page.get_by_text(lacks).first).to_be_visible()


def test_contexts_that_are_not_told_are_unknown(signed_in: As, watch: Watch) -> None:
    watch.expect(429, "/contexts")
    page = signed_in("reader", "decode")
    page.route("**/contexts", lambda route: route.fulfill(status=429, json={"error_code": 429, "message": "Later"}))
    page.reload()
    expect(page.get_by_text("contexts unknown")).to_be_visible()


def test_a_version_that_is_forbidden_offers_no_other_names(signed_in: As) -> None:
    page = signed_in("lister", "subjects/secret-value/versions/1")
    expect(page.get_by_role("alert")).to_contain_text("Not allowed")
    expect(page.get_by_role("alert").get_by_role("link")).to_have_count(0)


def test_without_rules_nothing_is_perhaps_hidden(open_page: OpenPage, watch: Watch) -> None:
    watch.expect(404, "/schemas/ids/4711")
    page = open_page()
    page.goto("schemas/ids/4711")
    expect(page.get_by_role("alert")).to_contain_text("Not there")
    expect(page.get_by_text("may not read")).to_have_count(0)
    page.goto("subjects/orders-value/versions/2/references")
    expect(page.get_by_text("Nothing refers to version 2: no other schema keeps it")).to_be_visible()


def test_a_schema_that_is_too_costly_to_check_is_a_schema(open_page: OpenPage, watch: Watch) -> None:
    watch.expect(422, "/compatibility/")
    watch.expect(422, "/compare")
    message = "Comparing the schema with earlier versions takes more than 1000000 steps"
    page = open_page()
    costly = {"error_code": 42209, "message": message}
    asked = re.compile(r"^http://[^/]+/(compatibility/|subjects/flights-value/compare\b)")
    page.route(asked, lambda route: route.fulfill(status=422, json=costly))
    page.goto("subjects/flights-value/edit")
    expect(page.locator(".head-name [data-gap=costly]")).to_have_text("verdict: too costly to tell")
    expect(page.locator(".head-name .badge.bad, .head-name .badge.ok")).to_have_count(0)
    expect(page.locator(".who [data-gap=costly]").first).to_have_text("too costly to tell")
    expect(page.locator(".edit-foot")).to_contain_text(
        f"Not checked: {message}. The registry decides when you register."
    )
    page.goto("subjects/flights-value/compare?from=1&to=3")
    expect(page.locator(".verdicts")).to_contain_text("Too costly to compare")
    expect(page.locator(".verdicts .ok, .verdicts .bad")).to_have_count(0)
