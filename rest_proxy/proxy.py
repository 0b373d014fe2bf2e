"""The parts of a running proxy, put together from its settings."""

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

from magicbyte.kit.kafka import client_config, with_prefix
from magicbyte.kit.settings import SettingsError
from magicbyte.security.tls.context import outgoing_context
from rest_proxy.admin.cluster import Cluster
from rest_proxy.consume.instances import Instances
from rest_proxy.consume.peers import Peers
from rest_proxy.consume.stateless import PartitionReader, SimplePool
from rest_proxy.formats.schemas import Schemas
from rest_proxy.produce.encoding import EncodingThreads
from rest_proxy.produce.producers import Producers
from rest_proxy.produce.request import Producing
from rest_proxy.settings import RestProxySettings
from serdes.client.clients import AsyncRegistryClient
from serdes.client.config import client_options
from serdes.error import ConfigError

if TYPE_CHECKING:
    from magicbyte.http.routing.guard import Guard
    from rest_proxy.http.passing_on import PassingOn

log = logging.getLogger("rest_proxy")

#: Descriptors that a consumer of librdkafka's holds with one broker, and those left for all else.
DESCRIPTORS_A_CONSUMER = 8
_DESCRIPTORS_KEPT = 256
_FIRST_ANSWER_SECONDS = 3.0

#: Makes the registry client; tests give one that talks to a registry in the same process.
MakeRegistry = Callable[[RestProxySettings], AsyncRegistryClient | None]


@dataclass(frozen=True, slots=True)
class Proxy:
    """What the routes work with."""

    settings: RestProxySettings
    cluster: Cluster
    producers: Producers
    schemas: Schemas
    producing: Producing
    instances: Instances
    simple: SimplePool
    peers: Peers | None
    passing_on: PassingOn | None
    blocking: ThreadPoolExecutor


def registry_client(settings: RestProxySettings) -> AsyncRegistryClient | None:
    """The client of the registry that the settings name, if they name one.

    Raises:
        SettingsError: A property under `schema.registry.` cannot be; names it.
    """
    if not settings.schema_registry_url.strip():
        return None
    given = with_prefix(settings.registry_properties(), "schema.registry.")
    tls = client_config({name: value for name, value in given.items() if name.startswith("ssl.")})
    rest = {name: value for name, value in given.items() if not name.startswith("ssl.")}
    try:
        return AsyncRegistryClient(**client_options({"url": settings.schema_registry_url, **rest, **tls}))
    except ConfigError as error:
        raise SettingsError(f"schema.registry.{error}") from None


@asynccontextmanager
async def running(
    settings: RestProxySettings, make_registry: MakeRegistry = registry_client, guard: Guard | None = None
) -> AsyncIterator[Proxy]:
    """Start the parts, and stop them in an order that loses nothing that can be kept."""
    cluster = Cluster(settings.admin_config())
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
        server_id=settings.id,
    )
    simple = SimplePool(
        lambda: PartitionReader(settings.consumer_config()),
        size=settings.simple_pool_size,
        timeout_seconds=settings.simple_pool_timeout_ms / 1000,
    )
    threads = settings.consumer_threads if settings.consumer_threads > 0 else (os.cpu_count() or 1) * 16
    blocking = ThreadPoolExecutor(threads, "blocking")
    encoding_threads = EncodingThreads()
    peers = Peers(settings.peer_urls, settings.peers_self) if settings.peer_urls else None
    passing_on = None
    if peers is not None:
        from rest_proxy.http.passing_on import PassingOn  # noqa: PLC0415  its HTTP client takes long to import

        passing_on = PassingOn(peers, outgoing_context(settings), guard)
    tasks = [
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
            simple=simple,
            peers=peers,
            passing_on=passing_on,
            blocking=blocking,
        )
    finally:
        for task in tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        if passing_on is not None:
            await passing_on.close()
        await instances.close()
        await simple.close()
        await producers.close(settings.shutdown_graceful_ms / 1000)
        await schemas.close()
        blocking.shutdown(wait=False)
        encoding_threads.close()


async def _tell_if_alone(cluster: Cluster, bootstrap_servers: str) -> None:
    """Log that no broker answers at the start; requests and /health/ready find out by themselves."""
    if not await cluster.reachable(_FIRST_ANSWER_SECONDS):
        log.warning("no broker answers at %s (bootstrap.servers); trying on", bootstrap_servers)


def instance_limit(asked: int) -> int:
    """How many consumer instances fit under the limit of open files: what was asked for, 0 for as many as fit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    fits = max(1, (soft - _DESCRIPTORS_KEPT) // DESCRIPTORS_A_CONSUMER)
    if asked > fits:
        log.warning(
            "consumer.instances.max=%d needs a limit of %d open files (ulimit -n), which is %d: %d instances fit",
            asked,
            asked * DESCRIPTORS_A_CONSUMER + _DESCRIPTORS_KEPT,
            soft,
            fits,
        )
    return min(asked, fits) if asked else fits
