"""The parts of a running proxy: made from its settings, started and stopped."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from magicbyte.kit.sharing.deadlines import Deadlines
from magicbyte.kit.sharing.loop_turns import LoopTurns
from magicbyte.security.settings import LOG
from magicbyte.security.tls.context import outgoing_context
from rest_proxy.admin.cluster import Cluster
from rest_proxy.admin.lazy_client import LazyAdminClient
from rest_proxy.consume.consumers.instance_limit import instance_limit
from rest_proxy.consume.consumers.instances import Instances
from rest_proxy.consume.consumers.peers import Peers
from rest_proxy.consume.parts import Consuming, Reading
from rest_proxy.consume.stateless.reads import Reads
from rest_proxy.exchange.parts import Parts
from rest_proxy.exchange.rate_limit import RateLimit
from rest_proxy.formats.flows import SchemaRules
from rest_proxy.formats.schemas import Schemas
from rest_proxy.http.peering import Peering
from rest_proxy.letters.running_replays import LetterReplays
from rest_proxy.produce.encoding_threads import EncodingThreads
from rest_proxy.produce.open_streams import OpenStreams
from rest_proxy.produce.parts import Producing, Streaming
from rest_proxy.produce.producers import Producers
from rest_proxy.produce.rate_limit import ProduceRates
from rest_proxy.produce.rule_letters import RuleLetters
from rest_proxy.rules.counts import RULE_COUNTS
from rest_proxy.settings import RestProxySettings
from rest_proxy.start.registry_client import MakeRegistry, registry_client
from rest_proxy.start.registry_rules import follow_rules

if TYPE_CHECKING:
    from magicbyte.http.routing.guard import Guard

log = logging.getLogger("rest_proxy")

_FIRST_ANSWER_SECONDS = 3.0


@asynccontextmanager
async def running(
    settings: RestProxySettings, make_registry: MakeRegistry = registry_client, guard: Guard | None = None
) -> AsyncIterator[Parts]:
    """Start the parts, and stop them in an order that loses no records."""
    admin_clients = LazyAdminClient(settings.admin_config())
    cluster = Cluster(admin_clients)
    producers = Producers(
        settings.producer_config,
        buffer_memory=settings.buffer_memory,
        max_record_bytes=settings.max_record_bytes,
        trace_headers=settings.trace_headers,
    )
    send_letter = RuleLetters(producers, settings.dlq_timeout_ms)
    schemas = Schemas(
        make_registry(settings),
        settings.naming(),
        settings.frame_places(),
        SchemaRules(settings.rules(settings.properties, send_letter), RULE_COUNTS),
        null_is_always_tombstone=settings.null_body_is_empty_record,
    )
    limit = instance_limit(settings.consumer_instances_max)
    instances = Instances(
        idle_seconds=settings.consumer_instance_timeout_ms / 1000,
        limit=limit.instances,
        limited_by=limit.by,
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
    letter_replays = LetterReplays(settings)
    produce_rates = ProduceRates(settings) if settings.produce_rate_limit else None
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
        yield Parts(
            settings,
            cluster,
            admin_clients,
            Producing(
                settings, producers, schemas, cluster, encoding_threads, Deadlines(settings.produce_timeout_ms / 1000)
            ),
            Streaming(produce_rates, LoopTurns(), OpenStreams(), guard),
            Consuming(instances, schemas, blocking),
            Reading(reads, schemas, blocking),
            Peering(passing_on),
            letter_replays,
            *filter(None, (peers, _rate_limit(settings) if settings.rate_limit_enabled else None)),
        )
    finally:
        for task in tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        if passing_on is not None:
            await passing_on.close()
        letter_replays.close()
        await admin_clients.close()
        await instances.close()
        await reads.close()
        await producers.close(settings.shutdown_graceful_ms / 1000)
        await schemas.close()
        blocking.shutdown(wait=False)
        encoding_threads.close()


def _rate_limit(settings: RestProxySettings) -> RateLimit:
    return RateLimit(
        min(settings.rate_limit_permits, settings.rate_limit_cluster_permits),
        settings.rate_limit_timeout_ms / 1000,
        settings.rate_limit_default_cost,
        settings.rate_limit_costs,
    )


async def _tell_if_alone(cluster: Cluster, bootstrap_servers: str) -> None:
    """Log a warning if no broker answers at the start; later, requests and /health/ready show it."""
    if not await cluster.reachable(_FIRST_ANSWER_SECONDS):
        log.warning(
            "no broker answers at %s (bootstrap.servers); still trying",
            bootstrap_servers,
            extra={"event": "no_broker", "brokers": bootstrap_servers},
        )
