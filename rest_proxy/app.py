"""The REST proxy's application: settings in, an ASGI app out, and the server that runs it."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.responses import Response

from magicbyte.http.connection.hooks import Hooks
from magicbyte.http.listener import Listener, parse_listeners
from magicbyte.http.routing.application import Api, Application
from magicbyte.http.routing.open_guard import open_guard
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.rows import BodyLimit
from magicbyte.http.server import check_security
from magicbyte.http.server import serve as serve_application
from magicbyte.kit.errors import ApiError
from magicbyte.kit.kafka.outages import count_outages
from magicbyte.kit.logs.beginning import begin_logs
from magicbyte.kit.logs.set_up import set_up_logs
from magicbyte.kit.settings import SettingsError
from magicbyte.kit.traces.set_up import traces
from magicbyte.security.settings import LOG
from rest_proxy.access.decisions import ProxyAccess
from rest_proxy.consume.parts import Consuming
from rest_proxy.errors import TRANSLATED
from rest_proxy.exchange.negotiation import error_response, unnegotiated
from rest_proxy.http.metrics import collectors_of, watch
from rest_proxy.http.open_rows import open_rows
from rest_proxy.http.rows import ROWS
from rest_proxy.produce.parts import Producing, Streaming
from rest_proxy.settings import RestProxySettings
from rest_proxy.start.client_check import check_clients
from rest_proxy.start.registry_client import MakeRegistry, registry_client
from rest_proxy.start.registry_rules import load_rules
from rest_proxy.start.running import running
from rest_proxy.v3.rows import V3_ROWS

if TYPE_CHECKING:
    from magicbyte.http.routing.guard import Guard

log = logging.getLogger("rest_proxy")

#: The loggers that Kafka's clients write to.
_KAFKA_LOGGERS = (
    "rest_proxy",
    "rest_proxy.admin",
    "rest_proxy.produce.loop_producer",
    "rest_proxy.consume.consumers.consumer",
)
#: The OpenAPI document of the table of routes.
CONTRACT = "rest-proxy-v2.yaml"
_V3_PREFIX = "/kafka"


def create_app(
    settings: RestProxySettings, *, make_registry: MakeRegistry = registry_client, guard: Guard | None = None
) -> Application:
    """Build the application; its parts start and stop with its lifespan.

    Args:
        settings: The settings.
        make_registry: Makes the Schema Registry client.
        guard: Authenticates clients; by default the guard of the settings, if they require one.
    """
    guard = guard or guard_of(settings)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with running(settings, make_registry, guard) as parts:
            app.state.parts = parts
            watch(parts[Producing].producers.budget, parts[Streaming].open, parts[Consuming].instances, metrics)
            yield

    api = Api(
        name="rest",
        contract=CONTRACT,
        rows=open_rows([row for row in (*ROWS, *V3_ROWS) if settings.serves(row.path)], settings.endpoint_lists),
        error_response=error_response,
        body_limits={BodyLimit.USUAL: settings.request_max_bytes},
        unrouted_media_types=unnegotiated,
        locate=_locate,
        on_errors={kind: partial(_translated, translate) for kind, translate in TRANSLATED.items()},
        headers=settings.default_headers,
    )
    if guard is not None:
        api = guard.guarding(api)
        if guard.authorizer is not None:
            api = replace(api, decide=ProxyAccess(guard.authorizer, guard).decide)
    app = Application(api, lifespan)
    app.state.metrics = metrics = collectors_of(app.recorder, settings)
    return app


def guard_of(settings: RestProxySettings) -> Guard | None:
    """The guard that authenticates clients, by the settings; None if they require no authentication.

    Raises:
        Failure: Users or keys cannot be loaded.
    """
    return open_guard(settings, realm="KafkaRest", audience=settings.peers)


def _locate(path: str) -> tuple[str, Mapping[str, str]]:
    """The path to look up: without a trailing slash, and without the prefix that Confluent Server gives to v3."""
    stripped = path[:-1] if len(path) > 1 and path.endswith("/") else path
    if stripped.startswith(f"{_V3_PREFIX}/v3/"):
        return stripped.removeprefix(_V3_PREFIX), {"prefix": _V3_PREFIX}
    return stripped, {}


async def _translated(translate: Callable[[Exception], ApiError], _request: Request, error: Exception) -> Response:
    raise translate(error)


def listeners_of(settings: RestProxySettings) -> list[Listener]:
    """The addresses to listen on.

    Raises:
        SettingsError: One is no address, or is named twice.
    """
    try:
        return parse_listeners(settings.listeners.split(","))
    except ValueError as error:
        raise SettingsError(f"listeners: {error}") from None


def serve(properties: Mapping[str, str]) -> int:
    """Serve with kafka-rest's properties until SIGINT or SIGTERM.

    Returns:
        The exit code: 0 after a requested stop, 1 if the proxy could not start.

    Raises:
        SettingsError: A property has an invalid value; the text names the property.
    """
    begin_logs(properties)
    settings = RestProxySettings.from_properties(properties)
    node_name = settings.node_name
    level = "debug" if settings.debug else settings.log_level
    set_up_logs(level, form=settings.log_format, access=settings.log_access, node=node_name)
    count_outages(*_KAFKA_LOGGERS)
    check_clients(settings)
    listeners = listeners_of(settings)
    check_security(listeners, settings)
    guard = guard_of(settings)
    if settings.rule_store == LOG and guard is not None and guard.authorizer is not None:
        load_rules(settings, guard.authorizer)
    if settings.is_open and settings.v3_enabled:
        log.warning(
            "v3 is open: every client that reaches this server may administer Kafka as the proxy; ask clients"
            " to sign in (authentication.method), or switch it off (api.v3.enable=false)",
            extra={"event": "v3_open"},
        )
    app = create_app(settings, guard=guard)
    # Delivery reports need the GIL often and briefly; the default of 5 ms would be most of a request's time.
    sys.setswitchinterval(0.0005)
    with traces("magicbyte-rest-proxy", node_name):
        return serve_application(
            app,
            listeners,
            settings,
            forwarded_scheme=True,
            log_level=level,
            graceful_seconds=max(1, settings.shutdown_graceful_ms // 1000),
            hooks=Hooks(on_stop=lambda: app.state.parts[Streaming].open.stop()),  # noqa: PLW0108  no parts before the start
            sources=() if guard is None else guard.sources,
        )
