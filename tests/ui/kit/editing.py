"""Shared parts of tests of the editor: texts to propose, and the editor's parts."""

from __future__ import annotations

import json
from urllib.parse import quote

from playwright.sync_api import Locator, Page, expect

from tests.ui.kit.filling import flight

USER = '{"type":"record","name":"User","fields":[{"name":"id","type":"int"}]}'


def user_with(*names: str) -> str:
    """The text of `USER` with more fields, each of them with a default."""
    schema = json.loads(USER)
    schema["fields"] += [{"name": name, "type": "int", "default": 0} for name in names]
    return json.dumps(schema)


def laid_out(text: str) -> str:
    """A JSON text with two spaces for each level."""
    return json.dumps(json.loads(text), indent=2)


def flight_4() -> str:
    """Version 4 as somebody proposes it: carrier is an enum, dest is renamed, source has no default, gate is new."""
    text = laid_out(flight(3))
    for before, after in (
        (
            '"name": "carrier",\n      "type": "string"',
            '"name": "carrier",\n      "type": {\n        "type": "enum",\n        "name": "Carrier",\n'
            '        "symbols": ["AA", "B6", "DL", "UA"]\n      }',
        ),
        ('"name": "dest"', '"name": "destination"'),
        ('"type": "string",\n      "default": "first"', '"type": "string"'),
        (
            '"doc": "When the aircraft left the ground"\n    }',
            '"doc": "When the aircraft left the ground"\n    },\n'
            '    {\n      "name": "gate",\n      "type": "string"\n    }',
        ),
    ):
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text


def content(page: Page) -> Locator:
    """The text that is edited."""
    return page.locator(".source .cm-content[contenteditable=true]")


def put(page: Page, text: str) -> None:
    """Replace the editor's text, as by pasting."""
    content(page).click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def edit(page: Page, subject: str, text: str) -> None:
    """Propose a text, and wait until it is checked."""
    page.goto(f"subjects/{quote(subject, safe='')}/edit")
    put(page, laid_out(text))
    expect(page.locator("#register")).not_to_have_attribute("aria-disabled", "true")


def select_lines(page: Page, count: int) -> None:
    """Select the line of the cursor and the ones below it."""
    page.keyboard.press("Home")
    for _ in range(count - 1):
        page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Shift+End")


def matrix(page: Page) -> list[list[str]]:
    """The rows of 'Who breaks'."""
    rows = page.locator(".who tbody tr")
    cells = [rows.nth(index).locator("th, td").all_text_contents() for index in range(rows.count())]
    return [[" ".join(text.split()) for text in row] for row in cells]


def expect_cell(page: Page, version: int, column: int, text: str) -> None:
    """Wait for the text of a cell; column 0: the new version reads the old data, 1: the reverse."""
    row = page.locator(".who tbody tr").filter(has_text=f"Version {version}")
    expect(row.locator("td").nth(column).locator(".cell")).to_have_text(text)


def places(page: Page) -> list[str]:
    """The list of places: position, title, sides."""
    rows = page.locator(".find1").all()
    return [" | ".join(line.strip() for line in row.inner_text().split("\n") if line.strip()) for row in rows]
