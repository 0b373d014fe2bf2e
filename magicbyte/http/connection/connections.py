"""The connections of one server: their unfinished requests, their time limits, and which to close to make room."""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from magicbyte.http.connection_limits import Limits
from magicbyte.http.errors import REQUEST_TIMEOUT, TOO_MANY_CONNECTIONS
from magicbyte.http.routing.rows import Streams
from magicbyte.kit.errors import ApiError

log = logging.getLogger("magicbyte.http")

#: One log line summarizes all connections closed within this time, in seconds.
_SUMMARY_SECONDS = 10.0
#: To make room if no head is unfinished, this share of all connections is closed at once: those idle longest.
_EVICTED_SHARE = 1 / 16


class Connection(Protocol):
    """One connection, as the limits see it."""

    #: The client's address, without its port.
    address: str
    #: When the last answer was complete, by the clock of `Connections`, and that answer's number among all answers.
    idle_since: float
    answer_number: int

    @property
    def is_idle(self) -> bool:
        """Whether all requests so far have been answered, and no new one has begun."""

    @property
    def is_closing(self) -> bool:
        """Whether the connection is open only until the client has read the rest of an answer."""

    @property
    def is_held_up(self) -> bool:
        """Whether the body makes no progress because this server does not read it."""

    @property
    def target(self) -> bytes:
        """The path of the last request."""

    def expire(self, error: ApiError) -> None:
        """Answer the unfinished request with an error if that is still possible, and close the connection."""

    def close(self) -> None:
        """Close the connection once the client has read what it was sent."""

    def abort(self) -> None:
        """Close the connection now; unsent data is lost."""


@dataclass(slots=True)
class _Body:
    """The progress of an unfinished body."""

    started: float
    last: float
    received: int = 0


class Connections:
    """All connections of a server; closes those that exceed the limits."""

    def __init__(self, limits: Limits, streams: Callable[[bytes], Streams]) -> None:
        """Begin without connections.

        Args:
            limits: The limits to enforce.
            streams: Tells whether a path streams its body or its answer, whose times are then not limited.
        """
        self.limits = limits
        self.streams = streams
        #: How many connections may be open now; below the limit if there are fewer descriptors. 0 means any number.
        self.capacity = limits.connections
        #: Seconds in which the server could serve its clients; time in which it was blocked does not count.
        self.now = 0.0
        self._open: set[Connection] = set()
        #: Connections with an unfinished head, oldest first, and when the head began; the same connections by address.
        self._heads: OrderedDict[Connection, float] = OrderedDict()
        self._heads_of: dict[str, OrderedDict[Connection, None]] = {}
        self._bodies: dict[Connection, _Body] = {}
        self._stalled: dict[Connection, float] = {}
        self._next_idle_check = 0.0
        self._next_summary = 0.0
        self._closed: Counter[str] = Counter()

    def __len__(self) -> int:
        """The number of open connections."""
        return len(self._open)

    @property
    def interval(self) -> float:
        """The interval at which to call `advance`, in seconds."""
        return min(1.0, self.limits.head_seconds / 4, self.limits.idle_seconds / 4)

    @property
    def are_full(self) -> bool:
        """Whether another connection would exceed the capacity."""
        return 0 < self.capacity <= len(self._open)

    def make_room(self) -> bool:
        """Close the least needed connections; False if all are busy, so that the new one must be refused.

        First it closes the oldest unfinished head of the address with the most unfinished heads; if there is none, the
        connections idle longest. Their descriptors are free after the next turn of the event loop.
        """
        if self._heads_of:
            largest = max(self._heads_of.values(), key=len)
            self._abort(next(iter(largest)), "with an unfinished head, to make room")
            return True
        idle = [connection for connection in self._open if connection.is_idle]
        idle.sort(key=lambda connection: connection.answer_number)
        closing = [connection for connection in self._open if connection.is_closing]
        evicted = closing + idle[: 1 + int(len(self._open) * _EVICTED_SHARE)]
        for connection in evicted:
            self._abort(connection, "that were idle, to make room")
        if not evicted:
            self._closed["refused, as all others were busy"] += 1
        return bool(evicted)

    def add(self, connection: Connection) -> None:
        """Add a new connection, which has an unfinished head."""
        self._open.add(connection)
        self.head_begun(connection)

    def remove(self, connection: Connection) -> None:
        """Remove a closed connection."""
        self._open.discard(connection)
        self.finished(connection)
        self._stalled.pop(connection, None)

    def head_begun(self, connection: Connection) -> None:
        """Note that the head of a connection's next request begins now."""
        self.finished(connection)
        self._heads[connection] = self.now
        same_address = self._heads_of.setdefault(connection.address, OrderedDict())
        same_address[connection] = None
        if len(same_address) > self.limits.heads_per_address:
            self._end(next(iter(same_address)), TOO_MANY_CONNECTIONS(), "over the limit of unfinished heads by address")

    def body_received(self, connection: Connection, size: int) -> None:
        """Note that bytes of an unfinished body have arrived."""
        body = self._bodies.get(connection)
        if body is None:
            self.finished(connection)
            body = self._bodies[connection] = _Body(self.now, self.now)
        body.last = self.now
        body.received += size

    def finished(self, connection: Connection) -> None:
        """Note that a connection has no unfinished request."""
        self._bodies.pop(connection, None)
        if self._heads.pop(connection, None) is not None:
            same_address = self._heads_of[connection.address]
            del same_address[connection]
            if not same_address:
                del self._heads_of[connection.address]

    def streams_body(self, connection: Connection) -> bool:
        """Tell whether a connection's body is a stream that is still being answered."""
        return not connection.is_idle and Streams.BODY in self.streams(connection.target)

    def stalled(self, connection: Connection) -> None:
        """Note that a client does not read its answer."""
        self._stalled[connection] = self.now

    def resumed(self, connection: Connection) -> None:
        """Note that a client reads its answer again."""
        self._stalled.pop(connection, None)

    def advance(self, seconds: float) -> None:
        """Advance the clock, and close the connections whose time is up."""
        self.now += seconds
        self._expire_heads()
        self._expire_bodies(seconds)
        self._expire_stalled()
        if self.now >= self._next_idle_check:
            self._next_idle_check = self.now + self.limits.idle_seconds / 8
            self._expire_idle()
        if self._closed and self.now >= self._next_summary:
            self._next_summary = self.now + _SUMMARY_SECONDS
            reasons = ", ".join(f"{count} {reason}" for reason, count in self._closed.most_common())
            log.warning(
                "connections closed: %s", reasons, extra={"event": "connections_closed", "open": len(self._open)}
            )
            self._closed.clear()

    def count_closed(self, reason: str) -> None:
        """Count a connection that is closed for a reason that this class does not check, for the summary in the log."""
        self._closed[reason] += 1

    def _expire_heads(self) -> None:
        seconds = self.limits.head_seconds
        error = REQUEST_TIMEOUT(detail=f"its head took longer than {seconds:g} s")
        while self._heads and next(iter(self._heads.values())) < self.now - seconds:
            self._end(next(iter(self._heads)), error, "without a whole head in time")

    def _expire_bodies(self, elapsed: float) -> None:
        limits = self.limits
        for connection, body in list(self._bodies.items()):
            if connection.is_held_up or self.streams_body(connection):
                body.started += elapsed
                body.last += elapsed
            paced_seconds = self.now - body.started - limits.idle_seconds
            if self.now - body.last > limits.idle_seconds:
                error = REQUEST_TIMEOUT(detail=f"nothing more of its body came within {limits.idle_seconds:g} s")
                self._end(connection, error, "without a whole body in time")
            elif body.received < paced_seconds * limits.body_bytes_per_second:
                error = REQUEST_TIMEOUT(detail=f"its body has under {limits.body_bytes_per_second} bytes a second")
                self._end(connection, error, "with too slow a body")

    def _expire_stalled(self) -> None:
        cutoff = self.now - self.limits.idle_seconds
        for connection, since in list(self._stalled.items()):
            if since < cutoff and Streams.ANSWER not in self.streams(connection.target):
                self._abort(connection, "that took nothing of an answer")

    def _expire_idle(self) -> None:
        cutoff = self.now - self.limits.idle_seconds
        for connection in list(self._open):
            if connection.is_idle and connection.idle_since < cutoff:
                # Idle connections are closed routinely, so do not log it.
                connection.close()

    def _end(self, connection: Connection, error: ApiError, reason: str) -> None:
        self._closed[reason] += 1
        self.finished(connection)
        connection.expire(error)

    def _abort(self, connection: Connection, reason: str) -> None:
        self._closed[reason] += 1
        self.remove(connection)
        connection.abort()
