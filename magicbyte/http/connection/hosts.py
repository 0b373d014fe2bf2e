"""The names by which clients may call a server, so that no foreign name can be made to stand for its address."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import ip_address

#: A Host field: a name or an IPv4 address, or an IPv6 address in brackets; then perhaps a port.
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]/@]+)(?::\d*)?")
#: How many Host fields are remembered at most; clients have a handful of spellings.
_REMEMBERED = 256


class Hosts:
    """A set of names, with the addresses that are ours whatever name they have.

    A page on a name of its own can have that name lead to this server (DNS rebinding); its browser then takes the two
    for one, but still says the name.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(name.lower().rstrip(".") for name in names if name)
        self._answers: dict[tuple[bytes, str], bool] = {}

    def allow(self, host: bytes, server: tuple[str, int | None] | None) -> bool:
        """Tell whether a Host field names this server; its port does not matter.

        Args:
            host: The field's value.
            server: The address at which the client reached the server.
        """
        address = server[0] if server else ""
        allowed = self._answers.get((host, address))
        if allowed is None:
            allowed = self._judge(host.decode("latin-1"), address)
            if len(self._answers) < _REMEMBERED:
                self._answers[host, address] = allowed
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
    """Tell whether an address that a socket listens on can be reached from this machine alone."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
