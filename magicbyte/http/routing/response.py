"""A response with a complete body, without the case distinctions of Starlette's responses."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import orjson
from starlette.responses import Response

T_co = TypeVar("T_co", covariant=True)


class WholeResponse(Response):
    """A body with its length and its media type."""

    def __init__(self, body: bytes, status: int, media_type: str) -> None:
        self.status_code, self.body, self.media_type, self.background = status, body, media_type, None
        self.raw_headers = [(b"content-length", b"%d" % len(body)), (b"content-type", media_type.encode())]


class Json(WholeResponse, Generic[T_co]):
    """A JSON value of a type; an endpoint that returns `Json[T]` is described as answering T."""

    def __init__(self, value: T_co, status: int, media_type: str) -> None:
        """Make the answer.

        Args:
            value: The value; orjson writes it.
            status: The HTTP status.
            media_type: The media type.
        """
        super().__init__(orjson.dumps(value), status, media_type)


class JsonText(Json[T_co]):
    """A JSON value of a type that is JSON text already, which is its body."""

    # Without a method in between, because produce requests are answered with it.
    __init__ = WholeResponse.__init__


class NoContent(Response):
    """The answer 204, without a body; an endpoint that returns it is described as answering 204."""

    def __init__(self) -> None:
        super().__init__(status_code=204)


class NotModified(Json[Any]):
    """The answer to a client that has the current answer already."""

    def __init__(self, etag: str) -> None:
        """Make the answer.

        Args:
            etag: The ETag of the current answer.
        """
        Response.__init__(self, status_code=304, headers={"etag": etag})
