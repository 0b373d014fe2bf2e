"""A response with a complete body, without the case distinctions of Starlette's responses."""

from __future__ import annotations

from starlette.responses import Response


class WholeResponse(Response):
    """A body with its length and its media type."""

    def __init__(self, body: bytes, status: int, media_type: str) -> None:
        self.status_code, self.body, self.media_type, self.background = status, body, media_type, None
        self.raw_headers = [(b"content-length", b"%d" % len(body)), (b"content-type", media_type.encode())]
