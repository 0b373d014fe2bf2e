"""Content negotiation (RFC 9110 section 12.5.1) over the media types that a server produces and consumes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class MediaType:
    """A media type or range, such as `application/json`, `application/*` or `*/*`, with its parameters."""

    kind: str
    subtype: str
    parameters: tuple[tuple[str, str], ...] = ()

    @property
    def essence(self) -> str:
        """Type and subtype without the parameters."""
        return f"{self.kind}/{self.subtype}"

    @property
    def quality(self) -> float:
        """The client's `q`; 1 if it is missing or not a number."""
        try:
            return float(dict(self.parameters).get("q", "1"))
        except ValueError:
            return 1.0

    @property
    def charset(self) -> str | None:
        """The charset parameter, without quotes."""
        value = dict(self.parameters).get("charset")
        return value.strip('"') if value else None

    def covers(self, essence: str) -> bool:
        """Tell whether this range includes a type."""
        kind, _, subtype = essence.partition("/")
        return self.kind in ("*", kind) and self.subtype in ("*", subtype)

    @property
    def specificity(self) -> int:
        """0 for `*/*`, 1 for `type/*`, 2 for a full type."""
        return (self.kind != "*") + (self.subtype != "*")


@dataclass(frozen=True, slots=True)
class Produced:
    """A media type that a resource can answer with, and the server's preference for it."""

    essence: str
    quality: float = 1.0


def parse_media_type(text: str) -> MediaType | None:
    """Return a media type with its parameters; None if the text is not a media type.

    `*` and `*/NAME` are no media ranges by RFC 9110, but clients send them; both mean `*/*`.
    """
    essence, *parameters = (part.strip() for part in text.split(";"))
    if essence == "*":
        essence = "*/*"
    kind, slash, subtype = essence.lower().partition("/")
    if not slash or not kind or not subtype:
        return None
    if kind == "*":
        subtype = "*"
    pairs = (parameter.partition("=") for parameter in parameters if parameter)
    return MediaType(kind, subtype, tuple((name.strip().lower(), value.strip()) for name, _, value in pairs))


@lru_cache(maxsize=256)
def choose(accept: str | None, produced: Sequence[Produced]) -> str | None:
    """Return the acceptable type with the highest product of client and server quality; the first one of equals.

    Args:
        accept: The Accept header; None or blank accepts everything.
        produced: The types that the resource can answer with, as a tuple; the first is the default.

    Returns:
        The type's essence, or None if nothing is acceptable (406).
    """
    if accept is None or not accept.strip():
        return produced[0].essence
    ranges = [media for part in accept.split(",") if (media := parse_media_type(part))]
    best: tuple[float, str] | None = None
    for candidate in produced:
        matching = [media for media in ranges if media.covers(candidate.essence)]
        if not matching:
            continue
        quality = max(matching, key=lambda media: media.specificity).quality * candidate.quality
        if quality > 0 and (best is None or quality > best[0]):
            best = (quality, candidate.essence)
    return best[1] if best else None


@lru_cache(maxsize=256)
def consumes(content_type: str | None, accepted: frozenset[str]) -> bool:
    """Tell whether a request body of this Content-Type can be read; if the header is missing, it can."""
    if content_type is None or not content_type.strip():
        return True
    media = parse_media_type(content_type)
    return media is not None and media.essence in accepted


@lru_cache(maxsize=256)
def charset_of(content_type: str | None) -> str:
    """Return the charset of a body; `utf-8` if the header names none."""
    media = parse_media_type(content_type) if content_type else None
    return (media.charset if media else None) or "utf-8"
