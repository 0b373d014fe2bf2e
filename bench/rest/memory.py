"""The memory of the REST proxy: with idle consumer instances, and while the broker is stopped under load.

PYTHONPATH=bench/kit python -P bench/rest/memory.py [--instances 500] [--stopped 60]
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import httpx
from harness import Target
from proxies import media_type, new_topic, parser, produce_body, surroundings

V2 = {"content-type": "application/vnd.kafka.v2+json"}
_PRODUCERS = 32
_SETTLED_SECONDS = 60


def idle_instances(target: Target, topic: str, count: int) -> None:
    """Subscribe instances, each in a group of its own, and let them idle."""
    before = target.rss_mb()
    with httpx.Client(base_url=target.url, timeout=60) as client:

        def make(number: int) -> str:
            made = client.post(f"/consumers/idle-{time.time_ns()}-{number}", json={}, headers=V2).raise_for_status()
            path = urlsplit(made.json()["base_uri"]).path
            client.post(f"{path}/subscription", json={"topics": [topic]}, headers=V2).raise_for_status()
            return path

        paths = [make(number) for number in range(count)]
        time.sleep(5)
        used = target.cpu_seconds()
        time.sleep(5)
        used = (target.cpu_seconds() - used) / 5 * 100
        after = target.rss_mb()
        print(f"{count} idle instances: {before:.0f} -> {after:.0f} MB (+{after - before:.0f}), {used:.0f} % of a core")
        with ThreadPoolExecutor(50) as threads:
            list(threads.map(client.delete, paths))


def stopped_broker(target: Target, topic: str, broker: Any, seconds: float) -> None:
    """Insist on producing while the broker is away; then see that all of it is settled."""
    before = target.rss_mb()
    statuses: Counter[int] = Counter()
    highest = 0.0
    broker.stop()
    until = time.monotonic() + seconds
    threads = [threading.Thread(target=insist, args=(target.url, topic, until, statuses)) for _ in range(_PRODUCERS)]
    for thread in threads:
        thread.start()
    while time.monotonic() < until:
        time.sleep(0.5)
        highest = max(highest, target.rss_mb())
    for thread in threads:
        thread.join()
    waiting = metric(target.url, "magicbyte_rest_buffered_bytes") / 1e6
    limit = metric(target.url, "magicbyte_rest_buffer_limit_bytes") / 1e6
    broker.start()
    started = time.monotonic()
    while metric(target.url, "magicbyte_rest_buffered_bytes") and time.monotonic() < started + _SETTLED_SECONDS:
        time.sleep(0.1)
    print(
        f"broker stopped for {seconds:.0f} s under {_PRODUCERS} clients: {before:.0f} -> {highest:.0f} MB at most "
        f"(+{highest - before:.0f}); {waiting:.1f} of {limit:.1f} MB waited; answers {dict(statuses)}; "
        f"all settled {time.monotonic() - started:.1f} s after its start"
    )


def insist(url: str, topic: str, until: float, statuses: Counter[int]) -> None:
    """Produce whatever is answered; an answer is waited for as long as a slow client's would be."""
    body = produce_body("json", 100, None)
    with httpx.Client(base_url=url, timeout=120, headers={"content-type": media_type("json")}) as client:
        while time.monotonic() < until:
            answer = client.post(f"/topics/{topic}?timeout=200", content=body)
            statuses[answer.status_code] += 1
            if answer.status_code == httpx.codes.TOO_MANY_REQUESTS:
                time.sleep(0.05)


def metric(url: str, name: str) -> float:
    """A gauge of the proxy's."""
    lines = httpx.get(f"{url}/metrics", timeout=60).text.splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))


def main() -> int:
    """Measure both."""
    arguments = parser(__doc__)
    arguments.add_argument("--instances", type=int, default=500)
    arguments.add_argument("--stopped", type=float, default=60.0, help="seconds without a broker; 0 leaves that out")
    options = arguments.parse_args()
    with surroundings(options) as (bootstrap, broker, (target, *_)):
        topic = new_topic(bootstrap)
        idle_instances(target, topic, options.instances)
        if broker is not None and options.stopped:
            stopped_broker(target, topic, broker, options.stopped)
    return 0


if __name__ == "__main__":
    sys.exit(main())
