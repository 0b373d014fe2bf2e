"""Rows as FastAPI's routes: FastAPI solves the parameters that an endpoint declares, and describes them."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from functools import cached_property
from typing import Any, TypeVar

from fastapi.routing import APIRoute
from starlette.requests import Request as StarletteRequest
from starlette.responses import Response
from starlette.routing import Route

from magicbyte.http.errors import INTERNAL
from magicbyte.http.routing.request import Handler, Request
from magicbyte.http.routing.rows import Around, Endpoint, Row

T = TypeVar("T")

#: FastAPI's keys of the scope for the stacks that close what dependencies open.
_STACKS = ("fastapi_middleware_astack", "fastapi_inner_astack", "fastapi_function_astack")


def made_of_parameters(model: type[T]) -> Callable[..., Awaitable[T]]:
    """Return a dependency that makes a dataclass of the parameters that its fields declare.

    FastAPI calls a class in a thread, which takes longer than all the rest.
    """

    async def make(**parameters: Any) -> T:
        return model(**parameters)

    make.__signature__ = inspect.signature(model, eval_str=True)  # type: ignore[attr-defined]
    return make


def takes_only_the_request(endpoint: Endpoint) -> bool:
    """Tell whether an endpoint declares no parameters, so that FastAPI has nothing to solve."""
    parameters = list(inspect.signature(endpoint).parameters.values())
    return len(parameters) == 1 and parameters[0].annotation in (Request, Request.__name__)


class SolvedRoute(APIRoute):
    """FastAPI's route of a row, with the parameters that the row's endpoint declares."""

    def __init__(self, row: Row) -> None:
        """Read the declarations, which takes about 1 ms.

        Args:
            row: The row; FastAPI reads `declared` if the handler takes the bare request.
        """
        super().__init__(
            row.path,
            row.declared or row.innermost,
            methods=[row.method],
            name=row.operation_id,
            operation_id=row.operation_id,
            response_model=None,
        )

    def get_route_handler(self) -> Callable[[StarletteRequest], Coroutine[Any, Any, Response]]:
        """Return FastAPI's handler, which solves the parameters and calls the endpoint."""
        handle = super().get_route_handler()

        async def handle_decided(request: StarletteRequest) -> Response:
            if not isinstance(request, Request):
                raise INTERNAL()
            async with AsyncExitStack() as stack:
                for name in _STACKS:
                    request.scope[name] = stack
                return await handle(request)

        return handle_decided


class RowRoute(Route):
    """The route of a row. Only the application calls it, because the steps before the handler decide on access."""

    def __init__(self, row: Row) -> None:
        """Mount the row; its declarations are read with its first request, so that a server starts sooner.

        Args:
            row: The row.
        """
        super().__init__(row.path, row.innermost, methods=[row.method], name=row.operation_id)
        self.row = row

    @cached_property
    def solved(self) -> SolvedRoute:
        """FastAPI's route of the row."""
        return SolvedRoute(self.row)

    @property
    def handler(self) -> Handler:
        """The function that answers a request: the row's own if it takes only the request, or FastAPI's."""
        return self._wrapped(self.row.handler)

    def _wrapped(self, handler: Endpoint | Around) -> Handler:
        if isinstance(handler, Around):
            return handler.wrap(self._wrapped(handler.inner))
        return handler if takes_only_the_request(handler) else self._handle_solved

    async def _handle_solved(self, request: Request) -> Response:
        return await self._solved_handler(request)

    @cached_property
    def _solved_handler(self) -> Callable[[StarletteRequest], Coroutine[Any, Any, Response]]:
        return self.solved.get_route_handler()
