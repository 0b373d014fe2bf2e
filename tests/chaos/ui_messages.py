"""Messages and schemas of some KB that cost the page's helpers much, and an innocent client beside them.

    python tests/chaos/ui_messages.py [--attack NAME ...] [--seconds 20] [--clients 20]

endless-example, endless-encode: a JSON Schema whose validation doubles with each of 60 levels. long-names: messages of
1 MB whose JSON has 250 MB. remarks: a million items to look at. cut: connections that are cut during the first attack.
killed: workers that are killed meanwhile.
The innocent client reads a schema, and decodes a message from another address. Ends with 1 if its p99 of reading
reached 250 ms (and four times what it was before), if a message was not decoded within 5 s, if the server or its
processes took more memory than they may, if the server was slower afterwards, or if an answer was not an expected one.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import signal
import socket
import statistics
import sys
import time
from collections import Counter
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import httpx

from magicbyte.testing import running_registry
from tests.chaos.kit.until_stopped import UntilStopped
from tests.chaos.rest_validation import FACTOR, P99, chain, p99, resident_mb
from tests.processes import bytes_of_all, descendants, words_of

#: How much the server may grow, and how much its worker processes may take: three with 512 MB, and their validators.
SERVER_MB, WORKERS_MB = 200, 3 * 600 + 3 * 600
#: The longest time of a message that the innocent client decodes, in seconds.
DECODED_SECONDS = 5.0
#: 503: the machine is busy, or a worker was killed.
EXPECTED = {200, 422, 429, 503}
NEIGHBOUR = "127.0.0.2"
LONG_NAMES = {"type": "array", "items": {"type": "record", "name": "R", "fields": [{"name": "n" * 245, "type": "int"}]}}
ENDLESS = {"schemaType": "JSON", "schema": json.dumps(chain(60, {"type": "integer"}))}
MILLION = b"\x80\x89\x7a" + bytes(1_000_000) + b"\0"
QUIET_REQUESTS = 300


def message(schema_id: int, payload: bytes) -> str:
    return base64.b64encode(b"\0" + schema_id.to_bytes(4) + payload).decode()


def prepare(http: httpx.Client) -> dict[str, tuple[str, Any]]:
    """Register the schemas; the path and the body of each attack."""
    ids = []
    for subject, schema in (("long", "long"), ("names", LONG_NAMES), ("flags", {"type": "array", "items": "boolean"})):
        answer = http.post(f"/subjects/{subject}-value/versions", json={"schema": json.dumps(schema)})
        ids.append(answer.json()["id"])
    endless = {"proposal": ENDLESS}
    return {
        "endless-example": ("example", endless),
        "endless-encode": ("encode", {**endless, "data": ["x"] * 100}),
        "long-names": ("decode", {"data": [message(ids[1], MILLION)]}),
        "remarks": ("decode", {"data": [message(ids[2], MILLION)]}),
        "cut": ("example", endless),
        "killed": ("example", endless),
    }


class Attackers(UntilStopped):
    """Clients that send the same request until they are stopped."""

    def __init__(self, url: str, path: str, body: Any, *, cut: bool) -> None:
        super().__init__()
        self._url, self._path, self._body, self._cut = url, path, json.dumps(body).encode(), cut
        self.answers: Counter[int] = Counter()

    def start(self, clients: int) -> None:
        self.begin(*[self._run] * clients)

    def _run(self) -> None:
        with httpx.Client(base_url=self._url, timeout=120) as client:
            while not self.stopping.is_set():
                if self._cut:
                    self._leave()
                    continue
                answer = client.post(f"/ui/{self._path}", content=self._body)
                self.answers[answer.status_code] += 1
                if answer.status_code == 429:
                    self.stopping.wait(float(answer.headers["retry-after"]))

    def _leave(self) -> None:
        """Send a request, and go half a second later."""
        target = urlsplit(self._url)
        with socket.create_connection((target.hostname, target.port or 0)) as connection:
            head = b"POST /ui/%b HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"
            connection.sendall(head % (self._path.encode(), len(self._body)) + self._body)
            self.stopping.wait(0.5)
        self.answers[200] += 1


class Decoding(UntilStopped):
    """A neighbour that decodes a message again and again."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url
        self.seconds: list[float] = []
        self.wrong: list[str] = []
        self.begin(self._run)

    def _run(self) -> None:
        transport = httpx.HTTPTransport(local_address=NEIGHBOUR)
        with httpx.Client(base_url=self._url, timeout=60, transport=transport) as client:
            while not self.stopping.wait(0.1):
                started = time.perf_counter()
                answer = client.post("/ui/decode", json={"data": [message(1, b"\2")]})
                self.seconds.append(time.perf_counter() - started)
                if answer.status_code != 200 or answer.json()["data"][0]["value"] != 1:
                    self.wrong.append(answer.text[:300])


def kill_workers(pid: int) -> None:
    for child in descendants(pid):
        with suppress(OSError):
            if "magicbyte.ui.messages.worker" in words_of(child):
                os.kill(child, signal.SIGKILL)


def timed(http: httpx.Client) -> float:
    started = time.perf_counter()
    answer = http.get("/subjects/long-value/versions/1")
    assert answer.status_code == 200
    return time.perf_counter() - started


def withstood(name: str, url: str, pid: int, request: tuple[str, Any], seconds: float, clients: int) -> bool:
    """Carry out an attack and say what came of it; True if all was well."""
    with httpx.Client(base_url=url, timeout=60) as http:
        before = [timed(http) for _ in range(QUIET_REQUESTS)]
        server_before = resident_mb(pid)
        attackers, decoding = Attackers(url, *request, cut=name == "cut"), Decoding(url)
        attackers.start(clients)
        during: list[float] = []
        server_mb = workers_mb = 0.0
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            during.append(timed(http))
            time.sleep(0.005)
            if len(during) % 50 == 0:
                server_mb = max(server_mb, resident_mb(pid) - server_before)
                workers_mb = max(workers_mb, bytes_of_all(descendants(pid)) / 1e6)
            if name == "killed" and len(during) % 200 == 0:
                kill_workers(pid)
        decoding.stop()
        attackers.stop()
        after = [timed(http) for _ in range(QUIET_REQUESTS)]
    limit = max(P99, FACTOR * p99(before))
    wrong = [] if name == "killed" else decoding.wrong
    problems = [
        text
        for text, is_so in (
            (f"p99 during the attack over {limit * 1000:.0f} ms", p99(during) >= limit),
            (f"p99 afterwards over {limit * 1000:.0f} ms", p99(after) >= limit),
            ("slower afterwards", statistics.median(after) > 2 * statistics.median(before) + 0.005),
            (f"a message took over {DECODED_SECONDS:g} s", max(decoding.seconds, default=99) > DECODED_SECONDS),
            (f"messages were not decoded: {wrong[:2]}", bool(wrong)),
            (f"the server grew by more than {SERVER_MB} MB", server_mb > SERVER_MB),
            (f"workers took more than {WORKERS_MB} MB", workers_mb > WORKERS_MB),
            (f"an answer other than {sorted(EXPECTED)}", bool(attackers.answers.keys() - EXPECTED)),
            ("no attack came to an end", not attackers.answers),
        )
        if is_so
    ]
    times = ", ".join(
        f"{when} {statistics.median(values) * 1000:.1f}/{p99(values) * 1000:.0f}"
        for when, values in (("before", before), ("during", during), ("after", after), ("decoding", decoding.seconds))
    )
    sys.stdout.write(
        f"{name}: p50/p99 in ms {times}; server +{server_mb:.0f} MB, workers {workers_mb:.0f} MB; attackers' answers "
        f"{dict(attackers.answers)}; {'; '.join(problems) or 'well'}\n"
    )
    sys.stdout.flush()
    return not problems


def main() -> int:
    """Carry out the attacks; 0 if all went well."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attack", nargs="+")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--clients", type=int, default=20)
    options = parser.parse_args()
    well = True
    with running_registry() as registry, httpx.Client(base_url=registry.url, timeout=60) as http:
        assert registry.pid is not None
        attacks = prepare(http)
        for name in options.attack or attacks:
            well &= withstood(name, registry.url, registry.pid, attacks[name], options.seconds, options.clients)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
