"""What clients may write otherwise: a slash at a path's end, and HEAD for a GET that changes nothing."""

from __future__ import annotations

from magicbyte.http.asgi import ASGIApp, Receive, Scope, Send
from rest_proxy.settings import RestProxySettings


class Lenient:
    """Serves such requests as the reference does; the server leaves the bodies of answers to HEAD out."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http":
            path: str = scope["path"]
            if len(path) > 1 and path.endswith("/"):
                scope = {**scope, "path": path[:-1]}
            if scope["method"] == "HEAD" and not path.startswith(RestProxySettings.unsafe_paths):
                scope = {**scope, "method": "GET"}
        await self.app(scope, receive, send)
