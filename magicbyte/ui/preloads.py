"""Modules, data and style sheets that a URL of the page needs: modules and data load together after the first frame."""

from __future__ import annotations

import re

import msgspec

#: A context in front of a page's path.
_IN_CONTEXT = re.compile(r"contexts/[^/]+(/|$)")
#: The view that shows all subjects, and its first request to the registry. Any difference from the request that
#: page/api/registry.js sends would make the browser send both.
_LISTING_VIEW = "list"
_LISTING = "overview?deleted=true&amp;head=50"


class _Page(msgspec.Struct, frozen=True):
    """A page: its path with `{names}`, its view, and the modules and style sheets that the view needs."""

    path: str
    view: str
    modules: list[str]
    styles: list[str]

    def fits(self, segments: list[str]) -> bool:
        """Whether a path is one of this page."""
        own = self.path.split("/")[1:]
        return len(own) == len(segments) and all(
            name == segment or name.startswith("{") for name, segment in zip(own, segments, strict=True)
        )


class Loads(msgspec.Struct, frozen=True):
    """The modules that the pages load; `loads.json` of the built page.

    Attributes:
        entry: The module that starts the page.
        pages: The table of pages; the first row that fits a path is taken. The modules of a checkout are served as they
            lie, without a table: a browser then finds the other modules by their imports.
    """

    entry: str = "app.js"
    pages: list[_Page] = []


class Preloads:
    """Finds what to load for a path."""

    def __init__(self, loads: bytes | None, registry_base: str = "../") -> None:
        """Read the table.

        Args:
            loads: The content of `loads.json`; None for the modules of a checkout.
            registry_base: The registry's address relative to `/ui/`.

        Raises:
            msgspec.ValidationError: The table has another form.
        """
        self._loads = Loads() if loads is None else msgspec.json.decode(loads, type=Loads)
        self._listing = f'<link rel="preload" href="{registry_base}{_LISTING}" as="fetch" crossorigin>'

    def links(self, path: str) -> tuple[str, ...]:
        """Return the links for index.html at a path below `/ui/`, with addresses relative to `/ui/`."""
        page = self._page(path)
        if page is None:
            return (_module(self._loads.entry),)
        return (*([self._listing] if page.view == _LISTING_VIEW else []), *map(_module, page.modules))

    def styles(self, path: str) -> tuple[str, ...]:
        """Return the style sheets of the view at a path below `/ui/`; none for the modules of a checkout."""
        page = self._page(path)
        return () if page is None else tuple(page.styles)

    def _page(self, path: str) -> _Page | None:
        path = _IN_CONTEXT.sub("", path, count=1) if _IN_CONTEXT.match(path) else path
        segments = path.removesuffix("/").split("/") if path else []
        return next((page for page in self._loads.pages if page.fits(segments)), None)


def _module(path: str) -> str:
    return f'<link rel="modulepreload" href="{path}">'
