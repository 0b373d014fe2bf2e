"""The Host names that a server accepts, as a defence against DNS rebinding."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import ip_address

#: A Host field: a name or an IPv4 address, or an IPv6 address in brackets; then perhaps a port.
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]/@]+)(?::\d*)?")
#: How many Host fields are cached at most; clients use a handful of spellings.
_REMEMBERED = 256


class Hosts:
    """A set of accepted names; loopback addresses and the server's own address are always accepted.

    In DNS rebinding, a foreign page's name resolves to this server's address. The browser then treats page and server
    as the same origin, but the Host field still has the foreign name.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(name.lower().rstrip(".") for name in names if name)
        self._decisions: dict[tuple[bytes, str], bool] = {}

    def allow(self, host: bytes, server: tuple[str, int | None] | None) -> bool:
        """Tell whether a Host field names this server; its port does not matter.

        Args:
            host: The field's value.
            server: The address at which the client reached the server.
        """
        address = server[0] if server else ""
        allowed = self._decisions.get((host, address))
        if allowed is None:
            allowed = self._judge(host.decode("latin-1"), address)
            if len(self._decisions) < _REMEMBERED:
                self._decisions[host, address] = allowed
        return allowed

    def _judge(self, host: str, address: str) -> bool:
        match = _HOST.fullmatch(host.strip())
        if match is None:
            return False
        name = match[1].lower().rstrip(".")
        if name in self._names or name == "localhost" or name.endswith(".localhost"):
            return True
        try:
            literal = ip_address(name.strip("[]"))
        except ValueError:
            return False
        return literal.is_loopback or str(literal) == address


def is_loopback(address: str) -> bool:
    """Tell whether an address that a socket listens on can be reached only from this machine."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
