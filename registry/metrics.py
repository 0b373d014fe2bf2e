"""The node's state as Prometheus metrics."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from registry.node import Node


class NodeMetrics(Collector):
    """Reads a node's status when it is scraped."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def collect(self) -> Iterator[Metric]:
        """The metrics now."""
        status, view = self._node.status(), self._node.view
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
        ):
            yield GaugeMetricFamily(name, text, value=float(value))
        if status.lag is not None:
            yield GaugeMetricFamily(
                "magicbyte_registry_lag", "Entries of the log that the view does not hold yet", value=status.lag
            )
