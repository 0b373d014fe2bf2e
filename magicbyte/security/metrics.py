"""Metrics of sign-in, access decisions, reloads and the server certificate's expiry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from magicbyte.kit.metrics import COUNTER, GAUGE, MetricTable

TABLE = MetricTable()
_RELOADS = TABLE.declare(
    COUNTER,
    "magicbyte_security_reloads_total",
    "Reloads of keys, users and rules: `success` or `failure`.",
    "what",
    "outcome",
    only="after a reload",
)
_AUTHENTICATIONS = TABLE.declare(
    COUNTER,
    "magicbyte_authentication_total",
    "Sign-ins that were verified, remembered ones left out: `success` or `failure`.",
    "method",
    "outcome",
    only="with sign-in",
)
_AUTHORIZATIONS = TABLE.declare(
    COUNTER,
    "magicbyte_authorization_total",
    "Decisions by access rules on a named resource: `allowed`, `denied`, or `dry_run` if it would be denied.",
    "type",
    "operation",
    "outcome",
    only="with access rules",
)
_EXPIRY = TABLE.declare(
    GAUGE,
    "magicbyte_tls_certificate_expiry_timestamp_seconds",
    "When the first certificate of the server's chain expires, in seconds since 1970.",
    only="with TLS",
)


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
        for metric, counts in (
            (_RELOADS, self.reloads),
            (_AUTHENTICATIONS, self.authentications),
            (_AUTHORIZATIONS, self.authorizations),
        ):
            if counts:
                yield metric.samples(sorted(counts.items()))
        if self.certificate_expiry is not None:
            yield _EXPIRY.single(self.certificate_expiry)


#: The metrics of this process.
METRICS = SecurityMetrics()
