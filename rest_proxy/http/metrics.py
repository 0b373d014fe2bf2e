"""Renders the proxy's metrics: its buffers and instances, and all that is counted elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from magicbyte.http.metrics.process import process_metrics
from magicbyte.http.routing.recorder import Recorder, RequestMetrics
from magicbyte.kit.kafka.statistics import STATISTICS
from magicbyte.kit.metrics import WithoutCreationTimes
from magicbyte.security.metrics import METRICS
from rest_proxy import metrics
from rest_proxy.consume.consumers.instances import Instances
from rest_proxy.produce.budget import Budget
from rest_proxy.produce.open_streams import OpenStreams
from rest_proxy.rules.counts import RULE_COUNTS, RuleMetrics
from rest_proxy.settings import RestProxySettings


def collectors_of(recorder: Recorder, settings: RestProxySettings) -> CollectorRegistry:
    """All metrics of a proxy but those of its parts, which `watch` adds when they have started."""
    metrics.RECORDS.name_topics(settings.metrics_topics)
    registry = CollectorRegistry()
    for collector in (
        RequestMetrics(recorder),
        METRICS,
        metrics.RECORDS,
        RuleMetrics(RULE_COUNTS),
        STATISTICS,
        WithoutCreationTimes(metrics.TABLE.registry),
        WithoutCreationTimes(process_metrics()),
    ):
        registry.register(collector)
    return registry


def watch(budget: Budget, streams: OpenStreams, instances: Instances, registry: CollectorRegistry) -> None:
    """Add the metrics of the proxy's buffers and instances."""
    registry.register(_Parts(budget, streams, instances))


class _Parts(Collector):
    def __init__(self, budget: Budget, streams: OpenStreams, instances: Instances) -> None:
        self._budget = budget
        self._streams = streams
        self._instances = instances

    def collect(self) -> Iterator[Metric]:
        yield metrics.BUFFERED.single(self._budget.used)
        yield metrics.BUFFER_LIMIT.single(self._budget.limit)
        yield metrics.STREAMS.single(len(self._streams))
        yield metrics.INSTANCES.single(len(self._instances))
        yield metrics.INSTANCES_LIMIT.single(self._instances.limit)
