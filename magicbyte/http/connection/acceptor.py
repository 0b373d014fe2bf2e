"""Accepts connections within their limits, and serves them as uvicorn does."""

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
from magicbyte.http.connection.connections import Connections
from magicbyte.http.connection.hosts import Hosts
from magicbyte.http.connection.protocol import Front, HttpConnection
from magicbyte.http.connection.tls_connection import TlsConnection
from magicbyte.http.response_headers import ResponseHeaders
from magicbyte.http.routing.recorder import Recorder
from magicbyte.kit.stop_signals import handle_stop_signals
from magicbyte.security.principal import client_network
from magicbyte.security.tls.server import ServerTls

log = logging.getLogger("magicbyte.http")

Made = TypeVar("Made", bound=HttpConnection)

#: How many connections are accepted before clients that are served already get their turn.
_ACCEPTED_IN_TURN = 16
#: How long nothing is accepted after the process has run out of descriptors, in seconds.
_PAUSE_SECONDS = 0.05
#: Descriptors that connections leave to the rest of the process.
_DESCRIPTORS_KEPT = 64
#: How long a TLS handshake may take, and how long a client that is left may take to say goodbye, in seconds.
_HANDSHAKE_SECONDS = 10.0
_FAREWELL_SECONDS = 5.0
_NO_ROOM = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class Acceptor:
    """Accepts the connections of one listener.

    An event loop's own server accepts all that wait at once. If they are more than there are descriptors, it drops
    the rest, whoever they are; here the connections that are least needed make room first.
    """

    def __init__(
        self, listening: socket.socket, server: Server, front: Front, hosts: Hosts | None, tls: ServerTls | None
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._listening = listening
        self._server = server
        self._front = front
        self._hosts = hosts
        self._tls = tls
        self._opening: set[asyncio.Task[None]] = set()
        self._retry: asyncio.TimerHandle | None = None
        listening.setblocking(False)
        self._loop.add_reader(listening, self._accept)

    def close(self) -> None:
        """Accept no more."""
        self._loop.remove_reader(self._listening)
        if self._retry is not None:
            self._retry.cancel()
        if self._tls is not None:
            for handshake in self._opening:
                handshake.cancel()

    async def wait_closed(self) -> None:
        """Wait for connections that have been accepted, and have not begun yet."""
        await asyncio.gather(*self._opening)

    def _accept(self) -> None:
        for _ in range(_ACCEPTED_IN_TURN):
            try:
                accepted, peer = self._listening.accept()
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
                # The next one comes when those that made room are closed.
                return

    def _pause(self, error: OSError) -> None:
        log.warning("no connection can be accepted: %s", error.strerror)
        self._front.connections.make_room()
        self._loop.remove_reader(self._listening)
        self._retry = self._loop.call_later(_PAUSE_SECONDS, self._loop.add_reader, self._listening, self._accept)

    async def _open(self, accepted: socket.socket, peer: tuple[str, int]) -> None:
        connection = self._connection(HttpConnection, peer)
        accepted.setblocking(False)
        try:
            await self._loop.connect_accepted_socket(lambda: connection, accepted)
        except OSError:
            # The client has gone already.
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
                # The context of this moment: a reload makes a new one.
                ssl=tls.context,
                ssl_handshake_timeout=_HANDSHAKE_SECONDS,
                ssl_shutdown_timeout=_FAREWELL_SECONDS,
            )
        except (OSError, asyncio.CancelledError) as error:
            # The client speaks no TLS, or has no certificate that is trusted; or room was needed for others.
            self._front.connections.remove(connection)
            if isinstance(error, OSError):
                self._front.connections.count_closed("in the TLS handshake")
            accepted.close()
        connection.handshake = None

    def _connection(self, make: Callable[..., Made], peer: tuple[str, int]) -> Made:
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
        accepted.send(_NO_ROOM)


def capacity_of(connections: Connections) -> int:
    """How many connections fit under the limit of open files (ulimit -n), beside all else that the process has open.

    It is counted anew now and then: the clients of Kafka, for one, open and close connections of their own.
    """
    limit = connections.limits.connections
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    kept = min(_DESCRIPTORS_KEPT, files // 2)
    if files == resource.RLIM_INFINITY or 0 < limit <= files // 2:
        return limit
    try:
        with os.scandir("/dev/fd") as entries:
            others = sum(1 for _ in entries) - len(connections)
    except OSError:
        # No descriptor is left to count them with.
        return connections.capacity
    fit = max(1, files - kept - others)
    return min(limit, fit) if limit else fit


@dataclass(frozen=True, slots=True)
class Policy:
    """What a server allows its clients.

    Attributes:
        connections: The connections and their limits.
        cross_origin: Makes the guard between browsers and the application.
        headers: Those of every answer.
        hosts: For each listening socket the names that it has; None for any.
        recorder: Gives the recorder that counts and logs what is answered, once the application has started.
        tls: For each listening socket the TLS that it speaks; None for plain HTTP.
    """

    connections: Connections
    cross_origin: partial[CrossOrigin]
    headers: ResponseHeaders
    hosts: Sequence[Hosts | None]
    recorder: Callable[[], Recorder]
    tls: Sequence[ServerTls | None]


class Server(uvicorn.Server):
    """uvicorn's server with listeners of ours, which returns from `run` after a signal."""

    def __init__(
        self,
        config: uvicorn.Config,
        policy: Policy,
        on_start: Callable[[], None] | None = None,
        on_stop: Callable[[], None] | None = None,
        on_reload: Callable[[], None] | None = None,
    ) -> None:
        """Make a server that is not running yet.

        Args:
            config: uvicorn's settings.
            policy: What clients are allowed.
            on_start: Called when the server has started to listen.
            on_stop: Called when the server begins to stop.
            on_reload: Called at SIGHUP, which then does not mean "stop".
        """
        super().__init__(config)
        self._policy = policy
        self._on_start = on_start
        self._on_stop = on_stop
        self._on_reload = on_reload
        self._clock: asyncio.Task[None] | None = None

    def take_signals(self) -> None:
        """Handle the signals that mean "stop", now and after `run`.

        When it has shut down, uvicorn restores the handlers that it found and raises the signal again. By default that
        ends the process with code 143, before the caller of `run` has closed what it owns.
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
            policy.headers.added_to(app),
            policy.headers.added_to(policy.cross_origin(app, recorder=recorder)),
            policy.connections,
            policy.headers,
            recorder,
        )
        for listening, hosts, tls in zip(sockets or [], policy.hosts, policy.tls, strict=True):
            self.servers.append(Acceptor(listening, self, front, hosts, tls))  # type: ignore[arg-type]  # as much of a server as is used
        connections = policy.connections
        connections.capacity = capacity_of(connections)
        if connections.capacity < connections.limits.connections:
            log.info(
                "%d connections fit under the limit of open files (ulimit -n); server.connection.limit is %d",
                connections.capacity,
                connections.limits.connections,
            )
        self._clock = asyncio.create_task(self._keep_time())
        if self._on_start is not None:
            self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, finish what is under way, and stop the application."""
        if self._on_stop is not None:
            self._on_stop()
        await super().shutdown(sockets)
        if self._clock is not None:
            self._clock.cancel()

    async def _keep_time(self) -> None:
        connections = self._policy.connections
        while True:
            await asyncio.sleep(connections.interval)
            # No more than that, however long it has been: the clients were not served meanwhile.
            connections.advance(connections.interval)
            connections.capacity = capacity_of(connections)
