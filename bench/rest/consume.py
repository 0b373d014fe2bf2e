"""Consuming through the REST proxy: one instance that reads a topic from its start, beside other proxies in one run.

PYTHONPATH=bench/kit python -P bench/rest/consume.py [--count 200000]
    [--compare-with NAME=URL --bootstrap-servers HOST:PORT]
"""

from __future__ import annotations

import sys
import time

import httpx
from harness import Sample, Target, interleaved, print_table
from proxies import media_type, new_topic, parser, produce_body, produced, surroundings

_A_REQUEST = 500
_MAX_BYTES = 1_000_000
V2 = {"content-type": "application/vnd.kafka.v2+json"}


def consume(target: Target, topic: str, form: str, seconds: float) -> Sample:
    """Reads of a new instance until the end of the topic; `requests/s` are records here."""
    accept = {"accept": media_type(form)}
    group = f"bench-{time.time_ns()}"
    latencies: list[float] = []
    count = 0
    with httpx.Client(base_url=target.url, timeout=60) as client:
        config = {"format": form, "auto.offset.reset": "earliest", "auto.commit.enable": "false"}
        name = client.post(f"/consumers/{group}", json=config, headers=V2).json()["instance_id"]
        path = f"/consumers/{group}/instances/{name}"
        client.post(f"{path}/subscription", json={"topics": [topic]}, headers=V2).raise_for_status()
        while client.get(f"{path}/records?max_bytes=1&timeout=5000", headers=accept).raise_for_status().text == "[]":
            pass  # until the group is joined
        cpu, started = target.cpu_seconds(), time.perf_counter()
        took = 0.0
        while (began := time.perf_counter()) < started + seconds:
            body = client.get(f"{path}/records?max_bytes={_MAX_BYTES}", headers=accept).raise_for_status().content
            if body == b"[]":
                break
            count += body.count(b'"offset":')
            latencies.append(time.perf_counter() - began)
            took = time.perf_counter() - started
        cpu = target.cpu_seconds() - cpu
        client.delete(path)
    latencies.sort()
    p50, p99 = (latencies[int(len(latencies) * share)] * 1000 for share in (0.5, 0.99))
    return Sample(count / took, p50, p99, cpu / count * 1e6, target.rss_mb())


def main() -> int:
    """Fill a topic for each format, read it, print a table."""
    arguments = parser(__doc__)
    arguments.add_argument("--count", type=int, default=200_000, help="records in a topic")
    options = arguments.parse_args()
    with surroundings(options) as (bootstrap, _, targets):
        for form in options.formats:
            topic = new_topic(bootstrap)
            body = produce_body(form, _A_REQUEST, None)
            for _ in range(options.count // _A_REQUEST):
                produced(targets[0].url, topic, form, body)
            measures = {
                target.name: lambda target=target, topic=topic, form=form: consume(
                    target, topic, form, options.seconds * 2
                )
                for target in targets
            }
            title = f"{form}, records of one instance (times of a read of {_MAX_BYTES} bytes, CPU of a record)"
            print_table(title, interleaved(measures, options.repeats), targets[0].name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
