"""The metrics of a mirror, and the port that serves them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from magicbyte.kit.failure import Failure
from magicbyte.kit.metrics import COUNTER, GAUGE, Declared, MetricTable
from magicbyte.operations.closing import Closing

_LAST_PORT = 65535

TABLE = MetricTable()


def _declare(kind: str, name: str, text: str) -> Declared:
    return TABLE.declare(kind, f"magicbyte_mirror_{name}", text)


_LAG_SECONDS = _declare(
    GAUGE, "lag_seconds", "Time for which the target has not been what the source is; 0 while it is."
)
_LAG_CHANGES = _declare(GAUGE, "lag_changes", "Changes that the source has sent and that are not written yet.")
_SUCCESS = _declare(GAUGE, "last_success_timestamp_seconds", "When the target was last known to be what the source is.")
_CHANGES = _declare(COUNTER, "changes_total", "Lines written to the target.")
_FULL = _declare(COUNTER, "full_syncs_total", "Comparisons of the whole source with the whole target.")


class MirrorMetrics(Collector):
    """Counters of a mirror; other threads read them at a scrape.

    Attributes:
        changes: How many lines were written.
        full_syncs: How many full syncs have ended.
        waiting: Returns how many changes wait to be taken.
        taken: How many changes are taken and not written.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._succeeded = 0.0
        self._behind_since = clock()
        self._is_equal = False
        self.changes = 0
        self.full_syncs = 0
        self.taken = 0
        self.waiting: Callable[[], int] = lambda: 0

    def equal(self) -> None:
        """Note that the target is what the source is."""
        self._succeeded, self._is_equal = self._clock(), True

    def behind(self) -> None:
        """Note that the target may not be what the source is."""
        if self._is_equal:
            self._behind_since, self._is_equal = self._clock(), False

    @property
    def lag_seconds(self) -> float:
        """For how long the target has not been what the source is."""
        return 0.0 if self._is_equal else self._clock() - self._behind_since

    def collect(self) -> Iterator[Metric]:
        """Return the current metrics."""
        yield _LAG_SECONDS.single(self.lag_seconds)
        yield _LAG_CHANGES.single(self.waiting() + self.taken)
        yield _SUCCESS.single(self._succeeded)
        yield _CHANGES.single(self.changes)
        yield _FULL.single(self.full_syncs)


class MetricsPort(Closing):
    """Serves the metrics of a mirror; a context manager.

    Args:
        address: `HOST:PORT` or `:PORT`, which is on loopback.
        metrics: The metrics.

    Raises:
        Failure: The address is none, or its port is taken.
    """

    def __init__(self, address: str, metrics: MirrorMetrics) -> None:
        host, _, port = address.rpartition(":")
        if not port.isascii() or not port.isdigit() or not 0 < int(port) <= _LAST_PORT:
            raise Failure(f"--metrics {address!r} is no HOST:PORT, such as 127.0.0.1:9110")
        registry = CollectorRegistry()
        registry.register(metrics)
        try:
            self._server, self._thread = start_http_server(int(port), host or "127.0.0.1", registry=registry)
        except OSError as error:
            raise Failure(f"--metrics {address}: the port cannot be opened: {error.strerror}") from None

    def close(self) -> None:
        """Close the port."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
