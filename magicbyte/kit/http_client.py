"""Requests of asynchronous HTTP clients, whose failures are errors of httpx, all of them."""

from __future__ import annotations

import httpx


async def send(client: httpx.AsyncClient, request: httpx.Request, *, stream: bool = False) -> httpx.Response:
    """Send a request.

    Args:
        client: The client.
        request: The request.
        stream: Whether the caller reads the answer, and closes it.

    Raises:
        httpx.HTTPError: The server cannot be reached, or does not answer in time.
    """
    try:
        return await client.send(request, stream=stream)
    except AttributeError as error:
        # A connection that the server resets as soon as it is open has no socket any more (with uvloop), but anyio asks
        # the socket for its peer.
        if error.name != "getpeername":
            raise
        raise httpx.ConnectError("the connection was lost as soon as it was open", request=request) from error
