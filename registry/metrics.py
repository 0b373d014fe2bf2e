"""The node's state and its requests as Prometheus metrics, by plain names and by those that dashboards know."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric, SummaryMetricFamily
from prometheus_client.registry import Collector

from registry.node import Node


class RequestCounts:
    """Requests and their time, by method, route and status; the route is a template, never a subject's name."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.seconds: defaultdict[tuple[str, str, int], float] = defaultdict(float)

    def add(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        key = (method, route, status)
        self.requests[key] += 1
        self.seconds[key] += seconds


class RequestMetrics(Collector):
    """Reads the counts when it is scraped."""

    def __init__(self, counts: RequestCounts) -> None:
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        """The metrics now."""
        labels = ("method", "path", "status")
        requests = CounterMetricFamily("schema_registry_requests", "Requests that a route answered", labels=labels)
        durations = SummaryMetricFamily(
            "schema_registry_request_duration_seconds", "The time that routes took to answer", labels=labels
        )
        outcomes = {"success": 0, "failure": 0}
        for (method, route, status), count in sorted(self._counts.requests.items()):
            named = [method, route, str(status)]
            requests.add_metric(named, count)
            durations.add_metric(named, count, self._counts.seconds[method, route, status])
            outcomes["success" if status < 400 else "failure"] += count
        yield requests
        yield durations
        for outcome, count in outcomes.items():
            name = f"kafka_schema_registry_api_{outcome}_count"
            yield GaugeMetricFamily(name, f"Requests that ended in {outcome}", value=count)


class NodeMetrics(Collector):
    """Reads a node's status when it is scraped."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def collect(self) -> Iterator[Metric]:
        """The metrics now."""
        status, view = self._node.status(), self._node.view
        versions = [version for subject in view.subjects() for version in list(view.versions(subject))]
        live = Counter(version.content.schema_type for version in versions if not version.deleted)
        gone = Counter(version.content.schema_type for version in versions if version.deleted)
        for name, text, value in (
            ("magicbyte_registry_ready", "1 where reads are up to date and writes have somewhere to go", status.ready),
            ("magicbyte_registry_leader", "1 where this node takes writes", status.leader),
            ("magicbyte_registry_offset", "The last offset that the view holds", status.offset),
            ("magicbyte_registry_subjects", "Subjects, soft-deleted ones included", len(view.subjects())),
            (
                "magicbyte_registry_records_passed_over",
                "Records of the log that could not be taken in",
                sum(view.passed_over.values()),
            ),
            ("kafka_schema_registry_master_slave_role", "1 where this node takes writes", status.leader),
            ("kafka_schema_registry_registered_count", "Versions that are not deleted", live.total()),
            ("kafka_schema_registry_deleted_count", "Versions that are soft deleted", gone.total()),
        ):
            yield GaugeMetricFamily(name, text, value=float(value))
        by_type = GaugeMetricFamily("schema_registry_schemas", "Versions that are not deleted", labels=("type",))
        for schema_type, count in sorted(live.items()):
            by_type.add_metric([schema_type], count)
        yield by_type
        if status.lag is not None:
            yield GaugeMetricFamily(
                "magicbyte_registry_lag", "Entries of the log that the view does not hold yet", value=status.lag
            )
