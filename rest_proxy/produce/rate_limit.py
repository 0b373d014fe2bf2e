"""The rate limits of v3's produce (`api.v3.produce.rate.limit.*`)."""

from __future__ import annotations

from rest_proxy.exchange.rate_limit import TokenBucket
from rest_proxy.metrics import RATE_LIMITED
from rest_proxy.settings import RestProxySettings


class ProduceRates:
    """The limits on records and bytes a second: of all clients, and of the cluster, which is the same here."""

    def __init__(self, settings: RestProxySettings) -> None:
        self._records = TokenBucket(min(settings.produce_rate_global_requests, settings.produce_rate_requests))
        self._bytes = TokenBucket(min(settings.produce_rate_global_bytes, settings.produce_rate_bytes))

    def allow(self, size: int) -> bool:
        """Tell whether a record of `size` bytes of JSON may be produced now, and count it."""
        is_allowed = self._records.take(1) == 0 and self._bytes.take(size) == 0
        if not is_allowed:
            RATE_LIMITED.labels("records").inc()
        return is_allowed
