"""A message that is tried with the text in the editor, which is not registered."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from magicbyte.platform.server_process import ServerProcess
from tests.ui.conftest import OpenPage
from tests.ui.kit.axe import findings
from tests.ui.kit.editing import content, put
from tests.ui.kit.filling import ORDER, register
from tests.ui.kit.plain_registry import plain_registry
from tests.ui.kit.watch import Watch
from tests.ui.test_ui_command import running_ui

pytestmark = pytest.mark.browser


def dialog_of(page: Page) -> Locator:
    """The open dialog, once its example is there."""
    dialog = page.get_by_role("dialog", name="A message of the proposed schema")
    expect(dialog.get_by_role("status")).to_contain_text("It takes")
    return dialog


def expect_fault(dialog: Locator, text: str, place: str, words: str) -> None:
    """Write a message, and wait until its fault is told at a place."""
    dialog.get_by_role("textbox", name="Message").fill(text)
    expect(dialog.get_by_role("status")).to_contain_text(words)
    line, column = place.split(":")
    expect(dialog.get_by_role("button", name=f"Go to line {line}, column {column}")).to_have_text(place)
    expect(dialog.get_by_text("not valid", exact=True)).to_be_visible()


def chosen(dialog: Locator) -> str:
    """The text that is selected in the message."""
    return str(
        dialog.get_by_role("textbox", name="Message").evaluate(
            "area => area.value.slice(area.selectionStart, area.selectionEnd)"
        )
    )


def test_a_message_of_a_json_schema(page: Page) -> None:
    page.goto("subjects/customers-value/edit")
    page.get_by_role("button", name="Try a message").click()
    dialog = dialog_of(page)
    message = dialog.get_by_role("textbox", name="Message")
    first = message.input_value()
    message.fill('{"id": "a", "tags": ["x"]}')
    expect(dialog.get_by_role("status")).to_contain_text("It takes 28 bytes.")
    expect_fault(dialog, '{\n  "é😀": 1,\n  "id": 5\n}', "3:9", '$.id: 5 is not of type "string"')
    dialog.get_by_role("button", name="Go to line 3, column 9").press("Enter")
    expect(message).to_be_focused()
    assert chosen(dialog) == "5"
    expect_fault(dialog, '{"id": "a",}', "1:12", "It is not JSON: ")
    dialog.get_by_role("button", name="Example").click()
    expect(message).to_have_value(first)
    message.fill("")
    expect(dialog.get_by_role("status")).to_have_text("Whether the message is valid is told here.")


def test_a_message_is_tried_with_the_edited_avro_text(page: Page) -> None:
    page.goto("subjects/flights-key/edit")
    put(page, '{"type": "record", "name": "Key", "fields": [{"name": "carrier", "type": "string"}]}')
    page.get_by_role("button", name="Try a message").click()
    dialog = dialog_of(page)
    message = dialog.get_by_role("textbox", name="Message")
    expect(message).to_have_value('{\n  "carrier": "text"\n}')
    message.fill('{"carrier": "UA"}')
    expect(dialog.get_by_role("status")).to_contain_text("It takes 8 bytes.")
    expect_fault(dialog, '{\n  "carrier": 7\n}', "2:14", "carrier")
    dialog.get_by_role("button", name="Go to line 2, column 14").click()
    assert chosen(dialog) == "7"


def test_a_message_with_a_reference_to_another_avro_schema(scratch: ServerProcess, open_page: OpenPage) -> None:
    page = open_page(scratch.url)
    page.goto("subjects/a%2Fb%20%252F%3F%23%C3%A9/edit")
    put(page, '{"type":"record","name":"Odd","fields":[{"name":"paid","type":["null","shop.Payment"]}]}')
    page.get_by_role("button", name="Try a message").click()
    dialog = dialog_of(page)
    message = dialog.get_by_role("textbox", name="Message")
    message.fill('{"paid": {"amount": "123456789.50"}}')
    expect(dialog.get_by_role("status")).to_contain_text("It takes")
    expect(dialog.get_by_text("valid", exact=True)).to_be_visible()


def test_the_message_of_a_protobuf_schema_is_chosen(page: Page) -> None:
    page.goto("subjects/orders-value/edit")
    put(page, ORDER.replace("int32 quantity = 2;", "int32 quantity = 2;\n    bool late = 9;"))
    page.get_by_role("button", name="Try a message").click()
    dialog = dialog_of(page)
    message = dialog.get_by_role("textbox", name="Message")
    names = dialog.get_by_role("combobox", name="Message of the schema")
    expect(names.locator("option")).to_have_text(["acme.orders.Order", "acme.orders.Order.Line"])
    # The address is that of the import, by its reference.
    message.fill('{"id": "9223372036854775807", "shipTo": {"street": "Main"}}')
    expect(dialog.get_by_text("valid", exact=True)).to_be_visible()
    names.select_option("acme.orders.Order.Line")
    expect(dialog.get_by_text("not valid", exact=True)).to_be_visible()
    dialog.get_by_role("button", name="Example").click()
    expect(message).to_have_value('{\n  "sku": "text",\n  "quantity": 1,\n  "late": true\n}')
    expect_fault(dialog, '{"sku": "a", "late": "no"}', "1:22", "late")


def test_the_dialog_opens_by_keyboard_and_gives_the_focus_back(page: Page, watch: Watch) -> None:
    page.goto("subjects/flights-key/edit")
    put(page, '"bytes"')
    expect(page.locator("#register")).not_to_have_attribute("aria-disabled", "true")
    page.keyboard.press("Alt+Enter")
    dialog = dialog_of(page)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(content(page)).to_be_focused()
    page.get_by_role("heading", level=1).focus()
    page.keyboard.press("m")
    dialog_of(page)
    # Within a dialog, the keys of the page behind it do nothing.
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Metadata and rules").click()
    page.keyboard.press("Alt+Enter")
    expect(page.get_by_role("dialog", name="Metadata and rules")).to_be_visible()
    expect(dialog).to_have_count(0)
    page.keyboard.press("Escape")
    assert watch.count("POST /subjects/flights-key/versions") == 0
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys.locator("div", has=page.get_by_text("Alt-Enter", exact=True)).last).to_contain_text("try a message")
    expect(keys.locator("div", has=page.get_by_text("Ctrl-Enter", exact=True)).last).to_contain_text("register")


def test_a_text_that_is_no_schema_has_no_messages(page: Page, watch: Watch) -> None:
    watch.expect(422)
    page.goto("subjects/flights-key/edit")
    put(page, '{"type": "record", "name": "Key"')
    page.get_by_role("button", name="Try a message").click()
    dialog = page.get_by_role("dialog", name="A message of the proposed schema")
    expect(dialog.get_by_role("status")).to_contain_text("schema")
    expect(dialog.get_by_role("button", name="Example")).to_have_attribute("aria-disabled", "true")
    dialog.get_by_role("textbox", name="Message").fill("1")
    expect(dialog.get_by_text("not valid", exact=True)).to_be_visible()


def test_a_server_without_the_helpers_says_so(page: Page, watch: Watch) -> None:
    watch.expect(404, "/ui/e")
    missing = {"error_code": 404, "message": "HTTP 404 Not Found"}
    for name in ("encode", "example"):
        page.route(f"**/ui/{name}", lambda route: route.fulfill(status=404, json=missing))
    page.goto("subjects/flights-key/edit")
    page.get_by_role("button", name="Try a message").click()
    dialog = page.get_by_role("dialog", name="A message of the proposed schema")
    expect(dialog.get_by_role("status")).to_contain_text("This server cannot try messages")
    expect(dialog.get_by_role("textbox", name="Message")).to_be_disabled()


def test_messages_are_tried_before_another_registry(
    scratch: ServerProcess, open_page: OpenPage, watch: Watch, tmp_path: Path
) -> None:
    watch.expect(404)
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        register(client, "tried-value", '{"type":"record","name":"T","fields":[{"name":"a","type":"int"}]}')
    with plain_registry(scratch.url) as url, running_ui(tmp_path, url) as http:
        page = open_page(str(http.base_url).rstrip("/"))
        page.goto("subjects/tried-value/edit")
        page.get_by_role("button", name="Try a message").click()
        expect_fault(dialog_of(page), '{"a": "x"}', "1:7", "a")
        page.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_the_dialog_is_accessible(open_page: OpenPage, theme: str, width: int) -> None:
    page = open_page(theme=theme, width=width)
    page.goto("subjects/orders-value/edit")
    page.get_by_role("button", name="Try a message").click()
    dialog = dialog_of(page)
    assert findings(page) == []
    dialog.get_by_role("textbox", name="Message").fill('{"id": {}}')
    expect(dialog.get_by_text("not valid", exact=True)).to_be_visible()
    assert findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
