"""The page's files in memory: each with its compressed form and its ETag, and index.html for every URL of the page."""

from __future__ import annotations

import gzip
import hashlib
import html
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from magicbyte.ui.join_modules import join_modules
from magicbyte.ui.policy import policy
from magicbyte.ui.preloads import Preloads
from magicbyte.ui.style_sheets import inline_style

#: The files of the page.
FOLDER = Path(__file__).parent / "page"
_MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".json": "application/json",
    ".woff2": "font/woff2",
}
#: Compressed already.
_UNCOMPRESSED = frozenset((".woff2",))
_INDEX = "index.html"
#: A relative link in index.html.
_LINK = re.compile(r'(?<=\s)(href|src)="(?![a-z]+:|[#/])(?:\./)?')
#: The style sheets and the script of index.html that a browser waits for before it shows anything. They are sent inside
#: index.html: each request before the first paint takes as long as the paint itself.
_SHEETS = re.compile(r'(?:<link rel="stylesheet" href="[^"]+">\s*)+')
_SHEET = re.compile(r'href="([^"]+)"')
_SCRIPT = re.compile(r'<script src="([^"]+)"></script>')
_END_OF_HEAD = "</head>"
_END_OF_LOADS = "</template>"
_TABLE = "state/route_table.js"
#: The modules that are sent as one file with all that they import: the frame and the first view.
_FIRST_MODULES = ("app.js", "views/list/list.js")
#: Links are right in URLs up to this depth; the page has no URL as deep.
_MOST_DEPTHS = 16


@dataclass(frozen=True, slots=True)
class File:
    """A file as it is sent.

    Attributes:
        media_type: The value of Content-Type.
        body: The content.
        compressed: The content by gzip; None if that is not smaller.
        etag: The value of ETag, the same for both forms, because they are weakly equal.
        policy: The Content-Security-Policy of a page that contains styles and scripts; None for that of all files.
    """

    media_type: str
    body: bytes
    compressed: bytes | None
    etag: str
    policy: bytes | None = None


class Files:
    """The files of a folder, which are read once; in a checkout they are read again after a change."""

    def __init__(self, folder: Path = FOLDER, *, registry_base: str = "../", config: bytes = b"{}") -> None:
        """Read the files.

        Args:
            folder: The folder of the page.
            registry_base: The registry's address relative to `/ui/`.
            config: The page's configuration as JSON, which index.html contains.
        """
        self._registry_base = registry_base
        self._config = f'<meta name="magicbyte-config" content="{html.escape(config.decode())}">'
        self._folder = folder
        self._is_checkout = (folder.parents[2] / "pyproject.toml").exists()
        self._stamps: dict[str, int] = {}
        self._files: dict[str, File] = {}
        self._folders = frozenset[str]()
        #: The variants of index.html, by the relative path back to `/ui/` and the added links.
        self._pages: dict[tuple[str, tuple[str, ...]], File] = {}
        self._read()

    def find(self, path: str) -> File | None:
        """Return the file with a path below `/ui/`; None if there is none."""
        return self._files.get(path)

    def is_file_path(self, path: str) -> bool:
        """Whether a path below `/ui/` can only name a file, such as `parts/gone.js`, and not a page."""
        first, slash, _ = path.partition("/")
        return first in self._folders if slash else Path(path).suffix in _MEDIA_TYPES

    def page(self, path: str) -> File:
        """Return index.html for a path below `/ui/`, with links that lead from that path to the files.

        In a checkout this looks for changes: a reload begins with index.html.
        """
        if self._is_checkout:
            self._read()
        root = "../" * min(path.count("/"), _MOST_DEPTHS)
        links = self._preloads.links(path)
        page = self._pages.get((root, links))
        if page is None:
            page = self._pages[root, links] = self._make_page(root, links)
        return page

    def _make_page(self, root: str, links: tuple[str, ...]) -> File:
        """Make index.html with what it contains: the configuration, the first styles, the first script, and links."""
        text = self._files[_INDEX].body.decode()
        sheets = _SHEETS.search(text)
        names = _SHEET.findall(sheets[0]) if sheets is not None else []
        style = inline_style({name: self._files[name].body.decode() for name in names}, root)
        script = "".join(self._files[name].body.decode() for name in _SCRIPT.findall(text))
        text = text.replace(_END_OF_HEAD, self._config + _END_OF_HEAD)
        text = _LINK.sub(rf'\1="{root}', text.replace(_END_OF_LOADS, "".join(links) + _END_OF_LOADS))
        text = _SHEETS.sub(lambda _: f"<style>{style}</style>", text)
        text = _SCRIPT.sub(lambda _: f"<script>{script}</script>", text)
        return _file(".html", text.encode(), policy(scripts=(script,), styles=(style,)))

    def _read(self) -> None:
        stamps = dict(_stamps(self._folder))
        if stamps == self._stamps:
            return
        bodies = {name: (self._folder / name).read_bytes() for name in sorted(stamps)}
        sources = {name: body.decode() for name, body in bodies.items() if name.endswith(".js")}
        sent, joined = join_modules(sources, _FIRST_MODULES)
        bodies |= {name: text.encode() for name, text in sent.items()}
        files = {}
        for name, body in bodies.items():
            before = self._files.get(name)
            files[name] = before if before is not None and before.body == body else _file(Path(name).suffix, body)
        self._files, self._stamps, self._pages = files, stamps, {}
        beside = {name: text for name, text in sent.items() if name not in joined}
        self._preloads = Preloads(beside, sources.get(_TABLE, ""), self._registry_base)
        self._folders = frozenset(name.partition("/")[0] for name in files if "/" in name)


def _stamps(folder: Path | str, prefix: str = "") -> Iterator[tuple[str, int]]:
    """The names of the files below a folder, and when each changed; every visit of a checkout waits for this."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _stamps(entry.path, f"{prefix}{entry.name}/")
            elif os.path.splitext(entry.name)[1] in _MEDIA_TYPES:  # noqa: PTH122  a Path for each takes as long as the rest
                yield f"{prefix}{entry.name}", entry.stat().st_mtime_ns


def _file(suffix: str, body: bytes, page_policy: bytes | None = None) -> File:
    compressed = None if suffix in _UNCOMPRESSED else gzip.compress(body, mtime=0)
    if compressed is not None and len(compressed) >= len(body):
        compressed = None
    etag = f'W/"{hashlib.sha256(body).hexdigest()[:16]}"'
    return File(_MEDIA_TYPES[suffix], body, compressed, etag, page_policy)
