"""Requests that take very much work, and an innocent client beside them: it must hardly notice.

    python tests/chaos/registry_attacked.py [--attack NAME] [--size 1.0] [--seconds 20]

Each attack is made by several clients at a time. Ends with 1 if an innocent client's p99 reached 250 ms meanwhile (and
four times what it was before), if the server took more memory than it may, or if it was slower afterwards.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from magicbyte.testing import running_registry
from tests.processes import bytes_of_all, descendants

#: The longest p99 of an innocent client, in seconds, on a machine that has nothing else to do.
P99 = 0.25
#: How many times its p99 of before is allowed on a machine that is busy anyway.
FACTOR = 4.0
#: How much memory the server's own process may take besides what it had, in MB; and all its children together.
SERVER_MB = 200
CHILDREN_MB = 1000
CLIENTS = 4
#: How much of an answer is kept, in bytes.
_HEAD = 10_000

Request = tuple[str, str, Any]


@dataclass(frozen=True)
class Attack:
    """The requests that attackers send again and again, once the registry is prepared."""

    prepare: Callable[[str, float], None]
    requests: Callable[[float], Sequence[Request]]
    #: Statuses and codes that the answers may have.
    allowed: frozenset[int] = frozenset({200, 409, 42209, 503})


@dataclass
class Outcome:
    """The outcome of an attack: p99 of the innocent before, during and after in seconds, and what was answered."""

    before: float
    during: float = 0.0
    after: float = 0.0
    server_mb: float = 0.0
    children_mb: float = 0.0
    answers: Counter[int] = field(default_factory=Counter)
    slowest: float = 0.0

    def problems(self, allowed: frozenset[int]) -> list[str]:
        limit = max(P99, FACTOR * self.before)
        found = []
        if self.during >= limit:
            found.append(f"p99 of {self.during * 1000:.0f} ms, over {limit * 1000:.0f} ms")
        if self.after >= limit:
            found.append(f"p99 of {self.after * 1000:.0f} ms afterwards, over {limit * 1000:.0f} ms")
        if self.server_mb > SERVER_MB:
            found.append(f"the server grew by {self.server_mb:.0f} MB")
        if self.children_mb > CHILDREN_MB:
            found.append(f"its children took {self.children_mb:.0f} MB")
        if self.answers.keys() - allowed:
            found.append(f"answers {dict(self.answers)}")
        return found

    def __str__(self) -> str:
        times = " ".join(
            f"{name} {seconds * 1000:.0f} ms"
            for name, seconds in (("before", self.before), ("during", self.during), ("after", self.after))
        )
        return (
            f"p99 {times}; server +{self.server_mb:.0f} MB, children {self.children_mb:.0f} MB; "
            f"answers {dict(self.answers)}, the slowest after {self.slowest:.1f} s"
        )


def send(url: str, method: str, path: str, body: Any = None, timeout: float = 120) -> httpx.Response:
    return httpx.request(method, f"{url}{path}", json=body, timeout=timeout)


def register(url: str, subject: str, schema: Any, **fields: Any) -> None:
    query = fields.pop("query", "?force=true")
    text = schema if isinstance(schema, str) else json.dumps(schema)
    answered = send(url, "POST", f"/subjects/{subject}/versions{query}", {"schema": text, **fields})
    assert answered.status_code == 200, answered.text[:300]


# Schemas


def union(count: int, other: str) -> list[dict[str, Any]]:
    """An Avro union of records that have one name in many namespaces."""
    fields = [{"name": "a", "type": "int"}, {"name": other, "type": "string"}]
    return [{"type": "record", "name": "R", "namespace": f"n{at}", "fields": fields} for at in range(count)]


def nested(count: int, kind: str, **keywords: Any) -> dict[str, Any]:
    """A JSON Schema of so many objects with 20 properties each, which have these keywords too."""
    inner = {f"q{at}": {"type": kind, "description": "of this", **keywords} for at in range(20)}
    return {"type": "object", "properties": {f"p{at}": {"type": "object", "properties": inner} for at in range(count)}}


def tangle(depth: int, last: str) -> dict[str, Any]:
    """A JSON Schema whose references meet again and again."""
    definitions: dict[str, Any] = {f"d{depth}": {"type": last}}
    for at in range(depth):
        inner = {"$ref": f"#/definitions/d{at + 1}"}
        definitions[f"d{at}"] = {"oneOf": [inner, {"properties": {"x": inner}}, {"allOf": [inner, {"title": "t"}]}]}
    return {"$ref": "#/definitions/d0", "definitions": definitions}


def record(number: int, size: int = 20) -> str:
    fields = [{"name": f"field_{at}_{number % 7}", "type": ["null", "string"], "default": None} for at in range(size)]
    return json.dumps({"type": "record", "name": f"R{number}", "fields": fields})


# Attacks


def _unions(url: str, size: float) -> None:
    for number in range(3):
        register(url, "unions", union(int(900 * size) + 60, f"b{number}"))
    send(url, "PUT", "/config/unions", {"compatibility": "FULL_TRANSITIVE"})


def _explained(url: str, size: float) -> None:
    register(url, "explained", nested(int(60 * size) + 10, "integer"), schemaType="JSON")
    send(url, "PUT", "/config/explained", {"compatibility": "FULL"})


def _tangled(url: str, size: float) -> None:
    register(url, "tangled", tangle(int(300 * size) + 60, "integer"), schemaType="JSON")


def _large(url: str, size: float) -> None:
    register(url, "large", nested(int(2400 * size) + 100, "string", **{"confluent:tags": ["PII"]}), schemaType="JSON")


def _many(url: str, size: float) -> None:
    for number in range(int(400 * size) + 20):
        register(
            url, f"many-{number}", json.dumps({"type": "fixed", "name": "F", "size": 1, "doc": f"{number}" * 300_000})
        )


def _subjects(url: str, size: float) -> None:
    lines = [
        json.dumps({"subject": f"s{number}", "version": 1, "id": 1_000_000 + number, "schema": record(number)})
        for number in range(int(20_000 * size) + 200)
    ]
    headers = {"Content-Type": "application/x-ndjson"}
    httpx.post(f"{url}/import?lines=true", content="\n".join(lines), headers=headers, timeout=300).raise_for_status()


def _json_body(schema: Any) -> dict[str, Any]:
    return {"schema": json.dumps(schema), "schemaType": "JSON"}


ATTACKS: dict[str, Attack] = {
    "unions": Attack(
        _unions,
        lambda size: [
            ("POST", "/subjects/unions/versions", {"schema": json.dumps(union(int(900 * size) + 60, "c"))}),
            (
                "POST",
                "/compatibility/subjects/unions/versions",
                {"schema": json.dumps(union(int(900 * size) + 60, "d"))},
            ),
        ],
    ),
    "explanations": Attack(
        _explained,
        lambda size: [
            ("POST", f"/{path}/versions?explain=true&verbose=true", _json_body(nested(int(60 * size) + 10, "string")))
            for path in ("subjects/explained", "compatibility/subjects/explained")
        ],
    ),
    "tangles": Attack(
        _tangled,
        lambda size: [
            ("POST", f"/{path}/versions", _json_body(tangle(int(300 * size) + 60, "string")))
            for path in ("subjects/tangled", "compatibility/subjects/tangled")
        ],
    ),
    "large schemas": Attack(
        _large,
        lambda _size: [
            ("GET", f"/subjects/large/versions/1{query}", None)
            for query in ("?findTags=*", "?format=resolved", "/schema?format=resolved")
        ],
    ),
    "long lists": Attack(_many, lambda _size: [("GET", "/schemas", None), ("GET", "/schemas?limit=1000", None)]),
    "searches": Attack(
        _subjects,
        lambda _size: [
            ("GET", f"/search?field=field_{number}", None) if number % 2 else ("GET", f"/search?name=R{number}", None)
            for number in range(20)
        ],
    ),
}


def attack(url: str, pid: int, name: str, *, size: float, seconds: float) -> tuple[Outcome, list[str]]:
    """Make an attack on a registry for so long, and tell what came of it."""
    chosen = ATTACKS[name]
    chosen.prepare(url, size)
    requests = chosen.requests(size)
    outcome = Outcome(innocent(url, seconds / 2))
    stop = threading.Event()
    attackers = [
        threading.Thread(target=_attack, args=(url, itertools.cycle(requests), outcome, stop)) for _ in range(CLIENTS)
    ]
    watching = threading.Thread(target=_watch, args=(pid, outcome, stop))
    for thread in (*attackers, watching):
        thread.start()
    outcome.during = innocent(url, seconds)
    stop.set()
    for thread in (*attackers, watching):
        thread.join()
    outcome.after = innocent(url, seconds / 2)
    return outcome, outcome.problems(chosen.allowed)


def _attack(url: str, requests: Iterator[Request], outcome: Outcome, stop: threading.Event) -> None:
    with httpx.Client(timeout=120) as client:
        while not stop.is_set():
            method, path, body = next(requests)
            started = time.monotonic()
            with client.stream(method, f"{url}{path}", json=body) as answered:
                head = b""
                for chunk in answered.iter_raw():
                    head += chunk if len(head) < _HEAD else b""
            outcome.slowest = max(outcome.slowest, time.monotonic() - started)
            status = answered.status_code
            outcome.answers[json.loads(head)["error_code"] if status == 422 else status] += 1


def _watch(pid: int, outcome: Outcome, stop: threading.Event) -> None:
    at_first = _rss_mb(pid)
    while not stop.wait(0.1):
        outcome.server_mb = max(outcome.server_mb, _rss_mb(pid) - at_first)
        outcome.children_mb = max(outcome.children_mb, bytes_of_all(descendants(pid)) / 1e6)


def _rss_mb(pid: int) -> float:
    return bytes_of_all((pid,)) / 1e6


# The innocent client, in a process of its own


def innocent(url: str, seconds: float) -> float:
    """The p99 of a client that registers, checks and reads small schemas, in seconds."""
    command = [sys.executable, "-P", __file__, "--innocent", url, "--seconds", str(seconds)]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def _be_innocent(url: str, seconds: float) -> None:
    until, latencies = time.monotonic() + seconds, []
    name = f"innocent-{time.time_ns()}"
    with httpx.Client(base_url=url, timeout=60) as client:
        for number in itertools.count():
            schema = {"schema": record(number, 5)}
            for method, path, body in (
                ("POST", f"/subjects/{name}-{number}/versions", schema),
                ("POST", f"/compatibility/subjects/{name}-{number}/versions/latest", schema),
                ("GET", f"/subjects/{name}-{number}/versions", None),
                ("GET", "/health/ready", None),
                ("GET", "/metrics", None),
            ):
                started = time.monotonic()
                answered = client.request(method, path, json=body)
                latencies.append(time.monotonic() - started)
                assert answered.status_code == 200, answered.text[:300]
                time.sleep(0.005)
            if time.monotonic() > until:
                break
    sys.stdout.write(str(sorted(latencies)[len(latencies) * 99 // 100]))


def main() -> int:
    """Make the attacks, each on a registry of its own; 0 if all went well."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attack", action="append", choices=[*ATTACKS])
    parser.add_argument("--size", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--innocent", metavar="URL", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.innocent:
        _be_innocent(options.innocent, options.seconds)
        return 0
    failed = False
    for name in options.attack or ATTACKS:
        with running_registry("memory:") as server:
            assert server.pid is not None
            outcome, problems = attack(server.url, server.pid, name, size=options.size, seconds=options.seconds)
        failed = failed or bool(problems)
        sys.stdout.write(f"{name}: {outcome}\n" + "".join(f"  {problem}\n" for problem in problems))
        sys.stdout.flush()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
