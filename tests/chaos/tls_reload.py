"""A thousand certificates, each taken by SIGHUP while clients connect: no connection is refused, on either server."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import ssl
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.serialization import Encoding

from magicbyte.platform.server_process import ServerProcess
from magicbyte.security.tls.authority import Authority
from magicbyte.testing import running_registry, running_rest_proxy
from tests.chaos.kit.until_stopped import UntilStopped

CLIENTS = 3
TAKEN_SECONDS = 30.0
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def connected(server: ServerProcess, context: ssl.SSLContext) -> ssl.SSLSocket:
    address = urlsplit(server.url)
    raw = socket.create_connection((address.hostname, address.port), timeout=TAKEN_SECONDS)
    return context.wrap_socket(raw, server_hostname="127.0.0.1")


class Load(UntilStopped):
    """Clients that connect, ask once, and connect again."""

    def __init__(self, server: ServerProcess, context: ssl.SSLContext) -> None:
        super().__init__()
        self.failures: list[str] = []
        self.answers = 0
        self._server, self._context = server, context
        self._counting = threading.Lock()
        self.begin(*[self._run] * CLIENTS)

    def _run(self) -> None:
        while not self.stopping.is_set():
            try:
                with connected(self._server, self._context) as connection:
                    connection.sendall(GET)
                    answer = connection.recv(4096)
            except OSError as error:
                self.failures.append(repr(error))
                continue
            if not answer.startswith(b"HTTP/1.1 200"):
                self.failures.append(repr(answer[:80]))
            with self._counting:
                self.answers += 1


def reload(server: ServerProcess, authority: Authority, key: Path, context: ssl.SSLContext) -> None:
    """Put a new certificate in place, and wait until clients are shown it."""
    issued = authority.server("127.0.0.1")
    issued.write(key)
    os.kill(server.pid or 0, signal.SIGHUP)
    awaited, end = issued.certificate.public_bytes(Encoding.DER), time.monotonic() + TAKEN_SECONDS
    while True:
        with connected(server, context) as connection:
            if connection.getpeercert(binary_form=True) == awaited:
                return
        if time.monotonic() > end:
            raise TimeoutError("a new certificate was not taken")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reloads", type=int, default=1000)
    reloads = parser.parse_args().reloads
    authority = Authority()
    failed = False
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        ca, key = Path(folder, "ca.pem"), Path(folder, "server.pem")
        ca.write_bytes(authority.pem)
        authority.server("127.0.0.1").write(key)
        context = ssl.create_default_context(cafile=ca)
        properties = {"ssl.keystore.location": str(key)}
        servers = (
            stack.enter_context(running_registry("memory:", properties=properties, tls=context)),
            stack.enter_context(running_rest_proxy("127.0.0.1:1", "", properties=properties, tls=context)),
        )
        for server in servers:
            load = Load(server, context)
            try:
                for _ in range(reloads):
                    reload(server, authority, key, context)
            finally:
                load.stop()
            print(f"{server.name}: {reloads} reloads, {load.answers} answers, {len(load.failures)} failures")
            print("\n".join(sorted(set(load.failures))[:10]))
            failed = failed or bool(load.failures) or not load.answers
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
