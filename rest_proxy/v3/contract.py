"""The OpenAPI document of v3."""

from __future__ import annotations

import asyncio
from functools import cache

import orjson
from starlette.responses import Response

from magicbyte.http.routing.application import load_contract
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import WholeResponse
from rest_proxy.v3.envelopes import JSON

CONTRACT = "rest-proxy-v3.yaml"


async def contract(_request: Request) -> Response:
    """The OpenAPI document of v3."""
    return WholeResponse(await asyncio.to_thread(_document), 200, JSON)


@cache
def _document() -> bytes:
    return orjson.dumps(load_contract(CONTRACT))
