"""JSON Schemas that take a validator very much work, sent to the REST proxy, and an innocent client beside them.

    python tests/chaos/rest_validation.py [--attack NAME ...] [--seconds 20] [--clients 8]

Ends with 1 if the p99 of the innocent client reached 250 ms during an attack (and four times what it was before), if
the proxy took more memory than it may, if it was slower afterwards, or if an answer was not the one expected.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx

from magicbyte.testing import running_registry, running_rest_proxy, temporary_broker
from tests.chaos.kit.until_stopped import UntilStopped
from tests.processes import bytes_of_all, descendants

#: The longest p99 of the innocent client, in seconds; or so many times its p99 of before, if the machine is busy.
P99, FACTOR = 0.25, 4.0
#: How much the proxy may grow, and how much all its worker processes may take, in MB.
PROXY_MB, WORKERS_MB = 200, 2 * 600
#: The statuses that an attacker may get.
EXPECTED = {200, 207, 400, 413, 422, 429}
#: Requests of the innocent client before and after.
QUIET_REQUESTS = 300
JSON = {"content-type": "application/vnd.kafka.json.v2+json"}
JSON_SCHEMA = {"content-type": "application/vnd.kafka.jsonschema.v2+json"}
PLAIN = {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}, "required": ["id"]}
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


def chain(depth: int, leaf: Any, **beside: Any) -> dict[str, Any]:
    """Schemas that each refer to the next one twice."""
    links = {f"d{at}": {"oneOf": [{"$ref": f"#/$defs/d{at + 1}"}] * 2, **beside} for at in range(depth)}
    return {"$schema": DRAFT_2020, "$defs": {**links, f"d{depth}": leaf}, "$ref": "#/$defs/d0"}


def records(schema: Any, value: Any, count: int = 1) -> Iterator[Any]:
    """The same request again and again."""
    while True:
        yield {"value_schema": json.dumps(schema), "records": [{"value": value}] * count}


def always_new(depth: int) -> Iterator[Any]:
    """A request with another schema each time."""
    number = 0
    while True:
        number += 1
        yield {
            "value_schema": json.dumps({**chain(depth, {"type": "integer"}), "title": f"t{number}"}),
            "records": [{"value": "x"}],
        }


#: Requests, and what their refusals say.
ATTACKS: dict[str, tuple[Iterator[Any], str]] = {
    "depth-16": (records(chain(16, {"type": "integer"}), "x"), "records[0].value: refused by oneOf"),
    "depth-20": (records(chain(20, {"type": "integer"}), "x"), "records[0].value: refused by oneOf"),
    "depth-26": (records(chain(26, {"type": "integer"}), "x"), "records[0].value: refused by oneOf"),
    "compiling": (
        records(chain(26, {"properties": {"a": True}}, unevaluatedProperties=False), {"a": 1}),
        "records[0].value: refused by",
    ),
    "regular-expression": (
        records({"items": {"pattern": "(?<=a)(a|aa)+(?=c)"}}, ["a" * 1000 + "!"] * 1000),
        "records[0].value",
    ),
    "many-records": (records(chain(20, {"type": "integer"}), {"a": 1}, 1000), "records[0].value: refused by oneOf"),
    "large-value": (
        records({"items": {"oneOf": [{"enum": [number]} for number in range(40)]}}, [99] * 200_000),
        "records[0].value",
    ),
    "always-new": (always_new(22), "records[0].value: refused by oneOf"),
}


class Innocent:
    """A client that produces and looks, one request after another."""

    def __init__(self, url: str, topic: str) -> None:
        self._client = httpx.Client(base_url=url, timeout=300)
        self._topic = topic
        schema = {"value_schema": json.dumps(PLAIN), "records": [{"value": {"id": 0}}]}
        answer = self._client.post(f"/topics/{topic}", json=schema, headers=JSON_SCHEMA)
        self._schema_id = answer.json()["value_schema_id"]

    def request(self, number: int) -> float:
        """Seconds that a request took."""
        path = f"/topics/{self._topic}"
        started = time.perf_counter()
        if number % 3 == 0:
            answer = self._client.post(path, json={"records": [{"value": number}]}, headers=JSON)
        elif number % 3 == 1:
            body = {"value_schema_id": self._schema_id, "records": [{"value": {"id": number, "name": "n"}}] * 10}
            answer = self._client.post(path, json=body, headers=JSON_SCHEMA)
        else:
            answer = self._client.get("/topics")
        seconds = time.perf_counter() - started
        assert answer.status_code == httpx.codes.OK, answer.text
        return seconds

    def quietly(self) -> list[float]:
        """The times without an attack."""
        return [self.request(number) for number in range(QUIET_REQUESTS)]


@dataclass
class Attackers(UntilStopped):
    """Clients that send the same attack until they are stopped."""

    url: str
    topic: str
    bodies: Iterator[Any]
    reason: str
    answers: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    slowest: float = 0.0

    def __post_init__(self) -> None:
        super().__init__()

    def start(self, clients: int) -> None:
        """Begin."""
        self.begin(*[self._run] * clients)

    def _run(self) -> None:
        body = json.dumps(next(self.bodies)) if self.reason else ""
        with httpx.Client(base_url=self.url, timeout=300) as client:
            while not self.stopping.is_set():
                started = time.perf_counter()
                answer = client.post(f"/topics/{self.topic}", content=body, headers=JSON_SCHEMA)
                self.slowest = max(self.slowest, time.perf_counter() - started)
                self.answers[answer.status_code] += 1
                if answer.status_code == 400 and self.reason not in answer.text:
                    self.wrong.append(answer.text[:300])
                if answer.status_code == 429:
                    time.sleep(float(answer.headers["retry-after"]))
                body = json.dumps(next(self.bodies))


def p99(seconds: list[float]) -> float:
    return sorted(seconds)[int(len(seconds) * 0.99)]


def resident_mb(pid: int) -> float:
    """Resident memory of a process."""
    return bytes_of_all((pid,)) / 1e6


def attack(name: str, url: str, pid: int, *, seconds: float, clients: int) -> bool:
    """Carry out an attack and say what came of it; True if all was well."""
    bodies, reason = ATTACKS[name]
    return withstood(name, Attackers(url, f"attacked-{name}", _shared(bodies), reason), pid, seconds, clients)


def withstood(
    name: str, attackers: Attackers, pid: int, seconds: float, clients: int, *, most_mb: int = PROXY_MB
) -> bool:
    """Run attackers beside an innocent client, and say what came of it; True if all was well."""
    innocent = Innocent(attackers.url, f"innocent-{name}")
    before = innocent.quietly()
    memory_before = resident_mb(pid)
    attackers.start(clients)
    during: list[float] = []
    proxy_mb = workers_mb = 0.0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        during.append(innocent.request(len(during)))
        if len(during) % 10 == 0:
            proxy_mb = max(proxy_mb, resident_mb(pid) - memory_before)
            workers_mb = max(workers_mb, bytes_of_all(descendants(pid)) / 1e6)
    attackers.stop()
    after = innocent.quietly()
    limit = max(P99, FACTOR * p99(before))
    problems = [
        text
        for text, is_so in (
            (f"p99 during the attack over {limit * 1000:.0f} ms", p99(during) >= limit),
            (f"p99 afterwards over {limit * 1000:.0f} ms", p99(after) >= limit),
            ("slower afterwards", statistics.median(after) > 2 * statistics.median(before) + 0.005),
            (f"the proxy grew by more than {most_mb} MB", proxy_mb > most_mb),
            (f"workers took more than {WORKERS_MB} MB", workers_mb > WORKERS_MB),
            (f"wrong answers: {attackers.wrong[:2]}", bool(attackers.wrong)),
            ("an answer other than 200, 207, 400, 413, 422 and 429", bool(attackers.answers.keys() - EXPECTED)),
            ("no attack came to an end", not attackers.answers),
        )
        if is_so
    ]
    times = ", ".join(
        f"{when} {statistics.median(values) * 1000:.1f}/{p99(values) * 1000:.0f}"
        for when, values in (("before", before), ("during", during), ("after", after))
    )
    sys.stdout.write(
        f"{name}: p50/p99 in ms {times}; proxy +{proxy_mb:.0f} MB, workers {workers_mb:.0f} MB; attackers' answers "
        f"{dict(attackers.answers)}, the slowest {attackers.slowest:.1f} s; {'; '.join(problems) or 'well'}\n"
    )
    sys.stdout.flush()
    return not problems


class _shared:  # noqa: N801  an iterator
    """An iterator for several threads."""

    def __init__(self, inner: Iterator[Any]) -> None:
        self._inner = inner
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        with self._lock:
            return next(self._inner)


def main() -> int:
    """Carry out the attacks; 0 if all went well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attack", nargs="+", choices=ATTACKS, default=list(ATTACKS))
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--clients", type=int, default=8)
    options = parser.parse_args()
    well = True
    with (
        temporary_broker() as broker,
        running_registry() as registry,
        running_rest_proxy(broker.bootstrap_servers, registry.url) as proxy,
    ):
        for name in options.attack:
            assert proxy.pid is not None
            well &= attack(name, proxy.url, proxy.pid, seconds=options.seconds, clients=options.clients)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
