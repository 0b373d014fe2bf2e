"""Routes that one package adds to the server of another, without that server knowing the package."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from magicbyte.http.asgi import ASGIApp, Scope, header
from magicbyte.http.routing.rows import Row


@dataclass(frozen=True, slots=True)
class ExtraRoutes:
    """Rows to serve in addition to a server's own.

    Attributes:
        rows: The routes.
        front: The path, relative to the server's root, that a browser is sent to when somebody opens the root.
        attach: Called when the server starts, with the application, to which the handlers may send requests.
        close: Called when the server stops.
    """

    rows: Sequence[Row]
    front: str
    attach: Callable[[ASGIApp], None]
    close: Callable[[], Awaitable[None]]


def is_navigation(scope: Scope) -> bool:
    """Tell whether somebody opens the URL in a browser, as opposed to a script or a client that requests it."""
    mode = header(scope, b"sec-fetch-mode")
    if mode is None:
        # Browsers omit Sec-Fetch-Mode for plain-http URLs of other machines, but send this header with navigations.
        return header(scope, b"upgrade-insecure-requests") == "1"
    return mode == "navigate" and "text/html" in (header(scope, b"accept") or "")
