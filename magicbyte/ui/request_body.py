"""Reads the bodies of requests to the page's own routes, up to a number of bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from magicbyte.http.routing.request import Request
from magicbyte.ui import errors
from magicbyte.ui.messages.request import BadRequest, Checked, read

#: The largest body that only says what to do, in bytes.
_LARGEST_BODY = 65_536

R = TypeVar("R", bound=Checked)


async def bounded_body(request: Request, most_bytes: int, hold: Callable[[int], None] | None = None) -> bytes:
    """Return the body of a request.

    Args:
        request: The request.
        most_bytes: The largest body that is kept; a larger one is received to its end, and refused.
        hold: Is called with the number of bytes that have been kept so far.

    Raises:
        ApiError: 400: the body is too large.
        ClientDisconnect: The client disconnected before it had sent the whole body.
    """
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size <= most_bytes:
            if hold is not None:
                hold(size)
            parts.append(part)
    if size > most_bytes:
        raise errors.BODY_TOO_LARGE(size=size, limit=most_bytes)
    return b"".join(parts)


async def read_request(request: Request, kind: type[R]) -> R:
    """Return the request in a JSON body.

    Raises:
        ApiError: 400: the body is too large, or no such request; the text names the member at fault.
        ClientDisconnect: The client disconnected before it had sent the whole body.
    """
    body = await bounded_body(request, _LARGEST_BODY)
    try:
        return read(body, kind)
    except BadRequest as error:
        raise errors.BAD_REQUEST(detail=error.detail) from None
