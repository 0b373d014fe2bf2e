"""The REST proxy as an application, and how it is served."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncIterator, Mapping

from fastapi import FastAPI

from magicbyte.http.application import create_application
from magicbyte.http.asgi import ASGIApp, BodyLimit, EncodedPath, RequestLog
from magicbyte.http.server import parse_listener
from magicbyte.http.server import serve as serve_application
from magicbyte.logs import set_up_logs
from magicbyte.settings import SettingsError
from rest_proxy.checking import check_clients
from rest_proxy.errors import TRANSLATED
from rest_proxy.http import consumers, operations, produce, topics, v1
from rest_proxy.http.fast_produce import FastProduce
from rest_proxy.http.metrics import Counting, Metrics
from rest_proxy.http.negotiation import error_response
from rest_proxy.http.paths import Lenient
from rest_proxy.proxy import MakeRegistry, peers_of, registry_client, running
from rest_proxy.settings import RestProxySettings

#: The OpenAPI document that the routes serve.
CONTRACT = "rest-proxy-v2.yaml"


def create_app(settings: RestProxySettings, *, make_registry: MakeRegistry = registry_client) -> ASGIApp:
    """The whole application; its parts start and stop with its lifespan.

    Args:
        settings: What the proxy is to do.
        make_registry: Makes the Schema Registry client.
    """
    metrics = Metrics()

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with running(settings, make_registry) as proxy:
            app.state.proxy = proxy
            metrics.watch(proxy)
            yield

    app = create_application(
        contract=CONTRACT,
        routers=[topics.router, produce.router, consumers.router, v1.router, operations.router],
        error_response=error_response,
        lifespan=lifespan,
        translate=TRANSLATED,
    )
    app.state.metrics = metrics
    served: ASGIApp = app
    peers = peers_of(settings)
    if peers is not None:
        from rest_proxy.http.passing_on import PassingOn  # noqa: PLC0415  its HTTP client takes long to import

        served = PassingOn(served, peers)
    served = EncodedPath(Lenient(Counting(served, metrics)))
    return FastProduce(RequestLog(BodyLimit(served, settings.request_max_bytes)), app.state, settings, metrics)


def serve(properties: Mapping[str, str]) -> int:
    """Serve with kafka-rest's properties until SIGINT or SIGTERM.

    Returns:
        The exit code: 0 after a stop that was asked for, 1 where the proxy could not start.

    Raises:
        SettingsError: A property's value cannot be; names the property.
    """
    settings = RestProxySettings.from_properties(properties)
    set_up_logs("debug" if settings.debug else "info")
    check_clients(settings)
    try:
        listeners = [parse_listener(text.strip()) for text in settings.listeners.split(",")]
    except ValueError as error:
        raise SettingsError(f"listeners: {error}") from None
    app = create_app(settings)
    # Delivery reports need the interpreter often and briefly; five milliseconds would be most of an answer's time.
    sys.setswitchinterval(0.0005)
    return serve_application(
        app,
        listeners,
        settings,
        forwarded_scheme=True,
        graceful_seconds=max(1, settings.shutdown_graceful_ms // 1000),
    )
