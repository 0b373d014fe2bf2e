"""Serves an ASGI application on its listeners until a stop signal."""

from __future__ import annotations

import gc
import logging
import math
import socket
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

import uvicorn

from magicbyte.http.access_control import CrossOrigin, rejecting_options
from magicbyte.http.asgi import Receive, Scope, Send
from magicbyte.http.connection.acceptor import Policy, Server
from magicbyte.http.connection.connections import Connections
from magicbyte.http.connection.hooks import Hooks
from magicbyte.http.connection.hosts import Hosts, is_loopback
from magicbyte.http.connection.protocol import HttpConnection
from magicbyte.http.listener import Listener
from magicbyte.http.routing.recorder import Recorder
from magicbyte.http.routing.table import Table
from magicbyte.http.settings import HttpSettings
from magicbyte.kit.failure import Failure
from magicbyte.security.hardening import keep_secrets_in_memory
from magicbyte.security.tls.server import ServerTls
from magicbyte.security.watch import Source, Watch

log = logging.getLogger("magicbyte.http")

#: How many new objects trigger a garbage collection; about ten megabytes.
_OBJECTS_A_COLLECTION = 100_000
_NO_HOOKS = Hooks()


class Served(Protocol):
    """An application made of rows; its table and recorder exist once it has started."""

    @property
    def table(self) -> Table:
        """The rows."""

    @property
    def recorder(self) -> Recorder:
        """Counts and logs the answers."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""


def serve(
    app: Served,
    listeners: Sequence[Listener],
    settings: HttpSettings,
    *,
    share_ports: bool = False,
    forwarded_scheme: bool = False,
    log_level: str = "info",
    graceful_seconds: int = 5,
    hooks: Hooks = _NO_HOOKS,
    sources: Sequence[Source] = (),
) -> int:
    """Serve until SIGINT, SIGTERM or SIGHUP; open requests get `graceful_seconds` to end.

    If there are files that may change, such as certificates and users, SIGHUP reloads them instead.

    Afterwards these signals are ignored, so that the caller can finish its work and end the process.

    Args:
        app: The application.
        listeners: The addresses to listen on.
        settings: The limits of connections, what browsers may do, and the headers of all answers; `check_security` has
            accepted them.
        share_ports: Let other processes listen on the same ports; the system distributes the connections.
        forwarded_scheme: For URLs in answers, use the scheme that a proxy on this machine reports for its clients
            (X-Forwarded-Proto).
        log_level: The level of uvicorn's log.
        graceful_seconds: How long a stop waits for open requests.
        hooks: Called when the server starts, while it runs, and when it stops.
        sources: Reloaded when their files change, in addition to certificates.

    Returns:
        The exit code: 0 after a stop signal, 1 if the server could not start.

    Raises:
        Failure: The server cannot listen on a port.
        SettingsError: The TLS settings do not fit the listeners, or a key or certificate cannot be used.
    """
    tls = ServerTls(settings) if any(listener.scheme == "https" for listener in listeners) else None
    sockets = [_listen(listener, share_port=share_ports) for listener in listeners]
    limits, access_control = settings.limits, settings.access_control
    names = [*settings.host_names, *(listener.host for listener in listeners)]
    if "*" in access_control.origins:
        log.warning(
            "access.control.allow.origin=*: every web page that a user of this network opens may write here",
            extra={"event": "origins_open"},
        )
    policy = Policy(
        connections=Connections(limits, lambda path: app.table.streams(path)),  # noqa: PLW0108  no table before the start
        cross_origin=partial(
            CrossOrigin,
            rules=access_control,
            is_safe=lambda path: app.table.is_safe(path),  # noqa: PLW0108  as above
            is_for_own_pages=lambda path: app.table.is_for_own_pages(path),  # noqa: PLW0108  as above
        ),
        headers=settings.all_response_headers,
        hosts=[_hosts(listener_socket, names, settings.allowed_hosts) for listener_socket in sockets],
        recorder=lambda: app.recorder,
        tls=[tls if listener.scheme == "https" else None for listener in listeners],
    )
    config = uvicorn.Config(
        rejecting_options(app, lambda: app.recorder) if settings.reject_options else app,
        log_level=log_level,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=forwarded_scheme,
        timeout_keep_alive=math.ceil(limits.idle_seconds),
        timeout_graceful_shutdown=graceful_seconds,
        lifespan="on",
        http=HttpConnection,
        ws="none",
    )
    watched = [*([] if tls is None else [tls]), *sources]
    watch = Watch(watched) if watched else None
    if hooks.on_start is None and settings.is_open:
        hooks = replace(hooks, on_start=_log_open_access)
    server = Server(config, policy, hooks, watch.reload_now if watch is not None else None)
    # The objects of a request have no cycles and are freed with it, so frequent collections would find nothing.
    gc.freeze()
    gc.set_threshold(_OBJECTS_A_COLLECTION)
    server.take_signals()
    if watch is not None:
        watch.start()
    try:
        server.run(sockets=sockets)
    finally:
        if watch is not None:
            watch.stop()
    return 0 if server.started else 1


def _log_open_access() -> None:
    log.info(
        "nobody has to sign in: all clients that reach this server may read and change everything",
        extra={"event": "access_open"},
    )


def check_security(listeners: Sequence[Listener], settings: HttpSettings) -> None:
    """Check that the security settings fit together and fit the listeners; with secrets, harden this process.

    Raises:
        SettingsError: The settings do not fit; the text names a property and says what to do.
    """
    reachable: dict[str, bool] = {}
    for listener in listeners:
        is_remote = listener.host != "localhost" and not is_loopback(listener.host)
        reachable[listener.scheme] = reachable.get(listener.scheme, False) or is_remote
    settings.check_security(reachable)
    if settings.holds_secrets:
        keep_secrets_in_memory()
    if settings.has_key and "https" not in reachable:
        log.warning(
            "a key is configured, but no listener is https://, so nothing is served over TLS",
            extra={"event": "key_unused"},
        )


def _hosts(listener_socket: socket.socket, names: Collection[str], allowed: Collection[str]) -> Hosts | None:
    """Return the Host names that a listener accepts: on loopback only ours, else any unless the settings list them."""
    if "*" in allowed or not (allowed or is_loopback(listener_socket.getsockname()[0])):
        return None
    return Hosts(names)


def _listen(listener: Listener, *, share_port: bool) -> socket.socket:
    family = socket.AF_INET6 if ":" in listener.host else socket.AF_INET
    listener_socket = socket.socket(family, socket.SOCK_STREAM)
    listener_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if share_port:
        listener_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        listener_socket.bind((listener.host, listener.port))
    except OSError as error:
        raise Failure(f"{listener.host}:{listener.port} can't be listened on: {error.strerror}") from error
    listener_socket.listen(2048)
    return listener_socket
