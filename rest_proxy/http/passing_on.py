"""Passing on requests for a consumer instance to the node that holds it."""

from __future__ import annotations

import logging
import ssl
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import unquote

import httpx
import msgspec
from starlette.responses import Response

from magicbyte.http.asgi import header
from magicbyte.http.response_headers import NAMES_OF_OURS
from magicbyte.http.routing.access import Decision
from magicbyte.http.routing.identity import IDENTITY, digest_of
from magicbyte.http.routing.request import Request
from rest_proxy.consume.consumers.peers import Peers
from rest_proxy.errors import NOT_THE_OWNER, PEER_UNREACHABLE
from rest_proxy.exchange.negotiation import PLAIN
from rest_proxy.exchange.parameters import segment

if TYPE_CHECKING:
    from magicbyte.http.routing.guard import Guard

log = logging.getLogger("rest_proxy.consume.consumers.peers")

#: Marks a request that was passed on, which is not passed on again. A client gains nothing by sending it: this node
#: refuses a marked request for an instance that it does not hold.
FORWARDED = b"x-magicbyte-forwarded"
#: Headers of a single connection (RFC 9110 section 7.6.1).
_HOP_BY_HOP = frozenset(
    (b"connection", b"keep-alive", b"te", b"trailer", b"transfer-encoding", b"upgrade", b"content-length", b"expect")
)
#: Headers of browsers about the page, which this node has checked; the owner must not check them again.
_FROM_BROWSERS = frozenset((b"origin", b"sec-fetch-site", b"sec-fetch-mode", b"sec-fetch-dest", b"sec-fetch-user"))
#: The client's credentials never leave the node that received them.
_CREDENTIALS = frozenset((b"authorization", b"cookie", b"x-forwarded-for", IDENTITY))
#: The prefix of headers that only nodes may send to each other, never clients.
_BETWEEN_NODES = b"magicbyte-"
_NOT_PASSED_ON = _HOP_BY_HOP | _FROM_BROWSERS | _CREDENTIALS | {FORWARDED, b"x-request-id"}
_NOT_RELAYED = _HOP_BY_HOP | NAMES_OF_OURS | {b"x-request-id"}
#: Without a read timeout, because a read may take as long as its instance's timeout.
_TIMEOUT = httpx.Timeout(5.0, read=None)


class _Named(msgspec.Struct):
    id: str | None = None
    name: str | None = None


_named = msgspec.json.Decoder(_Named).decode


class PassingOn:
    """Passes requests on to the configured nodes, once per request."""

    def __init__(self, peers: Peers, tls: ssl.SSLContext, guard: Guard | None) -> None:
        self._peers = peers
        self._guard = guard
        self._client = httpx.AsyncClient(
            timeout=_TIMEOUT, limits=httpx.Limits(max_connections=None), trust_env=False, verify=tls
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def to_owner(self, request: Request) -> Response | None:
        """The response of the node that holds the instance in the path or body; None if it is this node.

        Raises:
            ApiError: That node can't be reached, or another node has passed the request on to this one by mistake.
        """
        group, instance = segment(request, "group"), request.match.parameters.get("instance")
        name = unquote(instance) if instance is not None else _name_in(await request.body())
        # An instance without a name gets one whose owner is this node.
        owner = self._peers.owner(group, name) if name else self._peers.self_url
        if owner == self._peers.self_url:
            return None
        # Errors between nodes are plain JSON, not of a version of the API.
        media_type, request.media_type = request.media_type, PLAIN
        if header(request.scope, FORWARDED) is not None:
            raise NOT_THE_OWNER(url=owner)
        response = await self._pass_on(owner, request)
        request.media_type = media_type
        return response

    async def _pass_on(self, owner: str, request: Request) -> Response:
        scope = request.scope
        query = scope["query_string"]
        target, body = scope["path"] + (f"?{query.decode('latin-1')}" if query else ""), await request.body()
        headers = [
            (name, value)
            for name, value in scope["headers"]
            if name not in _NOT_PASSED_ON and not name.startswith(_BETWEEN_NODES)
        ]
        headers.append((FORWARDED, self._peers.self_url.encode()))
        # The owner logs the request under the same id.
        headers.append((b"x-request-id", request.request_id.encode()))
        if self._guard is not None:
            headers.append((IDENTITY, self._guard.proof(request, target, digest_of(body)).encode()))
            # The owner decides by its own rules for the principal.
            request.decision = Decision.ALLOWED
        try:
            answer = await self._client.request(request.method, owner + target, headers=headers, content=body)
        except httpx.HTTPError as error:
            log.warning("the request could not be passed on to %s: %s", owner, error)
            raise PEER_UNREACHABLE(url=owner) from None
        response = Response(answer.content, answer.status_code)
        response.raw_headers = [
            (name.lower(), value) for name, value in answer.headers.raw if name.lower() not in _NOT_RELAYED
        ]
        if answer.status_code != HTTPStatus.NO_CONTENT:
            response.raw_headers.append((b"content-length", b"%d" % len(answer.content)))
        return response


def _name_in(body: bytes) -> str | None:
    """The name in the body of a new instance; None if it has none or is not valid."""
    try:
        instance = _named(body or b"{}")
    except (ValueError, RecursionError):
        return None
    return instance.id or instance.name
