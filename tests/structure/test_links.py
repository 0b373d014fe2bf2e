"""The links between the documents lead somewhere: to a file of the checkout, and to a heading of it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])
#: Blocks and spans of code contain no links.
_CODE = re.compile(r"^(```|~~~).*?^\1|^(?: {4}|\t)[^\n]*|`+[^`\n]+`+", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\((?!\w+:)([^)\s#]*)(?:#([^)\s]*))?\)")
_HEADING = re.compile(r"^#+ +(.+?)\s*#*$", re.MULTILINE)


@cache
def anchors(document: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    names: dict[str, int] = {}
    found = set()
    for heading in _HEADING.findall(re.sub(r"^```.*?^```", "", document.read_text(), flags=re.DOTALL | re.MULTILINE)):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        found.add(f"{name}-{names[name]}" if name in names else name)
        names[name] = names.get(name, 0) + 1
    return found


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(document: Path) -> None:
    broken = []
    for path, anchor in _LINK.findall(_CODE.sub("", document.read_text())):
        target = (document.parent / unquote(path)).resolve() if path else document
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            broken.append(f"{path}#{anchor}" if anchor else path)
    assert broken == []


def test_the_check_finds_links_and_headings() -> None:
    assert ROOT / "docs" / "page.md" in DOCUMENTS
    assert _LINK.findall("[a](b.md) [c](d.md#e) [f](#g) [h](https://i) ![j](k.svg)") == [
        ("b.md", ""),
        ("d.md", "e"),
        ("", "g"),
        ("k.svg", ""),
    ]
    assert "how-it-is-built" in anchors(ROOT / "docs" / "page.md")
