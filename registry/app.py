"""The registry's application: settings in, an ASGI app out, and the server that runs it."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.responses import Response

from compat.schema import InvalidSchema
from magicbyte.http.connection.hooks import Hooks
from magicbyte.http.listener import Listener
from magicbyte.http.routing.application import Api, Application
from magicbyte.http.routing.extra_routes import ExtraRoutes
from magicbyte.http.routing.open_guard import open_guard
from magicbyte.http.routing.recorder import RequestMetrics
from magicbyte.http.routing.remembered import RememberedAnswers
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.rows import BodyLimit
from magicbyte.http.server import check_security
from magicbyte.http.server import serve as serve_http
from magicbyte.kit.failure import Failure
from magicbyte.kit.kafka.outages import count_outages
from magicbyte.kit.logs.beginning import begin_logs
from magicbyte.kit.logs.set_up import set_up_logs
from magicbyte.kit.processes.service_manager import ServiceManager
from magicbyte.kit.traces.set_up import traces
from registry import errors
from registry.cluster.commit.out_of_memory import end_process_with_threads
from registry.cluster.node import Node
from registry.cluster.open import open_node
from registry.cluster.replay_status import replay_status
from registry.cluster.workers import serve_with_workers
from registry.decide import Terms
from registry.feed.webhooks import Webhooks
from registry.http.answers import error_response, negotiated
from registry.http.cursors import SteadyCursors
from registry.http.forward import Forwarder
from registry.http.metrics import Cache, Metrics, NodeMetrics, confluent_requests
from registry.http.offset_tokens import OFFSET_HEADER, OffsetTokens
from registry.http.request import locate
from registry.http.rows import ROWS
from registry.http.sealed_offsets import OffsetSeal
from registry.log.port import LogError, NotLeader
from registry.offload.parsing import Parser, invalid_schema
from registry.service import Registry
from registry.settings import RegistrySettings

if TYPE_CHECKING:
    from magicbyte.http.routing.guard import Guard
    from registry.http.forwarded_clients import ForwardedClients

#: The loggers of Kafka's clients, and of what tries again while no broker answers.
_KAFKA_LOGGERS = (
    "magicbyte.librdkafka",
    *(f"magicbyte.registry.{name}" for name in ("topic", "kafka", "node", "leader")),
)


def create_app(
    settings: RegistrySettings,
    node: Node | None = None,
    *,
    stopping: threading.Event | None = None,
    guard: Guard | None = None,
    extra_routes: ExtraRoutes | None = None,
) -> Application:
    """Build the application.

    Args:
        settings: The settings.
        node: A node that the caller starts and stops; by default the node of the settings, which starts and stops with
            the application.
        stopping: Set when the server begins to stop; endless responses end then.
        guard: Authenticates clients; by default the guard of the settings, if they require one.
        extra_routes: Further routes that the registry does not define, such as those of the page.
    """
    guard = guard or guard_of(settings)
    owned = node is None
    node = node or open_node(settings)
    registry = Registry(node, settings, terms_of(settings), stopping=stopping or threading.Event())

    clients = None
    if guard is None and settings.instance_secret is not None:
        from registry.http.forwarded_clients import open_forwarded_clients  # noqa: PLC0415  as in open_guard

        clients = open_forwarded_clients(settings)
    forwarder = Forwarder(registry.leader_url, settings, guard or clients)
    webhooks = Webhooks(
        node,
        settings.webhook_urls,
        settings.webhook_secret,
        name=settings.node_id or f"{socket.gethostname()} {settings.advertised_url}",
        leads=lambda: node.leader_url() == settings.advertised_url,
        growth=registry.growth,
    )

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        if owned:
            await asyncio.to_thread(node.start)
            put_rules_in_force(settings, node, guard)
        if extra_routes is not None:
            extra_routes.attach(app)
        posting = asyncio.create_task(webhooks.run()) if settings.webhook_urls else None
        try:
            yield
        finally:
            if posting is not None:
                posting.cancel()
            await forwarder.close()
            if extra_routes is not None:
                await extra_routes.close()
            await registry.close()
            metrics.close()
            if owned:
                await asyncio.to_thread(node.stop)

    has_rules = guard is not None and guard.authorizer is not None
    seal = OffsetSeal(settings.instance_secret, settings.previous_instance_secret) if has_rules else None
    tokens = OffsetTokens(node, registry.sync, seal)
    api = Api(
        name="registry",
        contract="registry.yaml",
        rows=ROWS if extra_routes is None else (*ROWS, *extra_routes.rows),
        error_response=error_response,
        body_limits={BodyLimit.USUAL: settings.max_body_bytes, BodyLimit.BULK: settings.max_import_bytes},
        unrouted_media_types=negotiated,
        deadline_seconds=settings.request_timeout_ms / 1000,
        locate=locate,
        on_errors={InvalidSchema: _on_invalid_schema, NotLeader: forwarder},
        before_handling=tokens.await_token if clients is None else partial(_recognize_first, clients, tokens),
        after_handling=tokens.give_token,
        remembered=RememberedAnswers(tokens.state, {OFFSET_HEADER: tokens.is_met}),
        headers=settings.default_headers,
    )
    if guard is not None:
        api = guard.guarding(api)
        if guard.authorizer is not None:
            from registry.http.access import RegistryAccess  # noqa: PLC0415  its dependencies take long to import

            access = RegistryAccess(registry, guard.authorizer, guard, tokens.state)
            remembered = RememberedAnswers(access.state, {OFFSET_HEADER: tokens.is_met})
            api = replace(api, decide=access.decide, remembered=remembered)
    app = Application(api, lifespan)
    app.state.registry = registry
    app.state.offset_seal = seal
    app.state.steady_cursors = SteadyCursors()
    app.state.guard = guard
    app.state.forwarder = forwarder
    app.state.front = None if extra_routes is None else extra_routes.front
    app.state.metrics = metrics = _metrics_of(registry, app, api, settings)
    return app


def _metrics_of(registry: Registry, app: Application, api: Api, settings: RegistrySettings) -> Metrics:
    caches: dict[str, Cache] = {"schemas": registry.terms.parse}
    if api.remembered is not None:
        caches["answers"] = api.remembered
    of_node = NodeMetrics(registry.node, caches=caches, confluent=settings.confluent_metrics)
    more = confluent_requests if settings.confluent_metrics else None
    return Metrics(registry.status, of_node, RequestMetrics(app.recorder, more))


async def _recognize_first(clients: ForwardedClients, tokens: OffsetTokens, request: Request) -> None:
    clients.recognize(request)
    await tokens.await_token(request)


async def _on_invalid_schema(_request: Request, error: InvalidSchema) -> Response:
    raise invalid_schema(error)


def guard_of(settings: RegistrySettings) -> Guard | None:
    """The guard that authenticates clients, by the settings; None if they require no authentication.

    Raises:
        Failure: Users or keys cannot be loaded.
    """
    return open_guard(settings, realm="SchemaRegistry", audience=settings.group_id)


def put_rules_in_force(settings: RegistrySettings, node: Node, guard: Guard | None) -> None:
    """Put the rules in the log in force, if the settings say so; call this after the log has been read.

    Raises:
        Failure: A rule in the log cannot be read (it may be a denial), or nobody could do anything.
    """
    if guard is None or guard.authorizer is None or not settings.keeps_rules:
        return
    for text in sorted(node.view.broken_rules.values()):
        raise Failure(
            f"an access rule in the log cannot be read ({text}), and it may be a denial: write a tombstone for its key,"
            " or use magicbyte.acl.store=file:"
        )
    # First, so that no change is missed in between.
    node.call_after_changes(guard.authorizer.catch_up)
    guard.authorizer.follow(node.view)
    guard.authorizer.require_use("the log")


def terms_of(settings: RegistrySettings) -> Terms:
    """The terms of decisions, from the settings."""
    codes = {409: errors.INCOMPATIBLE_SCHEMA, 40901: errors.INCOMPATIBLE_SCHEMA_8}
    return Terms(
        parse=Parser(settings.schema_cache_size),
        default_level=settings.compatibility_level,
        validate_fields=settings.validate_fields,
        validate_new_schemas=settings.validate_new_schemas,
        modes_mutable=settings.mode_mutability,
        strict_reference_versions=settings.strict_reference_versions,
        imports_overwrite=settings.imports_overwrite,
        incompatible=codes[settings.incompatible_error_code],
        rules_check=settings.rules_check,
        rules_types=frozenset(settings.rules_types),
    )


def serve(
    properties: Mapping[str, str],
    *,
    extra_routes: Callable[[RegistrySettings], ExtraRoutes | None] = lambda _settings: None,
) -> int:
    """Run the registry until it is stopped; returns the exit code.

    Args:
        properties: The settings, by their names.
        extra_routes: Makes further routes, such as those of the page.

    Raises:
        Failure: A setting is wrong, the log can't be opened or read, or a port is not available.
    """
    begin_logs(properties)
    settings = RegistrySettings.from_properties(properties)
    node_name = settings.node_id or settings.advertised_url
    set_up_logs(settings.log_level, form=settings.log_format, access=settings.log_access, node=node_name)
    count_outages(*_KAFKA_LOGGERS)
    listeners = settings.listeners
    check_security(listeners, settings)
    if settings.workers > 1:
        return serve_with_workers(properties, settings)
    if settings.worker is not None:
        listeners = [*listeners, Listener(listeners[0].scheme, listeners[0].host, settings.worker_port)]
    guard = guard_of(settings)
    stopping = threading.Event()
    # The node stops before the traces: a collector that does not answer would keep the lead from the other nodes.
    with traces("magicbyte-registry", node_name):
        try:
            node = open_node(settings)
            end_process_with_threads()
            with _stopping(node):
                with replay_status(node, ServiceManager()):
                    node.start()
                put_rules_in_force(settings, node, guard)
                code = serve_http(
                    create_app(settings, node, stopping=stopping, guard=guard, extra_routes=extra_routes(settings)),
                    listeners,
                    settings,
                    share_ports=settings.worker is not None,
                    log_level=settings.log_level,
                    hooks=Hooks(before_stop=partial(_hand_over, node), on_stop=stopping.set, pulse=node.pulse),
                    sources=() if guard is None else guard.sources,
                )
        except LogError as error:
            raise cannot_start(error) from error
    if node.failure:
        raise Failure(f"the registry has ended: {node.failure}")
    return code


@contextmanager
def _stopping(node: Node) -> Iterator[None]:
    """Stop a node at the end."""
    try:
        yield
    finally:
        node.stop()


def _hand_over(node: Node) -> None:
    """Give up the lead, if there is another node that can take it: while connections are drained, no node would lead.

    If there is none, the node leaves the cluster later, in `Node.stop`.
    """
    with suppress(LogError):
        node.step_down()


def cannot_start(error: LogError) -> Failure:
    """The failure for a log that cannot be opened or read."""
    return Failure(f"the registry can't start: {error}")
