"""The page's files in memory: each with its compressed forms and its ETag, and index.html for every URL of the page."""

from __future__ import annotations

import gzip
import hashlib
import html
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from magicbyte.ui.policy import policy
from magicbyte.ui.preloads import Preloads
from magicbyte.ui.style_sheets import inline_style

#: The files of the page: the modules of a checkout as they lie, and what tools/page makes of them in a wheel.
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
#: Compressed by their format.
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
#: What each page needs; only the built page has it.
_LOADS = "loads.json"
#: The suffix of a file's brotli form, which the built page has: it takes seconds to make.
_BROTLI = ".br"
_READ = frozenset((*_MEDIA_TYPES, _BROTLI))
#: A name with the hash of the content: whatever it names never changes.
_HASHED = re.compile(r"-[0-9a-f]{16}\.\w+$")
#: Links are right in URLs up to this depth; the page has no URL as deep.
_MOST_DEPTHS = 16


def is_built(folder: Path = FOLDER) -> bool:
    """Whether a folder has the built page, and not the modules of a checkout."""
    return (folder / _LOADS).exists()


@dataclass(frozen=True, slots=True)
class File:
    """A file as it is sent.

    Attributes:
        media_type: The value of Content-Type.
        body: The content.
        compressed: The content by gzip; None if that is not smaller.
        etag: The value of ETag, the same for all forms, because they are weakly equal.
        brotli: The content by brotli; None if there is no such file.
        is_hashed: Whether the name contains the hash of the content, so a browser need not ask again.
        policy: The Content-Security-Policy of a page that contains styles and scripts; None for that of all files.
    """

    media_type: str
    body: bytes
    compressed: bytes | None
    etag: str
    brotli: bytes | None = None
    is_hashed: bool = False
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
        #: The variants of index.html, by the relative path back to `/ui/`, the added links, and the view's sheets.
        self._pages: dict[tuple[str, tuple[str, ...], tuple[str, ...]], File] = {}
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
        variant = (root, self._preloads.links(path), self._preloads.styles(path))
        page = self._pages.get(variant)
        if page is None:
            page = self._pages[variant] = self._make_page(*variant)
        return page

    def _make_page(self, root: str, links: tuple[str, ...], styles: tuple[str, ...]) -> File:
        """Make index.html with what it contains: the configuration, the styles, the first script, and links."""
        text = self._files[_INDEX].body.decode()
        sheets = _SHEETS.search(text)
        names = [*(_SHEET.findall(sheets[0]) if sheets is not None else []), *styles]
        style = inline_style({name: self._files[name].body.decode() for name in names}, root)
        script = "".join(self._files[name].body.decode() for name in _SCRIPT.findall(text))
        text = text.replace(_END_OF_HEAD, self._config + _END_OF_HEAD)
        text = _LINK.sub(rf'\1="{root}', text.replace(_END_OF_LOADS, "".join(links) + _END_OF_LOADS))
        # app.js loads the sheets of a view that are not named here.
        text = _SHEETS.sub(lambda _: f'<style data-sheets="{" ".join(styles)}">{style}</style>', text)
        text = _SCRIPT.sub(lambda _: f"<script>{script}</script>", text)
        return _file(_INDEX, text.encode(), page_policy=policy(scripts=(script,), styles=(style,)))

    def _read(self) -> None:
        stamps = dict(_stamps(self._folder))
        if stamps == self._stamps:
            return
        bodies = {name: (self._folder / name).read_bytes() for name in sorted(stamps)}
        loads = bodies.pop(_LOADS, None)
        files = {}
        for name, body in bodies.items():
            if name.endswith(_BROTLI):
                continue
            before = self._files.get(name)
            is_known = before is not None and before.body == body
            files[name] = before if before and is_known else _file(name, body, bodies.get(name + _BROTLI))
        self._files, self._stamps, self._pages = files, stamps, {}
        self._preloads = Preloads(loads, self._registry_base)
        self._folders = frozenset(name.partition("/")[0] for name in files if "/" in name)


def _stamps(folder: Path | str, prefix: str = "") -> Iterator[tuple[str, int]]:
    """The names of the files below a folder, and when each changed; every visit of a checkout waits for this."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _stamps(entry.path, f"{prefix}{entry.name}/")
            elif os.path.splitext(entry.name)[1] in _READ:  # noqa: PTH122  a Path for each takes as long as the rest
                yield f"{prefix}{entry.name}", entry.stat().st_mtime_ns


def _file(name: str, body: bytes, brotli: bytes | None = None, page_policy: bytes | None = None) -> File:
    suffix = Path(name).suffix
    compressed = None if suffix in _UNCOMPRESSED else gzip.compress(body, mtime=0)
    if compressed is not None and len(compressed) >= len(body):
        compressed = None
    etag = f'W/"{hashlib.sha256(body).hexdigest()[:16]}"'
    return File(_MEDIA_TYPES[suffix], body, compressed, etag, brotli, _HASHED.search(name) is not None, page_policy)
