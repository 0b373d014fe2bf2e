"""The registry: hot GETs, look-ups and registrations, beside raw ASGI and the bare log in the same run.

    python bench/registry.py [--beside NAME=URL ..] [--repeats 5] [--seconds 2] [--reads-only]

`--beside` names other registries to measure in turn with ours; they must be empty, and their CPU is not told.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import queue
import threading
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from harness import Load, Sample, Target, interleaved, print_table, raw_asgi, request

from magicbyte.process import temporary_folder
from magicbyte.testing import temporary_broker
from magicbyte.testing.servers import running_registry
from registry.log.kafka import KafkaLog
from registry.log.port import BEGINNING, Log, Offset, Record
from registry.log.sql import SqlLog
from registry.log.topic import prepare_topic

V1 = "application/vnd.schemaregistry.v1+json"
SUBJECTS = 1000
CLIENTS = (1, 8, 32)


def schema(number: int | str) -> str:
    """A record of about 500 bytes that no other number has."""
    fields = [
        {"name": f"field_{index}", "type": ["null", "string"], "default": None, "doc": f"of schema {number}"}
        for index in range(5)
    ]
    return json.dumps({"type": "record", "name": f"Record{number}", "fields": fields}, separators=(",", ":"))


def post(path: str, text: str, headers: Mapping[str, str] | None = None) -> bytes:
    body = json.dumps({"schema": text}).encode()
    return request("POST", path, body, {"Content-Type": V1, **(headers or {})})


def fill(target: Target) -> None:
    for number in range(SUBJECTS):
        body = json.dumps({"schema": schema(number)}).encode()
        url = f"{target.url}/subjects/subject-{number}/versions"
        asked = urllib.request.Request(url, body, {"Content-Type": V1})  # noqa: S310  the registries named by the user
        urllib.request.urlopen(asked).read()  # noqa: S310  as above


READS: dict[str, list[bytes]] = {
    "GET /schemas/ids/{id}": [request("GET", f"/schemas/ids/{number + 1}") for number in range(SUBJECTS)],
    "GET /subjects/{s}/versions/latest": [
        request("GET", f"/subjects/subject-{number}/versions/latest") for number in range(SUBJECTS)
    ],
    "GET /subjects/{s}/versions (not remembered)": [
        request("GET", f"/subjects/subject-{number}/versions", headers={"X-Request-ID": "bench"})
        for number in range(SUBJECTS)
    ],
    "POST /subjects/{s} (look-up)": [post(f"/subjects/subject-{number}", schema(number)) for number in range(SUBJECTS)],
    "POST /subjects/{s} (look-up, not remembered)": [
        post(f"/subjects/subject-{number}", schema(number), {"X-Request-ID": "bench"}) for number in range(SUBJECTS)
    ],
}


def bench_reads(targets: Sequence[Target], repeats: int, seconds: float) -> None:
    for target in targets:
        fill(target)
    body = urllib.request.urlopen(f"{targets[0].url}/schemas/ids/1").read()  # noqa: S310  as above
    with raw_asgi(body, V1) as floor:
        for title, requests in READS.items():
            load = Load(32, requests, seconds)
            measures = {target.name: partial(load.drive, target) for target in (floor, *targets)}
            print_table(f"{title}, 32 clients", interleaved(measures, repeats), base=floor.name)


def bench_registrations(
    storage: str, targets: Sequence[Target], open_log: Callable[[], OpenLog], repeats: int, seconds: float
) -> None:
    template = post("/subjects/new-##########/versions", schema("##########"))
    for clients in CLIENTS:
        load = Load(clients, [template], seconds)
        measures: dict[str, Callable[[], Sample]] = {
            "bare group commit": partial(bare_group_commit, open_log, clients, seconds),
            "bare commits in lockstep": partial(bare_lockstep, open_log, clients, seconds),
        }
        measures |= {target.name: partial(load.drive, target) for target in targets}
        print_table(
            f"register new schemas on {storage}, {clients} clients",
            interleaved(measures, repeats),
            base="bare group commit",
        )


#: An empty log of one's own, and the offset of the last record in it.
OpenLog = tuple[Log, Offset]


def bare_group_commit(open_log: Callable[[], OpenLog], clients: int, seconds: float) -> Sample:
    """The log and the waiting alone: clients that each have one record committed after another, with those that wait.

    No HTTP, no schema: a thread takes what waits, appends it at once, and wakes those whose records were in it.
    """
    log, after = open_log()
    records = [Record(uuid.uuid4().bytes, schema(number).encode(), 0) for number in range(clients)]
    waiting: queue.SimpleQueue[tuple[Record, asyncio.Future[None]] | None] = queue.SimpleQueue()
    latencies: list[float] = []

    def commit(loop: asyncio.AbstractEventLoop, after: Offset) -> None:
        while (first := waiting.get()) is not None:
            batch = [first]
            while not waiting.empty() and (following := waiting.get()) is not None:
                batch.append(following)
            after = log.append([record for record, _ in batch], after)
            loop.call_soon_threadsafe(wake, [future for _, future in batch])

    def wake(futures: list[asyncio.Future[None]]) -> None:
        for future in futures:
            future.set_result(None)

    async def client(record: Record, until: float) -> None:
        loop = asyncio.get_running_loop()
        while (began := time.perf_counter()) < until:
            future: asyncio.Future[None] = loop.create_future()
            waiting.put((record, future))
            await future
            latencies.append(time.perf_counter() - began)

    async def drive() -> None:
        thread = threading.Thread(target=commit, args=(asyncio.get_running_loop(), after))
        thread.start()
        until = time.perf_counter() + seconds
        await asyncio.gather(*(client(record, until) for record in records))
        waiting.put(None)
        await asyncio.to_thread(thread.join)

    started, cpu = time.perf_counter(), time.process_time()
    asyncio.run(drive())
    sample = _sample(latencies, len(latencies), time.perf_counter() - started, time.process_time() - cpu)
    log.close()
    return sample


def bare_lockstep(open_log: Callable[[], OpenLog], clients: int, seconds: float) -> Sample:
    """The log alone, as fast as it could be: one record of each client in every commit, and nobody to wake."""
    log, after = open_log()
    records = [Record(uuid.uuid4().bytes, schema(number).encode(), 0) for number in range(clients)]
    latencies = []
    started, cpu = time.perf_counter(), time.process_time()
    while time.perf_counter() - started < seconds:
        began = time.perf_counter()
        after = log.append(records, after)
        latencies.append(time.perf_counter() - began)
    elapsed, cpu = time.perf_counter() - started, time.process_time() - cpu
    log.close()
    return _sample(latencies, len(latencies) * clients, elapsed, cpu)


def _sample(latencies: list[float], written: int, elapsed: float, cpu: float) -> Sample:
    latencies.sort()
    p50, p99 = (latencies[int(len(latencies) * share)] * 1000 for share in (0.5, 0.99))
    return Sample(written / elapsed, p50, p99, cpu / written * 1e6, 0)


def kafka_log(bootstrap_servers: str) -> OpenLog:
    topic = f"bare-{uuid.uuid4()}"
    client = {"bootstrap.servers": bootstrap_servers}
    prepare_topic(client, topic, replication=1, configs={}, skip_validation=False, timeout=10)
    log = KafkaLog(client, topic, topic)
    log.open_writer()
    return log, log.settle([Record(b"first", None, 0)], BEGINNING)


def sqlite_log(folder: Path) -> OpenLog:
    return SqlLog(f"sqlite:///{folder}/{uuid.uuid4()}.db"), BEGINNING


@contextmanager
def ours(storage: str, **options: str) -> Iterator[Target]:
    with running_registry(storage, **options) as server:
        yield Target("magicbyte", server.url, server.pid)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside", metavar="NAME=URL", action="append", default=[])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--reads-only", action="store_true", help="no registrations")
    options = parser.parse_args()
    others = [Target(*text.split("=", 1)) for text in options.beside]
    with ExitStack() as stack:
        bench_reads([stack.enter_context(ours("memory:")), *others], options.repeats, options.seconds)
    if options.reads_only:
        return
    folder = temporary_folder("magicbyte-bench-")
    with ours(f"sqlite:///{folder}/registry.db") as target:
        bench_registrations("SQLite", [target], partial(sqlite_log, folder), options.repeats, options.seconds)
    with temporary_broker() as broker:
        servers = broker.bootstrap_servers
        with ours("kafka:", bootstrap_servers=servers) as target:
            bench_registrations(
                "Kafka", [target, *others], partial(kafka_log, servers), options.repeats, options.seconds
            )


if __name__ == "__main__":
    main()
