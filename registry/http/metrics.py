"""Renders the registry's metrics: the node's state, the caches, and all that is counted elsewhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Protocol

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from magicbyte.http.metrics.process import process_metrics
from magicbyte.http.routing.recorder import Tallies
from magicbyte.kit.kafka.statistics import STATISTICS
from magicbyte.kit.metrics import WithoutCreationTimes
from magicbyte.kit.processes.shared_call import SharedCall
from magicbyte.security.metrics import METRICS
from registry import metrics
from registry.cluster.node import Node, Status
from registry.http.version_counts import VersionCounts
from registry.state.view import View


class Cache(Protocol):
    """A cache that counts its look-ups."""

    @property
    def hits(self) -> int:
        """The number of look-ups that found something."""

    @property
    def misses(self) -> int:
        """The number of look-ups that found nothing."""


def confluent_requests(tallies: Iterable[Tallies]) -> Iterator[Metric]:
    """Count the node's requests under Confluent's names."""
    success = failure = 0
    for route in tallies:
        for status, tally in route.by_status.items():
            if status < 400:
                success += tally.count
            else:
                failure += tally.count
    yield metrics.CONFLUENT_SUCCESS.single(success)
    yield metrics.CONFLUENT_FAILURE.single(failure)


class NodeMetrics(Collector):
    """The node's status, requested before each scrape, and the counts of its view.

    Attributes:
        status: The status; without it, nothing is collected.
    """

    def __init__(self, node: Node, *, caches: Mapping[str, Cache] | None = None, confluent: bool = True) -> None:
        """Make a collector.

        Args:
            node: The node.
            caches: Caches by the value of their label.
            confluent: Whether to add metrics under Confluent's names.
        """
        self.status: Status | None = None
        self._node = node
        self._caches = caches or {}
        self._confluent = confluent
        self._counts = VersionCounts(node.view)

    def collect(self) -> Iterator[Metric]:
        """Yield the current metrics."""
        status, view = self.status, self._node.view
        if status is None:
            return
        yield metrics.READY.single(status.ready)
        yield metrics.LEADER.single(status.leader)
        yield metrics.OFFSET.single(status.offset)
        if status.end is not None and status.lag is not None:
            yield metrics.END_OFFSET.single(status.end)
            yield metrics.LAG.single(status.lag)
            yield metrics.LAG_SECONDS.single(status.lag_seconds)
            yield metrics.REPLAY_PROGRESS.single(1 - status.lag / status.end if status.end > 0 else 1)
        yield metrics.FOREIGN.single(status.foreign_records)
        skipped = dict.fromkeys(metrics.SKIP_REASONS, 0) | view.passed_over
        yield metrics.SKIPPED.samples([((reason,), count) for reason, count in sorted(skipped.items())])
        yield metrics.NODES.single(self._node.node_count())
        yield metrics.HIGHEST_ID.samples(_highest_ids(view))
        yield metrics.CACHE_HITS.samples([((name,), cache.hits) for name, cache in self._caches.items()])
        yield metrics.CACHE_MISSES.samples([((name,), cache.misses) for name, cache in self._caches.items()])
        yield from self._versions(leads=status.leader)

    def _versions(self, *, leads: bool) -> Iterator[Metric]:
        subjects, versions = self._counts.now()
        live = {schema_type: count for (schema_type, deleted), count in versions.items() if not deleted}
        registered = sum(live.values())
        by_type = [((schema_type,), count) for schema_type, count in sorted(live.items())]
        yield metrics.SUBJECTS.single(subjects)
        yield metrics.SCHEMAS.samples(by_type)
        yield metrics.DELETED_SCHEMAS.single(versions.total() - registered)
        if self._confluent:
            yield metrics.CONFLUENT_LEADER.single(leads)
            yield metrics.CONFLUENT_NODES.single(self._node.node_count())
            yield metrics.CONFLUENT_REGISTERED.single(registered)
            yield metrics.CONFLUENT_DELETED.single(versions.total() - registered)


def _highest_ids(view: View) -> list[tuple[tuple[str], int]]:
    contexts = sorted(view.contexts_with_ids())[: metrics.MOST_CONTEXTS]
    return [((context,), view.highest_id(context)) for context in contexts]


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
        for collector in (
            of_node,
            of_requests,
            METRICS,
            STATISTICS,
            WithoutCreationTimes(metrics.TABLE.registry),
            WithoutCreationTimes(process_metrics()),
        ):
            collectors.register(collector)
        self._render = SharedCall(partial(generate_latest, collectors), "metrics")

    async def render(self) -> bytes:
        """Return the metrics in Prometheus' text format."""
        self._of_node.status = await self._status()
        return await self._render()

    def close(self) -> None:
        """Stop the rendering thread."""
        self._render.close()
