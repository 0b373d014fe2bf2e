"""Ports of this machine."""

from __future__ import annotations

import socket


def free_port() -> int:
    """Return a port of the loopback that nothing listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def port_is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen on the port."""
    with socket.socket() as probe:
        # As servers do; else connections that are being closed would count as a listener.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True
