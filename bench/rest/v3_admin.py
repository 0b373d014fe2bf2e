"""Lists of many topics through v3, beside the metadata alone by a bare client, in one run.

python -P bench/rest/v3_admin.py [--topics 10000] [--repeats 5]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable

import httpx
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.testing import running_rest_proxy, temporary_broker

_AT_ONCE = 500
_MOST_SECONDS = 300


def fill(bootstrap: str, count: int) -> None:
    """Make topics of one partition."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    names = [f"topic-{number:05}" for number in range(count)]
    for start in range(0, count, _AT_ONCE):
        new = [NewTopic(name, 1, 1) for name in names[start : start + _AT_ONCE]]
        for future in admin.create_topics(new, operation_timeout=120, request_timeout=120).values():
            future.result(180)
    # The controller has made them; the broker learns of them a little later.
    deadline = time.monotonic() + _MOST_SECONDS
    while len(admin.list_topics(timeout=60).topics) < count:
        if time.monotonic() > deadline:
            raise SystemExit(f"the broker does not know of {count} topics after {_MOST_SECONDS} s")
        time.sleep(0.5)


def main() -> int:
    """Fill a broker, ask both clients by turns, print the medians and the maxima."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--topics", type=int, default=10_000)
    arguments.add_argument("--repeats", type=int, default=5)
    options = arguments.parse_args()
    with temporary_broker() as broker:
        fill(broker.bootstrap_servers, options.topics)
        with (
            running_rest_proxy(broker.bootstrap_servers, "") as proxy,
            httpx.Client(base_url=proxy.url, timeout=120) as client,
        ):
            cluster = f"/v3/clusters/{client.get('/v3/clusters').json()['data'][0]['cluster_id']}"
            bare = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
            measured: dict[str, Callable[[], int]] = {
                "bare librdkafka, metadata": lambda: len(bare.list_topics(timeout=60).topics),
                "v2 GET /topics": lambda: len(client.get("/topics").json()),
                "v3 GET topics": lambda: len(client.get(f"{cluster}/topics").json()["data"]),
                "v3 GET partition-replicas": lambda: len(
                    client.get(f"{cluster}/brokers/1/partition-replicas").json()["data"]
                ),
            }
            times: dict[str, list[float]] = {name: [] for name in measured}
            for _ in range(options.repeats):
                for name, ask in measured.items():
                    started = time.perf_counter()
                    count = ask()
                    times[name].append(time.perf_counter() - started)
                    assert count >= options.topics, f"{name}: {count}"
    print(f"{options.topics} topics, seconds: median, maximum")
    for name, seconds in times.items():
        print(f"  {name:28} {statistics.median(seconds):7.3f} {max(seconds):7.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
