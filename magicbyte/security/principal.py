"""The sender of a request, and the reasons to refuse a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Network = IPv4Network | IPv6Network
Headers = Sequence[tuple[bytes, bytes]]
#: The header in which proxies report the addresses of clients.
FORWARDED_FOR = b"x-forwarded-for"


@dataclass(frozen=True, slots=True)
class Principal:
    """A client that has signed in.

    Attributes:
        name: `User:<name>`.
        groups: `Group:<name>` of each group.
        method: BASIC, BEARER, SSL or NONE.
        expires: When the credentials expire, in seconds since 1970; None if they do not.
    """

    name: str
    groups: frozenset[str] = frozenset()
    method: str = "NONE"
    expires: float | None = None

    @property
    def key(self) -> str:
        """A key that distinguishes principals with the same name and different groups."""
        return "\n".join((self.name, *sorted(self.groups))) if self.groups else self.name


#: The principal of requests without credentials, if the settings allow them.
ANONYMOUS = Principal("User:ANONYMOUS")


@dataclass(frozen=True, slots=True)
class Peer:
    """The other end of a connection.

    Attributes:
        address: Its IP address.
        certificate: The verified client certificate in DER, or None.
        certificate_expires: The certificate's expiry, in seconds since 1970.
    """

    address: str
    certificate: bytes | None = None
    certificate_expires: float | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """The refusal of a request before its route is known.

    Attributes:
        status: 400, 401, 403, 429 or 503.
        message: The `message` of the answer; it never says which part of the credentials was wrong.
        challenges: The values of WWW-Authenticate.
        retry_after: Seconds, for Retry-After.
    """

    status: int
    message: str
    challenges: tuple[str, ...] = ()
    retry_after: int | None = None


def parse_networks(text: str) -> tuple[Network, ...]:
    """Parse a comma-separated list of addresses and CIDR networks.

    Raises:
        ValueError: A part is neither; the text names it.
    """
    networks: list[Network] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        try:
            networks.append(ip_network(part))
        except ValueError:
            raise ValueError(f"{part} is neither an IP address nor a network such as 10.0.0.0/8") from None
    return tuple(networks)


def lies_in(address: str, networks: tuple[Network, ...]) -> bool:
    """Tell whether an address lies in one of the networks; an IPv4 address mapped into IPv6 is the IPv4 address."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped:
        ip = ip.ipv4_mapped
    return any(ip in network for network in networks)


def client_of(headers: Headers, address: str, trusted_proxies: tuple[Network, ...]) -> str:
    """Return the client's address: the TCP peer's, or behind trusted proxies the address that they report.

    Args:
        headers: The request's headers; names in lower case.
        address: The TCP peer's address.
        trusted_proxies: The networks whose `X-Forwarded-For` counts.
    """
    if not trusted_proxies or not lies_in(address, trusted_proxies):
        return address
    hops = [value.decode("latin-1") for name, value in headers if name == FORWARDED_FOR]
    for hop in reversed([part.strip() for part in ",".join(hops).split(",") if part.strip()]):
        try:
            ip_address(hop)
        except ValueError:
            return address
        address = hop
        if not lies_in(hop, trusted_proxies):
            return hop
    return address


@lru_cache(maxsize=4096)
def client_network(address: str) -> str:
    """The network that counts as one client: an IPv4 address, or a /64 of IPv6, which is usually one client's."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(ip, IPv6Address):
        return address
    return str(ip.ipv4_mapped or IPv6Address(int(ip) >> 64 << 64))
