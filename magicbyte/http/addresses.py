"""The addresses that a server would listen on: whether this machine has them."""

from __future__ import annotations

import logging
import socket
from collections.abc import Sequence

from magicbyte.http.listener import Listener

log = logging.getLogger("magicbyte.http")


def warn_of_foreign(listeners: Sequence[Listener]) -> None:
    """Warn of listeners whose address this machine does not have; the machine that runs the server may have it."""
    for listener in listeners:
        family = socket.AF_INET6 if ":" in listener.host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            try:
                probe.bind((listener.host, 0))
            except OSError as error:
                log.warning(
                    "listeners: this machine cannot listen on %s: %s",
                    listener.host,
                    error.strerror,
                    extra={"event": "address_foreign", "host": listener.host},
                )
