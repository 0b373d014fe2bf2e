"""The pages of the site in one folder: those of docs/, some of the checkout's root, and the generated ones."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from tools.docs.links import Links
from tools.docs.openapi_pages import openapi_page
from tools.docs.python_pages import PACKAGES, python_page
from tools.docs.sections import by_section

ROOT = Path(__file__).parents[2]
#: Documents outside docs/ -> their pages in the site.
OUTSIDE: Mapping[str, str] = {
    "DESIGN.md": "design.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security-policy.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
    "SUPPORT.md": "support.md",
}
INDEX = "index"


def stage(folder: Path, version: str, repository: str) -> Mapping[str, Sequence[str]]:
    """Write all pages of the site into a folder, and return those of each section, without `.md`.

    A page `NAME/OTHER` is below the page `NAME`, if there is one, and otherwise in a section of its own.

    Args:
        folder: the folder; files of an earlier build that are not written again are removed.
        version: the version of the release; links that leave the site lead to its tag.
        repository: URL of the repository's web pages.

    """
    links = Links(ROOT, _pages(), repository, f"v{version}")
    texts = {
        page: links.rewrite((ROOT / document).read_text(encoding="utf-8"), document)
        for document, page in links.pages.items()
    } | _generated()
    names = sorted(page.removesuffix(".md") for page in texts if page != f"{INDEX}.md")
    sections = by_section(names)
    parents = {name: parent for name in names if (parent := name.rpartition("/")[0]) in names}
    tops = {title: [page for page in pages if page not in parents] for title, pages in sections.items()}
    texts[f"{INDEX}.md"] += "".join(toctree(pages, title) for title, pages in tops.items() if pages)
    for parent in set(parents.values()):
        texts[f"{parent}.md"] += toctree([f"/{name}" for name in names if parents.get(name) == parent])
    _write(folder, texts)
    return sections


def _pages() -> Mapping[str, str]:
    """Path of each document in the checkout -> path of its page in the site."""
    inside = {
        str(path.relative_to(ROOT)): str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")
    }
    return inside | {document: page for document, page in OUTSIDE.items() if (ROOT / document).exists()}


def _generated() -> dict[str, str]:
    """The pages that are made from the code: of the HTTP APIs and of the Python packages."""
    apis = {
        f"api/{path.stem}.md": openapi_page(yaml.safe_load(path.read_text(encoding="utf-8")), path.stem)
        for path in sorted((ROOT / "openapi").glob("*.yaml"))
    }
    return apis | {f"python/{page}.md": python_page(package) for page, package in PACKAGES.items()}


def toctree(pages: Sequence[str], caption: str = "") -> str:
    """Return a table of contents that only the sidebar shows."""
    titled = f":caption: {caption}\n" * bool(caption)
    return f"\n```{{toctree}}\n:hidden:\n{titled}\n" + "\n".join(pages) + "\n```\n"


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    """Write the pages that differ, since Sphinx reads again what has changed, and remove the others."""
    for path in sorted(folder.rglob("*.md")):
        if str(path.relative_to(folder)) not in texts:
            path.unlink()
    for page, text in texts.items():
        path = folder / page
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for picture in (ROOT / "docs").rglob("*"):
        if re.fullmatch(r"\.(png|svg|jpg|webp)", picture.suffix):
            path = folder / picture.relative_to(ROOT / "docs")
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.stat().st_mtime < picture.stat().st_mtime:
                shutil.copy2(picture, path)
