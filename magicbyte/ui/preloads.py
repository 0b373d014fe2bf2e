"""Modules, style sheets and data that a URL of the page needs: browsers load them together after the first frame."""

from __future__ import annotations

import posixpath
import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

#: A static import or export of another module of ours; modules that are imported later are not needed at first.
_IMPORT = re.compile(r'^(?:import|export)\b[^;"\']*["\'](\.[^"\']+\.js)["\'];$', re.MULTILINE)
#: A row of state/route_table.js.
_ROW = re.compile(
    r'\bpath:\s*"(?P<path>[^"]*)",\s*view:\s*\(\)\s*=>\s*import\("\.\./(?P<view>[^"]+)"\),'
    r"(?:\s*styles:\s*\[(?P<styles>[^\]]*)\])?"
)
_NAME = re.compile(r'"([^"]+)"')
#: A context in front of a page's path.
_IN_CONTEXT = re.compile(r"contexts/[^/]+(/|$)")
_ROOT_MODULE = "app.js"
_VIEW_STYLES = "styles/views/"
#: The view that shows all subjects, and its first request to the registry. Any difference from the request that
#: page/api/registry.js sends would make the browser send both.
_LISTING_VIEW = "views/list/list.js"
_LISTING = "overview?deleted=true&amp;head=50"


@dataclass(frozen=True, slots=True)
class _Row:
    """A page: the segments of its path, its module, and its style sheets."""

    segments: tuple[str, ...]
    module: str
    styles: tuple[str, ...]

    def fits(self, segments: tuple[str, ...]) -> bool:
        """Whether a path is one of this page."""
        if len(segments) != len(self.segments):
            return False
        return all(
            name == segment or name.startswith("{") for name, segment in zip(self.segments, segments, strict=True)
        )


class Preloads:
    """Finds what to load for a path, by the imports of the modules and by the table of pages."""

    def __init__(self, modules: Mapping[str, str], table: str, registry_base: str = "../") -> None:
        """Read the imports.

        Args:
            modules: The texts of all modules that a browser loads as files of their own, by their paths.
            table: The text of the table of pages.
            registry_base: The registry's address relative to `/ui/`.
        """
        self._listing = f'<link rel="preload" href="{registry_base}{_LISTING}" as="fetch" crossorigin>'
        self._imports = {
            path: [posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) for name in _IMPORT.findall(text)]
            for path, text in modules.items()
        }
        self._rows = [
            _Row(
                tuple(match["path"].split("/")[1:]),
                match["view"],
                tuple(f"{_VIEW_STYLES}{name}.css" for name in _NAME.findall(match["styles"] or "")),
            )
            for match in _ROW.finditer(table)
        ]

    def links(self, path: str) -> tuple[str, ...]:
        """Return the links for index.html at a path below `/ui/`, with addresses relative to `/ui/`."""
        row = self._row(path)
        modules = self._closure([_ROOT_MODULE, *([row.module] if row is not None else [])])
        styles = row.styles if row is not None else ()
        return (
            *([self._listing] if row is not None and row.module == _LISTING_VIEW else []),
            *(f'<link rel="preload" href="{style}" as="style">' for style in styles),
            *(f'<link rel="modulepreload" href="{module}">' for module in modules),
        )

    def _row(self, path: str) -> _Row | None:
        path = _IN_CONTEXT.sub("", path, count=1) if _IN_CONTEXT.match(path) else path
        segments = tuple(path.removesuffix("/").split("/")) if path else ()
        return next((row for row in self._rows if row.fits(segments)), None)

    def _closure(self, roots: Iterable[str]) -> list[str]:
        """The modules and all that they import, in the order in which a browser finds them."""
        waiting, needed = deque(roots), dict[str, None]()
        while waiting:
            module = waiting.popleft()
            if module not in needed and module in self._imports:
                needed[module] = None
                waiting += self._imports[module]
        return list(needed)
