"""Whether a client already has the current answer, and whether it accepts gzip (RFC 9110)."""

from __future__ import annotations

import re
from functools import lru_cache

_ETAG = re.compile(r'(?:W/)?("[^"]*")')
_CODING = re.compile(r"\s*([^\s;,]+)\s*(?:;\s*q\s*=\s*([0-9.]+)\s*)?")


def is_current(if_none_match: str | None, etag: str) -> bool:
    """Tell whether the client's If-None-Match names an ETag, by weak comparison; then 304 suffices."""
    if if_none_match is None:
        return False
    if if_none_match.strip() == "*":
        return True
    return etag.removeprefix("W/") in _ETAG.findall(if_none_match)


@lru_cache(maxsize=256)
def accepts_gzip(accept_encoding: str | None) -> bool:
    """Tell whether an Accept-Encoding allows gzip."""
    qualities: dict[str, bool] = {}
    for part in (accept_encoding or "").split(","):
        match = _CODING.fullmatch(part)
        if match:
            qualities[match[1].lower()] = (match[2] or "1").strip("0.") != ""
    return qualities.get("gzip", qualities.get("x-gzip", qualities.get("*", False)))
