"""Pictures of the parts and of five pages, compared with those of docs/page; `ARGS=--renew-pictures` makes them anew.

Glyphs differ between versions of the browser. If its major version is not that of the pictures, the test says so
and compares the boxes of the elements instead.
"""

from __future__ import annotations

import io
import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops
from pixelmatch.contrib.PIL import pixelmatch
from playwright.sync_api import Page, expect

from tests.ui.conftest import OpenPage
from tests.ui.kit.editing import flight_4, put

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[4]
DOCS = ROOT / "docs" / "page"
BOXES = Path(__file__).with_name("boxes.json")
MOST_BYTES = 150_000
MOST_PIXELS = 1280 * 800 // 1000
MOST_OFF = 2
PALETTE_ERROR = 24

#: The pictures: path, theme, what is there once the page is complete.
PICTURES = {
    "parts": ("parts", "light", ".state"),
    "subjects": ("subjects?q=value&peek=flights-value", "light", ".last-change"),
    "version": ("subjects/orders-value/versions/2", "dark", ".code"),
    "compare": ("subjects/flights-value/compare?from=1&to=3", "light", ".code .note"),
    "evolution": ("subjects/flights-value", "dark", "text=the first version"),
    "edit": ("subjects/flights-value/edit", "dark", ".cm-content"),
}
#: The tabs whose numbers come later.
COUNTED = {
    "subjects/orders-value/versions/2": ("Fields", "Evolution"),
    "subjects/flights-value/compare?from=1&to=3": ("Evolution",),
    "subjects/flights-value": ("Evolution",),
}
#: Elements whose places are compared.
MEASURED = "h1, h2, .bar, .head, .tabs a, .card, .btn, .chip, .badge, tbody tr, .peek, .note"
#: What differs from run to run: times, how long a search took, the server's address.
STILL = """() => {
    for (const time of document.querySelectorAll("time")) time.textContent = "3 days";
    for (const ms of document.querySelectorAll(".ms")) ms.textContent = "4 ms";
    for (const element of document.querySelectorAll(".live .words")) element.textContent = "leader, offset 20,019";
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const text = texts.currentNode;
        if (/[0-9.]+ s ago/.test(text.data)) text.data = text.data.replace(/[0-9.]+ s ago/, "0.1 s ago");
    }
}"""
BOXES_OF = """(selector) => [...document.querySelectorAll(selector)].slice(0, 80).map((element) => {
    const box = element.getBoundingClientRect();
    return [box.x, box.y, box.width, box.height].map(Math.round);
})"""


def propose_version_4(page: Page) -> None:
    """Type a version that breaks readers, and choose the first place."""
    put(page, flight_4())
    expect(page.locator(".who")).to_contain_text("places")
    page.locator(".find1").first.click()
    expect(page.locator(".find1").first).to_have_attribute("aria-current", "true")


#: What a person does before the picture is taken.
PREPARED = {"subjects/flights-value/edit": propose_version_4}


@pytest.fixture
def still_page(open_page: OpenPage) -> Any:
    """Opens pages; `show` waits for their fonts."""

    def open_still(theme: str) -> Page:
        page: Page = open_page(theme=theme)
        return page

    return open_still


def major(page: Page) -> str:
    """The browser's major version."""
    browser = page.context.browser
    assert browser is not None
    return browser.version.partition(".")[0]


def show(page: Page, path: str, ready: str) -> None:
    """Go to a page and make what differs from run to run equal."""
    page.goto(path)
    expect(page.locator(ready).first).to_be_visible()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    expect(page.locator(".live .words")).to_have_text(re.compile("offset"))
    for tab in COUNTED.get(path, ()):
        expect(page.locator(".tabs a", has_text=tab).locator(".n")).not_to_be_empty()
    if (prepare := PREPARED.get(path)) is not None:
        prepare(page)
    page.evaluate("document.fonts.ready.then(() => {})")
    page.evaluate(STILL)


@pytest.mark.parametrize("name", PICTURES)
def test_a_page_looks_as_its_picture(still_page: Any, request: pytest.FixtureRequest, name: str) -> None:
    path, theme, ready = PICTURES[name]
    page = still_page(theme)
    show(page, path, ready)
    png = page.screenshot(animations="disabled", caret="hide")
    boxes = page.evaluate(BOXES_OF, MEASURED)
    picture = DOCS / f"{name}.png"
    kept: dict[str, Any] = json.loads(BOXES.read_text()) if BOXES.exists() else {"browser": major(page), "boxes": {}}
    if request.config.getoption("--renew-pictures", default=False):
        DOCS.mkdir(exist_ok=True)
        image = Image.open(io.BytesIO(png)).convert("RGB")
        image.save(picture, optimize=True)
        if picture.stat().st_size > MOST_BYTES * 0.9:
            # A palette makes it a third of the size.
            image.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(picture, optimize=True)
        kept = {"browser": major(page), "boxes": {**kept["boxes"], name: boxes}}
        BOXES.write_text(json.dumps(kept, separators=(",", ":")) + "\n")
        return
    assert picture.exists(), f"no {picture}: make test AREA=ui ARGS=--renew-pictures makes it"
    if kept["browser"] != major(page):
        warnings.warn(
            f"the pictures are of Chromium {kept['browser']}, this is {major(page)}: boxes are compared", stacklevel=1
        )
        assert_boxes(boxes, kept["boxes"][name])
        return
    assert_same(png, picture)


def assert_same(png: bytes, picture: Path) -> None:
    """Compare a screenshot with a picture; a difference is written beside it."""
    actual = Image.open(io.BytesIO(png)).convert("RGBA")
    expected = Image.open(picture).convert("RGBA")
    assert actual.size == expected.size
    difference = ImageChops.difference(actual.convert("RGB"), expected.convert("RGB"))
    area = difference.point(lambda value: value if value > PALETTE_ERROR else 0).getbbox()
    if area is None:
        return
    # Outside of this area all pixels are equal but for the palette; the comparison of glyphs is slow.
    differing = pixelmatch(actual.crop(area), expected.crop(area), threshold=0.1)
    assert differing <= MOST_PIXELS, f"{differing} pixels of {picture.name} differ, in {area}"


def assert_boxes(actual: list[list[int]], expected: list[list[int]]) -> None:
    """Compare the places of elements."""
    assert len(actual) == len(expected)
    off = [
        (now, before)
        for now, before in zip(actual, expected, strict=True)
        if max(abs(one - other) for one, other in zip(now, before, strict=True)) > MOST_OFF
    ]
    assert off == []


def test_pictures_are_small_enough_for_the_docs() -> None:
    sizes = {path.name: path.stat().st_size for path in sorted(DOCS.glob("*.png"))}
    assert set(sizes) >= {f"{name}.png" for name in PICTURES}
    assert {name: size for name, size in sizes.items() if size > MOST_BYTES} == {}


def test_the_readme_shows_one_picture_of_the_page() -> None:
    pictures = re.findall(r"!\[[^\]]*\]\((docs/page/[^)]+)\)", (ROOT / "README.md").read_text())
    assert pictures == ["docs/page/compare.png"]
    assert (ROOT / pictures[0]).exists()
