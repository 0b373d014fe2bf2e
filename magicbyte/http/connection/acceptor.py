"""Accepts connections within the limits, and serves them with uvicorn."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import resource
import signal
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import uvicorn

from magicbyte.http.access_control import CrossOrigin
from magicbyte.http.connection.applications import Front
from magicbyte.http.connection.connections import Connections
from magicbyte.http.connection.hooks import Hooks, send_signs_of_life
from magicbyte.http.connection.hosts import Hosts
from magicbyte.http.connection.pipelining import Pipelining
from magicbyte.http.connection.protocol import HttpConnection
from magicbyte.http.connection.request_turns import RequestTurns
from magicbyte.http.connection.tls_connection import TlsConnection
from magicbyte.http.response_headers import ResponseHeaders
from magicbyte.http.routing.recorder import Recorder
from magicbyte.kit.processes.service_manager import READY, STOPPING, ServiceManager
from magicbyte.kit.processes.stop_signals import handle_stop_signals
from magicbyte.security.principal import client_network
from magicbyte.security.tls.server import ServerTls

log = logging.getLogger("magicbyte.http")

AnyConnection = TypeVar("AnyConnection", bound=HttpConnection)

#: How many connections are accepted before the open connections get their turn.
_ACCEPTED_PER_TURN = 16
#: How long to accept no connections after the process has run out of descriptors, in seconds.
_PAUSE_SECONDS = 0.05
#: Descriptors reserved for the rest of the process.
_RESERVED_DESCRIPTORS = 64
#: How long a TLS handshake may take, and how long a TLS shutdown may take, in seconds.
_HANDSHAKE_SECONDS = 10.0
_TLS_SHUTDOWN_SECONDS = 5.0
_REFUSAL = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class Acceptor:
    """Accepts the connections of one listener.

    An event loop's own server accepts all waiting connections at once. If it runs out of descriptors, it drops the
    rest, whatever they are; this class first closes the least needed connections.
    """

    def __init__(
        self, listener_socket: socket.socket, server: Server, front: Front, hosts: Hosts | None, tls: ServerTls | None
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._socket = listener_socket
        self._server = server
        self._front = front
        self._hosts = hosts
        self._tls = tls
        self._opening: set[asyncio.Task[None]] = set()
        self._retry: asyncio.TimerHandle | None = None
        listener_socket.setblocking(False)
        self._loop.add_reader(listener_socket, self._accept)

    def close(self) -> None:
        """Stop accepting connections."""
        self._loop.remove_reader(self._socket)
        if self._retry is not None:
            self._retry.cancel()
        if self._tls is not None:
            for handshake in self._opening:
                handshake.cancel()

    async def wait_closed(self) -> None:
        """Wait for accepted connections that are still being opened."""
        await asyncio.gather(*self._opening)

    def _accept(self) -> None:
        for _ in range(_ACCEPTED_PER_TURN):
            try:
                accepted, peer = self._socket.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                    raise
                self._pause(error)
                return
            connections = self._front.connections
            are_full = connections.are_full
            if are_full and not connections.make_room():
                self._front.recorder.unrouted(503)
                _turn_away(accepted)
                continue
            task = self._loop.create_task(
                self._open(accepted, peer) if self._tls is None else self._open_tls(accepted, peer, self._tls)
            )
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)
            if are_full:
                # Accept the next one when the connections that made room are closed.
                return

    def _pause(self, error: OSError) -> None:
        log.warning(
            "no connection can be accepted: %s",
            error.strerror,
            extra={"event": "accept_failed", "error": error.strerror},
        )
        self._front.connections.make_room()
        self._loop.remove_reader(self._socket)
        self._retry = self._loop.call_later(_PAUSE_SECONDS, self._loop.add_reader, self._socket, self._accept)

    async def _open(self, accepted: socket.socket, peer: tuple[str, int]) -> None:
        connection = self._connection(HttpConnection, peer)
        accepted.setblocking(False)
        try:
            await self._loop.connect_accepted_socket(lambda: connection, accepted)
        except OSError:
            # The client has already disconnected.
            self._front.connections.remove(connection)
            accepted.close()

    async def _open_tls(self, accepted: socket.socket, peer: tuple[str, int], tls: ServerTls) -> None:
        connection = self._connection(partial(TlsConnection, tls), peer)
        connection.handshake = asyncio.current_task()
        accepted.setblocking(False)
        try:
            await self._loop.connect_accepted_socket(
                lambda: connection,
                accepted,
                # Read the context now: a reload replaces it.
                ssl=tls.context,
                ssl_handshake_timeout=_HANDSHAKE_SECONDS,
                ssl_shutdown_timeout=_TLS_SHUTDOWN_SECONDS,
            )
        except (OSError, asyncio.CancelledError) as error:
            # The client does not speak TLS or has no trusted certificate, or the connection was closed to make room.
            self._front.connections.remove(connection)
            if isinstance(error, OSError):
                self._front.connections.count_closed("in the TLS handshake")
            accepted.close()
        connection.handshake = None

    def _connection(self, make: Callable[..., AnyConnection], peer: tuple[str, int]) -> AnyConnection:
        return make(
            self._front,
            client_network(peer[0]),
            self._hosts,
            config=self._server.config,
            server_state=self._server.server_state,
            app_state=self._server.lifespan.state,
        )


def _turn_away(accepted: socket.socket) -> None:
    with accepted, contextlib.suppress(OSError):
        accepted.setblocking(False)
        accepted.send(_REFUSAL)


def capacity_of(connections: Connections) -> int:
    """Return how many connections fit under the limit of open files (ulimit -n), next to the process's other files.

    The server calls this regularly, because Kafka clients, for example, also open and close connections.
    """
    limit = connections.limits.connections
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    reserved = min(_RESERVED_DESCRIPTORS, files // 2)
    if files == resource.RLIM_INFINITY or 0 < limit <= files // 2:
        return limit
    try:
        with os.scandir("/dev/fd") as entries:
            other_descriptors = sum(1 for _ in entries) - len(connections)
    except OSError:
        # No descriptor is left for listing the folder.
        return connections.capacity
    fit = max(1, files - reserved - other_descriptors)
    return min(limit, fit) if limit else fit


@dataclass(frozen=True, slots=True)
class Policy:
    """The limits, security and headers of a server's connections.

    Attributes:
        connections: The open connections and their limits.
        cross_origin: Wraps the application to restrict browsers.
        headers: The headers of every answer.
        hosts: For each listening socket, the accepted Host names; None for any.
        recorder: Returns the recorder of answers, once the application has started.
        tls: For each listening socket, its TLS; None for plain HTTP.
    """

    connections: Connections
    cross_origin: partial[CrossOrigin]
    headers: ResponseHeaders
    hosts: Sequence[Hosts | None]
    recorder: Callable[[], Recorder]
    tls: Sequence[ServerTls | None]


class Server(uvicorn.Server):
    """uvicorn's server with our acceptors; `run` returns after a stop signal."""

    def __init__(
        self,
        config: uvicorn.Config,
        policy: Policy,
        hooks: Hooks,
        on_reload: Callable[[], None] | None = None,
    ) -> None:
        """Make a server; `run` starts it.

        Args:
            config: uvicorn's settings.
            policy: The limits, security and headers of its connections.
            hooks: Called when the server has started to listen, and when it begins to stop.
            on_reload: Called at SIGHUP, which then does not stop the server.
        """
        super().__init__(config)
        self._policy = policy
        self._hooks = hooks
        self._on_reload = on_reload
        self._manager = ServiceManager()
        self._tasks: list[asyncio.Task[None]] = []

    def take_signals(self) -> None:
        """Handle the stop signals, now and after `run`.

        After its shutdown, uvicorn restores the previous handlers and raises the signal again. The default handler
        would end the process with code 143 before the caller of `run` has closed its resources.
        """
        handle_stop_signals(self.handle_exit)
        if (reload := self._on_reload) is not None:
            signal.signal(signal.SIGHUP, lambda *_: reload())

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the application, then listen."""
        await super().startup(sockets=[])
        app, policy = self.config.loaded_app, self._policy
        recorder = policy.recorder()
        front = Front(
            # Without uvicorn's middleware for the fields of proxies, which looks for them in every request.
            policy.headers.added_to(self.config.app),  # type: ignore[arg-type]  # an ASGI application
            policy.headers.added_to(app),
            policy.headers.added_to(policy.cross_origin(app, recorder=recorder)),
            policy.connections,
            policy.headers,
            recorder,
            Pipelining(policy.connections.limits.pipelined_bytes),
            RequestTurns(asyncio.get_running_loop()),
        )
        for listener_socket, hosts, tls in zip(sockets or [], policy.hosts, policy.tls, strict=True):
            self.servers.append(Acceptor(listener_socket, self, front, hosts, tls))  # type: ignore[arg-type]  # has the methods that uvicorn uses
        connections = policy.connections
        connections.capacity = capacity_of(connections)
        if connections.capacity < connections.limits.connections:
            log.info(
                "%d connections fit under the limit of open files (ulimit -n); server.connection.limit is %d",
                connections.capacity,
                connections.limits.connections,
                extra={
                    "event": "connections_limited",
                    "capacity": connections.capacity,
                    "limit": connections.limits.connections,
                },
            )
        self._tasks.append(asyncio.create_task(self._keep_time()))
        if self._hooks.on_start is not None:
            self._hooks.on_start()
        self._manager.status("serving", READY)
        if (pause := self._manager.pause) is not None:
            self._tasks.append(asyncio.create_task(send_signs_of_life(self._manager, pause, self._hooks.pulse)))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, finish open requests, and stop the application."""
        self._manager.status("stopping", STOPPING)
        if self._hooks.before_stop is not None:
            await asyncio.to_thread(self._hooks.before_stop)
        if self._hooks.on_stop is not None:
            self._hooks.on_stop()
        await super().shutdown(sockets)
        for task in self._tasks:
            task.cancel()

    async def _keep_time(self) -> None:
        connections = self._policy.connections
        while True:
            await asyncio.sleep(connections.interval)
            # Advance by one interval even if more time has passed: a blocked event loop served no clients meanwhile.
            connections.advance(connections.interval)
            connections.capacity = capacity_of(connections)
