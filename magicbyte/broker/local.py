"""`LocalBroker`: Apache Kafka as a child process, with its data, its log and its settings in one folder."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Self

from magicbyte import jars, process
from magicbyte.broker.class_data import JVM_OPTIONS, archive_options
from magicbyte.broker.coordinators import await_coordinators
from magicbyte.broker.properties import BrokerFailed, prepare_logs, server_properties
from magicbyte.java import find_broker_java

#: What the broker logs once it answers clients.
_STARTED = b"Kafka Server started"

_LOGGING = (
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS",
    "-Dorg.slf4j.simpleLogger.showThreadName=false",
    # One line for each partition and request; the other loggers tell the same story.
    "-Dorg.slf4j.simpleLogger.log.state.change.logger=warn",
)


#: Where the log says why the broker ended, the most telling first.
_REASONS = (r"^Caused by: [\w.$]+: (.+)", r"^[\w.]+(?:Exception|Error): (.+)", r".* ERROR \S+ - (.+)")


class LocalBroker:
    """A single-node Kafka on the loopback that ends when this process does.

    `start()` returns when it answers; as a context manager it is started and stopped. Its folder holds `kafka/` (the
    data), `server.properties` and `broker.log`; started again on the same folder it has its topics back.
    """

    def __init__(
        self,
        data_dir: Path,
        port: int = 9092,
        *,
        host: str = "127.0.0.1",
        properties: Mapping[str, str] | None = None,
    ) -> None:
        """Say where the broker will be; nothing is started or written yet.

        Args:
            data_dir: the broker's folder, made where it does not exist.
            port: the port for clients; 0 picks a free one.
            host: the loopback address to listen on.
            properties: settings of `server.properties` that go over the usual ones.
        """
        self.data_dir = data_dir.expanduser().absolute()
        self.host = host
        self.port = port or free_port()
        self.properties = dict(properties or {})
        self.log = self.data_dir / "broker.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap_servers(self) -> str:
        """`host:port` for clients."""
        return f"{self.host}:{self.port}"

    @property
    def pid(self) -> int | None:
        """The process id while the broker runs."""
        return self._process.pid if self.is_running and self._process else None

    @property
    def is_running(self) -> bool:
        """Whether there is a live process."""
        return self._process is not None and self._process.poll() is None

    def start(self, timeout: float = 60) -> None:
        """Start the broker and wait until it answers.

        Args:
            timeout: seconds until it counts as failed.

        Raises:
            BrokerFailed: the port is in use, the data folder is no good, or the broker ended or kept silent.
            JavaMissing: there is no Java.
            JarsMissing: the jars are not cached and could not be fetched.
        """
        self.launch()
        self.wait_until_ready(timeout)

    def launch(self) -> None:
        """Start the process and return at once; raises as `start`."""
        if not 0 < self.port < 65536:
            raise BrokerFailed(f"{self.port} is no port: 1 to 65535")
        if not port_is_free(self.port, self.host):
            raise BrokerFailed(f"port {self.port} is in use: stop what listens there, or choose another port")
        prepare_logs(self.data_dir / "kafka")
        self._launch(prepare())

    def _launch(self, java_command: Sequence[str]) -> None:
        settings = self.data_dir / "server.properties"
        text = server_properties(
            logs=self.data_dir / "kafka",
            host=self.host,
            port=self.port,
            controller_port=free_port(),
            extra=self.properties,
        )
        settings.write_text(text, encoding="utf-8")
        with _lock(self.data_dir) as lock, self.log.open("wb") as log:
            # The broker inherits the lock's descriptor, and so holds the lock for as long as it lives.
            self._process = process.start(
                [*java_command, *_LOGGING, "kafka.Kafka", settings], log=log.fileno(), pass_fds=[lock.fileno()]
            )

    def wait_until_ready(self, timeout: float = 60) -> None:
        """Wait until the launched broker answers clients; raises BrokerFailed if it ends or keeps silent."""
        assert self._process is not None
        deadline = time.monotonic() + timeout
        with self.log.open("rb") as log:
            tail = b""
            while _STARTED not in (tail := tail[-len(_STARTED) :] + log.read()):
                if self._process.poll() is not None:
                    raise BrokerFailed(f"the broker did not start: {self._reason()}; its log is {self.log}")
                if time.monotonic() > deadline:
                    self.stop()
                    raise BrokerFailed(f"the broker did not answer within {timeout:g} s; its log is {self.log}")
                time.sleep(0.01)
        # Where it fails the topics come with the first client, as with any broker.
        with contextlib.suppress(OSError):
            await_coordinators(self.host, self.port, timeout=5)

    def stop(self) -> None:
        """End the broker cleanly (SIGTERM; SIGKILL after 20 s); does nothing where none runs."""
        if self._process is not None:
            process.stop(self._process, seconds=20)

    def kill(self) -> None:
        """End the broker at once with SIGKILL, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _reason(self) -> str:
        """Find in the log why the broker ended: the last cause named, else the last error, else the JVM's words."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        for pattern in _REASONS:
            found = [match[1] for line in lines if (match := re.match(pattern, line))]
            if found:
                return found[-1][:300].strip().rstrip(".")
        return " ".join(lines[:2])[:300] or f"exit code {self._process.poll() if self._process else None}"


def _lock(data_dir: Path) -> IO[bytes]:
    """Lock the folder: Kafka's own lock comes too late, two brokers have then already written to one metadata log."""
    lock = (data_dir / ".lock").open("wb")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise BrokerFailed(f"the data folder {data_dir} is in use by another broker: stop that one first") from None
    return lock


def prepare() -> list[str]:
    """Find a Java, fetch the jars and make the class data archive where they are missing; return the JVM's command."""
    java = find_broker_java()
    classpath = jars.paths("broker")
    command = [str(java.executable), *JVM_OPTIONS]
    place = ["-cp", os.pathsep.join(map(str, classpath))]
    archive = archive_options(java, classpath, train=lambda options: _train([*command, *options, *place]))
    return [*command, *archive, *place]


def _train(java_command: Sequence[str]) -> None:
    """Start a broker in a folder of its own and stop it, so that the JVM sees which classes that takes."""
    with tempfile.TemporaryDirectory(prefix="magicbyte-") as folder:
        broker = LocalBroker(Path(folder), 0)
        prepare_logs(broker.data_dir / "kafka")
        broker._launch(java_command)  # noqa: SLF001 - ours
        try:
            broker.wait_until_ready()
        finally:
            broker.stop()


def free_port() -> int:
    """Return a port of the loopback that nothing listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def port_is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen on the port."""
    with socket.socket() as probe:
        # As servers do; else connections that are being closed would count as a listener.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True
