"""Who is at the other end of a connection, and what a forwarded request must prove."""

from __future__ import annotations

import hashlib
import logging
from typing import TYPE_CHECKING

from magicbyte.http.asgi import Message, Receive, Scope
from magicbyte.http.errors import UNAUTHORIZED
from magicbyte.security.principal import Peer

if TYPE_CHECKING:
    from magicbyte.http.routing.guard import Guard
    from magicbyte.http.settings import HttpSettings

log = logging.getLogger("magicbyte.security")

#: Where a connection says in a request's scope who is at its other end.
PEER = "magicbyte.peer"
#: The header in which a node proves to another one who sent the request that it forwards.
IDENTITY = b"magicbyte-identity"
#: Where the guard leaves the digest that a forwarded request's body must have.
BODY_DIGEST = "magicbyte.body_digest"


def digest_of(body: bytes) -> str:
    """Return a body's digest as forwarded identities have it."""
    return hashlib.sha256(body).hexdigest()


def open_guard(settings: HttpSettings, *, realm: str, audience: str) -> Guard | None:
    """Return the guard that the settings ask for; None if nobody has to sign in.

    Args:
        settings: The settings.
        realm: The realm of the challenges, if the settings name none.
        audience: The group of nodes that forward requests to each other.

    Raises:
        Failure: Users or keys cannot be loaded.
    """
    if settings.is_open:
        return None
    from magicbyte.http.routing.guard import Guard  # noqa: PLC0415  what it needs takes long to import

    return Guard(settings, realm=realm, audience=audience)


def peer_of(scope: Scope) -> Peer:
    """Return who is at the other end of a request's connection."""
    peer: Peer | None = scope.get(PEER)
    if peer is None:
        client = scope.get("client")
        return Peer(client[0] if client else "")
    return peer


def target_of(scope: Scope) -> str:
    """Return a request's raw path and query."""
    path, query = scope["raw_path"].decode("latin-1"), scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query else path


def with_digest(receive: Receive, digest: str) -> Receive:
    """Return the means to receive a body, which raise 401 at its end if it has another digest."""
    hashed = hashlib.sha256()

    async def hashing() -> Message:
        message = await receive()
        hashed.update(message.get("body", b""))
        if message["type"] == "http.request" and not message.get("more_body") and hashed.hexdigest() != digest:
            log.warning("a forwarded request has another body than was signed")
            raise UNAUTHORIZED()
        return message

    return hashing
