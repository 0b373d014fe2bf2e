"""The figures of docs/capacity.md and of `magicbyte capacity`: memory, start, rates. `make bench-capacity`.

PYTHONPATH=bench/kit:. python -P bench/capacity.py [--schemas 1000 20000 100000 500000] [--instances 0 500 900]
    [--seconds 4] [--repeats 3] [--write]

`--write` replaces magicbyte/cli/capacity/figures.json with the figures, and the tables of docs/capacity.md. Backup,
restore, verify and mirror are not measured: there are no such commands yet.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import statistics
import sys
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from harness import Load, Sample, Target, request
from proxies import SCHEMAS, media_type, new_topic, produce_body, produced
from schemas_topic import V1, fill, schema, started

from magicbyte.cli.capacity.figures import FIGURES, Figures, OfClients, OfInstances, OfReads, OfRecords, OfSchemas
from magicbyte.testing import running_registry, running_rest_proxy, temporary_broker
from tools import capacity_tables, references

#: One version in so many has a reference.
REFERRING = 10
CLIENTS = (1, 8, 32)
FORMATS = ("binary", "json", "avro", "jsonschema", "protobuf")
BATCHES = (1, 100)
_V2 = {"content-type": "application/vnd.kafka.v2+json"}
_SUBJECTS = 1000


def of_schemas(broker: object, count: int, repeats: int) -> OfSchemas:
    """A registry's start on a topic of so many schemas; the least of the repeats, which the machine disturbed least."""
    topic = f"_schemas-{count}"
    servers = broker.bootstrap_servers
    text = fill(servers, topic, count, referring=REFERRING)
    size = sum(path.stat().st_size for path in broker.data_dir.glob(f"kafka/{topic}-0/*.log"))
    starts = [started(servers, topic, f"/schemas/ids/{count}", sys.executable) for _ in range(repeats)]
    ready = min(reads for reads, _, _ in starts)
    first_write = min(writes - reads for reads, writes, _ in starts)
    memory = statistics.median(memory for _, _, memory in starts)
    return OfSchemas(count, text / 1e6, size / 1e6, memory, ready, first_write)


def registrations(target: Target, seconds: float, repeats: int) -> Iterator[OfClients]:
    """New schemas of 1 KB, each in a subject of its own."""
    body = json.dumps({"schema": schema(0).replace("Record0", "Record##########")}).encode()
    template = request("POST", "/subjects/new-##########/versions", body, {"Content-Type": V1})
    for clients in CLIENTS:
        sample = median(lambda clients=clients: Load(clients, [template], seconds).drive(target), repeats)
        yield OfClients(clients, sample.per_second, sample.p50_ms)


def reads(target: Target, seconds: float, repeats: int) -> Iterator[OfReads]:
    """Hot GETs of 1,000 subjects by 32 clients."""
    for number in range(_SUBJECTS):
        body = json.dumps({"schema": schema(number)}).encode()
        url = f"{target.url}/subjects/subject-{number}/versions"
        urllib.request.urlopen(urllib.request.Request(url, body, {"Content-Type": V1})).read()  # noqa: S310  ours
    ids = json.loads(urllib.request.urlopen(f"{target.url}/subjects/subject-0/versions/1").read())["id"]  # noqa: S310
    paths = {
        "GET /schemas/ids/{id}": [f"/schemas/ids/{ids + number}" for number in range(_SUBJECTS)],
        "GET /subjects/{subject}/versions/latest": [
            f"/subjects/subject-{number}/versions/latest" for number in range(_SUBJECTS)
        ],
    }
    for title, chosen in paths.items():
        load = Load(32, [request("GET", path) for path in chosen], seconds)
        sample = median(lambda load=load: load.drive(target), repeats)
        yield OfReads(title, 1e6 / sample.cpu_us, sample.p99_ms)


def records(target: Target, bootstrap: str, seconds: float, repeats: int) -> Iterator[OfRecords]:
    """Records of about 100 bytes through the proxy by 8 clients."""
    for form in FORMATS:
        topic, schema_id = new_topic(bootstrap), None
        if form in SCHEMAS:
            schema_id = produced(target.url, topic, form, produce_body(form, 1, None)).json()["value_schema_id"]
        for batch in BATCHES:
            headers = {"Content-Type": media_type(form)}
            load = Load(
                8, [request("POST", f"/topics/{topic}", produce_body(form, batch, schema_id), headers)], seconds
            )
            sample = median(lambda load=load: load.drive(target), repeats)
            yield OfRecords(form, batch, sample.per_second * batch, batch * 1e6 / sample.cpu_us)


def median(measure: Callable[[], Sample], repeats: int) -> Sample:
    """The sample with the median rate; a failed request ends the run."""
    samples = sorted((measure() for _ in range(repeats)), key=lambda sample: sample.per_second)
    failures = sum(sample.failures for sample in samples)
    if failures:
        raise SystemExit(f"{failures} requests failed: the figures would be wrong")
    return samples[len(samples) // 2]


def instances(bootstrap: str, registry: str, counts: list[int]) -> Iterator[OfInstances]:
    """The proxy's memory with idle instances, each in a group of its own with one subscribed topic."""
    topic = new_topic(bootstrap)
    most = str(max(counts) + 10)
    limit = {"consumer.instances.max": most, "magicbyte.consumer.instances.max.per.client": most}
    with running_rest_proxy(bootstrap, registry, properties=limit) as proxy:
        target = Target("", proxy.url, proxy.pid)
        with httpx.Client(base_url=proxy.url, timeout=120) as client:
            paths: list[str] = []
            for count in sorted(counts):
                while len(paths) < count:
                    made = client.post(f"/consumers/{uuid.uuid4()}", json={}, headers=_V2).raise_for_status()
                    path = urlsplit(made.json()["base_uri"]).path
                    client.post(f"{path}/subscription", json={"topics": [topic]}, headers=_V2).raise_for_status()
                    paths.append(path)
                time.sleep(5)
                measured = OfInstances(count, target.rss_mb())
                print(measured, flush=True)
                yield measured
            with ThreadPoolExecutor(50) as threads:
                list(threads.map(client.delete, paths))


def machine() -> dict[str, str]:
    """Return the facts about the machine on which the figures depend, without its name."""
    cpus = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    total = next(line for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines() if "MemTotal" in line)
    return {
        "cores": f"{cpus.count('processor	:')} cores for the servers, the broker and the clients",
        "memory": f"{int(total.split()[1]) / 1e6:.0f} GB of memory",
        "load": f"load average {os.getloadavg()[0]:.1f} before the run",
        "software": f"Linux {platform.machine()}, Python {platform.python_version()}, one local broker",
    }


def measure(options: argparse.Namespace) -> Figures:
    """Run everything."""
    facts = machine()
    with temporary_broker() as broker:
        servers = broker.bootstrap_servers
        rows = []
        for count in sorted(options.schemas):
            rows.append(of_schemas(broker, count, options.repeats))
            print(rows[-1], flush=True)
        with running_registry("kafka:", bootstrap_servers=servers) as server:
            target = Target("", server.url, server.pid)
            clients = tuple(registrations(target, options.seconds, options.repeats))
            hot = tuple(reads(target, options.seconds, options.repeats))
            print(clients, hot, sep="\n", flush=True)
            with running_rest_proxy(servers, server.url) as proxy:
                through = records(Target("", proxy.url, proxy.pid), servers, options.seconds, options.repeats)
                sent = tuple(through)
            print(sent, flush=True)
            idle = tuple(instances(servers, server.url, options.instances))
    today = dt.datetime.now(dt.UTC).date().isoformat()
    return Figures(today, facts, tuple(rows), clients, hot, sent, idle)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=int, nargs="+", default=[1_000, 20_000, 100_000, 500_000])
    parser.add_argument("--instances", type=int, nargs="+", default=[0, 500, 900])
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="replace figures.json and the tables of docs/capacity.md")
    options = parser.parse_args()
    if min(len(set(options.schemas)), len(set(options.instances))) < 2:
        parser.error("a slope needs two numbers of schemas and two of instances")
    figures = measure(options)
    for title, rows in capacity_tables.TABLES.items():
        print(f"\n{title}\n\n{rows(figures)}", end="")
    if options.write:
        FIGURES.write_text(json.dumps(rounded(asdict(figures)), indent=1) + "\n", encoding="utf-8")
        references.write("capacity.md")


def rounded(value: object) -> object:
    """The figures with three digits: more would be noise."""
    if isinstance(value, float):
        return float(f"{value:.3g}") if abs(value) < 1000 else round(value)
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    return [rounded(part) for part in value] if isinstance(value, list | tuple) else value


if __name__ == "__main__":
    main()
