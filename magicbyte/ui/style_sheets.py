"""Joins style sheets into one text that a page contains."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

_COMMENT = re.compile(r"/\*.*?\*/\s*", re.DOTALL)
_ADDRESS = re.compile(r'url\("(?P<path>[^"]+)"\)')


def inline_style(sheets: Mapping[str, str], root: str) -> str:
    """Return the text of a style element, with addresses that lead from the page to the files.

    Args:
        sheets: The texts of the style sheets, by their paths below `/ui/`.
        root: The relative path from the page back to `/ui/`.

    Raises:
        ValueError: A sheet contains `</`, which would end the element.
    """
    for path, text in sheets.items():
        if "</" in text:
            msg = f"{path} contains '</', so it cannot be in a page"
            raise ValueError(msg)
    return "".join(_moved(path, _COMMENT.sub("", text), root) for path, text in sheets.items())


def _moved(path: str, text: str, root: str) -> str:
    """The text of a sheet with its addresses relative to the page."""

    def address(match: re.Match[str]) -> str:
        return f'url("{root}{posixpath.normpath(posixpath.join(posixpath.dirname(path), match["path"]))}")'

    return _ADDRESS.sub(address, text)
