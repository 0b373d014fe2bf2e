"""The clients of forwarded requests where nobody signs in: the nodes tell each other their addresses, signed."""

from __future__ import annotations

import logging
from dataclasses import replace

from magicbyte.http.asgi import header
from magicbyte.http.routing.identity import IDENTITY, PEER, peer_of, target_of
from magicbyte.http.routing.request import Request
from magicbyte.kit.logs.repeats import OccasionalWarning
from magicbyte.security.forwarded_identity import ForgedIdentity, IdentitySigner
from magicbyte.security.principal import ANONYMOUS, client_of
from registry.settings import RegistrySettings

log = logging.getLogger("magicbyte.registry.forward")

_FORGED = "the address of a client that %s reports is ignored: %s"


class ForwardedClients:
    """Signs and reads the addresses of clients, so that they take turns at the leader as if they had asked it.

    With sign-in, the guard does the same for principals.
    """

    def __init__(self, signer: IdentitySigner, settings: RegistrySettings) -> None:
        """Share the nodes' secret.

        Args:
            signer: Signs with the secret.
            settings: The settings, which name the trusted proxies.
        """
        self._signer = signer
        self._trusted_proxies = settings.trusted_proxies
        self._warn_of_forgery = OccasionalWarning(log, "forged_identity", _FORGED)

    def proof(self, request: Request, target: str, body_digest: str) -> str:
        """Return the header that tells the leader the address of a request's client.

        Args:
            request: The request.
            target: The raw path and query of the forwarded request.
            body_digest: The digest of the request's body.
        """
        address = client_of(request.scope["headers"], peer_of(request.scope).address, self._trusted_proxies)
        return self._signer.sign(ANONYMOUS, address, request.method, target, body_digest)

    def recognize(self, request: Request) -> None:
        """Count a forwarded request for the client that a node has received it from.

        A header that no node has signed changes nothing: the request counts for whoever sent it.
        """
        scope = request.scope
        identity = header(scope, IDENTITY)
        if identity is None:
            return
        node = peer_of(scope)
        try:
            forwarded = self._signer.verify(identity, scope["method"], target_of(scope))
        except ForgedIdentity as error:
            self._warn_of_forgery(node.address, str(error), address=node.address)
        else:
            scope[PEER] = replace(node, address=forwarded.address)


def open_forwarded_clients(settings: RegistrySettings) -> ForwardedClients | None:
    """Return what tells clients behind other nodes apart; None without the nodes' secret."""
    secret = settings.instance_secret
    if secret is None:
        return None
    return ForwardedClients(IdentitySigner(secret, settings.previous_instance_secret, settings.group_id), settings)
