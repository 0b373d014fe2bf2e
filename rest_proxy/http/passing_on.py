"""Passes requests for a consumer instance on to the node that holds it."""

from __future__ import annotations

import logging
import re
from urllib.parse import unquote

import httpx
import msgspec

from magicbyte.http.asgi import ASGIApp, Message, Receive, Scope, Send, answer, header
from rest_proxy.errors import NOT_THE_OWNER, PEER_UNREACHABLE
from rest_proxy.peers import Peers

log = logging.getLogger("rest_proxy.peers")

_INSTANCE = re.compile(r"/consumers/([^/]+)/instances/([^/]+)(?:/.*)?")
_GROUP = re.compile(r"/consumers/([^/]+)")
#: Marks a request that was passed on, which is not passed on again. Anybody can send it and gain nothing by it: what
#: this node does not own it refuses to serve, whoever asks.
FORWARDED = b"x-magicbyte-forwarded"
#: Of this connection, not of the next one (RFC 9110 section 7.6.1).
_HOP_BY_HOP = frozenset(
    (b"connection", b"keep-alive", b"te", b"trailer", b"transfer-encoding", b"upgrade", b"content-length", b"expect")
)
#: What browsers say of the page that asks, which this node has judged; the owner must not answer to it once more.
_FROM_BROWSERS = frozenset((b"origin", b"sec-fetch-site", b"sec-fetch-mode", b"sec-fetch-dest", b"sec-fetch-user"))
_NOT_PASSED_ON = _HOP_BY_HOP | _FROM_BROWSERS | {FORWARDED, b"x-request-id"}
#: A read may last as long as its instance's timeout allows.
_TIMEOUT = httpx.Timeout(5.0, read=None)


class _Named(msgspec.Struct):
    id: str | None = None
    name: str | None = None


_named = msgspec.json.Decoder(_Named).decode


class PassingOn:
    """Serves what this node owns and passes the rest on, once, to one of the configured nodes and to no other."""

    def __init__(self, app: ASGIApp, peers: Peers) -> None:
        self.app = app
        self._peers = peers
        self._client = httpx.AsyncClient(timeout=_TIMEOUT, limits=httpx.Limits(max_connections=None))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            await self._client.aclose()
            return
        path = scope["path"]
        if not path.startswith("/consumers/"):
            await self.app(scope, receive, send)
            return
        instance = _INSTANCE.fullmatch(path)
        created = _GROUP.fullmatch(path) if scope["method"] == "POST" else None
        if instance is None and created is None:
            await self.app(scope, receive, send)
            return
        body = await _body(receive)
        if body is None:
            return
        if instance is not None:
            owner = self._peers.owner(unquote(instance[1]), unquote(instance[2]))
        else:
            assert created is not None
            name = _name_in(body)
            # An instance without a name gets one that makes it this node's.
            owner = self._peers.owner(unquote(created[1]), name) if name else self._peers.self_url
        if owner == self._peers.self_url:
            await self.app(scope, _again(body, receive), send)
        elif header(scope, FORWARDED) is not None:
            failure = NOT_THE_OWNER(url=owner)
            await answer(send, failure.status, failure.body())
        else:
            await self._pass_on(owner, scope, body, send)

    async def _pass_on(self, owner: str, scope: Scope, body: bytes, send: Send) -> None:
        query = scope.get("query_string", b"")
        url = owner + scope["path"] + (f"?{query.decode('latin-1')}" if query else "")
        headers = [(name, value) for name, value in scope["headers"] if name not in _NOT_PASSED_ON]
        headers.append((FORWARDED, self._peers.self_url.encode()))
        # The owner logs the request under the same id.
        headers.append((b"x-request-id", scope["state"]["request_id"].encode()))
        try:
            response = await self._client.request(scope["method"], url, headers=headers, content=body)
        except httpx.HTTPError as error:
            log.warning("%s could not be asked: %s", owner, error)
            failure = PEER_UNREACHABLE(url=owner)
            await answer(send, failure.status, failure.body())
            return
        await send(
            {
                "type": "http.response.start",
                "status": response.status_code,
                "headers": [
                    (name.lower(), value)
                    for name, value in response.headers.raw
                    if name.lower() not in _HOP_BY_HOP and name.lower() != b"x-request-id"
                ]
                + ([(b"content-length", str(len(response.content)).encode())] if response.status_code != 204 else []),
            }
        )
        await send({"type": "http.response.body", "body": response.content})


def _name_in(body: bytes) -> str | None:
    """The name that a new instance is to have; None where it has none or the body is none."""
    try:
        named = _named(body or b"{}")
    except (ValueError, RecursionError):
        return None
    return named.id or named.name


async def _body(receive: Receive) -> bytes | None:
    chunks: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        chunks.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(chunks)


def _again(body: bytes, receive: Receive) -> Receive:
    """A receive that gives the body that was read already."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return first.pop() if first else await receive()

    return replay
