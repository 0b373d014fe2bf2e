"""A cluster of three brokers: the first is its controller too."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from magicbyte.kit.processes import process
from magicbyte.platform.broker.local import kafka_version, prepare
from magicbyte.platform.broker.ports import free_port
from magicbyte.platform.broker.properties import SINGLE_NODE, properties_text

_CLUSTER_ID = "bWFnaWNieXRlLXRocmVlMQ"


class KafkaCluster:
    """Brokers 1 to 3 as processes in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._java = prepare(kafka_version())
        self._controller = f"127.0.0.1:{free_port()}"
        self.ports = {node: free_port() for node in (1, 2, 3)}
        self._processes = {node: self._start(node) for node in self.ports}

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(f"127.0.0.1:{port}" for port in self.ports.values())

    def _start(self, node: int) -> subprocess.Popen[bytes]:
        logs = self._folder / str(node)
        if not logs.exists():
            logs.mkdir()
            (logs / "meta.properties").write_text(f"version=1\ncluster.id={_CLUSTER_ID}\nnode.id={node}\n")
        address = f"PLAINTEXT://127.0.0.1:{self.ports[node]}"
        is_controller = node == 1
        properties = {
            **SINGLE_NODE,
            "node.id": str(node),
            "process.roles": "broker,controller" if is_controller else "broker",
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.voters": f"1@{self._controller}",
            "listeners": f"{address},CONTROLLER://{self._controller}" if is_controller else address,
            "advertised.listeners": address,
            "log.dirs": str(logs),
            "broker.rack": f"rack-{node}",
            "offsets.topic.replication.factor": "3",
            "replica.lag.time.max.ms": "2000",
        }
        settings = self._folder / f"{node}.properties"
        settings.write_text(properties_text(properties))
        with (self._folder / f"{node}.log").open("ab") as log:
            return process.start([*self._java, "kafka.Kafka", settings], log=log.fileno())

    def kill(self, node: int) -> None:
        self._processes[node].kill()
        self._processes[node].wait()

    def restart(self, node: int) -> None:
        self._processes[node] = self._start(node)

    def close(self) -> None:
        for node in self.ports:
            self.kill(node)


@contextmanager
def kafka_cluster() -> Iterator[KafkaCluster]:
    folder = process.temporary_folder("magicbyte-cluster-")
    cluster = None
    try:
        cluster = KafkaCluster(folder)
        yield cluster
    finally:
        if cluster is not None:
            cluster.close()
        shutil.rmtree(folder, ignore_errors=True)
