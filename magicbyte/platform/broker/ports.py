"""Free ports of this machine."""

from __future__ import annotations

import os
import random
import socket
import sys
from collections import deque

#: Below the ports that systems give to outgoing connections (from 32768 on Linux, 49152 elsewhere), and above those of
#: common servers.
_LISTENABLE = range(20_000, 32_768)


#: Descriptors that hold the ports given last. A server needs some seconds until it listens, and another process that
#: asks meanwhile must not get its port.
_held: deque[int] = deque()
_MOST_HELD = 32


def free_port() -> int:
    """Return a loopback port that nothing listens on at the moment, and that no outgoing connection will take.

    On Linux, further calls do not return it soon, not even in other processes.
    """
    while True:
        port = random.choice(_LISTENABLE)  # noqa: S311  not a secret
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                _hold(port)
            except OSError:
                continue
            return port


def _hold(port: int) -> None:
    """Take a name for the port that only one process can have, until it ends; raises OSError if another has it."""
    if sys.platform != "linux":
        return
    name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        name.bind(f"\0magicbyte-port-{port}")
    except OSError:
        name.close()
        raise
    _held.append(name.detach())
    if len(_held) > _MOST_HELD:
        os.close(_held.popleft())


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
