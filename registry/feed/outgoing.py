"""Posts to URLs of the settings, never to link-local addresses, where clouds serve a machine's credentials."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from ipaddress import IPv6Address, ip_address

import httpx

from magicbyte.kit import http_client


class ForbiddenAddress(Exception):
    """A host's name resolves to an address to which posting is not allowed."""


async def post_to_allowed(
    client: httpx.AsyncClient, url: str, body: bytes, headers: Mapping[str, str]
) -> httpx.Response:
    """Post a body; the host's name is resolved once, so the connection uses the checked address.

    Args:
        client: Posts.
        url: The address to post to.
        body: The body.
        headers: Its headers.

    Raises:
        ForbiddenAddress: One of the host's addresses is link-local.
        OSError: The host's name is not known.
        httpx.HTTPError: No address answered.
    """
    target = httpx.URL(url)
    host = target.host
    addresses = await addresses_of(host, target.port or (443 if target.scheme == "https" else 80))
    named = {**headers, "Host": target.netloc.decode("ascii")}
    failure: httpx.ConnectError | None = None
    for address in addresses:
        try:
            # The certificate is for the name, not for the address.
            url_of_address, extensions = target.copy_with(host=address), {"sni_hostname": host}
            post = client.build_request("POST", url_of_address, content=body, headers=named, extensions=extensions)
            return await http_client.send(client, post)
        except httpx.ConnectError as error:
            failure = error
    raise failure or httpx.ConnectError(f"{host} has no address")


async def addresses_of(host: str, port: int) -> list[str]:
    """Return the addresses of a host.

    Raises:
        ForbiddenAddress: One of them is link-local.
        OSError: The name is not known.
    """
    infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(info[4][0]) for info in infos))
    for address in addresses:
        ip = ip_address(address.partition("%")[0])
        if isinstance(ip, IPv6Address) and ip.ipv4_mapped:
            ip = ip.ipv4_mapped
        if ip.is_link_local:
            raise ForbiddenAddress(f"{host} leads to the link-local address {ip}, to which nothing is posted")
    return addresses
