"""`LocalBroker`: Apache Kafka as a child process, with data, log and settings in one folder."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol, Self

from magicbyte.kit.processes import process
from magicbyte.platform import jars
from magicbyte.platform.broker.class_data import JVM_OPTIONS, archive_options
from magicbyte.platform.broker.coordinators import await_coordinators
from magicbyte.platform.broker.kraft import KRaft
from magicbyte.platform.broker.ports import free_port, port_is_free
from magicbyte.platform.broker.properties import SINGLE_NODE, BrokerFailed, properties_text
from magicbyte.platform.java import ensure_broker_java


class Metadata(Protocol):
    """Keeps a broker's metadata."""

    #: The broker logs this text once it answers clients.
    started: bytes

    def prepare(self) -> None:
        """Make the folders, or check them; raises BrokerFailed."""

    def start(self, java_command: Sequence[str]) -> None:
        """Start what the broker needs before it starts; raises BrokerFailed."""

    def properties(self, address: str) -> dict[str, str]:
        """Return the settings for a broker that listens on `address`."""

    def stop(self) -> None:
        """Stop what `start` started."""


#: Kafka's major version -> makes the keeper of the metadata for a broker's folder.
METADATA: dict[str, Callable[[Path], Metadata]] = {"3": KRaft, "4": KRaft}

_LOGGING = (
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS",
    "-Dorg.slf4j.simpleLogger.showThreadName=false",
    # It logs a line per partition and request, which the other loggers repeat.
    "-Dorg.slf4j.simpleLogger.log.state.change.logger=warn",
)


#: Lines of the log that give the reason why the broker ended, the most specific first.
_REASONS = (r"^Caused by: [\w.$]+: (.+)", r"^[\w.]+(?:Exception|Error): (.+)", r".* ERROR \S+ - (.+)")


def kafka_version() -> str:
    """Return the default version of Kafka for brokers: MAGICBYTE_KAFKA_VERSION, or else ours."""
    return os.environ.get("MAGICBYTE_KAFKA_VERSION") or jars.KAFKA_VERSION


class LocalBroker:
    """A single-node Kafka on loopback that ends when this process ends.

    `start()` returns when the broker answers; the context manager starts and stops it. Its folder holds `kafka/` (the
    data), `server.properties` and `broker.log`; a new broker on the same folder keeps the topics.
    """

    def __init__(
        self,
        data_dir: Path,
        port: int = 9092,
        *,
        host: str = "127.0.0.1",
        properties: Mapping[str, str] | None = None,
        version: str | None = None,
    ) -> None:
        """Configure the broker; nothing is started or written yet.

        Args:
            data_dir: the broker's folder, made if it does not exist.
            port: the port for clients; 0 picks a free one.
            host: the loopback address to listen on.
            properties: settings of `server.properties` that override the defaults.
            version: the version of Kafka, one of `magicbyte.platform.jars.KAFKA_VERSIONS`; None for `kafka_version()`.

        Raises:
            BrokerFailed: there is no such version.
        """
        self.version = version or kafka_version()
        if self.version not in jars.KAFKA_VERSIONS:
            raise BrokerFailed(f"there is no broker of Kafka {self.version}, only of {', '.join(jars.KAFKA_VERSIONS)}")
        self.data_dir = data_dir.expanduser().absolute()
        self.host = host
        self.port = port or free_port()
        self.properties = dict(properties or {})
        self.log = self.data_dir / "broker.log"
        self._metadata = METADATA[self.version.partition(".")[0]](self.data_dir)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap_servers(self) -> str:
        """`host:port` for clients."""
        return f"{self.host}:{self.port}"

    @property
    def pid(self) -> int | None:
        """The process id while the broker runs, else None."""
        return self._process.pid if self.is_running and self._process else None

    @property
    def is_running(self) -> bool:
        """Whether the process is alive."""
        return self._process is not None and self._process.poll() is None

    def start(self, timeout: float = 60) -> None:
        """Start the broker and wait until it answers.

        Args:
            timeout: seconds until it counts as failed.

        Raises:
            BrokerFailed: the port is in use, the data folder is unusable, or the broker ended or is too slow.
            JavaMissing: there is no Java, and none could be fetched.
            JarsMissing: the jars are not cached and could not be fetched.
        """
        self.launch()
        self.wait_until_ready(timeout)

    def launch(self) -> None:
        """Start the process and return at once; raises the same errors as `start`."""
        if not 0 < self.port < 65536:
            raise BrokerFailed(f"{self.port} is no port: 1 to 65535")
        if not port_is_free(self.port, self.host):
            raise BrokerFailed(f"port {self.port} is in use: stop what listens there, or choose another port")
        self._metadata.prepare()
        self._launch(prepare(self.version))

    def _launch(self, java_command: Sequence[str]) -> None:
        java_command = [*java_command, *_LOGGING]
        with _lock(self.data_dir) as lock, self.log.open("wb") as log:
            self._metadata.start(java_command)
            properties = {
                **SINGLE_NODE,
                **self._metadata.properties(f"{self.host}:{self.port}"),
                "advertised.listeners": f"PLAINTEXT://{self.bootstrap_servers}",
                "log.dirs": str(self.data_dir / "kafka"),
                **self.properties,
            }
            settings = self.data_dir / "server.properties"
            settings.write_text(properties_text(properties), encoding="utf-8")
            # The broker inherits the lock's descriptor, so it holds the lock as long as it lives.
            self._process = process.start(
                [*java_command, "kafka.Kafka", settings], log=log.fileno(), pass_fds=[lock.fileno()]
            )

    def wait_until_ready(self, timeout: float = 60) -> None:
        """Wait until the launched broker answers clients; raises BrokerFailed if it ends or does not answer in time."""
        assert self._process is not None
        deadline = time.monotonic() + timeout
        with self.log.open("rb") as log:
            started, tail = self._metadata.started, b""
            while started not in (tail := tail[-len(started) :] + log.read()):
                if self._process.poll() is not None:
                    self._metadata.stop()
                    raise BrokerFailed(f"the broker did not start: {self._reason()}; its log is {self.log}")
                if time.monotonic() > deadline:
                    self.stop()
                    raise BrokerFailed(f"the broker did not answer within {timeout:g} s; its log is {self.log}")
                time.sleep(0.01)
        # If this fails, the first client makes the broker create the topics, as usual.
        with contextlib.suppress(OSError):
            await_coordinators(self.host, self.port, timeout=5)

    def stop(self) -> None:
        """Stop the broker cleanly if it runs (SIGTERM; SIGKILL after 20 s)."""
        if self._process is not None:
            process.stop(self._process, seconds=20)
        self._metadata.stop()

    def kill(self) -> None:
        """Kill the broker with SIGKILL, as in a crash."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _reason(self) -> str:
        """Return why the broker ended, from its log: the last cause, the last error, or the JVM's first lines."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        for pattern in _REASONS:
            reasons = [match[1] for line in lines if (match := re.match(pattern, line))]
            if reasons:
                return reasons[-1][:300].strip().rstrip(".")
        return " ".join(lines[:2])[:300] or f"exit code {self._process.poll() if self._process else None}"


def _lock(data_dir: Path) -> IO[bytes]:
    """Lock the folder. Kafka takes its lock too late: by then, two brokers have written to the same metadata log."""
    lock = (data_dir / ".lock").open("wb")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise BrokerFailed(f"the data folder {data_dir} is in use by another broker: stop that one first") from None
    return lock


def prepare(version: str | None = None) -> list[str]:
    """Find or fetch Java and the jars, make the class data archive if it is missing, and return the JVM's command.

    Args:
        version: the version of Kafka; None for `kafka_version()`.
    """
    version = version or kafka_version()
    java = ensure_broker_java()
    jar_paths = jars.paths(f"broker-{version}")
    command = [str(java.executable), *JVM_OPTIONS]
    class_path = ["-cp", os.pathsep.join(map(str, jar_paths))]
    archive = archive_options(java, jar_paths, train=lambda options: _train([*command, *options, *class_path], version))
    return [*command, *archive, *class_path]


def _train(java_command: Sequence[str], version: str) -> None:
    """Start and stop a broker in a temporary folder, so that the JVM records which classes it loads."""
    with tempfile.TemporaryDirectory(prefix="magicbyte-") as folder:
        broker = LocalBroker(Path(folder), 0, version=version)
        broker._metadata.prepare()  # noqa: SLF001 - ours
        broker._launch(java_command)  # noqa: SLF001 - ours
        try:
            broker.wait_until_ready()
        finally:
            broker.stop()
