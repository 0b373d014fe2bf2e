"""The price of counting: what metrics add to a request, in nanoseconds of processor time; goal: 1,000 a request.

    PYTHONPATH=bench/kit python -P bench/metrics.py [--repeats 15]

Each row is what one request does to its counts, without the request. `counted before` is what all requests did already.
The last row is the price of a scrape, which requests do not pay.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

from prometheus_client import generate_latest
from starlette.responses import Response

from magicbyte.http.metrics.process import process_metrics
from magicbyte.http.routing.recorder import Tallies
from magicbyte.http.routing.remembered import RememberedAnswers
from magicbyte.kit.metrics import WithoutCreationTimes
from magicbyte.security.principal import ANONYMOUS
from registry import metrics as registry_metrics
from registry.registration_count import Registration, _count
from rest_proxy.metrics import PRODUCE, RECORDS
from rest_proxy.produce.sent import Batch, SentRecord

ROUNDS, CALLS = 15, 20_000
GOAL = 1_000


class _Uncounted(RememberedAnswers):
    """The cache as it was without counts."""

    def find(self, slot: Any) -> Any:
        key, state = slot
        answer = self._answers.get(key)
        return answer if answer is not None and answer.state == state else None


def price(work: Callable[[], object], rounds: int) -> float:
    """Nanoseconds for one call: the median of rounds."""
    times = []
    for _ in range(rounds):
        started = time.process_time()
        for _ in range(CALLS):
            work()
        times.append((time.process_time() - started) / CALLS * 1e9)
    return statistics.median(times)


def remembered(kind: type[RememberedAnswers]) -> Callable[[], object]:
    """A look-up of an answer that is there."""
    cache = kind(lambda: 1, {})
    scope = {"headers": [(b"accept", b"*/*")], "raw_path": b"/schemas/ids/1", "query_string": b""}
    slot = cache.slot(ANONYMOUS, scope)
    assert slot is not None
    cache.add(slot, Response(b"{}"))
    return lambda: cache.find(slot)


def produced(records: int, loop: asyncio.AbstractEventLoop) -> Callable[[], object]:
    """The counts of a v2 request whose records were acknowledged."""
    producer = cast("Any", SimpleNamespace(loop=loop, begin=lambda: None, never_sends=False))
    batch = Batch(records, 0, producer, RECORDS.tally(PRODUCE, "json", "t"), 100 * records)
    batch.outcomes = [(0, 1, None, None)] * records
    started = time.perf_counter()

    def count() -> None:
        RECORDS.tally(PRODUCE, "json", "t")
        RECORDS.acknowledged(time.perf_counter() - started)
        batch._count()  # noqa: SLF001  it is what is measured

    return count


def streamed() -> Callable[[], object]:
    """The counts of a record of v3; what `complete` does is counting, but for a call that does nothing."""
    sent = SentRecord(
        600,
        cast("Any", SimpleNamespace(begin=lambda: None, never_sends=False)),
        lambda: None,
        RECORDS.tally(PRODUCE, "json", "t"),
        88,
    )
    return sent.complete


class _Message(bytes):
    def topic(self) -> str:
        return "t"


def main() -> int:
    """Print the table; 1 if a hot path costs more than its goal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=ROUNDS)
    rounds = parser.parse_args().repeats
    loop = asyncio.new_event_loop()
    tallies = Tallies("GET", "/schemas/ids/{id}")
    messages = [_Message(b"x" * 100)]
    registration = Registration(cast("Any", None))
    sent = cast("Any", SimpleNamespace(content=SimpleNamespace(schema_type="AVRO")))
    counted, uncounted = price(remembered(RememberedAnswers), rounds), price(remembered(_Uncounted), rounds)

    def commit() -> None:
        registry_metrics.COMMIT_SECONDS.observe(0.004)
        registry_metrics.COMMIT_RECORDS.observe(1)

    rows = [
        ("every request: status and time (counted before)", price(lambda: tallies.add(200, 0.001), rounds), None),
        ("GET of a remembered answer: look-up, counted", counted, None),
        ("GET of a remembered answer: look-up, not counted", uncounted, None),
        ("GET of a remembered answer: added", counted - uncounted, GOAL),
        ("produce of one record (v2): added", price(produced(1, loop), rounds), GOAL),
        ("produce of 100 records (v2): added", price(produced(100, loop), rounds), 100 * GOAL),
        ("produce of one record (v3): added", price(streamed(), rounds), GOAL),
        ("read of one record (v2): added", price(lambda: RECORDS.count_read(messages, "json"), rounds), GOAL),
        ("registration: outcome", price(lambda: _count(sent, registration), rounds), None),
        ("commit of a batch: time and size", price(commit, rounds), None),
    ]
    for name, nanoseconds, goal in rows:
        print(f"{name:52}{nanoseconds:10,.0f} ns{f'   goal {goal:,}' if goal else ''}")
    process = WithoutCreationTimes(process_metrics())
    registry = cast("Any", SimpleNamespace(collect=process.collect))
    started = time.process_time()
    for _ in range(50):
        generate_latest(registry)
    print(f"{'a scrape: metrics of the process':52}{(time.process_time() - started) / 50 * 1e9:10,.0f} ns")
    loop.close()
    return int(any(goal is not None and nanoseconds > goal for _, nanoseconds, goal in rows))


if __name__ == "__main__":
    sys.exit(main())
