"""Free ports of this machine."""

from __future__ import annotations

import socket


def free_port() -> int:
    """Return a loopback port that nothing listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
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
