"""The links between the documents lead somewhere: to a file of the checkout, and to a heading of it."""

from __future__ import annotations

import re
import subprocess
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


#: Folders of a checkpoint and of a wheel.
_ELSEWHERE = {"_magicbyte/queries/", "dist-info/sboms/"}
_PATH = re.compile(r"`([\w./,{}-]+(?:/|\.(?:py|js|mjs|css|html|toml|md)))`")


def test_paths_of_the_design_are_files_and_folders() -> None:
    """A path may begin at any folder. Capitals stand for any name: `compat/TYPE/outline.py`."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    there = {"/".join(path.split("/")[start:]) for path in listed for start in range(path.count("/") + 1)}
    there |= {path.rpartition("/")[0][:end] for path in there for end in _ends(path.rpartition("/")[0])}
    text = re.sub(r"^```.*?^```", "", (ROOT / "DESIGN.md").read_text(), flags=re.DOTALL | re.MULTILINE)
    named = {path.rstrip("/") for found in _PATH.findall(text) if found not in _ELSEWHERE for path in _paths(found)}
    assert named
    assert sorted(path for path in named - there if not re.search(r"\b[A-Z]+\b", path)) == []


def _ends(folder: str) -> list[int]:
    """The lengths of a folder's path and of the folders above it."""
    return [index for index in range(1, len(folder) + 1) if index == len(folder) or folder[index] == "/"]


def _paths(named: str) -> list[str]:
    """The paths that a text like `cluster/{lead,commit}/` names."""
    choice = re.fullmatch(r"(.*)\{(.*)\}(.*)", named)
    return [named] if choice is None else [choice[1] + part + choice[3] for part in choice[2].split(",")]
