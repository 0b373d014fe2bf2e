"""The metrics of backups, served over HTTP or written to a file for a node exporter."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, start_http_server, write_to_textfile

from magicbyte.kit.failure import Failure
from magicbyte.kit.metrics import COUNTER, GAUGE, MetricTable
from magicbyte.operations.backup.writing import Written

_LAST_PORT = 65535

TABLE = MetricTable()
_SUCCESS = TABLE.declare(
    GAUGE,
    "magicbyte_backup_last_success_timestamp_seconds",
    "When the newest complete backup was made; 0 if there is none.",
    "file",
)
_SCHEMAS = TABLE.declare(
    GAUGE, "magicbyte_backup_schemas", "Versions in the newest backup.", "file", only="for logical backups"
)
_BYTES = TABLE.declare(GAUGE, "magicbyte_backup_bytes", "The size of the newest backup.", "file")
_FAILED = TABLE.declare(COUNTER, "magicbyte_backup_failures_total", "Rounds that made no backup.", "file")


class BackupMetrics:
    """The metrics of one backup that is made again and again, or once.

    Args:
        file: The file, as the user named it.
        target: `:PORT` or `HOST:PORT` to serve them, or a file that is replaced after each round; None for neither.
        last_success: When the newest backup that is there was made, in seconds since the epoch; 0 if there is none.

    Raises:
        Failure: The port cannot be opened.
    """

    def __init__(self, file: str, target: str | None, last_success: float = 0.0) -> None:
        registry = CollectorRegistry()
        self._registry, self._file = registry, file
        self._success = Gauge(_SUCCESS.name, _SUCCESS.text, _SUCCESS.labels, registry=registry)
        self._schemas = Gauge(_SCHEMAS.name, _SCHEMAS.text, _SCHEMAS.labels, registry=registry)
        self._bytes = Gauge(_BYTES.name, _BYTES.text, _BYTES.labels, registry=registry)
        self._failures = Counter(_FAILED.name, _FAILED.text, _FAILED.labels, registry=registry)
        self._success.labels(file).set(last_success)
        self._failures.labels(file)
        self._target: Path | None = None
        self._server: Any = None
        self._thread: threading.Thread | None = None
        host, _, port = (target or "").rpartition(":")
        if is_port(target):
            if int(port) > _LAST_PORT:
                raise Failure(f"--metrics {target}: a port is at most {_LAST_PORT}")
            try:
                self._server, self._thread = start_http_server(int(port), host or "127.0.0.1", registry=registry)
            except OSError as error:
                raise Failure(f"--metrics {target}: the port cannot be opened: {error.strerror}") from None
        elif target:
            self._target = Path(target)

    @property
    def port(self) -> int | None:
        """The port on which they are served."""
        return None if self._server is None else int(self._server.server_port)

    def made(self, written: Written) -> None:
        """Note a complete backup.

        Raises:
            Failure: The file of the metrics cannot be written.
        """
        self._success.labels(self._file).set(time.time())
        self._bytes.labels(self._file).set(written.size)
        if "schemas" in written.counts:
            self._schemas.labels(self._file).set(written.counts["schemas"])
        self._publish()

    def failed(self) -> None:
        """Note a round without a backup.

        Raises:
            Failure: As for `made`.
        """
        self._failures.labels(self._file).inc()
        self._publish()

    def close(self) -> None:
        """Stop serving."""
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    def _publish(self) -> None:
        if self._target is None:
            return
        try:
            write_to_textfile(str(self._target), self._registry)
        except OSError as error:
            raise Failure(f"--metrics {self._target}: the file cannot be written: {error.strerror}") from None


def is_port(target: str | None) -> bool:
    """Tell whether the place of the metrics is a port, and no file."""
    _, colon, port = (target or "").rpartition(":")
    return bool(colon) and port.isdecimal()
