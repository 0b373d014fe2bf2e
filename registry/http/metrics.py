"""The node's state and requests as Prometheus metrics, under names of our own and under Confluent's names."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from magicbyte.http.routing.recorder import Tallies
from magicbyte.kit.processes.shared_call import SharedCall
from magicbyte.security.metrics import METRICS
from registry.cluster.node import Node, Status
from registry.log.port import BEGINNING
from registry.state.view import View

#: The counts of a subject's versions by type and by whether they are soft deleted.
Tally = tuple[tuple[tuple[str, bool], int], ...]


def confluent_metrics(tallies: Iterable[Tallies]) -> Iterator[Metric]:
    """Count the node's requests under Confluent's names."""
    outcomes = {"success": 0, "failure": 0}
    for route in tallies:
        for status, tally in route.by_status.items():
            outcomes["success" if status < 400 else "failure"] += tally.count
    for outcome, count in outcomes.items():
        name = f"kafka_schema_registry_api_{outcome}_count"
        yield GaugeMetricFamily(name, f"Requests that ended in {outcome}", value=count)


class VersionCounts:
    """Counts subjects and versions; each count looks only at the subjects that changed since the previous one."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._offset = BEGINNING
        self._tallies: dict[str, Tally] = {}
        #: Most subjects have equal tallies, so equal tallies share one object.
        self._kept: dict[Tally, Tally] = {}
        self._total: Counter[tuple[str, bool]] = Counter()
        self._counting = threading.Lock()

    def now(self) -> tuple[int, Counter[tuple[str, bool]]]:
        """Return the number of subjects, and the number of versions by type and by whether they are soft deleted."""
        with self._counting:
            # Read the offset first, so that entries applied during the count are counted again next time.
            end = self._view.offset
            for subject in self._changed():
                self._total.subtract(dict(self._tallies.pop(subject, ())))
                counts = Counter(
                    (version.schema_type, version.deleted) for version in list(self._view.versions(subject))
                )
                self._total.update(counts)
                if counts:
                    tally = tuple(sorted(counts.items()))
                    self._tallies[subject] = self._kept.setdefault(tally, tally)
            self._offset = end
            return len(self._tallies), +self._total

    def _changed(self) -> Iterable[str]:
        entries = self._view.entries_after(self._offset)
        if entries is None:
            return {*self._view.subjects(), *self._tallies}
        return {entry.key.subject for entry in entries if entry.key.subject}


class NodeMetrics(Collector):
    """The node's status, requested before each scrape, and the counts of its view.

    Attributes:
        status: The status; without it, nothing is collected.
    """

    def __init__(self, node: Node) -> None:
        self.status: Status | None = None
        self._node = node
        self._counts = VersionCounts(node.view)

    def collect(self) -> Iterator[Metric]:
        """Yield the current metrics."""
        status, view = self.status, self._node.view
        if status is None:
            return
        subjects, versions = self._counts.now()
        live = {schema_type: count for (schema_type, deleted), count in versions.items() if not deleted}
        registered = sum(live.values())
        for name, text, value in (
            ("magicbyte_registry_ready", "1 if reads are up to date and writes can reach a leader", status.ready),
            ("magicbyte_registry_leader", "1 if this node takes writes", status.leader),
            ("magicbyte_registry_offset", "The last offset that the view holds", status.offset),
            ("magicbyte_registry_subjects", "Subjects, soft-deleted ones included", subjects),
            (
                "magicbyte_registry_records_passed_over",
                "Records of the log that were skipped because they could not be read",
                sum(view.passed_over.values()),
            ),
            (
                "magicbyte_registry_foreign_records",
                "Records that other programs wrote to the log while this node led",
                status.foreign_records,
            ),
            ("kafka_schema_registry_master_slave_role", "1 if this node takes writes", status.leader),
            ("kafka_schema_registry_node_count", "Nodes of this cluster that may lead", self._node.node_count()),
            ("kafka_schema_registry_registered_count", "Versions that are not deleted", registered),
            (
                "kafka_schema_registry_deleted_count",
                "Versions that are soft deleted",
                versions.total() - registered,
            ),
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


class Metrics:
    """All metrics as text, rendered in a thread of their own; concurrent requests share one rendering."""

    def __init__(self, status: Callable[[], Awaitable[Status]], of_node: NodeMetrics, of_requests: Collector) -> None:
        """Prepare the rendering.

        Args:
            status: Returns the node's status.
            of_node: The metrics of the node.
            of_requests: The metrics of its requests.
        """
        self._status = status
        self._of_node = of_node
        collectors = CollectorRegistry()
        collectors.register(of_node)
        collectors.register(of_requests)
        collectors.register(METRICS)
        self._render = SharedCall(partial(generate_latest, collectors), "metrics")

    async def render(self) -> bytes:
        """Return the metrics in Prometheus' text format."""
        self._of_node.status = await self._status()
        return await self._render()

    def close(self) -> None:
        """Stop the rendering thread."""
        self._render.close()
