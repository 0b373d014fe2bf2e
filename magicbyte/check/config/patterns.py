"""Glob patterns of file paths in configurations."""

from __future__ import annotations

import re
from functools import lru_cache

_PARTS = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_MEANINGS = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def matches(pattern: str, path: str) -> bool:
    """Tell whether a pattern matches a path, which has `/` between its parts.

    `*` and `?` match characters within a part, `**` any number of parts.
    """
    return _compiled(pattern).fullmatch(path) is not None


@lru_cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile("".join(_MEANINGS.get(part) or re.escape(part) for part in _PARTS.findall(pattern)))
