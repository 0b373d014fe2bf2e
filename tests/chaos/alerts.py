"""Check which alerts a real Prometheus fires while a registry cluster of three suffers, and whether they clear.

    python tests/chaos/alerts.py [--factor 4] [--only NAME]

killed     the leader is killed with -9, and starts again later: its absence is told, and no lack of a leader
stopped    the broker is suspended, and resumed later: no node is ready
errors     another program leaves a transaction open in the topic, so writes fail, until it aborts the transaction

Each `for` and each range of deploy/prometheus/rules.yml is divided by the factor; thresholds stay. A larger one than 4
is of no use: it takes a cluster 6 to 10 s to replace a killed leader, and MagicbyteNoLeader fires after 60 s / factor.
Ends with 1 if an alert does not fire, does not clear, or fires and should not.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import httpx
from confluent_kafka import Producer

from magicbyte.platform.broker.local import LocalBroker
from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry, temporary_broker
from tests.chaos.kit.prometheus_server import Prometheus, running_prometheus
from tests.chaos.kit.until_stopped import UntilStopped
from tests.metrics import prometheus

#: How long alerts may take to fire and to clear, in seconds at factor 1; scrapes and elections take no less.
_FIRE_SECONDS, _CLEAR_SECONDS, _GRACE_SECONDS = 1200.0, 1200.0, 60.0
NODES = 3
#: Between two writes through a node.
_PAUSE_SECONDS = 0.1


class World(NamedTuple):
    """The broker and the nodes that faults happen to."""

    broker: LocalBroker
    nodes: list[ServerProcess]
    topic: str

    def leader(self) -> ServerProcess:
        """The node that leads."""
        while True:
            for node in self.nodes:
                if httpx.get(f"{node.url}/health/ready", timeout=30).json().get("leader") is True:
                    return node
            time.sleep(0.2)


class Fault(NamedTuple):
    """A fault: its name, what makes it and undoes it, the alerts that must fire, and those that may not."""

    name: str
    during: Callable[[World], Iterator[None]]
    fires: frozenset[str]
    silent: frozenset[str]


def killed(world: World) -> Iterator[None]:
    """The leader is gone for a while."""
    leader = world.leader()
    leader.kill()
    yield
    leader.start()


def stopped(world: World) -> Iterator[None]:
    """The broker does not answer for a while."""
    assert world.broker.pid is not None
    os.kill(world.broker.pid, signal.SIGSTOP)
    yield
    os.kill(world.broker.pid, signal.SIGCONT)


def errors(world: World) -> Iterator[None]:
    """Another program leaves a transaction open in the topic, so nobody can write or take over for a while."""
    producer = Producer(
        {
            "bootstrap.servers": world.broker.bootstrap_servers,
            "transactional.id": "another-program",
            "transaction.timeout.ms": 900_000,
        }
    )
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(world.topic, key=b'{"keytype":"NOOP","magic":0}', value=None, partition=0)
    producer.flush(30)
    yield
    producer.abort_transaction(30)


FAULTS = (
    Fault(
        "killed",
        killed,
        frozenset({"MagicbyteDown"}),
        frozenset({"MagicbyteNoLeader", "MagicbyteTwoLeaders", "MagicbyteReaderDead", "MagicbyteRecordsSkipped"}),
    ),
    Fault(
        "stopped",
        stopped,
        frozenset({"MagicbyteNodeNotReady"}),
        frozenset({"MagicbyteTwoLeaders", "MagicbyteReaderDead", "MagicbyteRecordsSkipped"}),
    ),
    Fault(
        "errors",
        errors,
        frozenset({"MagicbyteWriteErrors", "MagicbyteNoLeader"}),
        frozenset({"MagicbyteDown", "MagicbyteTwoLeaders", "MagicbyteReaderDead", "MagicbyteRecordsSkipped"}),
    ),
)


@contextmanager
def writing(world: World) -> Iterator[None]:
    """Register schemas through all nodes until the block ends."""
    writers = UntilStopped()

    def write(node: ServerProcess) -> None:
        with httpx.Client(base_url=node.url, timeout=30) as client:
            while not writers.stopping.wait(_PAUSE_SECONDS):
                with suppress(httpx.HTTPError):
                    client.post(f"/subjects/{uuid.uuid4().hex}/versions", json={"schema": '"int"'})

    writers.begin(*(partial(write, node) for node in world.nodes))
    try:
        yield
    finally:
        writers.stop()


def run(fault: Fault, world: World, server: Prometheus, factor: float) -> list[str]:
    """Make a fault and undo it; returns what did not hold."""
    problems: list[str] = []
    seen: set[str] = set()
    if not server.wait_for(lambda firing: not firing, _GRACE_SECONDS + _CLEAR_SECONDS / factor, seen):
        return [f"{fault.name}: {sorted(server.firing())} fire before the fault"]
    seen.clear()
    phases = fault.during(world)
    began = time.monotonic()
    next(phases)
    if not server.wait_for(lambda firing: firing >= fault.fires, _GRACE_SECONDS + _FIRE_SECONDS / factor, seen):
        problems.append(f"{fault.name}: {sorted(fault.fires - seen)} did not fire")
    fired = time.monotonic()
    next(phases, None)
    if not server.wait_for(lambda firing: not firing, _GRACE_SECONDS + _CLEAR_SECONDS / factor, seen):
        problems.append(f"{fault.name}: {sorted(server.firing())} did not clear")
    cleared = time.monotonic()
    if wrong := seen & fault.silent:
        problems.append(f"{fault.name}: {sorted(wrong)} fired")
    print(
        f"{fault.name}: {', '.join(sorted(seen))} fired ({fired - began:.0f} s until the expected ones did),"
        f" clear {cleared - fired:.0f} s after the fault ended",
        flush=True,
    )
    return problems


def main() -> int:
    """Run the faults; 1 if anything does not hold, or there is no Prometheus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--factor", type=float, default=4.0)
    parser.add_argument("--only", choices=[fault.name for fault in FAULTS])
    options = parser.parse_args()
    if prometheus.main():
        return 1
    problems: list[str] = []
    settings = {
        "kafkastore.topic": "_schemas-alerts",
        "schema.registry.group.id": "alerts",
        "kafkagroup.session.timeout.ms": "6000",
    }
    with temporary_broker() as broker, ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        nodes = [
            stack.enter_context(
                running_registry("kafka:", bootstrap_servers=broker.bootstrap_servers, properties=settings)
            )
            for _ in range(NODES)
        ]
        world = World(broker, nodes, settings["kafkastore.topic"])
        addresses = [node.url.removeprefix("http://") for node in nodes]
        server = stack.enter_context(
            running_prometheus(Path(folder), {"magicbyte-registry": addresses}, options.factor)
        )
        with writing(world):
            for fault in FAULTS:
                if options.only in (None, fault.name):
                    problems += run(fault, world, server, options.factor)
    print("\n".join(problems) or "all alerts fired and cleared as they should")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
