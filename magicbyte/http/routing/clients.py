"""The client that a request counts for when clients share a resource."""

from __future__ import annotations

from magicbyte.http.routing.identity import peer_of
from magicbyte.http.routing.request import Request
from magicbyte.security.principal import ANONYMOUS, Network, client_network, client_of


def client_key(request: Request, trusted_proxies: tuple[Network, ...]) -> str:
    """The principal's name, or the network of the client's address if it has not signed in.

    Args:
        request: The request.
        trusted_proxies: Networks whose `X-Forwarded-For` gives the address of a client.
    """
    if request.principal.name != ANONYMOUS.name:
        return request.principal.name
    scope = request.scope
    return client_network(client_of(scope["headers"], peer_of(scope).address, trusted_proxies))
