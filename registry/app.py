"""The registry's application: settings in, an ASGI app out, and the server that runs it."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from fastapi import FastAPI

from compat.schema import InvalidSchema
from magicbyte.errors import ApiError
from magicbyte.failure import Failure
from magicbyte.http.application import create_application
from magicbyte.http.asgi import ASGIApp, BodyLimit, EncodedPath, RequestLog
from magicbyte.http.server import Listener
from magicbyte.http.server import serve as serve_http
from magicbyte.logs import set_up_logs
from registry import errors
from registry.decide import Terms
from registry.forward import Forwarder
from registry.http import compatibility, extensions, schemas, server, settings, subjects, transfer
from registry.http.answers import error_response
from registry.http.dispatch import Dispatch
from registry.http.layers import Bulk, ContextPrefix, Deadline, Negotiation, RememberedAnswers
from registry.http.offset_tokens import OffsetTokens, ReadYourWrites
from registry.log.open import open_node
from registry.log.port import LogError, NotLeader
from registry.metrics import Metrics, NodeMetrics, RequestCounts, RequestMetrics
from registry.node import Node
from registry.out_of_memory import end_process_with_threads
from registry.parsing import Parser, invalid_schema
from registry.service import Registry
from registry.settings import RegistrySettings
from registry.webhooks import Webhooks
from registry.workers import serve_with_workers

#: One router for each noun.
ROUTERS = (
    subjects.router,
    schemas.router,
    compatibility.router,
    settings.router,
    server.router,
    extensions.router,
    transfer.router,
)


def create_app(
    given: RegistrySettings, node: Node | None = None, *, stopping: threading.Event | None = None
) -> ASGIApp:
    """Build the application.

    Args:
        given: The settings.
        node: A node that the caller has started and will stop; without one, the node that the settings ask for starts
            and stops with the application.
        stopping: Set when the server begins to stop: answers that never end by themselves end then.
    """
    owned = node is None
    node = node or open_node(given)
    registry = Registry(node, given, terms_of(given), stopping=stopping or threading.Event())
    counts = RequestCounts()
    metrics = Metrics(registry.status, NodeMetrics(node), RequestMetrics(counts))

    forwarder = Forwarder(registry.leader_url, given)
    webhooks = Webhooks(
        node,
        given.webhook_urls,
        given.webhook_secret,
        name=given.node_id or f"{socket.gethostname()} {given.advertised_url}",
        leads=lambda: node.leader_url() == given.advertised_url,
    )

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        if owned:
            await asyncio.to_thread(node.start)
        posting = asyncio.create_task(webhooks.run()) if given.webhook_urls else None
        try:
            yield
        finally:
            if posting is not None:
                posting.cancel()
            await forwarder.close()
            await registry.close()
            metrics.close()
            if owned:
                await asyncio.to_thread(node.stop)

    app = create_application(
        contract="registry.yaml",
        routers=ROUTERS,
        error_response=error_response,
        lifespan=lifespan,
        translate={InvalidSchema: _on_invalid_schema},
    )
    app.state.registry = registry
    app.state.forwarder = forwarder
    app.state.metrics = metrics

    app.add_exception_handler(NotLeader, forwarder)
    app.router.redirect_slashes = False
    tokens = OffsetTokens(node, registry.sync)
    layered: ASGIApp = Negotiation(ReadYourWrites(Dispatch(app, ROUTERS, counts), tokens))
    layered = Bulk(BodyLimit(layered, given.max_body_bytes), BodyLimit(layered, given.max_import_bytes))
    layered = Deadline(layered, given.request_timeout_ms / 1000)
    # The layers within these two know a route by its path alone, without a context before it and a slash behind it.
    layered = ContextPrefix(layered)
    layered = EncodedPath(layered)
    layered = RequestLog(layered)
    return RememberedAnswers(layered, lambda: node.view.offset, tokens.is_met, counts)


def _on_invalid_schema(error: Exception) -> ApiError:
    assert isinstance(error, InvalidSchema)
    return invalid_schema(error)


def terms_of(given: RegistrySettings) -> Terms:
    """What decisions depend on, from the settings."""
    codes = {409: errors.INCOMPATIBLE_SCHEMA, 40901: errors.INCOMPATIBLE_SCHEMA_8}
    return Terms(
        parse=Parser(given.schema_cache_size),
        default_level=given.compatibility_level,
        validate_fields=given.validate_fields,
        validate_new_schemas=given.validate_new_schemas,
        modes_mutable=given.mode_mutability,
        strict_reference_versions=given.strict_reference_versions,
        imports_overwrite=given.imports_overwrite,
        incompatible=codes[given.incompatible_error_code],
    )


def serve(properties: Mapping[str, str]) -> int:
    """Run the registry until it is told to stop; answers the exit code.

    Raises:
        Failure: A setting is wrong, the log can't be opened or read, or a port can't be had.
    """
    given = RegistrySettings.from_properties(properties)
    set_up_logs(given.log_level)
    if given.workers > 1:
        return serve_with_workers(properties, given)
    listeners = given.listeners
    if given.worker is not None:
        listeners = [*listeners, Listener(listeners[0].scheme, listeners[0].host, given.worker_port)]
    try:
        node = open_node(given)
    except LogError as error:
        raise _cannot_start(error) from error
    stopping = threading.Event()
    end_process_with_threads()
    try:
        node.start()
        code = serve_http(
            create_app(given, node, stopping=stopping),
            listeners,
            given,
            share_ports=given.worker is not None,
            log_level=given.log_level,
            on_stop=stopping.set,
        )
    except LogError as error:
        raise _cannot_start(error) from error
    finally:
        node.stop()
    if node.failure:
        raise Failure(f"the registry has ended: {node.failure}")
    return code


def _cannot_start(error: LogError) -> Failure:
    return Failure(f"the registry can't start: {error}")
