"""Settings of a subject and of the registry, set from the page and seen by a client of the API."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import expect

from magicbyte.platform.server_process import ServerProcess
from tests.ui.conftest import OpenPage
from tests.ui.kit.filling import register
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser


def test_a_level_first_shows_what_it_would_have_refused(scratch: ServerProcess, open_page: OpenPage) -> None:
    page = open_page(scratch.url)
    page.goto("subjects/flights-value/settings")
    card = page.get_by_role("region", name="Compatibility level")
    expect(card).to_contain_text("BACKWARD from the registry")
    page.get_by_role("combobox", name="Compatibility level").select_option("BACKWARD_TRANSITIVE")
    expect(card).to_contain_text("✓ BACKWARD_TRANSITIVE would have refused none of the 3 versions.")
    page.get_by_role("combobox", name="Compatibility level").select_option("FULL")
    expect(card).to_contain_text("✕ FULL would have refused 1 of the 3 versions:")
    expect(card.get_by_role("listitem")).to_have_text("version 3: version 2 does not read it")
    page.get_by_role("combobox", name="Compatibility level").select_option("FULL_TRANSITIVE")
    expect(card.get_by_role("listitem")).to_have_text("version 3: versions 1, 2 do not read it")
    page.get_by_role("button", name="Set FULL_TRANSITIVE").click()
    expect(card).to_contain_text("FULL_TRANSITIVE its own")
    assert config_of(scratch, "flights-value") == {"compatibilityLevel": "FULL_TRANSITIVE"}
    page.get_by_role("button", name="Inherit BACKWARD").click()
    expect(card).to_contain_text("BACKWARD from the registry")
    assert config_of(scratch, "flights-value?defaultToGlobal=true")["compatibilityLevel"] == "BACKWARD"


def test_a_level_is_undone(scratch: ServerProcess, open_page: OpenPage) -> None:
    page = open_page(scratch.url)
    page.goto("subjects/payments-value/settings")
    card = page.get_by_role("region", name="Compatibility level")
    expect(card).to_contain_text("FULL its own")
    page.get_by_role("combobox", name="Compatibility level").select_option("NONE")
    page.get_by_role("button", name="Set NONE").click()
    expect(card).to_contain_text("NONE its own")
    page.get_by_role("button", name="Undo").click()
    expect(card).to_contain_text("FULL its own")
    assert config_of(scratch, "payments-value") == {"compatibilityLevel": "FULL"}


def test_other_settings_are_saved_together(scratch: ServerProcess, open_page: OpenPage) -> None:
    page = open_page(scratch.url)
    page.goto("subjects/customers-value/settings")
    page.get_by_label("Normalize").select_option("true")
    page.get_by_label("Alias").fill("payments-value")
    page.get_by_role("textbox", name="Override metadata").fill('{"properties": {"owner": "team"}')
    expect(page.get_by_role("alert")).to_contain_text("Override metadata is not JSON")
    page.get_by_role("textbox", name="Override metadata").fill('{"properties": {"owner": "team"}}')
    page.get_by_role("button", name="Save 3 changes").click()
    expect(page.locator(".toast")).to_contain_text("3 settings are changed.")
    expect(page.get_by_text("Override metadata its own")).to_be_visible()
    saved = {"alias": "payments-value", "normalize": True, "overrideMetadata": {"properties": {"owner": "team"}}}
    assert saved.items() <= config_of(scratch, "customers-value").items()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("Alias")).to_have_value("")
    assert "alias" not in config_of(scratch, "customers-value")


def test_read_only_leaves_no_control_that_writes(scratch: ServerProcess, open_page: OpenPage, watch: Watch) -> None:
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        register(client, "still-value", '"int"')
    page = open_page(scratch.url)
    page.goto("subjects/still-value/settings")
    page.get_by_role("combobox", name="Mode").select_option("READONLY")
    page.get_by_role("button", name="Set READONLY").click()
    expect(page.get_by_role("region", name="Mode")).to_contain_text("READONLY its own")
    page.get_by_role("combobox", name="Mode").select_option("READWRITE")
    expect(page.get_by_role("button", name="Set READWRITE")).not_to_have_attribute("aria-disabled", "true")
    expect(page.get_by_role("combobox", name="Compatibility level")).to_be_disabled()
    expect(page.get_by_label("Alias")).not_to_be_editable()
    expect(page.get_by_role("button", name="Delete version 1")).to_have_attribute("aria-disabled", "true")
    expect(page.get_by_role("button", name="Delete the subject")).to_have_attribute("aria-disabled", "true")
    expect(page.get_by_role("button", name="Purge the subject")).to_have_attribute("aria-disabled", "true")
    refused = httpx.post(f"{scratch.url}/subjects/still-value/versions", json={"schema": '"long"'}, trust_env=False)
    assert (refused.status_code, refused.json()["error_code"]) == (422, 42205)
    page.get_by_role("button", name="Inherit", exact=True).click()
    expect(page.get_by_role("region", name="Mode")).to_contain_text("READWRITE from the registry")


def test_a_subject_of_a_context(scratch: ServerProcess, open_page: OpenPage) -> None:
    page = open_page(scratch.url)
    page.goto("contexts/.eu/subjects/orders-value/settings")
    page.get_by_role("combobox", name="Compatibility level").select_option("FORWARD")
    page.get_by_role("button", name="Set FORWARD").click()
    expect(page.get_by_role("region", name="Compatibility level")).to_contain_text("FORWARD its own")
    assert config_of(scratch, ":.eu:orders-value") == {"compatibilityLevel": "FORWARD"}


def test_settings_of_the_registry(scratch: ServerProcess, open_page: OpenPage) -> None:
    page = open_page(scratch.url)
    page.goto("config")
    expect(page.get_by_role("heading", level=1)).to_have_text("Settings of the registry")
    page.get_by_role("combobox", name="Compatibility level").select_option("FORWARD")
    page.get_by_role("button", name="Set FORWARD").click()
    expect(page.get_by_role("region", name="Compatibility level")).to_contain_text("FORWARD its own")
    assert config_of(scratch, "")["compatibilityLevel"] == "FORWARD"
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("region", name="Compatibility level")).to_contain_text("BACKWARD")


def config_of(server: ServerProcess, subject: str) -> dict[str, object]:
    answer: dict[str, object] = httpx.get(f"{server.url}/config/{subject}", trust_env=False).json()
    return answer
