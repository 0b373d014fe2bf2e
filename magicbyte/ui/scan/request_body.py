"""Reads the body of a request that searches a topic."""

from __future__ import annotations

from typing import TypeVar

from magicbyte.http.routing.request import Request
from magicbyte.ui import errors
from magicbyte.ui.messages.request import BadRequest, Common, read

_LARGEST_BODY = 65_536

R = TypeVar("R", bound=Common)


async def read_request(request: Request, kind: type[R]) -> R:
    """The request in a body.

    Raises:
        ApiError: 400: the body is too large, or no such request; the text names the member at fault.
        ClientDisconnect: The client has gone.
    """
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size <= _LARGEST_BODY:
            parts.append(part)
    if size > _LARGEST_BODY:
        raise errors.BODY_TOO_LARGE(size=size, limit=_LARGEST_BODY)
    try:
        return read(b"".join(parts), kind)
    except BadRequest as error:
        raise errors.BAD_SCAN(detail=error.detail) from None
