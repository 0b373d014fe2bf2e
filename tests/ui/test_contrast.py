"""The contrast of text on its grounds, from the tokens of the styles: at least 4.5, and 3 for the edges of controls."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CSS = (Path(__file__).parents[2] / "magicbyte" / "ui" / "page" / "styles" / "frame" / "theme.css").read_text()

GROUNDS = ("bg", "surface", "sunken")
#: Text on the grounds that it stands on.
TEXT = {
    "ink": (*GROUNDS, "accent-soft", "ok-soft", "bad-soft", "warn-soft", "hit", "ok-mark", "bad-mark"),
    "ink2": (*GROUNDS, "accent-soft"),
    "ink3": (*GROUNDS, "accent-soft", "ok-soft", "bad-soft"),
    "accent": (*GROUNDS, "accent-soft"),
    "ok": (*GROUNDS, "ok-soft"),
    "bad": (*GROUNDS, "bad-soft"),
    "warn": (*GROUNDS, "warn-soft"),
    "accent-ink": ("accent",),
    "k": (*GROUNDS, "accent-soft", "ok-soft", "bad-soft", "ok-mark", "bad-mark"),
    "str": (*GROUNDS, "accent-soft", "ok-soft", "bad-soft", "ok-mark", "bad-mark"),
    "num": (*GROUNDS, "accent-soft", "ok-soft", "bad-soft", "ok-mark", "bad-mark"),
    "kw": (*GROUNDS, "accent-soft", "ok-soft", "bad-soft", "ok-mark", "bad-mark"),
    "bg": ("ink",),
}


def tokens(theme: str) -> dict[str, str]:
    """The colours of a theme; those that a theme does not set are the light ones."""
    light = re.search(r"^:root \{(.*?)^\}", CSS, re.MULTILINE | re.DOTALL)
    dark = re.search(r'^:root\[data-theme="dark"\] \{(.*?)^\}', CSS, re.MULTILINE | re.DOTALL)
    assert light is not None
    assert dark is not None
    text = light[1] if theme == "light" else light[1] + dark[1]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", text))


def luminance(color: str) -> float:
    """The relative luminance of a colour as WCAG defines it."""
    channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    """The contrast of two colours, from 1 to 21."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_can_be_read_on_its_grounds(theme: str) -> None:
    colors = tokens(theme)
    low = {
        f"{text} on {ground}": round(contrast(colors[text], colors[ground]), 2)
        for text, grounds in TEXT.items()
        for ground in grounds
        if contrast(colors[text], colors[ground]) < 4.5
    }
    assert low == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_edges_of_controls_can_be_seen(theme: str) -> None:
    colors = tokens(theme)
    low = {ground: contrast(colors["edge"], colors[ground]) for ground in GROUNDS}
    assert min(low.values()) >= 3, low


def test_styles_name_no_colour_but_the_tokens() -> None:
    folder = Path(__file__).parents[2] / "magicbyte" / "ui" / "page" / "styles"
    strays = {
        path.name: colors
        for path in sorted(folder.rglob("*.css"))
        if path.name != "theme.css" and (colors := re.findall(r"#[0-9a-fA-F]{3,8}\b(?![\w-])", path.read_text()))
    }
    assert strays == {}
