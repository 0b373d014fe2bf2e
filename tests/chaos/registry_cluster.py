"""Three registry nodes on a real broker, their leader killed, stopped, cut off and replaced under concurrent writes.

    python tests/chaos/registry_cluster.py [--rounds 50] [--seed 1] [--only FAULT]

A leader that was replaced may answer with an error, but not that an answered write is not there. Afterwards every
answered write must be on every node under its id and version; no id may have stood for two schemas, for readers of
uncommitted records too; no node may have ended by itself; all nodes' views must be equal, and equal to a replay.
Ends with 1 if anything does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import statistics
import sys
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx

from magicbyte.platform.broker import free_port
from magicbyte.platform.broker.properties import NODE_ID
from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry, temporary_broker
from registry.log.kafka import KafkaLog
from registry.log.reader import TopicReader
from registry.state.view import View

TOPIC = "_schemas"
WRITERS = 6
#: Beyond the session timeout (6 s), so that another node has taken over by then.
STOPPED_SECONDS = 8.0


class DroppingProxy:
    """Passes TCP connections on to a port until it is cut: then nothing gets through, and nobody is told."""

    def __init__(self, target: int) -> None:
        self.port = free_port()
        self._target = target
        self._open = threading.Event()
        self._open.set()
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Let nothing through from now on."""
        self._open.clear()

    def mend(self) -> None:
        """Let all through again, what was held back first."""
        self._open.set()

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                return
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                self._open.wait()
                sink.sendall(data)
        except OSError:
            pass
        finally:
            for database in (source, sink):
                database.close()


@dataclass(slots=True)
class Written:
    """An answered write."""

    subject: str
    version: int
    schema_id: int
    text: str


@dataclass(slots=True)
class Cluster:
    """The nodes, the way each has to the broker, and what they have answered."""

    nodes: list[ServerProcess]
    proxies: list[DroppingProxy]
    answered: list[Written] = field(default_factory=list)
    #: Answers that a node without the leadership should not have given, and nodes that ended by themselves.
    misdeeds: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def leader(self) -> int:
        """The index of the node that leads, waited for."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            for index, node in enumerate(self.nodes):
                try:
                    if httpx.get(f"{node.url}/health/ready", timeout=2).json().get("leader"):
                        return index
                except (httpx.HTTPError, ValueError):
                    continue
            time.sleep(0.1)
        raise TimeoutError("no node leads")

    def revive(self) -> None:
        """Start nodes again that have ended by themselves, which none may."""
        for index, node in enumerate(self.nodes):
            if not node.is_running:
                self.misdeeds.append("\n    ".join([f"node {index} ended by itself:", *node.last_lines(30)]))
                print(self.misdeeds[-1], flush=True)
                node.start()

    def write_until_stopped(self, writer: int) -> None:
        """Register schemas through nodes at random; whatever was answered with 200 counts."""
        chance = random.Random(writer)
        number = 0
        while not self.stop.is_set():
            number += 1
            text = json.dumps({"type": "record", "name": f"W{writer}N{number}", "fields": []}, separators=(",", ":"))
            subject = f"s{chance.randrange(20)}-{writer}-{number}"
            node = chance.choice(self.nodes)
            for _ in range(2):
                try:
                    answer = httpx.post(f"{node.url}/subjects/{subject}/versions", json={"schema": text}, timeout=20)
                except httpx.HTTPError:
                    node = chance.choice(self.nodes)
                    continue
                if answer.status_code == 200:
                    body = answer.json()
                    self.answered.append(Written(subject, body["version"], body["id"], text))
                break

    def ask_for_the_latest(self, index: int) -> None:
        """Ask a node that may not know that it was replaced: it may fail, but not say that a write is not there."""
        last = self.answered[-1]
        url = f"{self.nodes[index].url}/subjects/{last.subject}/versions/{last.version}"
        try:
            answer = httpx.get(url, timeout=20)
        except httpx.HTTPError:
            return
        if answer.status_code == 404:
            self.misdeeds.append(f"{url} was answered with 404")


def kill_and_restart(cluster: Cluster, leader: int) -> None:
    cluster.nodes[leader].kill()
    cluster.nodes[leader].start()


def kill_and_replace(cluster: Cluster, leader: int) -> None:
    cluster.nodes[leader].kill()
    time.sleep(STOPPED_SECONDS)
    cluster.nodes[leader].start()


def stop_and_resume(cluster: Cluster, leader: int) -> None:
    pid = cluster.nodes[leader].pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    time.sleep(STOPPED_SECONDS)
    os.kill(pid, signal.SIGCONT)
    cluster.ask_for_the_latest(leader)


def cut_off(cluster: Cluster, leader: int) -> None:
    cluster.proxies[leader].cut()
    time.sleep(STOPPED_SECONDS)
    cluster.ask_for_the_latest(leader)
    cluster.proxies[leader].mend()


def stop_cleanly(cluster: Cluster, leader: int) -> None:
    cluster.nodes[leader].stop()
    cluster.nodes[leader].start()


FAULTS: tuple[Callable[[Cluster, int], None], ...] = (
    kill_and_restart,
    stop_and_resume,
    cut_off,
    stop_cleanly,
    kill_and_replace,
)


def run(rounds: int, seed: int, faults: Sequence[Callable[[Cluster, int], None]]) -> int:
    chance = random.Random(seed)
    waits: dict[str, list[float]] = {fault.__name__: [] for fault in faults}
    ports = [free_port() for _ in range(3)]
    proxies = [DroppingProxy(port) for port in ports]
    with ExitStack() as stack:
        port = free_port()
        broker = stack.enter_context(temporary_broker(port, _listeners(port, ports, proxies)))
        group = str(uuid.uuid4())
        nodes = [
            stack.enter_context(
                running_registry(
                    "kafka:",
                    bootstrap_servers=f"127.0.0.1:{proxy.port}",
                    properties={"schema.registry.group.id": group, "magicbyte.node.id": f"node-{index}"},
                )
            )
            for index, proxy in enumerate(proxies)
        ]
        cluster = Cluster(nodes, proxies)
        cluster.leader()
        writers = [threading.Thread(target=cluster.write_until_stopped, args=(n,)) for n in range(WRITERS)]
        for writer in writers:
            writer.start()
        for number in range(rounds):
            fault = faults[number] if number < len(faults) else chance.choice(faults)
            leader = cluster.leader()
            before, started = len(cluster.answered), time.monotonic()
            injected = threading.Thread(target=fault, args=(cluster, leader))
            injected.start()
            wait = _next_write(cluster, before + WRITERS, started)
            waits[fault.__name__].append(wait)
            injected.join()
            print(f"round {number + 1}: {fault.__name__} of node {leader}, next write after {wait:.1f} s", flush=True)
            _next_write(cluster, len(cluster.answered) + 10, time.monotonic())
            cluster.revive()
        cluster.stop.set()
        for writer in writers:
            writer.join()
        problems = verify(cluster, broker.bootstrap_servers)
    for proxy in proxies:
        proxy.close()
    for name, seconds in waits.items():
        if seconds:
            print(f"{name:18} next write after {statistics.median(seconds):.1f} s (at most {max(seconds):.1f})")
    print(f"{len(cluster.answered)} writes answered; {len(problems)} problems")
    for problem in problems[:20]:
        print(f"  {problem}")
    return 1 if problems else 0


def _listeners(port: int, ports: list[int], proxies: list[DroppingProxy]) -> dict[str, str]:
    """Broker settings with a listener for each node, advertised at the node's proxy."""
    controller = free_port()
    usual = {"PLAINTEXT": port, **{f"CUT{index}": each for index, each in enumerate(ports)}}
    advertised = {"PLAINTEXT": port, **{f"CUT{index}": each.port for index, each in enumerate(proxies)}}
    return {
        "listeners": _addresses({**usual, "CONTROLLER": controller}),
        "advertised.listeners": _addresses(advertised),
        "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in [*usual, "CONTROLLER"]),
        "controller.quorum.voters": f"{NODE_ID}@127.0.0.1:{controller}",
        "inter.broker.listener.name": "PLAINTEXT",
    }


def _addresses(ports: dict[str, int]) -> str:
    return ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items())


def _next_write(cluster: Cluster, count: int, started: float) -> float:
    """Wait until so many writes were answered; answers the seconds that passed."""
    while len(cluster.answered) < count:
        if time.monotonic() - started > 90:
            raise TimeoutError("no write was accepted for 90 s")
        time.sleep(0.01)
    return time.monotonic() - started


def verify(cluster: Cluster, bootstrap_servers: str) -> list[str]:
    """Check all nodes against a replay of the topic and the answered writes; return the problems."""
    problems = list(cluster.misdeeds)
    replayed, meanings = replay(bootstrap_servers)
    problems += [
        f"id {schema_id} stood for {len(texts)} schemas" for schema_id, texts in meanings.items() if len(texts) > 1
    ]
    expected = [_row(version) for subject in sorted(replayed.subjects()) for version in replayed.versions(subject)]
    for node in cluster.nodes:
        rows = _listing(node)
        if rows != expected:
            problems.append(f"{node.url} shows {len(rows)} versions, a replay {len(expected)}, or others")
        known = {(subject, version): (schema_id, text) for subject, version, schema_id, text in rows}
        problems += [
            f"{node.url} has {known.get((write.subject, write.version))} for {write}"
            for write in cluster.answered
            if known.get((write.subject, write.version)) != (write.schema_id, write.text)
        ]
    return problems


def replay(bootstrap_servers: str) -> tuple[View, dict[int, set[str]]]:
    """The view of the committed records, and every text that an id ever stood for in any record."""
    client: dict[str, Any] = {"bootstrap.servers": bootstrap_servers}
    view = View()
    log = KafkaLog(client, TOPIC, "nobody")
    for entry in log.read(-1):
        view.apply(entry)
    end = log.end_position(committed=False)
    log.close()
    reader = TopicReader(client, TOPIC, isolation="read_uncommitted")
    reader.seek(-1)
    meanings: dict[int, set[str]] = {}
    while reader.position < end:
        for entry in reader.poll(0.2):
            value = json.loads(entry.value) if entry.value else {}
            if "schema" in value:
                meanings.setdefault(value["id"], set()).add(value["schema"])
    reader.close()
    return view, meanings


def _row(version: Any) -> tuple[str, int, int, str]:
    return version.subject, version.number, version.schema_id, version.content.text


def _listing(node: ServerProcess) -> list[tuple[str, int, int, str]]:
    rows: list[tuple[str, int, int, str]] = []
    while True:
        page = httpx.get(f"{node.url}/schemas?deleted=true&offset={len(rows)}", timeout=60).json()
        rows += [(row["subject"], row["version"], row["id"], row["schema"]) for row in page]
        if not page:
            return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", choices=[fault.__name__ for fault in FAULTS])
    options = parser.parse_args()
    faults = [fault for fault in FAULTS if not options.only or fault.__name__ in options.only]
    return run(options.rounds, options.seed, faults)


if __name__ == "__main__":
    sys.exit(main())
