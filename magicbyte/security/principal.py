"""Who a request comes from, or why it is refused."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody who has signed in.

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
        """What tells this principal from others with the same name and other groups."""
        return "\n".join((self.name, *sorted(self.groups))) if self.groups else self.name


#: Who sends no credentials, if the settings allow that.
ANONYMOUS = Principal("User:ANONYMOUS")


@dataclass(frozen=True, slots=True)
class Peer:
    """The other end of a connection.

    Attributes:
        address: Its IP address.
        certificate: The verified client certificate in DER, or None.
        certificate_expires: When that expires, in seconds since 1970.
    """

    address: str
    certificate: bytes | None = None
    certificate_expires: float | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is refused before its route is known.

    Attributes:
        status: 400, 401, 403, 429 or 503.
        message: The `message` of the answer; never tells which part of the credentials was wrong.
        challenges: The values of WWW-Authenticate.
        retry_after: Seconds, for Retry-After.
    """

    status: int
    message: str
    challenges: tuple[str, ...] = ()
    retry_after: int | None = None


def parse_networks(text: str) -> tuple[Network, ...]:
    """Read a comma-separated list of addresses and CIDR networks.

    Raises:
        ValueError: One is neither; the text names it.
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


def client_network(address: str) -> str:
    """What counts as one client: an IPv4 address, or the network of an IPv6 address, of which a client has many."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(ip, IPv6Address):
        return address
    return str(ip.ipv4_mapped or IPv6Address(int(ip) >> 64 << 64))
