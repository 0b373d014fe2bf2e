"""Free ports of this machine."""

from __future__ import annotations

import random
import socket

#: Below the ports that systems give to outgoing connections (from 32768 on Linux, 49152 elsewhere), and above those of
#: common servers.
_LISTENABLE = range(20_000, 32_768)


def free_port() -> int:
    """Return a loopback port that nothing listens on at the moment, and that no outgoing connection will take."""
    while True:
        port = random.choice(_LISTENABLE)  # noqa: S311  not a secret
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def port_is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Tell whether a server could listen on the port."""
    with socket.socket() as probe:
        # Servers set this too; without it, connections that are still closing would count as a listener.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True
