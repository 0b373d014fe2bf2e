"""The parts of a running proxy, built from its settings."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import resource
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from magicbyte.kit.sharing.loop_turns import LoopTurns
from magicbyte.security.settings import LOG
from magicbyte.security.tls.context import outgoing_context
from rest_proxy.admin.client import AdminClient
from rest_proxy.admin.cluster import Cluster
from rest_proxy.admin.lazy_client import LazyAdminClient
from rest_proxy.consume.consumers.instances import Instances
from rest_proxy.consume.consumers.peers import Peers
from rest_proxy.consume.stateless.reads import Reads
from rest_proxy.exchange.rate_limit import RateLimit
from rest_proxy.formats.schemas import Schemas
from rest_proxy.produce.encoding import EncodingThreads
from rest_proxy.produce.open_streams import OpenStreams
from rest_proxy.produce.producers import Producers
from rest_proxy.produce.rate_limit import ProduceRates
from rest_proxy.produce.request import Producing
from rest_proxy.settings import RestProxySettings
from rest_proxy.start.registry_rules import follow_rules
from serdes.client.clients import AsyncRegistryClient

if TYPE_CHECKING:
    from magicbyte.http.routing.guard import Guard
    from rest_proxy.http.passing_on import PassingOn

log = logging.getLogger("rest_proxy")

#: The file descriptors that a librdkafka consumer uses with one broker, and those reserved for everything else.
DESCRIPTORS_A_CONSUMER = 8
_RESERVED_DESCRIPTORS = 256
_FIRST_ANSWER_SECONDS = 3.0

#: Makes the registry client; tests pass a function whose client uses a registry in the same process.
MakeRegistry = Callable[[RestProxySettings], AsyncRegistryClient | None]


@dataclass(frozen=True, slots=True)
class Proxy:
    """The parts that the routes use."""

    settings: RestProxySettings
    cluster: Cluster
    producers: Producers
    schemas: Schemas
    producing: Producing
    instances: Instances
    reads: Reads
    peers: Peers | None
    passing_on: PassingOn | None
    blocking: ThreadPoolExecutor
    admin_clients: LazyAdminClient
    rate_limit: RateLimit | None
    produce_rates: ProduceRates | None
    encoding_threads: EncodingThreads
    stream_turns: LoopTurns
    streams: OpenStreams
    guard: Guard | None

    async def admin(self) -> AdminClient:
        """The admin client.

        Raises:
            KafkaSettingsError: Its settings cannot be applied.
        """
        return await self.admin_clients()


def registry_client(settings: RestProxySettings) -> AsyncRegistryClient | None:
    """Make the client of the registry; None if the settings name no registry.

    Raises:
        SettingsError: A property under `schema.registry.` is invalid; the text names it.
    """
    if not settings.schema_registry_url.strip():
        return None
    return AsyncRegistryClient(**settings.registry_client_options())


@asynccontextmanager
async def running(
    settings: RestProxySettings, make_registry: MakeRegistry = registry_client, guard: Guard | None = None
) -> AsyncIterator[Proxy]:
    """Start the parts, and stop them in an order that loses no records."""
    admin_clients = LazyAdminClient(settings.admin_config())
    cluster = Cluster(admin_clients)
    producers = Producers(
        settings.producer_config,
        buffer_memory=settings.buffer_memory,
        max_record_bytes=settings.max_record_bytes,
    )
    schemas = Schemas(
        make_registry(settings), settings.naming(), null_is_always_tombstone=settings.null_body_is_empty_record
    )
    instances = Instances(
        idle_seconds=settings.consumer_instance_timeout_ms / 1000,
        limit=instance_limit(settings.consumer_instances_max),
        limit_per_client=settings.consumer_instances_per_client or settings.consumer_instances_max,
        server_id=settings.id,
    )
    reads = Reads(
        settings.consumer_config(),
        size=settings.simple_pool_size,
        timeout_seconds=settings.simple_pool_timeout_ms / 1000,
        max_unpacked=settings.consumer_request_max_bytes,
    )
    threads = settings.consumer_threads if settings.consumer_threads > 0 else (os.cpu_count() or 1) * 16
    blocking = ThreadPoolExecutor(threads, "blocking")
    encoding_threads = EncodingThreads()
    peers = Peers(settings.peer_urls, settings.peers_self) if settings.peer_urls else None
    following_rules = []
    if settings.rule_store == LOG and guard is not None and guard.authorizer is not None:
        following_rules = [asyncio.create_task(follow_rules(settings, guard.authorizer))]
    passing_on = None
    if peers is not None:
        from rest_proxy.http.passing_on import PassingOn  # noqa: PLC0415  its HTTP client takes long to import

        passing_on = PassingOn(peers, outgoing_context(settings), guard)
    tasks = [
        *following_rules,
        asyncio.create_task(instances.expire()),
        asyncio.create_task(_tell_if_alone(cluster, settings.bootstrap_servers)),
    ]
    try:
        yield Proxy(
            settings=settings,
            cluster=cluster,
            producers=producers,
            schemas=schemas,
            producing=Producing(producers, schemas, cluster, encoding_threads),
            instances=instances,
            reads=reads,
            peers=peers,
            passing_on=passing_on,
            blocking=blocking,
            admin_clients=admin_clients,
            rate_limit=_rate_limit(settings),
            produce_rates=ProduceRates(settings) if settings.produce_rate_limit else None,
            encoding_threads=encoding_threads,
            stream_turns=LoopTurns(),
            streams=OpenStreams(),
            guard=guard,
        )
    finally:
        for task in tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        if passing_on is not None:
            await passing_on.close()
        await admin_clients.close()
        await instances.close()
        await reads.close()
        await producers.close(settings.shutdown_graceful_ms / 1000)
        await schemas.close()
        blocking.shutdown(wait=False)
        encoding_threads.close()


def _rate_limit(settings: RestProxySettings) -> RateLimit | None:
    if not settings.rate_limit_enabled:
        return None
    return RateLimit(
        min(settings.rate_limit_permits, settings.rate_limit_cluster_permits),
        settings.rate_limit_timeout_ms / 1000,
        settings.rate_limit_default_cost,
        settings.rate_limit_costs,
    )


async def _tell_if_alone(cluster: Cluster, bootstrap_servers: str) -> None:
    """Log a warning if no broker answers at the start; later, requests and /health/ready show it."""
    if not await cluster.reachable(_FIRST_ANSWER_SECONDS):
        log.warning("no broker answers at %s (bootstrap.servers); still trying", bootstrap_servers)


def instance_limit(requested: int) -> int:
    """The limit on consumer instances: the requested one, or less if the limit on open files is low; 0 for the most."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    fits = max(1, (soft - _RESERVED_DESCRIPTORS) // DESCRIPTORS_A_CONSUMER)
    if requested > fits:
        log.warning(
            "consumer.instances.max=%d needs a limit of %d open files (ulimit -n), which is %d: %d instances fit",
            requested,
            requested * DESCRIPTORS_A_CONSUMER + _RESERVED_DESCRIPTORS,
            soft,
            fits,
        )
    return min(requested, fits) if requested else fits
