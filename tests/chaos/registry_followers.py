"""Very many subscribers of /events, and a writer beside them: each of them gets each change, and writes stay quick.

    python tests/chaos/registry_followers.py [--followers 8000] [--writes 200] [--pause 0.1]

Ends with 1 if the p99 of the writes reached 100 ms (and four times what it was without followers), if a follower missed
a change or got one twice, or if the server took over 40 KB for each follower. Two processes need a descriptor for each
follower: `ulimit -n`.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import selectors
import socket
import sys
import time
import urllib.request
from collections import Counter
from multiprocessing.connection import Connection
from urllib.parse import urlsplit

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry
from tests.processes import resident_bytes

P99, FACTOR, FOLLOWER_KB = 0.1, 4.0, 40
_GET = b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"
_EVENT = b"event: schema.registered"


def follow(port: int, followers: int, writes: int, until: Connection) -> None:
    """Open the followers, say so, and count the events of each until all have them or nothing comes for 30 s."""
    selector = selectors.EpollSelector()
    counts: Counter[int] = Counter()
    rests: dict[int, bytes] = {}
    following = 0
    for first in range(0, followers, 100):
        for _ in range(min(100, followers - first)):
            client = socket.create_connection(("127.0.0.1", port), timeout=60)
            client.sendall(_GET)
            client.setblocking(False)
            selector.register(client, selectors.EVENT_READ)
            rests[client.fileno()] = b""
        while following < min(first + 100, followers):
            following += _read(selector, rests, counts)
    until.send("following")
    heard = time.monotonic()
    while counts.total() < followers * writes and time.monotonic() - heard < 30:
        before = counts.total()
        _read(selector, rests, counts)
        heard = time.monotonic() if counts.total() > before else heard
    until.send(Counter(counts[number] for number in rests))
    until.recv()


def _read(selector: selectors.BaseSelector, rests: dict[int, bytes], counts: Counter[int]) -> int:
    """Read what has come; returns how many followers learned that they follow."""
    began = 0
    for key, _ in selector.select(1.0):
        client = key.fileobj
        assert isinstance(client, socket.socket)
        received = client.recv(1 << 16)
        if not received:
            raise ConnectionError("the server has closed the connection of a follower")
        data = rests[key.fd] + received
        began += data.count(b": following")
        counts[key.fd] += data.count(_EVENT)
        # An event may be cut, but is counted once.
        rests[key.fd] = data[-len(_EVENT) + 1 :].replace(b": following", b"")
    return began


def write(url: str, number: int) -> float:
    """Register a new schema; returns the seconds that it took."""
    schema = json.dumps({"type": "record", "name": f"R{number}", "fields": []})
    body = json.dumps({"schema": schema}).encode()
    headers = {"Content-Type": "application/json"}
    post = urllib.request.Request(f"{url}/subjects/s{number}/versions", body, headers)
    started = time.perf_counter()
    urllib.request.urlopen(post, timeout=60).read()
    return time.perf_counter() - started


def p99(seconds: list[float]) -> float:
    return sorted(seconds)[int(len(seconds) * 0.99)]


def memory_kb(server: ServerProcess) -> float:
    return resident_bytes(server.pid) / 1000


def run(followers: int, writes: int, pause: float) -> list[str]:
    """Follow and write; returns the problems."""
    properties = {"magicbyte.events.max.per.client": str(followers), "server.connection.limit": str(followers + 1000)}
    with running_registry(properties=properties) as server:
        alone = [write(server.url, number) for number in range(writes)]
        before = memory_kb(server)
        ours, theirs = multiprocessing.Pipe()
        arguments = (urlsplit(server.url).port, followers, writes, theirs)
        process = multiprocessing.get_context("spawn").Process(target=follow, args=arguments, daemon=True)
        process.start()
        assert ours.recv() == "following"
        meanwhile = []
        for number in range(writes, 2 * writes):
            meanwhile.append(write(server.url, number))
            time.sleep(pause)
        got: Counter[int] = ours.recv()
        grown = (memory_kb(server) - before) / followers
        ours.send("stop")
        process.join(60)
        after = [write(server.url, number) for number in range(2 * writes, 3 * writes)]
    times = [p99(alone), p99(meanwhile), p99(after)]
    text = " -> ".join(f"{each * 1000:.1f}" for each in times)
    print(f"{followers} followers, {writes} writes: p99 {text} ms (before, during, after), {grown:.0f} KB for each")
    limit = max(P99, FACTOR * times[0])
    problems = [f"the p99 of writes is {text} ms, over {limit * 1000:.0f} ms"] * (max(times) >= limit)
    if got != {writes: followers}:
        problems.append(f"followers by how many changes they got: {dict(got)}")
    if grown > FOLLOWER_KB:
        problems.append(f"a follower takes {grown:.0f} KB")
    return problems


def main() -> int:
    """Run; 0 if all went well."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--followers", type=int, default=8000)
    parser.add_argument("--writes", type=int, default=200)
    parser.add_argument("--pause", type=float, default=0.1)
    options = parser.parse_args()
    problems = run(options.followers, options.writes, options.pause)
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
