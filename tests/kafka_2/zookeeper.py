"""A ZooKeeper for a broker's metadata: Kafka 2.8 needs one for transactions."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from magicbyte.kit.processes import process
from magicbyte.platform.broker.ports import free_port
from magicbyte.platform.broker.properties import NODE_ID, BrokerFailed

#: How long a killed broker stays registered; Kafka's default is 18 s. Shorter sessions expire under load.
_SESSION_MILLISECONDS = 6000

#: Seconds until ZooKeeper counts as failed; they must cover its start and the session of a killed broker.
_START_SECONDS = 30

#: The path of the registered broker in ZooKeeper's dump.
_REGISTERED = f"/brokers/ids/{NODE_ID}".encode()


class ZooKeeper:
    """A broker's metadata in a dedicated ZooKeeper, a process that starts before the broker."""

    #: The broker logs this text once it answers clients.
    started = f"[KafkaServer id={NODE_ID}] started".encode()

    def __init__(self, data_dir: Path) -> None:
        """Take the broker's folder; nothing is written or started yet."""
        self._folder = data_dir / "zookeeper"
        self._logs = data_dir / "kafka"
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None

    def prepare(self) -> None:
        """Make the folders; Kafka itself writes their `meta.properties` and checks it.

        Raises:
            BrokerFailed: a folder cannot be made.
        """
        for folder in (self._logs, self._folder):
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise BrokerFailed(f"the data folder {folder} cannot be used: {error.strerror}") from error

    def start(self, java_command: Sequence[str]) -> None:
        """Start ZooKeeper if it does not run, and wait until it answers and no broker is still registered.

        Raises:
            BrokerFailed: it ended, or did not answer in time.
        """
        if self._process is None or self._process.poll() is not None:
            self._launch(java_command)
        deadline = time.monotonic() + _START_SECONDS
        while not (dump := self._dump()) or _REGISTERED in dump:
            assert self._process is not None
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise BrokerFailed(f"ZooKeeper did not start; its log is {self._folder / 'log'}")
            time.sleep(0.02)

    def _launch(self, java_command: Sequence[str]) -> None:
        self._port = free_port()
        settings = {
            "dataDir": self._folder / "data",
            "clientPortAddress": "127.0.0.1",
            "clientPort": self._port,
            "admin.enableServer": "false",
            "4lw.commands.whitelist": "dump",
        }
        file = self._folder / "zookeeper.properties"
        file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()), encoding="utf-8")
        with (self._folder / "log").open("wb") as log:
            command: list[str | Path] = [*java_command, "org.apache.zookeeper.server.quorum.QuorumPeerMain", file]
            self._process = process.start(command, log=log.fileno())

    def _dump(self) -> bytes:
        """Return ZooKeeper's list of sessions and their registrations; empty if it does not answer."""
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._port), timeout=5) as connection:
            connection.sendall(b"dump")
            return connection.makefile("rb").read()
        return b""

    def properties(self, address: str) -> dict[str, str]:
        """Return the settings for a broker that listens on `address`."""
        return {
            "broker.id": NODE_ID,
            "zookeeper.connect": f"127.0.0.1:{self._port}",
            "zookeeper.session.timeout.ms": str(_SESSION_MILLISECONDS),
            "listeners": f"PLAINTEXT://{address}",
        }

    def stop(self) -> None:
        """Stop ZooKeeper if it runs."""
        if self._process is not None:
            process.stop(self._process)
