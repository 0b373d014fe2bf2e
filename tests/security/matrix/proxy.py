"""The REST proxy in process, with one handler for all operations of v1, v2 and v3."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import unquote

import pytest
from starlette.responses import Response

from magicbyte.http.routing.application import Application
from magicbyte.http.routing.request import Handler, Request
from magicbyte.http.routing.rows import Row
from rest_proxy import app as rest_proxy_app
from rest_proxy.access.decisions import rights_of
from rest_proxy.exchange.parameters import json_response
from rest_proxy.http.rows import ROWS
from rest_proxy.settings import RestProxySettings
from rest_proxy.v3.rows import V3_ROWS
from tests.security.matrix.credentials import Identities
from tests.security.matrix.shapes import Shape

PEER = "http://127.0.0.1:1"
TEXTS = {
    "TOPIC": "Not authorized to access topics: [{name}]",
    "GROUP": "Not authorized to access group: {name}",
    "CLUSTER": "Cluster authorization failed.",
}


def resource(row: Row, shape: Shape, resource_type: str) -> tuple[str, str, bool] | None:
    if resource_type != "CLUSTER" and f"{{{resource_type.lower()}}}" not in row.path:
        # The topics are in the body, or those of the instance.
        return None
    return resource_type, shape.asked, shape.is_inside


def refusal(_operation: str, resource_type: str, name: str) -> str:
    return TEXTS[resource_type].format(name=name)


def an_app(identities: Identities, handler: Handler) -> Application:
    """The proxy with one handler for all operations; its lifespan, which asks for brokers, never begins."""
    with pytest.MonkeyPatch.context() as patch:
        for name, rows in (("ROWS", ROWS), ("V3_ROWS", V3_ROWS)):
            patch.setattr(rest_proxy_app, name, tuple(replace(row, handler=handler) for row in rows))
        properties = {"bootstrap.servers": "127.0.0.1:1", "peers": PEER, "peers.self": PEER, **identities.properties}
        return rest_proxy_app.create_app(RestProxySettings.from_properties(properties))


async def ask_for_rights(request: Request) -> Response:
    rights_of(request)
    names = [unquote(request.match.parameters[name]) for name in ("topic", "group") if name in request.match.parameters]
    return json_response(request, repr(names).encode())


async def forget_rights(request: Request) -> Response:
    return json_response(request, b"all topics")
