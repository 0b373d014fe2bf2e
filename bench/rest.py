"""The REST proxy under load from another process, beside bare librdkafka and another proxy, in one run.

Broker, registry and proxy are started for the run. Every row is measured in rounds that take turns, so that a noisy
machine disturbs all alike; a figure is the median of the rounds and their spread. CPU is the proxy process's own.
Run `python -P bench/rest.py`, so that no file of this folder stands for a package.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import multiprocessing
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.testing import running_registry, running_rest_proxy, temporary_broker

#: About a hundred bytes each.
VALUE = {
    "id": 1234567,
    "name": "Ada Lovelace",
    "tags": ["new", "gift"],
    "note": "by hand",
    "total": 99.5,
    "x": "y" * 20,
}
AVRO_VALUE = {**VALUE, "note": {"string": "by hand"}}
SCHEMA = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "name", "type": "string"},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "note", "type": ["null", "string"]},
        {"name": "total", "type": "double"},
        {"name": "x", "type": "string"},
    ],
}
_TICKS = os.sysconf("SC_CLK_TCK")


class Round(NamedTuple):
    """What one round of load found; latencies in milliseconds, CPU in microseconds of the server's per request."""

    requests_per_second: float
    p50: float
    p99: float
    cpu: float = float("nan")


@dataclass
class Row:
    """One way to do one thing, and its rounds."""

    name: str
    #: Records in a request.
    records: int
    measure: Callable[[float], Round]
    rounds: list[Round] = field(default_factory=list)

    def line(self) -> str:
        """The row as it is printed."""
        rate = [round_.requests_per_second for round_ in self.rounds]
        middle = statistics.median(rate)
        spread = (max(rate) - min(rate)) / middle * 100 if middle else 0.0
        p50, p99, cpu = (statistics.median(getattr(one, name) for one in self.rounds) for name in ("p50", "p99", "cpu"))
        return (
            f"{self.name:44} {middle:9.0f} {middle * self.records:10.0f} {spread:5.0f}%"
            f" {p50:9.2f} {p99:9.2f} {cpu:9.0f}"
        )


HEADER = f"{'':44} {'req/s':>9} {'records/s':>10} {'spread':>6} {'p50 ms':>9} {'p99 ms':>9} {'CPU us':>9}"


class _Connection(asyncio.Protocol):
    """One client in a closed loop: sends the same request again as soon as its answer has come."""

    def __init__(self, request: bytes, until: float, latencies: list[float]) -> None:
        self._request = request
        self._until = until
        self._latencies = latencies
        self._received = b""
        self._sent = 0.0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._send()

    def _send(self) -> None:
        self._sent = time.perf_counter()
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, ended, body = self._received.partition(b"\r\n\r\n")
        if not ended:
            return
        if not head.startswith(b"HTTP/1.1 200"):
            self._fail(head)
            return
        at = head.lower().index(b"content-length:") + 15
        if len(body) < int(head[at:].split(b"\r\n", 1)[0]):
            return
        if b'"error_code":5' in body:
            self._fail(body)
            return
        now = time.perf_counter()
        self._latencies.append(now - self._sent)
        self._received = b""
        if now < self._until:
            self._send()
        else:
            self._transport.close()
            self.done.set_result(None)

    def _fail(self, what: bytes) -> None:
        self.done.set_exception(RuntimeError(what[:300].decode(errors="replace")))
        self._transport.close()


def load(url: str, path: str, media_type: str, body: bytes, clients: int, seconds: float) -> Round:
    """Load from this process: `clients` connections, each in a closed loop."""
    parts = urlsplit(url)
    request = (
        f"POST {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: {media_type}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body
    latencies: list[float] = []

    async def run() -> float:
        loop = asyncio.get_running_loop()
        started = time.perf_counter()
        made = [
            (
                await loop.create_connection(
                    lambda: _Connection(request, started + seconds, latencies), parts.hostname, parts.port
                )
            )[1]
            for _ in range(clients)
        ]
        await asyncio.gather(*(connection.done for connection in made))
        return time.perf_counter() - started

    try:
        import uvloop
    except ImportError:
        took = asyncio.run(run())
    else:
        took = uvloop.run(run())
    return _round(latencies, took)


def _round(latencies: list[float], took: float) -> Round:
    latencies.sort()
    return Round(
        len(latencies) / took,
        latencies[len(latencies) // 2] * 1000,
        latencies[int(len(latencies) * 0.99)] * 1000,
    )


def bare(bootstrap: str, topic: str, records: int, clients: int, seconds: float) -> Round:
    """As `load`, with librdkafka itself: each client waits for the delivery reports of its records."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0, "enable.idempotence": True})
    value = json.dumps(VALUE).encode()
    latencies: list[float] = []
    started = time.perf_counter()
    waiting = [0] * clients
    sent = [0.0] * clients

    def send(client: int) -> None:
        waiting[client] = records
        sent[client] = time.perf_counter()
        for _ in range(records):
            producer.produce(topic, value, on_delivery=lambda *_: arrived(client))

    again: list[int] = []

    def arrived(client: int) -> None:
        waiting[client] -= 1
        if not waiting[client]:
            latencies.append(time.perf_counter() - sent[client])
            again.append(client)

    for client in range(clients):
        send(client)
    while time.perf_counter() < started + seconds:
        producer.poll(0.01)
        ready, again[:] = again[:], []
        for client in ready:
            send(client)
    took = time.perf_counter() - started
    producer.flush(10)
    return _round(latencies, took)


def cpu_seconds(pid: int) -> float:
    """Processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def rss_mb(pid: int) -> float:
    """Resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return float("nan")


def request_body(form: str, records: int, schema_id: int) -> bytes:
    """A produce request."""
    if form == "avro":
        return json.dumps({"value_schema_id": schema_id, "records": [{"value": AVRO_VALUE}] * records}).encode()
    value: Any = VALUE
    if form == "binary":
        value = base64.b64encode(json.dumps(VALUE).encode()).decode()
    return json.dumps({"records": [{"value": value}] * records}).encode()


def produce_rows(options: argparse.Namespace, world: World, pool: ProcessPoolExecutor) -> Iterator[Row]:
    """Every combination of format, records and clients, ours beside the others."""
    for form in options.formats:
        for records in options.records:
            body = request_body(form, records, world.schema_id)
            for clients in options.clients:
                for name, url, pid in world.proxies:

                    def measure(
                        seconds: float,
                        url: str = url,
                        pid: int | None = pid,
                        form: str = form,
                        body: bytes = body,
                        clients: int = clients,
                    ) -> Round:
                        before = cpu_seconds(pid) if pid else 0.0
                        media_type = f"application/vnd.kafka.{form}.v2+json"
                        found = pool.submit(load, url, f"/topics/{world.topic}", media_type, body, clients, seconds)
                        round_ = found.result()
                        if not pid:
                            return round_
                        used = (cpu_seconds(pid) - before) / (round_.requests_per_second * seconds) * 1e6
                        return round_._replace(cpu=used)

                    yield Row(f"{name}: {form}, {records} a request, {clients} clients", records, measure)
    for records in options.records:
        for clients in options.clients:

            def measure_bare(seconds: float, records: int = records, clients: int = clients) -> Round:
                return pool.submit(bare, world.bootstrap, world.topic, records, clients, seconds).result()

            yield Row(f"bare librdkafka: {records} at once, {clients} waiting", records, measure_bare)


def consume(url: str, topic: str, form: str, seconds: float) -> float:
    """Records per second of one instance that reads a topic from its start."""
    accept = f"application/vnd.kafka.{form}.v2+json"
    with httpx.Client(base_url=url, timeout=60) as client:
        config = {"format": form, "auto.offset.reset": "earliest", "auto.commit.enable": "false"}
        v2 = {"content-type": "application/vnd.kafka.v2+json"}
        group = f"bench-{time.time_ns()}"
        name = client.post(f"/consumers/{group}", json=config, headers=v2).json()["instance_id"]
        path = f"/consumers/{group}/instances/{name}"
        client.post(f"{path}/subscription", json={"topics": [topic]}, headers=v2)
        client.get(f"{path}/records?max_bytes=1", headers={"accept": accept})
        count = 0
        started = time.perf_counter()
        while (now := time.perf_counter()) < started + seconds:
            body = client.get(f"{path}/records?max_bytes=1000000", headers={"accept": accept}).content
            count += body.count(b'"offset":')
            if body == b"[]":
                break
        client.delete(path)
    return count / (now - started)


@dataclass
class World:
    """What runs for the bench."""

    bootstrap: str
    topic: str
    schema_id: int
    #: Name, URL, and process id where it is ours.
    proxies: list[tuple[str, str, int | None]]


def fill(url: str, topic: str, form: str, count: int) -> None:
    """Produce records for the consumers to read."""
    schema = {"value_schema": json.dumps(SCHEMA)} if form == "avro" else {}
    body = json.dumps({**json.loads(request_body(form, 500, 0)), "value_schema_id": None, **schema}).encode()
    with httpx.Client(base_url=url, timeout=60) as client:
        for _ in range(count // 500):
            headers = {"content-type": f"application/vnd.kafka.{form}.v2+json"}
            client.post(f"/topics/{topic}", content=body, headers=headers).raise_for_status()


def memory_while_stopped(world: World, pool: ProcessPoolExecutor, broker: Any, seconds: float) -> None:
    """What the proxy grows to while the broker is stopped under load; full, it answers 429."""
    name, url, pid = world.proxies[0]
    assert pid is not None
    before = rss_mb(pid)
    broker.stop()
    found = pool.submit(insist, url, world.topic, request_body("json", 100, 0), seconds).result()
    print(f"{name}: broker stopped for {seconds:.0f} s: {before:.0f} MB -> {rss_mb(pid):.0f} MB; answers {found}")
    broker.start()


def insist(url: str, topic: str, body: bytes, seconds: float) -> dict[int, int]:
    """Produce whatever is answered; how often each status came."""
    statuses: dict[int, int] = {}
    lock = threading.Lock()
    until = time.monotonic() + seconds

    def one() -> None:
        with httpx.Client(base_url=url, timeout=120) as client:
            while time.monotonic() < until:
                headers = {"content-type": "application/vnd.kafka.json.v2+json"}
                path = f"/topics/{topic}"
                answer = client.post(path, content=body, headers=headers)
                with lock:
                    statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
                if answer.status_code == httpx.codes.TOO_MANY_REQUESTS:
                    time.sleep(0.05)

    threads = [threading.Thread(target=one, daemon=True) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()) + 1)
    return dict(statuses)


def idle_instances(world: World, count: int) -> None:
    """What idle consumer instances cost."""
    name, url, pid = world.proxies[0]
    assert pid is not None
    before = rss_mb(pid)
    paths = []
    with httpx.Client(base_url=url, timeout=60) as client:
        v2 = {"content-type": "application/vnd.kafka.v2+json"}
        for index in range(count):
            answer = client.post(f"/consumers/idle-{time.time_ns()}-{index}", json={}, headers=v2)
            paths.append(urlsplit(answer.json()["base_uri"]).path)
            client.post(f"{paths[-1]}/subscription", json={"topics": [world.topic]}, headers=v2)
        time.sleep(5)
        used = cpu_seconds(pid)
        time.sleep(5)
        used = (cpu_seconds(pid) - used) / 5 * 100
        print(f"{name}: {count} idle instances: {before:.0f} MB -> {rss_mb(pid):.0f} MB, {used:.0f} % of a core")
        with ThreadPoolExecutor(50) as threads:
            list(threads.map(client.delete, paths))


def main() -> int:
    """Run what was asked for and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="length of a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--records", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--formats", nargs="*", default=["json", "binary", "avro"])
    parser.add_argument("--other", help="URL of another proxy for the same broker, measured beside ours")
    parser.add_argument("--bootstrap-servers", help="a broker that runs; needed for another proxy")
    parser.add_argument("--registry", help="a registry that runs")
    parser.add_argument("--no-consume", action="store_true")
    parser.add_argument("--idle", type=int, default=0, help="measure that many idle consumer instances")
    parser.add_argument("--stopped", type=float, default=0.0, help="stop the broker for that many seconds under load")
    options = parser.parse_args()
    with temporary_broker() as broker, running_registry() as registry:
        bootstrap = options.bootstrap_servers or broker.bootstrap_servers
        registry_url = options.registry or registry.url
        with running_rest_proxy(bootstrap, registry_url) as proxy:
            run(options, bootstrap, proxy, broker)
    return 0


def run(options: argparse.Namespace, bootstrap: str, proxy: Any, broker: Any) -> None:
    """Measure everything."""
    topic = f"bench-{time.time_ns()}"
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(30)
    first = httpx.post(
        f"{proxy.url}/topics/{topic}",
        json={"value_schema": json.dumps(SCHEMA), "records": [{"value": AVRO_VALUE}]},
        headers={"content-type": "application/vnd.kafka.avro.v2+json"},
    ).json()
    proxies = [("magicbyte", proxy.url, proxy.pid)]
    if options.other:
        proxies.append(("other", options.other, None))
    world = World(bootstrap, topic, first["value_schema_id"], proxies)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        rows = list(produce_rows(options, world, pool))
        for turn in range(options.rounds):
            for row in rows:
                row.rounds.append(row.measure(options.seconds))
                print(f"round {turn + 1}: {row.name}", end="\r", file=sys.stderr)
        print(HEADER)
        for row in rows:
            print(row.line())
        print(f"magicbyte: {rss_mb(proxy.pid):.0f} MB after the load")
        if not options.no_consume:
            for form in options.formats:
                read_topic = f"{topic}-{form}"
                fill(proxy.url, read_topic, form, 200_000)
                for name, url, _ in proxies:
                    rates = [
                        pool.submit(consume, url, read_topic, form, options.seconds * 2).result()
                        for _ in range(options.rounds)
                    ]
                    print(f"{name}: consume {form:38} {statistics.median(rates):10.0f} records/s")
        if options.idle:
            idle_instances(world, options.idle)
        if options.stopped:
            memory_while_stopped(world, pool, broker, options.stopped)


if __name__ == "__main__":
    sys.exit(main())
