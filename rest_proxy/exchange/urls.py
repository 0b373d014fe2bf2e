"""The proxy's URLs in answers to clients."""

from __future__ import annotations

from urllib.parse import urlsplit

from magicbyte.http.routing.request import Request
from rest_proxy.settings import RestProxySettings


def base_url(request: Request, settings: RestProxySettings) -> str:
    """Scheme and authority of URLs in answers (spec section 0).

    The first of `advertised.listeners` with the request's scheme; else `host.name`, with the request's port if it names
    one; else the request's scheme and authority.
    """
    scheme = request.url.scheme
    for listener in settings.advertised_listeners.split(","):
        parts = urlsplit(listener.strip())
        if parts.scheme == scheme and parts.netloc:
            return f"{scheme}://{parts.netloc}"
    if settings.host_name:
        port = f":{request.url.port}" if request.url.port else ""
        return f"{scheme}://{settings.host_name}{port}"
    return f"{scheme}://{request.url.netloc}"
