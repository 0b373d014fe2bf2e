"""The REST proxy as an application, and how it is served."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import AsyncIterator, Mapping

from confluent_kafka import KafkaException
from fastapi import FastAPI

from magicbyte.http.application import create_application
from magicbyte.http.asgi import ASGIApp, BodyLimit, EncodedPath, RequestLog
from magicbyte.http.server import parse_listener
from magicbyte.http.server import serve as serve_application
from magicbyte.settings import SettingsError
from rest_proxy.errors import from_kafka_exception
from rest_proxy.http import consumers, produce, topics
from rest_proxy.http.negotiation import error_response
from rest_proxy.proxy import MakeRegistry, registry_client, running
from rest_proxy.settings import RestProxySettings

log = logging.getLogger("rest_proxy")


def create_app(settings: RestProxySettings, *, make_registry: MakeRegistry = registry_client) -> ASGIApp:
    """The whole application; its parts start and stop with its lifespan.

    Args:
        settings: What the proxy is to do.
        make_registry: Makes the Schema Registry client.
    """

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with running(settings, make_registry) as proxy:
            app.state.proxy = proxy
            yield

    app = create_application(
        contract="rest-proxy-v2.yaml",
        routers=[topics.router, produce.router, consumers.router],
        error_response=error_response,
        lifespan=lifespan,
        translate={KafkaException: from_kafka_exception},
    )
    return RequestLog(BodyLimit(EncodedPath(app), settings.request_max_bytes))


def serve(properties: Mapping[str, str]) -> int:
    """Serve with kafka-rest's properties until SIGINT or SIGTERM.

    Returns:
        The exit code: 0 after a stop that was asked for, 1 where the proxy could not start.
    """
    try:
        settings = RestProxySettings.from_properties(properties)
        listeners = [parse_listener(text.strip()) for text in settings.listeners.split(",")]
        app = create_app(settings)
    except (SettingsError, ValueError) as error:
        sys.stderr.write(f"rest-proxy: {error}\n")
        return 1
    return serve_application(app, listeners, graceful_seconds=max(1, settings.shutdown_graceful_ms // 1000))
