"""Attacks with connections: half-sent and pipelined requests, too many connections, and a head without end.

While each runs, an innocent client, from the same address, on a connection that it keeps and on new ones, is answered
within 250 ms (p99, `--p99-ms`) and never refused; the server's memory grows by less than a bound, and afterwards the
server is as quick as before.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import multiprocessing
import resource
import socket
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from urllib.parse import urlsplit

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry, running_rest_proxy
from tests.processes import resident_bytes

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
HALF = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Half: "
#: Each connection may have a head of 32 KiB, 256 of them at most by address; the rest is the process's own.
GROWTH_BYTES = 64 << 20


def address(server: ServerProcess) -> tuple[str, int]:
    parts = urlsplit(server.url)
    return parts.hostname or "", parts.port or 0


@dataclass
class Innocent:
    """The times and failures of an innocent client's requests."""

    seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def ask(self, connection: http.client.HTTPConnection) -> None:
        started = time.perf_counter()
        try:
            connection.request("GET", "/")
            response = connection.getresponse()
            response.read()
        except (OSError, http.client.HTTPException) as error:
            self.failures.append(repr(error))
            connection.close()
        else:
            if response.status != 200:
                self.failures.append(str(response.status))
        self.seconds.append(time.perf_counter() - started)


def ask_on(host: str, port: int, until: Connection) -> None:
    """Send requests, in turn on one connection that is kept and on a new one, until told to stop."""
    told = Innocent()
    until.send("begun")
    kept = http.client.HTTPConnection(host, port, timeout=10)
    while not until.poll(0.002):
        told.ask(kept)
        with contextlib.closing(http.client.HTTPConnection(host, port, timeout=10)) as new:
            told.ask(new)
    kept.close()
    until.send(told)


@contextmanager
def innocent(server: ServerProcess) -> Iterator[Innocent]:
    """An innocent client in a process of its own; what became of its requests is told at the end of the block."""
    told = Innocent()
    context = multiprocessing.get_context("fork")
    ours, its = context.Pipe()
    client = context.Process(target=ask_on, args=(*address(server), its), daemon=True)
    client.start()
    ours.recv()
    try:
        yield told
    finally:
        ours.send("stop")
        vars(told).update(vars(ours.recv()))
        client.join()


def quickness(server: ServerProcess, seconds: float) -> float:
    """The time in which the quickest tenth of an innocent's requests is answered, in seconds.

    Others share the machine; they make some requests slow, and a server that is slow makes all of them slow.
    """
    with innocent(server) as client:
        time.sleep(seconds)
    return statistics.quantiles(client.seconds, n=10)[0]


def connections(server: ServerProcess, count: int, first: bytes) -> list[socket.socket]:
    opened = []
    for _ in range(count):
        with contextlib.suppress(OSError):
            opened.append(socket.create_connection(address(server), timeout=10))
            opened[-1].sendall(first)
    return opened


def is_open(connection: socket.socket) -> bool:
    """Whether the server still waits; what it says to such a client, it says when it closes."""
    connection.setblocking(False)
    try:
        connection.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def half_sent(server: ServerProcess, options: argparse.Namespace) -> str:
    """Open connections that send half a head and wait."""
    opened = connections(server, options.half_sent, HALF)
    time.sleep(options.seconds)
    left = sum(map(is_open, opened))
    deadline = time.monotonic() + 60
    while any(map(is_open, opened)) and time.monotonic() < deadline:
        time.sleep(0.2)
    still = sum(map(is_open, opened))
    for connection in opened:
        connection.close()
    if still:
        raise AssertionError(f"{still} half-sent requests are still open after a minute")
    return f"{options.half_sent} half-sent requests, of which {left} were kept for {options.seconds:g} s and 0 for ever"


def many(server: ServerProcess, options: argparse.Namespace) -> str:
    """Open more connections than the server has descriptors, some silent and some with half a request."""
    opened = connections(server, options.connections // 2, b"")
    opened += connections(server, options.connections - len(opened), HALF)
    time.sleep(options.seconds)
    for connection in opened:
        connection.close()
    return f"{options.connections} connections to a server with {options.descriptors} descriptors"


def endless_heads(server: ServerProcess, options: argparse.Namespace) -> str:
    """Send heads that do not end, several at once."""
    sent = rounds = 0
    until = time.monotonic() + options.seconds
    while rounds == 0 or time.monotonic() < until:
        # It is about what the server takes of them, not about what the kernel can copy.
        time.sleep(0.1)
        for connection in connections(server, 4, HALF):
            with contextlib.suppress(OSError):
                for _ in range(options.head_mb * 16):
                    sent += connection.send(b"x" * 65536)
            connection.close()
        rounds += 1
    return f"{4 * rounds} heads of {options.head_mb} MB, of which {sent >> 20} MiB were sent before they were refused"


def pipelined(server: ServerProcess, options: argparse.Namespace) -> str:
    """Send many requests at once on each connection, for as long as the server reads; read no answers."""
    opened = connections(server, options.pipelining, b"")
    for connection in opened:
        connection.setblocking(False)
    sent = 0
    until = time.monotonic() + options.seconds
    while time.monotonic() < until:
        for connection in opened:
            with contextlib.suppress(OSError):
                sent += connection.send(GET * 5500)
        time.sleep(0.05)
    for connection in opened:
        connection.close()
    return f"{options.pipelining} connections with {sent // len(GET)} pipelined requests"


Attack = Callable[[ServerProcess, argparse.Namespace], str]


def under(attack: Attack, server: ServerProcess, options: argparse.Namespace) -> list[str]:
    """Run an attack; answers what was wrong."""
    quick, small = quickness(server, options.seconds), resident_bytes(server.pid)
    with innocent(server) as client:
        what = attack(server, options)
    grown = resident_bytes(server.pid) - small
    # A server that is slower for good is slower each time.
    afterwards = min(quickness(server, options.seconds) for _ in range(3))
    p99 = statistics.quantiles(client.seconds, n=100)[98]
    sys.stdout.write(
        f"{server.name}: {what}\n    innocent: {len(client.seconds)} requests, {len(client.failures)} failed, "
        f"p99 {p99 * 1000:.1f} ms; p10 before {quick * 1000:.2f} ms, afterwards {afterwards * 1000:.2f} ms; "
        f"memory {grown / (1 << 20):+.1f} MiB\n"
    )
    wrong = {
        f"the innocent's requests failed: {client.failures[:3]}": bool(client.failures),
        f"p99 is over {options.p99_ms:g} ms": p99 * 1000 > options.p99_ms,
        f"memory grew by more than {GROWTH_BYTES >> 20} MiB": grown > GROWTH_BYTES,
        "it is slower afterwards": afterwards > 1.5 * quick + 0.0005,
    }
    return [f"{server.name}, {what}: {text}" for text, is_so in wrong.items() if is_so]


@contextmanager
def descriptors(count: int) -> Iterator[None]:
    """Limit the file descriptors of processes that are started within the block (ulimit -n)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def servers(options: argparse.Namespace) -> Sequence[contextlib.AbstractContextManager[ServerProcess]]:
    short = {"magicbyte.request.head.timeout.ms": str(options.head_timeout_ms)}
    return (
        running_registry("memory:", properties=short),
        # No request gets to a broker.
        running_rest_proxy("127.0.0.1:1", "", properties=short),
    )


def main() -> int:
    """Run the attacks on both servers; 0 if all was well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half-sent", type=int, default=2000)
    parser.add_argument("--connections", type=int, default=600)
    parser.add_argument("--pipelining", type=int, default=150)
    parser.add_argument("--descriptors", type=int, default=300)
    parser.add_argument("--head-mb", type=int, default=20)
    parser.add_argument("--head-timeout-ms", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--p99-ms", type=float, default=250.0)
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = max(options.half_sent, options.connections) + 200
    if hard != resource.RLIM_INFINITY and hard < needed:
        sys.stderr.write(f"this needs {needed} descriptors (ulimit -Hn is {hard})\n")
        return 1
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    wrong: list[str] = []
    for starting in servers(options):
        with starting as server:
            for attack in (half_sent, endless_heads, pipelined):
                wrong += under(attack, server, options)
    for starting in servers(options):
        with descriptors(options.descriptors):
            server = starting.__enter__()
        try:
            wrong += under(many, server, options)
        finally:
            starting.__exit__(None, None, None)
    sys.stdout.write("".join(f"WRONG: {text}\n" for text in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
