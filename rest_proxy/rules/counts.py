"""Counts what became of records at the rules of their schemas, for the metrics."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from rest_proxy import metrics
from serdes.rules.counts import RuleCounts

#: The most pairs of a subject and a rule that have series of their own; further ones have empty labels.
MOST_RULES = 500


class BoundedRuleCounts(RuleCounts):
    """Counts by subject, rule and verdict, for a limited number of rules."""

    def __init__(self) -> None:
        super().__init__()
        self._rules: set[tuple[str, str]] = set()

    def add(self, key: tuple[str, str, str]) -> None:
        """Counts one record."""
        subject, rule, verdict = key
        if (subject, rule) not in self._rules:
            if len(self._rules) >= MOST_RULES:
                key = ("", "", verdict)
            else:
                self._rules.add((subject, rule))
        super().add(key)


class RuleMetrics(Collector):
    """The counts as a metric."""

    def __init__(self, counts: RuleCounts) -> None:
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        """Yield the current metric."""
        yield metrics.RULES.samples((key, count) for key, count in sorted(self._counts.items()))


#: The counts of this process.
RULE_COUNTS = BoundedRuleCounts()
