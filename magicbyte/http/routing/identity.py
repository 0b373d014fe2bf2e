"""The peer of a connection, and the headers that prove the sender of a forwarded request."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from magicbyte.http.asgi import Message, Receive, Scope
from magicbyte.kit.errors import ApiError
from magicbyte.security.principal import Peer

#: The scope's key for the peer of the connection.
PEER = "magicbyte.peer"
#: The header that proves to another node who sent a forwarded request.
IDENTITY = b"magicbyte-identity"
#: The scope's key for the check of a forwarded request's body: from a `Receive` to one that also checks.
BODY_CHECK = "magicbyte.body_check"


def digest_of(body: bytes) -> str:
    """Return a body's digest in the form that forwarded identities use."""
    return hashlib.sha256(body).hexdigest()


def peer_of(scope: Scope) -> Peer:
    """Return the peer of a request's connection."""
    peer: Peer | None = scope.get(PEER)
    if peer is None:
        client = scope.get("client")
        return Peer(client[0] if client else "")
    return peer


def target_of(scope: Scope) -> str:
    """Return a request's raw path and query."""
    path, query = scope["raw_path"].decode("latin-1"), scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query else path


def with_digest(receive: Receive, digest: str, refuse: Callable[[], ApiError]) -> Receive:
    """Wrap `receive`, so that it raises an error at the end of a body with another digest."""
    hashed = hashlib.sha256()

    async def hashing() -> Message:
        message = await receive()
        hashed.update(message.get("body", b""))
        if message["type"] == "http.request" and not message.get("more_body") and hashed.hexdigest() != digest:
            raise refuse()
        return message

    return hashing
