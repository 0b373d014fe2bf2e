"""The registry: hot GETs, look-ups and registrations, beside raw ASGI and the bare log in the same run.

    PYTHONPATH=bench/kit python -P bench/registry/hot_paths.py [--compare-with NAME=URL ..] [--before CHECKOUT]
        [--repeats 5] [--seconds 2] [--reads-only]

`--compare-with` names other registries to measure in turn with ours; they must be empty, and their CPU is not told.
`--before` names another checkout of this project, with its environment, whose registry is measured in turn with ours.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import group_commit
import uvloop
from group_commit import GroupCommit, OpenLog, kafka_log
from harness import Load, Sample, Target, interleaved, interpreters, print_table, raw_asgi, request, serving

from magicbyte.kit.processes.process import temporary_folder
from magicbyte.testing import temporary_broker
from magicbyte.testing.servers import running_registry
from registry.log.port import BEGINNING, Record
from registry.log.sql import SqlLog

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


def bare_group_commit(open_log: Callable[[], OpenLog], clients: int, seconds: float) -> Sample:
    """The log and the waiting alone: clients that each have one record committed after another; no HTTP, no schema."""
    records = [Record(uuid.uuid4().bytes, schema(number).encode(), 0) for number in range(clients)]
    latencies: list[float] = []

    async def client(committing: GroupCommit, record: Record, until: float) -> None:
        while (began := time.perf_counter()) < until:
            await committing.commit(record)
            latencies.append(time.perf_counter() - began)

    async def drive() -> None:
        committing = GroupCommit(opened)
        until = time.perf_counter() + seconds
        await asyncio.gather(*(client(committing, record, until) for record in records))
        await committing.close()

    opened = warm(open_log())
    started, cpu = time.perf_counter(), time.process_time()
    uvloop.run(drive())
    return _sample(latencies, len(latencies), time.perf_counter() - started, time.process_time() - cpu)


def bare_lockstep(open_log: Callable[[], OpenLog], clients: int, seconds: float) -> Sample:
    """The log alone, as fast as it could be: one record of each client in every commit, and nobody to wake."""
    log, after = warm(open_log())
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


def warm(opened: OpenLog) -> OpenLog:
    """The same log, written to for a while: the servers that it is compared with have been."""
    log, after = opened
    for _ in range(100):
        after = log.append([Record(b"warm", None, 0)], after)
    return log, after


def _sample(latencies: list[float], written: int, elapsed: float, cpu: float) -> Sample:
    latencies.sort()
    p50, p99 = (latencies[int(len(latencies) * share)] * 1000 for share in (0.5, 0.99))
    return Sample(written / elapsed, p50, p99, cpu / written * 1e6, 0)


def sqlite_log(folder: Path) -> OpenLog:
    return SqlLog(f"sqlite:///{folder}/{uuid.uuid4()}.db"), BEGINNING


@contextmanager
def raw_registrations(bootstrap_servers: str) -> Iterator[Target]:
    """The upper limit that Python's server and the log set: an ASGI function that commits each body and answers."""
    with serving("raw ASGI and group commit", group_commit.__file__, bootstrap_servers) as target:
        yield target


@contextmanager
def ours(storage: str, before: str | None, **options: Any) -> Iterator[list[Target]]:
    """Our registry, and that of the checkout `before`, each on the storage that `storage` names with its own `NAME`."""
    with ExitStack() as stack:
        targets = []
        for number, (name, python) in enumerate(interpreters(before).items()):
            # Two nodes on one topic would be one cluster.
            topic = {"kafkastore.topic": f"_schemas-{number}", "schema.registry.group.id": f"bench-{number}"}
            server = stack.enter_context(
                running_registry(storage.replace("NAME", str(number)), python=python, properties=topic, **options)
            )
            targets.append(Target(name, server.url, server.pid))
        yield targets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compare-with", metavar="NAME=URL", action="append", default=[])
    parser.add_argument("--before", metavar="CHECKOUT")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--reads-only", action="store_true", help="no registrations")
    options = parser.parse_args()
    others = [Target(*text.split("=", 1)) for text in options.compare_with]
    with ExitStack() as stack:
        targets = stack.enter_context(ours("memory:", options.before))
        bench_reads([*targets, *others], options.repeats, options.seconds)
    if options.reads_only:
        return
    folder = temporary_folder("magicbyte-bench-")
    with ours(f"sqlite:///{folder}/registry-NAME.db", options.before) as targets:
        bench_registrations("SQLite", targets, partial(sqlite_log, folder), options.repeats, options.seconds)
    with temporary_broker() as broker:
        servers = broker.bootstrap_servers
        with raw_registrations(servers) as raw, ours("kafka:", options.before, bootstrap_servers=servers) as targets:
            bench_registrations(
                "Kafka", [raw, *targets, *others], partial(kafka_log, servers), options.repeats, options.seconds
            )


if __name__ == "__main__":
    main()
