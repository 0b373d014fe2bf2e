"""Metrics of sign-in, access decisions, reloads and the server certificate's expiry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector


class SecurityMetrics(Collector):
    """The security counts of this process; a feature that is not configured has no metrics."""

    def __init__(self) -> None:
        #: (what, outcome) -> the number of reloads.
        self.reloads: Counter[tuple[str, str]] = Counter()
        #: The expiry of the server's certificate, in seconds since 1970; None without TLS.
        self.certificate_expiry: float | None = None
        #: (method, outcome) -> the number of sign-ins; remembered sign-ins are not counted.
        self.authentications: Counter[tuple[str, str]] = Counter()
        #: (resource type, operation, outcome) -> the number of decisions on a named resource.
        self.authorizations: Counter[tuple[str, str, str]] = Counter()

    def collect(self) -> Iterator[Metric]:
        """Yield the current metrics."""
        if self.reloads:
            reloads = CounterMetricFamily(
                "magicbyte_security_reloads", "Reloads of keys, users and rules", labels=("what", "outcome")
            )
            for labels, count in sorted(self.reloads.items()):
                reloads.add_metric(labels, count)
            yield reloads
        if self.authentications:
            outcomes = CounterMetricFamily(
                "magicbyte_authentication", "Sign-ins that were verified", labels=("method", "outcome")
            )
            for labels, count in sorted(self.authentications.items()):
                outcomes.add_metric(labels, count)
            yield outcomes
        if self.authorizations:
            decisions = CounterMetricFamily(
                "magicbyte_authorization", "Decisions by access rules", labels=("type", "operation", "outcome")
            )
            for decided, count in sorted(self.authorizations.items()):
                decisions.add_metric(decided, count)
            yield decisions
        if self.certificate_expiry is not None:
            yield GaugeMetricFamily(
                "magicbyte_tls_certificate_expiry_seconds",
                "When the first certificate of the server's chain expires, in seconds since 1970",
                value=self.certificate_expiry,
            )


#: The metrics of this process.
METRICS = SecurityMetrics()
