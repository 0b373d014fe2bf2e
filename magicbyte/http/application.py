"""A FastAPI application whose contract is an OpenAPI file and whose errors go through one handler."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import yaml
from fastapi import APIRouter, FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from magicbyte.errors import ApiError, ErrorKind
from magicbyte.http.errors import BY_STATUS, INTERNAL

log = logging.getLogger("magicbyte.http")

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]
#: Makes the response to an error for a request: the server's choice of media type and headers.
ErrorResponse = Callable[[Request, ApiError], Response]


def load_contract(name: str) -> dict[str, Any]:
    """The OpenAPI document of that file name, from the installed package or, in a checkout, from openapi/."""
    packaged = Path(__file__).parent.parent / "openapi" / name
    path = packaged if packaged.exists() else Path(__file__).parents[2] / "openapi" / name
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document: dict[str, Any] = yaml.load(path.read_text(), Loader=loader)  # noqa: S506  both loaders are the safe one
    return document


def create_application(
    *,
    contract: str,
    routers: Sequence[APIRouter],
    error_response: ErrorResponse,
    lifespan: Lifespan | None = None,
    translate: Mapping[type[Exception], Callable[[Exception], ApiError]] | None = None,
) -> FastAPI:
    """Build the application: the routers, the contract at /openapi.json, and every error as a JSON answer.

    Args:
        contract: File name of the OpenAPI document that the routers serve.
        routers: The routes, one router for each noun.
        error_response: Makes the response to an error.
        lifespan: Starts and stops what the routes need.
        translate: How exceptions of other packages become errors of this API's table.
    """
    app = FastAPI(lifespan=lifespan, openapi_url=None, docs_url=None, redoc_url=None)
    for router in routers:
        app.include_router(router)
    document: dict[str, Any] = {}

    def openapi() -> dict[str, Any]:
        if not document:
            document.update(load_contract(contract))
        return document

    app.openapi = openapi  # type: ignore[method-assign]

    async def on_api_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, ApiError)
        return error_response(request, error)

    async def on_status(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        kind = BY_STATUS.get(error.status_code) or ErrorKind(error.status_code, str(error.detail).replace("{", "{{"))
        raised = kind()
        raised.headers.update(error.headers or {})
        return error_response(request, raised)

    async def on_anything(request: Request, error: Exception) -> Response:
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return error_response(request, INTERNAL())

    async def on_disconnect(request: Request, _error: Exception) -> Response:
        log.info("%s %s: the client has gone before it had sent all of its body", request.method, request.url.path)
        # Nobody hears it.
        return Response(status_code=400)

    app.add_exception_handler(ApiError, on_api_error)
    app.add_exception_handler(ClientDisconnect, on_disconnect)
    app.add_exception_handler(HTTPException, on_status)
    app.add_exception_handler(Exception, on_anything)
    for kind, make in (translate or {}).items():

        async def on_translated(
            request: Request,
            error: Exception,
            make: Callable[[Exception], ApiError] = make,
        ) -> Response:
            return error_response(request, make(error))

        app.add_exception_handler(kind, on_translated)
    return app
