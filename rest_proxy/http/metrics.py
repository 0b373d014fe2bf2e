"""The proxy's metrics: gauges of its buffers and instances, and request metrics under their former names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric

from magicbyte.http.routing.recorder import Tallies, Tally, add_histogram
from rest_proxy.consume.consumers.instances import Instances
from rest_proxy.produce.budget import Budget
from rest_proxy.produce.open_streams import OpenStreams


def watch(budget: Budget, streams: OpenStreams, instances: Instances, registry: CollectorRegistry) -> None:
    """Register the gauges of the proxy's buffers and instances."""
    for name, text, value in (
        ("buffered_bytes", "Bytes that wait for the brokers", lambda: budget.used),
        ("buffer_limit_bytes", "Bytes that may wait for the brokers", lambda: budget.limit),
        ("record_streams", "Streams of records that are open", lambda: len(streams)),
        ("consumer_instances", "Consumer instances that are open", lambda: len(instances)),
    ):
        Gauge(f"magicbyte_rest_{name}", text, registry=registry).set_function(value)


def former_metrics(tallies: Iterable[Tallies]) -> Iterator[Metric]:
    """The request metrics under the names that they had before both servers used the same names."""
    requests = CounterMetricFamily("magicbyte_rest_requests", "Requests answered", labels=("method", "route", "status"))
    seconds = HistogramMetricFamily("magicbyte_rest_request_seconds", "Time to the answer", labels=("route",))
    by_route: defaultdict[str, list[Tally]] = defaultdict(list)
    for route in tallies:
        for status, tally in sorted(route.by_status.items()):
            requests.add_metric([route.method, route.route, str(status)], tally.count)
            by_route[route.route].append(tally)
    yield requests
    for name, of_route in by_route.items():
        add_histogram(seconds, [name], of_route)
    yield seconds
