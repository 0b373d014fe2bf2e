"""The routers' own routes without the framework's way to them; what is no route of theirs goes that way."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from inspect import isawaitable

from fastapi import APIRouter, FastAPI, Request, Response
from starlette.routing import Route

from magicbyte.http.asgi import Receive, Scope, Send
from registry.http.bodies import WholeBodyRequest
from registry.metrics import RequestCounts

#: The key of a list in the scope that the path of the route is added to, for layers that ask for it.
ROUTES = "magicbyte.routes"

Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A route's path: the segments that are literal, and the names of the others, by position."""

    literals: tuple[tuple[int, str], ...]
    parameters: tuple[tuple[int, str], ...]
    endpoint: Endpoint
    path: str

    def match(self, segments: Sequence[str]) -> dict[str, str] | None:
        """The path parameters, or None where the path is another."""
        for position, literal in self.literals:
            if segments[position] != literal:
                return None
        found = {name: segments[position] for position, name in self.parameters}
        return found if all(found.values()) else None


class Dispatch:
    """Calls the endpoint of a route directly, with the application's handlers for what it raises.

    The routes and what they answer are the application's; going to them through its middleware and router takes longer
    than most of them do.
    """

    def __init__(self, app: FastAPI, routers: Sequence[APIRouter], counts: RequestCounts) -> None:
        self._app = app
        self._counts = counts
        #: By method, number of segments and first segment.
        self._patterns: dict[tuple[str, int, str], list[_Pattern]] = {}
        for route in (each for router in routers for each in router.routes if isinstance(each, Route)):
            segments = route.path.split("/")[1:]
            pattern = _Pattern(
                tuple((at, each) for at, each in enumerate(segments) if not each.startswith("{")),
                tuple((at, each.strip("{}")) for at, each in enumerate(segments) if each.startswith("{")),
                route.endpoint,
                route.path,
            )
            for method in (route.methods or set()) - {"HEAD"}:
                self._patterns.setdefault((method, len(segments), segments[0]), []).append(pattern)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http":
            segments = scope["path"].split("/")[1:]
            for pattern in self._patterns.get((scope["method"], len(segments), segments[0]), ()):
                parameters = pattern.match(segments)
                if parameters is not None:
                    await self._call(pattern, parameters, scope, receive, send)
                    return
        await self._app(scope, receive, send)

    async def _call(
        self, pattern: _Pattern, parameters: dict[str, str], scope: Scope, receive: Receive, send: Send
    ) -> None:
        scope["app"], scope["path_params"] = self._app, parameters
        scope.get(ROUTES, []).append(pattern.path)
        request = WholeBodyRequest(scope, receive, send)
        started = time.perf_counter()
        try:
            response = await pattern.endpoint(request)
        except Exception as error:  # noqa: BLE001  the application has a handler for any
            response = await self._handle(request, error)
        self._counts.add(scope["method"], pattern.path, response.status_code, time.perf_counter() - started)
        await response(scope, receive, send)

    async def _handle(self, request: Request, error: Exception) -> Response:
        handlers = self._app.exception_handlers
        handler = next(handlers[kind] for kind in type(error).__mro__ if kind in handlers)
        response = handler(request, error)
        return await response if isawaitable(response) else response
