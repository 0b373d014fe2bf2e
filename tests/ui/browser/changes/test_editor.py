"""Editing: who breaks while one types, remedies to click, registering after the version one began with."""

from __future__ import annotations

import json
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from magicbyte.platform.server_process import ServerProcess
from tests.ui.conftest import OpenPage
from tests.ui.kit.editing import content, expect_cell, flight_4, matrix, places, put, select_lines
from tests.ui.kit.filling import CUSTOMER, ORDER, flight, register
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser

USER = '{"type":"record","name":"User","fields":[{"name":"id","type":"int"}]}'


def test_a_version_is_mended_by_remedies_and_registered(scratch: ServerProcess, open_page: OpenPage) -> None:
    page = open_page(scratch.url)
    page.goto("subjects/flights-value/edit")
    expect(page.get_by_role("heading", level=1)).to_have_text("flights-value")
    put(page, flight_4())
    expect(page.get_by_text("refused under BACKWARD")).to_be_visible()
    expect_cell(page, 3, 0, "✕ 3 places, asked for by the level")
    assert matrix(page) == [
        ["Version 3 latest", "✕ 3 places, asked for by the level", "✕ 2 places"],
        ["Version 2", "✕ 3 places", "✕ 3 places"],
        ["Version 1", "✕ 4 places", "✕ 3 places"],
    ]
    assert places(page) == [
        "84:7 | carrier was string, is enum | both sides, all versions",
        "94:5 | destination is new and has no default | new readers of versions 1, 2, 3; old readers miss dest",
        "126:5 | gate is new and has no default | new readers of versions 1, 2, 3",
        "110:5 | source lost its default | new readers of version 1",
        "32:7 | distance is long since version 3 | old readers of versions 1, 2",
    ]
    register = page.get_by_role("button", name="Register version 4")
    expect(register).to_have_attribute("aria-disabled", "true")

    page.get_by_role("button", name="94:5 destination").click()
    note = page.get_by_role("note")
    expect(note).to_contain_text("New readers, on data of versions 1 to 3")
    expect(note).to_contain_text("A reader looks for destination, which was never written, and fails on every record.")
    expect(note).to_contain_text("READER_FIELD_MISSING_DEFAULT_VALUE")
    expect(note).to_contain_text("dest went, destination came: renamed?")
    note.get_by_text("An example").click()
    expect(note.locator("pre")).to_contain_text('"carrier":""')
    note.get_by_role("button", name='Add alias "dest"').click()
    expect_cell(page, 3, 0, "✕ 2 places, asked for by the level")
    page.get_by_role("button", name="gate is new").click()
    note.get_by_role("button", name='Add default ""').click()
    expect_cell(page, 3, 0, "✕ 1 place, asked for by the level")
    page.get_by_role("button", name="84:7 carrier").click()
    content(page).focus()
    select_lines(page, 5)
    page.keyboard.insert_text('      "type": "string"')
    expect_cell(page, 3, 0, "✓ reads all, asked for by the level")
    expect(page.get_by_text("allowed under BACKWARD")).to_be_visible()

    with page.expect_request(lambda request: request.method == "POST" and request.url.endswith("/versions")) as sent:
        register.click()
    assert sent.value.headers["if-match"] == "3"
    page.wait_for_url("**/ui/subjects/flights-value/versions/4")
    stored = json.loads(httpx.get(f"{scratch.url}/subjects/flights-value/versions/4", trust_env=False).json()["schema"])
    fields = {field["name"]: field for field in stored["fields"]}
    assert fields["destination"] == {"name": "destination", "type": "string", "aliases": ["dest"]}
    assert fields["gate"] == {"name": "gate", "type": "string", "default": ""}
    assert fields["carrier"] == {"name": "carrier", "type": "string"}


def test_the_level_moves_the_outline(page: Page) -> None:
    page.goto("subjects/flights-value/edit")
    put(page, flight_4())
    expect(page.locator(".cell.need")).to_have_count(1)
    expect_cell(page, 3, 0, "✕ 3 places, asked for by the level")
    page.get_by_label("if the level were").select_option("FULL_TRANSITIVE")
    expect(page.locator(".cell.need")).to_have_count(6)
    expect(page.get_by_text("refused under BACKWARD")).to_be_visible()
    page.get_by_label("if the level were").select_option("NONE")
    expect(page.locator(".cell.need")).to_have_count(0)


def test_each_pause_asks_once(page: Page, watch: Watch) -> None:
    page.goto("subjects/flights-value/edit")
    expect(page.get_by_text("says the same as version 3")).to_be_visible()
    before = watch.count("POST /compatibility/")
    content(page).click()
    page.keyboard.press("Control+End")
    page.keyboard.type("    ", delay=30)
    with page.expect_response(lambda response: "/compatibility/" in response.url):
        pass
    assert watch.count("POST /compatibility/") == before + 1


def test_a_text_that_is_a_version_is_not_registered_again(page: Page) -> None:
    page.goto("subjects/flights-value/edit")
    expect(page.get_by_role("status").get_by_text("The text says the same as version 3")).to_be_visible()
    expect(page.get_by_role("button", name="Register version 4")).to_have_attribute("aria-disabled", "true")


def test_a_missing_semicolon_is_marked(page: Page, watch: Watch) -> None:
    watch.expect(422, "/compatibility/subjects/orders-value/versions")
    page.goto("subjects/orders-value/edit")
    put(page, ORDER.replace("int64 id = 1;", "int64 id = 1"))
    expect(page.get_by_text("not a schema", exact=True)).to_be_visible()
    expect(page.locator(".find1 .ln")).to_have_text("8:3")
    expect(page.locator(".find1")).to_contain_text('";"')
    expect(page.locator(".cm-places button")).to_have_count(1)
    expect(page.get_by_role("button", name="Register version 3")).to_have_attribute("aria-disabled", "true")


def test_protobuf_int32_to_string_breaks_in_both_directions(page: Page) -> None:
    page.goto("subjects/orders-value/edit")
    put(page, ORDER.replace("int32 quantity = 2;", "string quantity = 2;"))
    expect_cell(page, 2, 0, "✕ 1 place, asked for by the level")
    expect_cell(page, 2, 1, "✕ 1 place")
    expect(page.locator(".find1 .ln").first).to_have_text("14:5")
    expect(page.locator(".find1").first).to_contain_text("both sides, all versions")
    page.locator(".find1").first.click()
    note = page.get_by_role("note")
    expect(note).to_contain_text("FIELD_SCALAR_KIND_CHANGED")
    note.get_by_role("button", name="Keep the type").click()
    expect_cell(page, 2, 0, "✓ reads all, asked for by the level")


def test_json_schema_shows_an_instance_that_breaks(page: Page) -> None:
    page.goto("subjects/customers-value/edit")
    proposed = {**CUSTOMER, "required": ["id", "email"]}
    put(page, json.dumps(proposed, indent=2))
    expect_cell(page, 1, 0, "✕ 1 place, asked for by the level")
    expect_cell(page, 1, 1, "✓ reads all")
    page.locator(".find1").first.click()
    note = page.get_by_role("note")
    note.get_by_text("An example").click()
    expect(note.locator("pre")).to_have_text('{"id":"a"}')
    expect(note.locator(".acts").get_by_role("button")).to_have_count(2)
    note.get_by_role("button", name="Do not require email").click()
    expect_cell(page, 1, 0, "✓ reads all, asked for by the level")


def test_a_draft_outlives_the_page(page: Page) -> None:
    page.goto("subjects/payments-value/edit")
    content(page).click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("\n\n")
    page.keyboard.insert_text(" ")
    expect(page.get_by_text("says the same as version 1")).to_be_visible()
    put(page, '{"type": "record", "name": "Payment", "namespace": "shop", "fields": []}')
    expect(page.get_by_text("1 edit since version 1")).to_be_visible()
    expect(page.get_by_text("refused under FULL")).to_be_visible()
    page.reload()
    expect(page.get_by_text("draft of this tab")).to_be_visible()
    expect(content(page)).to_contain_text('"fields": []')
    page.get_by_role("button", name="Discard").click()
    expect(content(page)).to_contain_text('"name": "amount"')


def test_the_text_beside_the_version(page: Page) -> None:
    page.goto("subjects/flights-value/edit")
    put(page, flight_4())
    expect_cell(page, 3, 0, "✕ 3 places, asked for by the level")
    page.get_by_role("button", name="Beside version 3").click()
    expect(page.locator(".cm-merge-a .cm-content")).to_have_attribute("aria-label", "Version 3")
    expect(page.locator(".cm-merge-b .cm-changedLine").first).to_be_visible()
    assert "view=split" in page.url


def test_a_new_subject_without_a_name_is_not_called_the_first_version(
    scratch: ServerProcess, open_page: OpenPage
) -> None:
    page = open_page(scratch.url)
    page.goto("new")
    expect(page.locator(".who-foot")).to_have_text("The subject has no name yet. With one, its versions are compared.")
    page.goto("new?subject=never-registered-value")
    expect(page.locator(".who-foot")).to_have_text("The first version: nobody reads or writes this subject yet.")


def test_a_new_subject(scratch: ServerProcess, open_page: OpenPage) -> None:
    page = open_page(scratch.url)
    page.goto("new?topic=orders&part=key")
    expect(page.get_by_role("heading", level=1)).to_have_text("orders-key")
    page.get_by_role("button", name="Protobuf").click()
    put(page, 'syntax = "proto3";\npackage acme;\n\nmessage Key {\n  string id = 1;\n}\n')
    page.get_by_label("Named by").select_option("topic-record")
    expect(page.get_by_role("heading", level=1)).to_have_text("orders-acme.Key")
    page.get_by_label("Named by").select_option("topic")
    page.get_by_label("Level", exact=True).select_option("FULL")
    page.get_by_role("button", name="Register version 1").click()
    page.wait_for_url("**/ui/subjects/orders-key/versions/1")
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        assert client.get("/subjects/orders-key/versions/1").json()["schemaType"] == "PROTOBUF"
        assert client.get("/config/orders-key").json() == {"compatibilityLevel": "FULL"}


def test_a_reference_is_proposed_for_an_import(scratch: ServerProcess, open_page: OpenPage, watch: Watch) -> None:
    watch.expect(422, "/compatibility/subjects/shipments-value/versions")
    page = open_page(scratch.url)
    page.goto("new?topic=shipments&type=PROTOBUF")
    put(page, ORDER)
    expect(page.get_by_text("not a schema", exact=True)).to_be_visible()
    page.get_by_role("button", name="References 0").click()
    expect(page.get_by_label("Name in the text")).to_have_value("acme/common/address.proto")
    page.get_by_role("button", name="acme/common/address.proto 1").click()
    expect(page.get_by_label("Subject of acme/common/address.proto")).to_have_value("acme/common/address.proto")
    page.get_by_role("button", name="Use these").click()
    expect(page.get_by_role("button", name="References 1")).to_be_visible()
    page.get_by_role("button", name="Register version 1").click()
    page.wait_for_url("**/ui/subjects/shipments-value/versions/1")


def test_metadata_and_rules_are_registered(scratch: ServerProcess, open_page: OpenPage) -> None:
    page = open_page(scratch.url)
    page.goto("new?subject=described")
    page.get_by_role("button", name="Metadata and rules").click()
    page.get_by_role("textbox", name="Metadata").fill("[1]")
    expect(page.get_by_text("The metadata is not a JSON object")).to_be_visible()
    page.get_by_role("textbox", name="Metadata").fill('{"properties": {"owner": "team"}}')
    page.get_by_role("button", name="Use these").click()
    page.get_by_role("button", name="Register version 1").click()
    page.wait_for_url("**/ui/subjects/described/versions/1")
    stored = httpx.get(f"{scratch.url}/subjects/described/versions/1", trust_env=False).json()
    assert stored["metadata"] == {"properties": {"owner": "team"}}


def test_a_read_only_subject_has_a_sentence_instead_of_register(scratch: ServerProcess, open_page: OpenPage) -> None:
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        register(client, "frozen-value", USER)
        client.put("/mode/frozen-value", json={"mode": "READONLY"}).raise_for_status()
    page = open_page(scratch.url)
    page.goto("subjects/frozen-value/edit")
    expect(page.get_by_text("No new versions: the mode is READONLY, its own.")).to_be_visible()
    expect(page.get_by_role("button", name="Register version 2")).to_have_count(0)


def test_a_level_that_may_not_be_read_has_no_verdict(scratch: ServerProcess, open_page: OpenPage, watch: Watch) -> None:
    watch.expect(403, "/config/")
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        register(client, "secret-value", USER)
    page = open_page(scratch.url)
    refused = {"error_code": 40301, "message": "User may not read the settings"}
    page.route("**/config/secret-value**", lambda route: route.fulfill(status=403, json=refused))
    page.goto("subjects/secret-value/edit")
    expect(page.locator(".head-name [data-gap=forbidden]")).to_have_text("level: you may not read it")
    expect(page.locator(".head-name .badge.ok, .head-name .badge.bad")).to_have_count(0)
    expect(page.locator(".who .need")).to_have_count(0)
    expect(page.get_by_text("You may not read the level: no cell is outlined.")).to_be_visible()
    page.get_by_label("if the level were").select_option("FULL")
    expect(page.locator(".who .need")).to_have_count(2)
    expect(page.get_by_text("under BACKWARD")).to_have_count(0)


def test_odd_names_are_edited(scratch: ServerProcess, open_page: OpenPage) -> None:
    subject = "e/d %2F?#é"
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        register(client, subject, USER)
    page = open_page(scratch.url)
    page.goto(f"subjects/{quote(subject, safe='')}/edit")
    expect(page.get_by_role("heading", level=1)).to_have_text(subject)
    put(page, USER.replace('"int"', '"long"'))
    expect(page.get_by_text("allowed under BACKWARD")).to_be_visible()
    expect(page.locator("#register")).not_to_have_attribute("aria-disabled", "true")
    content(page).press("Control+Enter")
    page.wait_for_url(f"**/ui/subjects/{quote(subject, safe='')}/versions/2")


def test_a_new_text_is_not_registered_with_the_verdict_on_the_one_before(page: Page) -> None:
    page.goto("subjects/payments-value/edit")
    expect(page.get_by_text("there is nothing to register")).to_be_visible()
    button = page.locator("#register")
    page.evaluate(
        """() => {
          window.timesOpen = 0;
          const look = () => window.timesOpen += document.querySelector("#register:not([aria-disabled])") ? 1 : 0;
          new MutationObserver(look).observe(document.body, { attributes: true, childList: true, subtree: true });
        }"""
    )
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/compatibility/**", hold)
    with page.expect_request("**/compatibility/**"):
        put(page, '{"type":"record","name":"Payment","namespace":"shop","fields":[]}')
    assert page.evaluate("timesOpen") == 0
    expect(button).to_have_accessible_description("The text is being checked.")
    held[0].continue_()
    expect(button).not_to_have_accessible_description("The text is being checked.")


def test_format_lays_out_the_text_and_undo_restores_it(page: Page) -> None:
    page.goto("subjects/payments-value/edit")
    put(page, '{"type":"record","name":"Payment","namespace":"shop","fields":[]}')
    page.get_by_role("button", name="Format").click()
    expect(content(page).locator(".cm-line").nth(1)).to_have_text('  "type": "record",')
    page.get_by_role("button", name="Undo").click()
    expect(content(page).locator(".cm-line")).to_have_count(1)


def test_the_text_is_saved_as_a_file(page: Page) -> None:
    page.goto("subjects/flights-value/edit")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as file").click()
    assert download.value.suggested_filename == "flights-value-v4.avsc"
    assert json.loads(download.value.path().read_text()) == json.loads(flight(3))


def test_a_subject_that_is_not_there_can_be_made(page: Page, watch: Watch) -> None:
    watch.expect(404, "/subjects/nowhere")
    page.goto("subjects/nowhere/edit")
    page.get_by_role("link", name="Register it as a new subject").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("nowhere")
    expect(page.get_by_role("button", name="Register version 1")).to_be_visible()
