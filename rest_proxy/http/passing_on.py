"""Passing on requests for a consumer instance to the node that holds it."""

from __future__ import annotations

import logging
import ssl
from typing import TYPE_CHECKING
from urllib.parse import unquote

import httpx
import msgspec
from starlette.responses import Response

from magicbyte.http.asgi import header
from magicbyte.http.relay.headers import HeaderPolicy
from magicbyte.http.relay.relay import Relay, trace_headers
from magicbyte.http.routing.access import Decision
from magicbyte.http.routing.request import Request
from magicbyte.kit.traces.span import Kind
from magicbyte.kit.traces.tracing import span
from rest_proxy import metrics
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
#: Everything that a peer needs: it serves the request as if the client had sent it there.
_POLICY = HeaderPolicy(sent=None, answered=None)
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
        self._relay = Relay(_POLICY, lambda: tls, _TIMEOUT, guard)

    async def close(self) -> None:
        """Close the connections."""
        await self._relay.close()

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
        # The owner logs the request under the same id.
        added = {FORWARDED: self._peers.self_url, b"x-request-id": request.request_id}
        if self._relay.prover is not None:
            # The owner decides by its own rules for the principal.
            request.decision = Decision.ALLOWED
        try:
            with span("forward", {"url.full": owner}, kind=Kind.CLIENT):
                answer = await self._relay.ask(request, owner, added | trace_headers())
        except httpx.HTTPError as error:
            log.warning(
                "the request could not be passed on to %s: %s",
                owner,
                error,
                extra={"event": "forward_failed", "url": owner, "error": str(error)},
            )
            metrics.PASSED_ON.labels("failed").inc()
            raise PEER_UNREACHABLE(url=owner) from None
        metrics.PASSED_ON.labels("answered").inc()
        return answer.response()


def _name_in(body: bytes) -> str | None:
    """The name in the body of a new instance; None if it has none or is not valid."""
    try:
        instance = _named(body or b"{}")
    except (ValueError, RecursionError):
        return None
    return instance.id or instance.name
