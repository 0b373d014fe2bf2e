"""Metrics and the access log: counts and times of all answers, and a log line for most of them."""

from __future__ import annotations

import logging
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence

from prometheus_client.core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from magicbyte.http.asgi import Scope, Send, answer
from magicbyte.kit.errors import ApiError
from magicbyte.kit.logs.access import ACCESS
from magicbyte.kit.logs.redaction import without_secrets
from magicbyte.kit.logs.request_facts import RequestFacts
from magicbyte.kit.metrics import COUNTER, GAUGE, HISTOGRAM, MetricTable
from magicbyte.kit.metrics import SECONDS as BUCKETS
from magicbyte.kit.traces.current import current_trace_id

access_log = logging.getLogger("magicbyte.access")

#: The attributes that all log records of answers share; those of 5xx are warnings.
_TEMPLATES = {
    level: {**vars(logging.LogRecord(access_log.name, level, "", 0, "%s %s %d", (), None)), "event": "request_answered"}
    for level in (logging.INFO, logging.WARNING)
}
#: How many characters of the path are logged for a request that is refused before routing.
_LOGGED_PATH = 200

TABLE = MetricTable()
REQUESTS = TABLE.declare(
    COUNTER,
    "magicbyte_http_requests_total",
    "Requests answered, by the route's pattern; `none` if no route fits.",
    "app",
    "method",
    "route",
    "status",
)
REQUEST_SECONDS = TABLE.declare(
    HISTOGRAM, "magicbyte_http_request_seconds", "Time to the end of the answer.", "app", "method", "route"
)
IN_PROGRESS = TABLE.declare(GAUGE, "magicbyte_http_requests_in_progress", "Open requests.", "app")


class Tally:
    """The answers of one route with one status: their number, their total time, and a histogram of their times."""

    __slots__ = ("buckets", "count", "seconds")

    def __init__(self) -> None:
        self.count = 0
        self.seconds = 0.0
        self.buckets = [0] * (len(BUCKETS) + 1)


class Tallies:
    """The answers of one route, by status."""

    def __init__(self, method: str, route: str) -> None:
        self.method = method
        self.route = route
        self.by_status: dict[int, Tally] = {}

    def add(self, status: int, seconds: float) -> None:
        """Count one answer."""
        tally = self.by_status.get(status)
        if tally is None:
            tally = self.by_status[status] = Tally()
        tally.count += 1
        tally.seconds += seconds
        tally.buckets[bisect_left(BUCKETS, seconds)] += 1


class Recorder:
    """Counts and logs every answer of a server: those of routes, and refusals before routing."""

    def __init__(self, app: str, tallies: Sequence[Tallies], unrouted: Tallies) -> None:
        """Begin with empty counts.

        Args:
            app: The server's name in metrics.
            tallies: The counts of all routes.
            unrouted: The item of `tallies` for answers without a route.
        """
        self.app = app
        self.tallies = tallies
        self.in_progress = 0
        self._unrouted = unrouted

    def unrouted(self, status: int) -> None:
        """Count an answer to a request that did not reach a route."""
        self._unrouted.add(status, 0.0)

    async def refuse(self, scope: Scope, send: Send, error: ApiError, *, close: bool = False) -> None:
        """Answer a request with an error before it reaches a route; count it, and log it with the reason."""
        self._refused(scope["method"], scope["path"][:_LOGGED_PATH], error)
        await answer(send, error.status, error.body(), error.header_lines(), close=close)

    def refuse_unparsed(self, error: ApiError) -> None:
        """Count and log an error that answers a request whose method and path could not be read."""
        self._refused("-", "-", error)

    def _refused(self, method: str, path: str, error: ApiError) -> None:
        status = error.status
        self.unrouted(status)
        if status >= ACCESS.lowest_status:
            access_log.info(
                "%s %s %d",
                method,
                path,
                status,
                extra={
                    "event": "request_refused",
                    "method": method,
                    "path": path,
                    "status": status,
                    "reason": error.message,
                },
            )

    def log(self, scope: Scope, tallies: Tallies, status: int, seconds: float, facts: RequestFacts) -> None:
        """Write the log line of an answer, which the caller has found to be logged.

        Args:
            scope: The request.
            tallies: The counts of its route.
            status: The status of the answer.
            seconds: The time until the answer was sent.
            facts: The request's id, trace and sender.
        """
        if access_log.isEnabledFor(logging.INFO):
            method, path = scope["method"], without_secrets(scope["raw_path"].decode("latin-1"))
            # This does the same as access_log.info, except for finding the calling line of code and the thread.
            record = logging.LogRecord.__new__(logging.LogRecord)
            created, ms = time.time(), round(seconds * 1000, 3)
            fields = {
                "request_id": facts.request_id,
                "principal": facts.principal,
                "method": method,
                "path": path,
                "route": tallies.route,
                "status": status,
                "ms": ms,
            }
            if (trace_id := current_trace_id() or facts.trace_id) is not None:
                fields["trace_id"] = trace_id
            moment = {"created": created, "msecs": created % 1 * 1000 // 1}
            template = _TEMPLATES[logging.WARNING if status >= 500 else logging.INFO]
            vars(record).update(template | fields | moment, args=(method, path, status), fields=fields)
            access_log.handle(record)


class RequestMetrics(Collector):
    """A recorder's counts as Prometheus metrics, under the names that both servers share."""

    def __init__(self, recorder: Recorder, more: Callable[[Iterable[Tallies]], Iterable[Metric]] | None = None) -> None:
        """Make a collector, which reads the recorder at each scrape.

        Args:
            recorder: The recorder to read.
            more: Makes further metrics of the same counts; None if there are none.
        """
        self._recorder = recorder
        self._more = more

    def collect(self) -> Iterator[Metric]:
        """Return the current metrics."""
        app, tallies = self._recorder.app, self._recorder.tallies
        requests, seconds = REQUESTS.family(), REQUEST_SECONDS.family()
        for route in tallies:
            for status, tally in sorted(route.by_status.items()):
                requests.add_metric([app, route.method, route.route, str(status)], tally.count)
            if route.by_status:
                _add_histogram(seconds, [app, route.method, route.route], route.by_status.values())
        yield requests
        yield seconds
        yield IN_PROGRESS.samples([((app,), self._recorder.in_progress)])
        if self._more is not None:
            yield from self._more(tallies)


def _add_histogram(family: HistogramMetricFamily, labels: Sequence[str], tallies: Iterable[Tally]) -> None:
    """Add the times of several tallies to a metric as one histogram."""
    tallies = list(tallies)
    buckets, below = [], 0
    for index, bound in enumerate((*map(str, map(float, BUCKETS)), "+Inf")):
        below += sum(tally.buckets[index] for tally in tallies)
        buckets.append((bound, float(below)))
    family.add_metric(labels, buckets, sum(tally.seconds for tally in tallies))
