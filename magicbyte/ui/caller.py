"""The registry as the sender of a request sees it: the page's helpers ask it with the sender's credentials."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from magicbyte.http.asgi import header
from serdes.client.clients import RegistryClient, Retry, Tls

#: The most seconds that one question may take.
_SECONDS = 10.0


def client_of_sender(scope: MutableMapping[str, Any], url: str | None = None) -> RegistryClient:
    """A client of the registry with the Authorization of a request.

    Args:
        scope: The request's ASGI scope.
        url: The registry's URL; None if it is the server that has got the request.
    """
    authorization = header(scope, b"authorization")
    # This server's certificate need not name the address of its own socket.
    tls = Tls(verify=False, check_host=False) if url is None else Tls()
    return RegistryClient(
        url or _own_url(scope),
        tls=tls,
        timeout=_SECONDS,
        retry=Retry(0),
        headers={} if authorization is None else {"Authorization": authorization},
        trust_env=False,
    )


def _own_url(scope: MutableMapping[str, Any]) -> str:
    host, port = scope["server"]
    return f"{scope['scheme']}://{f'[{host}]' if ':' in host else host}:{port}"
