"""Metrics as tables: each is declared once, with its name, labels and meaning, and docs/metrics.md lists them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

COUNTER, GAUGE, HISTOGRAM = "counter", "gauge", "histogram"
#: Upper bounds of times in seconds, from half a millisecond.
SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
#: Upper bounds of times that begin at 10 ms, such as those of takeovers.
LONG_SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

_FAMILIES = {COUNTER: CounterMetricFamily, GAUGE: GaugeMetricFamily, HISTOGRAM: HistogramMetricFamily}
Family = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily


@dataclass(frozen=True, slots=True)
class Declared:
    """A metric.

    Attributes:
        name: Its name in queries; that of a counter ends in `_total`.
        kind: `counter`, `gauge` or `histogram`.
        text: Its meaning.
        labels: The names of its labels.
        only: The condition under which there are samples; empty for always.
    """

    name: str
    kind: str
    text: str
    labels: tuple[str, ...] = ()
    only: str = ""

    def family(self) -> Any:
        """An empty family, for metrics that are read at a scrape."""
        return _FAMILIES[self.kind](self.name, self.text, labels=self.labels)

    def single(self, value: float) -> Metric:
        """A family with the only sample of a metric without labels."""
        family: Family = self.family()
        family.add_metric((), value)  # type: ignore[call-arg, arg-type]
        return family

    def samples(self, values: Iterable[tuple[Sequence[str], float]]) -> Metric:
        """A family with a sample for each pair of label values and number."""
        family = self.family()
        for labels, value in values:
            family.add_metric(labels, value)
        found: Metric = family
        return found


class MetricTable:
    """The metrics of one part of a program.

    Attributes:
        declared: All metrics, in their order in the documentation.
        registry: The metrics that are counted as things happen; those that are read at a scrape have collectors.
    """

    def __init__(self) -> None:
        self.declared: list[Declared] = []
        self.registry = CollectorRegistry()

    def declare(self, kind: str, name: str, text: str, *labels: str, only: str = "") -> Declared:
        """Declare a metric that a collector reads at each scrape."""
        self.declared.append(Declared(name, kind, text, labels, only))
        return self.declared[-1]

    def counter(self, name: str, text: str, *labels: str, only: str = "") -> Counter:
        """Declare a counter."""
        self.declare(COUNTER, name, text, *labels, only=only)
        return Counter(name, text, labels, registry=self.registry)

    def gauge(self, name: str, text: str, *labels: str, only: str = "") -> Gauge:
        """Declare a gauge that is set as things happen."""
        self.declare(GAUGE, name, text, *labels, only=only)
        return Gauge(name, text, labels, registry=self.registry)

    def histogram(
        self, name: str, text: str, *labels: str, buckets: Sequence[float] = SECONDS, only: str = ""
    ) -> Histogram:
        """Declare a histogram."""
        self.declare(HISTOGRAM, name, text, *labels, only=only)
        return Histogram(name, text, labels, buckets=buckets, registry=self.registry)


class WithoutCreationTimes(Collector):
    """The metrics of a registry, without the `_created` series that the client library adds to each counter."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        """Return the current metrics."""
        for metric in self._registry.collect():
            metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
            yield metric
