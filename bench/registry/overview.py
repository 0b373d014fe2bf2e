"""The registry with 20,005 subjects: the overview, searches for words, and hot GETs beside both.

PYTHONPATH=bench/kit python -P bench/registry/overview.py [--subjects 20005] [--repeats 5] [--seconds 2]
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import httpx
from harness import Load, Sample, Target, interleaved, print_table, request, spread

from magicbyte.testing.servers import running_registry

SEARCHES = (
    "q=settled+v1999&in=name",
    "q=settled&in=name",
    "q=field_3&in=field",
    "q=nowhere",
    "q=schema+19999&in=text",
    "q=field_3",
)
#: How often a background task begins, in seconds.
PERIOD = 0.25


def subject(number: int) -> str:
    return f"billing.refund.settled.v{number}-value"


def schema(number: int) -> str:
    fields = [
        {"name": f"field_{index}", "type": ["null", "string"], "default": None, "doc": f"of schema {number}"}
        for index in range(5)
    ]
    return json.dumps({"type": "record", "name": f"Record{number}", "fields": fields}, separators=(",", ":"))


def fill(client: httpx.Client, subjects: int) -> None:
    lines = [
        json.dumps({"subject": subject(number), "version": 1, "id": number + 1, "schema": schema(number)})
        for number in range(subjects)
    ]
    headers = {"Content-Type": "application/x-ndjson"}
    client.post("/import?lines=true", content="\n".join(lines), headers=headers).raise_for_status()


def write(client: httpx.Client) -> None:
    """Make all answers that are kept out of date."""
    for level in ("FULL", "NONE"):
        client.put("/config/written", json={"compatibility": level}).raise_for_status()


def timed(ask: Callable[[], httpx.Response], repeats: int, before: Callable[[], object] = lambda: None) -> str:
    """Time a request in ms, and tell the length of its answer as it was sent."""
    times = []
    for _ in range(repeats):
        before()
        started = time.perf_counter()
        answered = ask()
        times.append(1000 * (time.perf_counter() - started))
    return f"{spread(times)} ms, {answered.headers.get('content-length', 0)} bytes, status {answered.status_code}"


def bench_overview(client: httpx.Client, repeats: int) -> None:
    overview = partial(client.get, "/overview")
    plain = partial(client.get, "/overview", headers={"Accept-Encoding": "identity"})
    etag = overview().headers["etag"]
    print("overview, after a write      ", timed(overview, repeats, partial(write, client)))
    etag = overview().headers["etag"]
    print("overview, kept               ", timed(overview, repeats))
    print("overview, kept and not gzip  ", timed(plain, repeats))
    print("overview, If-None-Match      ", timed(partial(overview, headers={"If-None-Match": etag}), repeats))


def bench_searches(client: httpx.Client, repeats: int) -> None:
    for query in SEARCHES:
        ask = partial(client.get, f"/search?{query}&latestOnly=true&limit=100")
        print(f"search {query:24} first", timed(ask, 1))
        print(f"search {query:24} then ", timed(ask, repeats), f"total {ask().json()['total']}")


@contextmanager
def background(tasks: Sequence[Callable[[], object]]) -> Iterator[None]:
    """Do some tasks again and again."""
    is_over = threading.Event()

    def work() -> None:
        while not is_over.wait(PERIOD):
            for task in tasks:
                task()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def drive(load: Load, target: Target, tasks: Sequence[Callable[[], object]]) -> Sample:
    with background(tasks):
        return load.drive(target)


def bench_hot_gets(client: httpx.Client, target: Target, repeats: int, seconds: float) -> None:
    load = Load(8, [request("GET", f"/schemas/ids/{number + 1}") for number in range(1000)], seconds)
    writing, overview = partial(write, client), partial(client.get, "/overview")
    search = partial(client.get, f"/search?{SEARCHES[2]}&latestOnly=true&limit=100")
    measures = {
        "alone": partial(drive, load, target, []),
        "beside writes": partial(drive, load, target, [writing]),
        "beside writes and overviews": partial(drive, load, target, [writing, overview]),
        "beside searches": partial(drive, load, target, [search]),
    }
    print_table(f"GET /schemas/ids/{{id}}, 8 clients, a task every {PERIOD} s", interleaved(measures, repeats), "alone")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subjects", type=int, default=20_005)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    options = parser.parse_args()
    with running_registry("memory:") as server, httpx.Client(base_url=server.url, timeout=120) as client:
        started = time.perf_counter()
        fill(client, options.subjects)
        print(f"{options.subjects} subjects imported in {time.perf_counter() - started:.1f} s")
        bench_overview(client, options.repeats)
        bench_searches(client, options.repeats)
        bench_hot_gets(client, Target("magicbyte", server.url, server.pid), options.repeats, options.seconds)


if __name__ == "__main__":
    main()
