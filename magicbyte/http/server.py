"""Runs an ASGI application on its listeners until it is told to stop."""

from __future__ import annotations

import gc
import logging
import math
import socket
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol
from urllib.parse import urlsplit

import uvicorn

from magicbyte.http.access_control import CrossOrigin, rejecting_options
from magicbyte.http.asgi import Receive, Scope, Send
from magicbyte.http.connection.acceptor import Policy, Server
from magicbyte.http.connection.connections import Connections
from magicbyte.http.connection.hosts import Hosts, is_loopback
from magicbyte.http.routing.recorder import Recorder
from magicbyte.http.routing.table import Table
from magicbyte.http.settings import HttpSettings
from magicbyte.kit.failure import Failure
from magicbyte.security.tls.server import ServerTls
from magicbyte.security.watch import Source, Watch

log = logging.getLogger("magicbyte.http")

#: How many objects more than before are looked through for cycles; about ten megabytes.
_OBJECTS_A_COLLECTION = 100_000


class Served(Protocol):
    """An application made of rows; its parts are there once it has started."""

    @property
    def table(self) -> Table:
        """The rows."""

    @property
    def recorder(self) -> Recorder:
        """What counts and logs the answers."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""


@dataclass(frozen=True, slots=True)
class Listener:
    """An address to listen on; the host of `http://0.0.0.0:8081` or `http://:8081` is every interface."""

    scheme: str
    host: str
    port: int

    @property
    def url(self) -> str:
        """The address as a URL that a client on this machine can use."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "") else self.host  # noqa: S104  what a user listens on
        return f"{self.scheme}://[{host}]:{self.port}" if ":" in host else f"{self.scheme}://{host}:{self.port}"


def parse_listener(text: str) -> Listener:
    """Read `http://host:port`, `https://host:port` or `host:port`.

    Raises:
        ValueError: The text is no such address.
    """
    parts = urlsplit(text if "://" in text else f"http://{text}")
    if parts.scheme not in ("http", "https") or parts.port is None or parts.path not in ("", "/"):
        raise ValueError(f"not a listener: {text!r}; write http://HOST:PORT or https://HOST:PORT")
    return Listener(parts.scheme, parts.hostname or "0.0.0.0", parts.port)  # noqa: S104  as the reference reads it


def serve(
    app: Served,
    listeners: Sequence[Listener],
    settings: HttpSettings,
    *,
    share_ports: bool = False,
    forwarded_scheme: bool = False,
    log_level: str = "info",
    graceful_seconds: int = 5,
    on_stop: Callable[[], None] | None = None,
    sources: Sequence[Source] = (),
) -> int:
    """Serve until SIGINT, SIGTERM or SIGHUP; requests under way get `graceful_seconds` to end.

    If there are files that may change, such as certificates and users, SIGHUP has them read again instead.

    Afterwards these signals are ignored: the caller finishes its own work and ends the process.

    Args:
        app: The application.
        listeners: Where to listen; all of them are served.
        settings: The limits of connections, what browsers may do, and the headers of all answers; `check_security` has
            found nothing wrong with them.
        share_ports: Let other processes listen on the same ports; the system spreads the connections.
        forwarded_scheme: Believe a proxy on this machine which scheme its clients use (X-Forwarded-Proto), for answers
            that name URLs.
        log_level: Of the server's own log.
        graceful_seconds: How long a stop waits.
        on_stop: Called when the stop begins, so that answers that never end by themselves end.
        sources: What is loaded again when its files change, besides certificates.

    Returns:
        The exit code: 0 after a stop that was asked for, 1 where the server could not start.

    Raises:
        Failure: A port can't be had.
        SettingsError: The TLS settings do not fit the listeners, or a key or certificate cannot be used.
    """
    tls = ServerTls(settings) if any(listener.scheme == "https" for listener in listeners) else None
    sockets = [_listen(listener, share_port=share_ports) for listener in listeners]
    limits, access_control = settings.limits, settings.access_control
    names = [*settings.host_names, *(listener.host for listener in listeners)]
    if "*" in access_control.origins:
        log.warning("access.control.allow.origin=*: every web page that a user of this network opens may write here")
    policy = Policy(
        connections=Connections(limits, lambda path: app.table.streams(path)),  # noqa: PLW0108  no table before the start
        cross_origin=partial(CrossOrigin, rules=access_control, is_safe=lambda path: app.table.is_safe(path)),  # noqa: PLW0108  as above
        headers=settings.all_response_headers,
        hosts=[_hosts(listening, names, settings.allowed_hosts) for listening in sockets],
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
        ws="none",
    )
    watched = [*([] if tls is None else [tls]), *sources]
    watch = Watch(watched) if watched else None
    on_start = _say_that_it_is_open if settings.is_open else None
    server = Server(config, policy, on_start, on_stop, watch.reload_now if watch is not None else None)
    # What a request makes goes with it and holds no cycles; collections in between would look through it in vain.
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


def _say_that_it_is_open() -> None:
    log.info("nobody has to sign in: all clients that reach this server may read and change everything")


def check_security(listeners: Sequence[Listener], settings: HttpSettings) -> None:
    """Check that the security settings fit together and fit the listeners.

    Raises:
        SettingsError: They do not; the text names a property and says what to do.
    """
    reachable: dict[str, bool] = {}
    for listener in listeners:
        is_elsewhere = listener.host != "localhost" and not is_loopback(listener.host)
        reachable[listener.scheme] = reachable.get(listener.scheme, False) or is_elsewhere
    settings.check_security(reachable)
    if settings.has_key and "https" not in reachable:
        log.warning("a key is configured, but no listener is https://, so nothing is served over TLS")


def _hosts(listening: socket.socket, names: Collection[str], allowed: Collection[str]) -> Hosts | None:
    """The names that a listener has: on the loopback only our own, elsewhere any, unless the settings list them."""
    if "*" in allowed or not (allowed or is_loopback(listening.getsockname()[0])):
        return None
    return Hosts(names)


def _listen(listener: Listener, *, share_port: bool) -> socket.socket:
    family = socket.AF_INET6 if ":" in listener.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if share_port:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        listening.bind((listener.host, listener.port))
    except OSError as error:
        raise Failure(f"{listener.host}:{listener.port} can't be listened on: {error.strerror}") from error
    listening.listen(2048)
    return listening
