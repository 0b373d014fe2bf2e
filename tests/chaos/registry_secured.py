"""Three registry nodes behind TLS, their leader killed while clients that sign in in different ways write through all.

    PYTHONPATH=. python -P tests/chaos/registry_secured.py [--rounds 10]

After each kill every client must write again, without anybody's help. At the end every answered write is on every node
under its id and version, and nodes have passed writes on to the leader with signed identities. Ends with 1 if not.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx
from confluent_kafka import schema_registry as confluent
from confluent_kafka.schema_registry.error import SchemaRegistryError

from compat.schema import SchemaText
from magicbyte.platform.broker import free_port
from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry, temporary_broker
from serdes import SchemaRegistryClient
from serdes.error import OAuthTokenError, RegistryError, RegistryUnavailable
from tests.clients.secured_registry import SecuredSettings, secured_settings

NODES = 3
#: Writes that each client must have answered between two kills.
WRITES = 10
#: Seconds in which they must be: a takeover needs the session timeout (6 s) of the leader that is gone.
PATIENCE = 90.0

Register = Callable[[str, str], int]


def schema(name: str) -> str:
    return json.dumps({"type": "record", "name": name, "fields": [{"name": "id", "type": "string"}]})


def with_ours(settings: dict[str, Any]) -> Register:
    client = SchemaRegistryClient({**settings, "max.retries": 1, "retries.wait.ms": 100})
    return lambda subject, text: client.register(subject, SchemaText("AVRO", text)).id or 0


def with_confluents(settings: dict[str, Any]) -> Register:
    client = confluent.SchemaRegistryClient({**settings, "max.retries": 1, "retries.wait.ms": 100})
    return lambda subject, text: int(client.register_schema(subject, confluent.Schema(text, "AVRO")))


#: Client -> the way in which it signs in.
CLIENTS = (
    ("ours", with_ours, "basic"),
    ("ours", with_ours, "oauth"),
    ("ours", with_ours, "certificate"),
    ("confluents", with_confluents, "key"),
    ("confluents", with_confluents, "token"),
    ("confluents", with_confluents, "certificate"),
)


@dataclass
class Writer:
    """A client that registers one schema after the other, each until it is answered.

    Attributes:
        name: The client and how it signs in.
        answered: Subject -> the schema's name and id.
        failures: What it met that a leader change does not explain.
    """

    name: str
    register: Register
    answered: dict[str, tuple[str, int]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def run(self, stop: threading.Event) -> None:
        while not stop.is_set() and not self.failures:
            name = f"R{uuid.uuid4().hex}"
            subject = f"{self.name}.{name}"
            while not stop.is_set():
                try:
                    self.answered[subject] = (name, self.register(subject, schema(name)))
                    break
                except (RegistryUnavailable, httpx.TransportError):
                    continue
                except (RegistryError, SchemaRegistryError) as error:
                    # Between two leaders a node answers 5xx; a refusal of the credentials would be another matter.
                    if (error.status if isinstance(error, RegistryError) else error.http_status_code) < 500:
                        self.failures.append(f"{self.name}: {error}")
                        return
                except OAuthTokenError as error:
                    self.failures.append(f"{self.name}: {error}")
                    return


class Cluster:
    """The nodes, and the credentials that ask them."""

    def __init__(self, nodes: Sequence[ServerProcess], settings: SecuredSettings) -> None:
        self.nodes, self._settings = nodes, settings
        passwords = settings.at("").passwords
        self._http = httpx.Client(verify=settings.tls, auth=("admin", passwords["admin"]), timeout=30)

    def close(self) -> None:
        self._http.close()

    def get(self, node: ServerProcess, path: str) -> httpx.Response:
        return self._http.get(node.url + path)

    def leader(self) -> ServerProcess:
        """The node that says that it leads; waits for one."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for node in self.nodes:
                try:
                    # /health/ready tells no stranger who leads, and nobody signs in there.
                    lines = self.get(node, "/metrics").text.splitlines()
                except httpx.TransportError:
                    continue
                if "kafka_schema_registry_master_slave_role 1.0" in lines:
                    return node
            time.sleep(0.05)
        raise AssertionError("no node leads")

    def forwarded(self) -> int:
        """The writes that nodes took from others, by their counts since they started."""
        start = 'magicbyte_authentication_total{method="FORWARDED",outcome="success"} '
        lines = (line for node in self.nodes for line in self.get(node, "/metrics").text.splitlines())
        return sum(int(float(line.removeprefix(start))) for line in lines if line.startswith(start))

    def missing(self, writers: Sequence[Writer]) -> list[str]:
        """The answered writes that a node does not have under their id and version."""
        lost = []
        for node in self.nodes:
            for writer in writers:
                for subject, (name, schema_id) in writer.answered.items():
                    version = self.get(node, f"/subjects/{subject}/versions/1")
                    if version.status_code != 200 or version.json()["id"] != schema_id:
                        lost.append(f"{subject} on {node.url}: {version.text}")
                    text = self.get(node, f"/schemas/ids/{schema_id}")
                    if text.status_code != 200 or json.loads(text.json()["schema"])["name"] != name:
                        lost.append(f"id {schema_id} on {node.url}: {text.text}")
        return lost


def await_writes(writers: Sequence[Writer]) -> None:
    """Wait until each writer has been answered again, so many times."""
    goals = {writer.name: len(writer.answered) + WRITES for writer in writers}
    deadline = time.monotonic() + PATIENCE
    while late := [writer.name for writer in writers if len(writer.answered) < goals[writer.name]]:
        failures = [failure for writer in writers for failure in writer.failures]
        assert not failures, failures
        assert time.monotonic() < deadline, f"no {WRITES} writes in {PATIENCE:g} s: {', '.join(late)}"
        time.sleep(0.05)


def run(rounds: int) -> list[str]:
    with ExitStack() as stack:
        broker = stack.enter_context(temporary_broker())
        settings = stack.enter_context(secured_settings())
        ports = [free_port() for _ in range(NODES)]
        urls = [f"https://127.0.0.1:{port}" for port in ports]
        properties = {**settings.properties, "magicbyte.inter.instance.urls": ",".join(urls)}
        nodes = [
            stack.enter_context(
                running_registry(
                    "kafka:",
                    bootstrap_servers=broker.bootstrap_servers,
                    port=port,
                    properties=properties,
                    tls=settings.tls,
                )
            )
            for port in ports
        ]
        cluster = Cluster(nodes, settings)
        stack.callback(cluster.close)
        writers = []
        for index, (name, make, method) in enumerate(CLIENTS):
            turned = [urls[(index + step) % NODES] for step in range(NODES)]
            writers.append(Writer(f"{name}-{method}", make(dict(settings.at(",".join(turned)).admin[method]))))
        stop = threading.Event()
        threads = [threading.Thread(target=writer.run, args=(stop,)) for writer in writers]
        for thread in threads:
            thread.start()
        try:
            forwarded = 0
            for number in range(rounds):
                await_writes(writers)
                forwarded += cluster.forwarded()
                leader = cluster.leader()
                began = time.monotonic()
                leader.kill()
                await_writes(writers)
                print(
                    f"round {number + 1}: all write again {time.monotonic() - began:.1f} s after the kill", flush=True
                )
                leader.start()
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        problems = [failure for writer in writers for failure in writer.failures] + cluster.missing(writers)
        if not forwarded:
            problems.append("no write was forwarded")
        answered = sum(len(writer.answered) for writer in writers)
        print(f"{answered} answered writes, {forwarded} forwarded before kills, {len(problems)} problems")
        return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10, help="kills of the leader (default 10)")
    problems = run(parser.parse_args().rounds)
    print("\n".join(problems[:20]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
