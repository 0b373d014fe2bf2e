"""A closed-loop HTTP load in a process of its own: each client sends its next request when the last is answered.

Reads a JSON specification from standard input, prints the result as JSON:

    {"host": .., "port": .., "clients": 8, "seconds": 2.0, "requests": [base64 ..]}

The requests are sent in turn, each client beginning at another. `##########` in a request stands for a number that no
other request of the run has, in as many digits.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import time
from itertools import count
from typing import cast

import uvloop

NUMBER = b"#" * 10


class Client(asyncio.Protocol):
    """One connection that keeps one request under way."""

    #: Counts from the time in microseconds: no client is fast enough to reach the first number of the next run.
    numbers = count(int(time.time() * 1e6) % 10**10)

    def __init__(self, requests: list[bytes], first: int, until: float) -> None:
        self.requests = requests
        self.next = first
        self.until = until
        self.latencies: list[float] = []
        self.failures = 0
        self.sent_at = 0.0
        self.buffer = b""
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.send()

    def send(self) -> None:
        request = self.requests[self.next % len(self.requests)]
        self.next += 1
        if NUMBER in request:
            request = request.replace(NUMBER, b"%010d" % next(self.numbers))
        self.sent_at = time.perf_counter()
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        self.buffer = self.buffer + data if self.buffer else data
        head, separator, body = self.buffer.partition(b"\r\n\r\n")
        if not separator:
            return
        lowered = head.lower()
        start = lowered.find(b"content-length:") + 15
        if start < 15 or len(body) < int(lowered[start : lowered.find(b"\r\n", start) % (len(head) + 1)]):
            return
        now = time.perf_counter()
        self.latencies.append(now - self.sent_at)
        self.failures += head[9:10] != b"2"
        self.buffer = b""
        if now < self.until:
            self.send()
        elif not self.done.done():
            self.transport.close()
            self.done.set_result(None)

    def connection_lost(self, _error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(ConnectionError("the server closed the connection"))


async def run(specification: dict[str, object]) -> dict[str, object]:
    requests = [base64.b64decode(text) for text in specification["requests"]]  # type: ignore[attr-defined]
    loop = asyncio.get_running_loop()
    clients, seconds = int(str(specification["clients"])), float(str(specification["seconds"]))
    started = time.perf_counter()
    protocols = []
    for number in range(clients):
        _, client = await loop.create_connection(
            lambda number=number: Client(requests, number * len(requests) // clients, started + seconds),  # type: ignore[misc]
            str(specification["host"]),
            int(str(specification["port"])),
        )
        protocols.append(client)
    await asyncio.gather(*(client.done for client in protocols))
    elapsed = time.perf_counter() - started
    latencies = sorted(latency for client in protocols for latency in client.latencies)
    return {
        "requests": len(latencies),
        "failures": sum(client.failures for client in protocols),
        "seconds": elapsed,
        "p50_ms": latencies[len(latencies) // 2] * 1000,
        "p99_ms": latencies[len(latencies) * 99 // 100] * 1000,
    }


if __name__ == "__main__":
    print(json.dumps(uvloop.run(run(json.load(sys.stdin)))))
