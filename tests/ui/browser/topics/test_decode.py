"""Decode: pasted bytes, their cells and their value; nothing of them in a URL that is sent."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from magicbyte.platform.server_process import ServerProcess
from tests.ui.conftest import OpenPage
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def message(registry: ServerProcess) -> bytes:
    """A message of payments-value with the amount 12345678.90."""
    body = {"topic": "payments", "data": [{"amount": "12345678.90"}]}
    answer: Any = httpx.post(f"{registry.url}/ui/encode", json=body).json()
    return base64.b64decode(answer["data"][0]["data"])


def paste(page: Page, text: str) -> None:
    page.get_by_label("Bytes as hexadecimal, base64 or escapes").fill(text)


def test_hex_of_a_record(page: Page, watch: Watch, message: bytes) -> None:
    page.goto("decode")
    expect(page.get_by_role("heading", level=1)).to_have_text("Decode")
    paste(page, message.hex(" "))
    card = page.locator("[data-decoded]")
    expect(card).to_contain_text("payments-value v1")
    expect(card).to_contain_text("shop.Payment")
    expect(card.get_by_role("region", name="Value")).to_contain_text('"amount": "12345678.90"')
    expect(page.locator(".cell.magic")).to_contain_text("00")
    schema_id = int.from_bytes(message[1:5], "big")
    expect(page.locator(".cell.id")).to_contain_text(str(schema_id))
    expect(page.locator(".cell.payload")).to_contain_text(message[5:].hex(" "))
    assert f"#hex={message.hex()[:4]}" not in " ".join(watch.requests)
    assert message.hex() not in "".join(watch.requests)


def test_the_address_holds_the_bytes(page: Page, message: bytes) -> None:
    page.goto("decode")
    paste(page, base64.b64encode(message).decode())
    expect(page.locator("[data-decoded]")).to_contain_text("payments-value")
    address = page.url
    assert "#base64=" in address
    page.goto("topics")
    page.goto(address)
    expect(page.locator("[data-decoded]")).to_contain_text("payments-value")


def test_the_page_says_what_the_value_does_not_show(page: Page, registry: ServerProcess) -> None:
    answer: Any = httpx.get(f"{registry.url}/subjects/orders-value/versions/latest").json()
    page.goto("decode")
    paste(page, (b"\0" + answer["id"].to_bytes(4, "big") + b"\0\x08\1\x9a\6\2hi").hex())
    notes = page.locator("[data-decoded] .remarks .note")
    expect(notes).to_have_count(2)
    expect(notes.first).to_contain_text("The message has fields that the schema does not know.")
    expect(notes.first).to_contain_text("$.99: the schema has no field 99 (bytes with a length: 2 bytes, 68 69)")
    expect(notes.last).to_contain_text("The message has no values for these fields.")
    notes.last.get_by_text("1 field").click()
    expect(notes.last.get_by_text('$.customer: the message has no value other than the default, ""')).to_be_visible()


def test_a_violation_and_a_double_key_are_shown(page: Page, registry: ServerProcess) -> None:
    answer: Any = httpx.get(f"{registry.url}/subjects/customers-value/versions/latest").json()
    page.goto("decode")
    paste(page, (b"\0" + answer["id"].to_bytes(4, "big") + b'{"id":"1","id":2}').hex())
    notes = page.locator("[data-decoded] .remarks .note")
    expect(notes).to_have_count(2)
    expect(notes.first).to_contain_text('$.id: 2 is not of type "string"')
    expect(notes.last).to_contain_text("$.id: the object has this key 2 times")
    paste(page, (b"\0" + answer["id"].to_bytes(4, "big") + b'{"id":"1"}').hex())
    expect(page.get_by_role("region", name="Value")).to_contain_text('"id": "1"')
    expect(notes).to_have_count(0)


@pytest.mark.parametrize("form", ["base64", "escapes", "xxd"])
def test_other_forms(page: Page, message: bytes, form: str) -> None:
    texts = {
        "base64": base64.b64encode(message).decode(),
        "escapes": repr(message),
        "xxd": "00000000: " + message.hex(" ", 2) + "  ......",
    }
    page.goto("decode")
    paste(page, texts[form])
    expect(page.locator("[data-decoded]")).to_contain_text("12345678.90")


def test_another_first_byte_is_read_as(page: Page, message: bytes) -> None:
    page.goto("decode")
    paste(page, (b"\5" + message[1:]).hex())
    note = page.get_by_role("note")
    expect(note).to_contain_text("The first byte is 5, not 0 or 1")
    note.get_by_role("button", name="As if the first byte were 0").click()
    expect(page.locator("[data-decoded]")).to_contain_text("12345678.90")
    paste(page, message[5:].hex())
    expect(page.get_by_role("note")).to_be_visible()
    schema_id = str(int.from_bytes(message[1:5], "big"))
    page.get_by_label("Read all bytes as a payload of id").fill(schema_id)
    page.get_by_role("button", name="Read", exact=True).click()
    expect(page.locator("[data-decoded]")).to_contain_text("12345678.90")
    expect(page.locator("[data-decoded]")).to_contain_text(f"All bytes were read as a payload of id {schema_id}")
    assert f"as={schema_id}" in page.url


def test_an_unknown_id_a_text_and_no_bytes(page: Page) -> None:
    page.goto("decode#hex=000000270f01")
    expect(page.get_by_role("note")).to_contain_text("Id 9999 is unknown.")
    paste(page, b"plain \xe2\x80\xae text".hex())
    expect(page.get_by_text("No schema id")).to_be_visible()
    expect(page.locator("pre.plain .char")).to_have_text("U+202E")
    paste(page, "0g")
    page.get_by_role("button", name="hex", exact=True).first.click()
    expect(page.get_by_role("alert")).to_have_text("✕ “g” is no hexadecimal digit.")


def test_as_stored(page: Page, message: bytes) -> None:
    page.goto(f"decode#hex={message.hex()}")
    expect(page.locator("[data-decoded]")).to_contain_text("12345678.90")
    page.get_by_label("as stored").check()
    expect(page.locator("[data-decoded]")).to_contain_text('"amount": "IU+0096\\u0002Ò"')


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_cut_off_on_a_phone(open_page: OpenPage, message: bytes, theme: str) -> None:
    page = open_page(width=320, theme=theme)
    page.goto(f"decode#hex={message.hex()}")
    expect(page.locator("[data-decoded]")).to_contain_text("12345678.90")
    assert page.evaluate("document.documentElement.scrollWidth") == 320
