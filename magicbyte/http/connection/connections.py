"""The connections of one server: which requests are unfinished, who waits, and who is closed when room is short."""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from magicbyte.http.errors import REQUEST_TIMEOUT, TOO_MANY_CONNECTIONS
from magicbyte.kit.errors import ApiError

log = logging.getLogger("magicbyte.http")

#: One line of the log tells of all that was closed within this time, in seconds.
_SUMMARY_SECONDS = 10.0
#: When room is short and no request is unfinished, this share of all connections is closed at once: those idle longest.
_EVICTED_SHARE = 1 / 16


@dataclass(frozen=True, slots=True)
class Limits:
    """What a server's connections may take.

    Attributes:
        connections: How many may be open; 0 for as many as there are descriptors.
        heads_per_address: How many requests of one address may have an unfinished head.
        head_bytes: The size of a request's head, from its first line to the empty one.
        head_fields: The number of fields in a head.
        target_bytes: The length of a request's target.
        head_seconds: The time for a head; that of a new connection counts from its beginning.
        idle_seconds: How long nothing may come or go: no next request, no more of a body, no byte taken of an answer.
        body_bytes_per_second: The average rate that a body must keep after its first `idle_seconds`.
    """

    connections: int = 10_000
    heads_per_address: int = 256
    head_bytes: int = 32 << 10
    head_fields: int = 100
    target_bytes: int = 8 << 10
    head_seconds: float = 10.0
    idle_seconds: float = 30.0
    body_bytes_per_second: int = 1024


class Connection(Protocol):
    """One connection, as far as the limits are concerned."""

    #: The client's address, without its port.
    address: str
    #: When the last answer was complete, by the clock of `Connections`, and its number among all answers.
    idle_since: float
    answer_number: int

    @property
    def is_idle(self) -> bool:
        """Whether all requests so far have been answered, and no other has begun."""

    @property
    def is_closing(self) -> bool:
        """Whether it is only kept for what its client has not taken yet."""

    @property
    def is_held_up(self) -> bool:
        """Whether the body does not come because this server does not take it."""

    @property
    def target(self) -> bytes:
        """The path of the last request."""

    def expire(self, error: ApiError) -> None:
        """Answer the unfinished request with an error if that is still possible, and close."""

    def close(self) -> None:
        """Close it."""

    def abort(self) -> None:
        """Close it now, whatever is still to be sent."""


@dataclass(slots=True)
class _Body:
    """How far an unfinished body has come."""

    started: float
    last: float
    received: int = 0


class Connections:
    """All connections of a server, within its limits."""

    def __init__(self, limits: Limits, streams: Callable[[bytes], bool]) -> None:
        """Begin with none.

        Args:
            limits: What they may take.
            streams: Tells paths whose bodies and answers are as slow as their clients want: no times bind them.
        """
        self.limits = limits
        self._streams = streams
        #: How many may be open now; fewer than the limit if there are fewer descriptors. 0 for any number.
        self.capacity = limits.connections
        #: Seconds that the server has had to serve its clients; what it stands still is not held against them.
        self.now = 0.0
        self._open: set[Connection] = set()
        #: Connections with an unfinished head, oldest first, and when it began; the same by address.
        self._heads: OrderedDict[Connection, float] = OrderedDict()
        self._heads_of: dict[str, OrderedDict[Connection, None]] = {}
        self._bodies: dict[Connection, _Body] = {}
        self._stalled: dict[Connection, float] = {}
        self._next_look_at_idle = 0.0
        self._next_summary = 0.0
        self._closed: Counter[str] = Counter()

    def __len__(self) -> int:
        """How many are open."""
        return len(self._open)

    @property
    def interval(self) -> float:
        """How often, in seconds, `advance` is to be called."""
        return min(1.0, self.limits.head_seconds / 4, self.limits.idle_seconds / 4)

    @property
    def are_full(self) -> bool:
        """Whether one more would be too many."""
        return 0 < self.capacity <= len(self._open)

    def make_room(self) -> bool:
        """Close the connections that are least needed; False if all are busy, so that the new one has to go.

        The oldest unfinished head of the address that has most of them goes first, then what has long been idle. Their
        descriptors are free as soon as the event loop has had a turn.
        """
        if self._heads_of:
            most = max(self._heads_of.values(), key=len)
            self._abort(next(iter(most)), "with an unfinished head, to make room")
            return True
        idle = sorted((each for each in self._open if each.is_idle), key=lambda each: each.answer_number)
        leaving = [each for each in self._open if each.is_closing]
        evicted = leaving + idle[: 1 + int(len(self._open) * _EVICTED_SHARE)]
        for connection in evicted:
            self._abort(connection, "that were idle, to make room")
        if not evicted:
            self._closed["refused, as all others were busy"] += 1
        return bool(evicted)

    def add(self, connection: Connection) -> None:
        """Take a new connection in; it has an unfinished head."""
        self._open.add(connection)
        self.head_begun(connection)

    def remove(self, connection: Connection) -> None:
        """Forget a connection that is closed."""
        self._open.discard(connection)
        self.finished(connection)
        self._stalled.pop(connection, None)

    def head_begun(self, connection: Connection) -> None:
        """Note that the head of a connection's next request begins now and is unfinished."""
        self.finished(connection)
        self._heads[connection] = self.now
        same_address = self._heads_of.setdefault(connection.address, OrderedDict())
        same_address[connection] = None
        if len(same_address) > self.limits.heads_per_address:
            self._end(next(iter(same_address)), TOO_MANY_CONNECTIONS(), "over the limit of unfinished heads by address")

    def body_received(self, connection: Connection, size: int) -> None:
        """Note that more of a body has come, which is unfinished."""
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

    def stalled(self, connection: Connection) -> None:
        """Note that a client does not take what it is sent."""
        self._stalled[connection] = self.now

    def resumed(self, connection: Connection) -> None:
        """Note that a client takes what it is sent again."""
        self._stalled.pop(connection, None)

    def advance(self, seconds: float) -> None:
        """Let time pass, and close the connections whose time is up."""
        self.now += seconds
        self._expire_heads()
        self._expire_bodies(seconds)
        self._expire_stalled()
        if self.now >= self._next_look_at_idle:
            self._next_look_at_idle = self.now + self.limits.idle_seconds / 8
            self._expire_idle()
        if self._closed and self.now >= self._next_summary:
            self._next_summary = self.now + _SUMMARY_SECONDS
            told = ", ".join(f"{count} {reason}" for reason, count in self._closed.most_common())
            log.warning("connections closed: %s", told, extra={"open": len(self._open)})
            self._closed.clear()

    def count_closed(self, reason: str) -> None:
        """Count a connection that ended before it could send a request, for the summary in the log."""
        self._closed[reason] += 1

    def _expire_heads(self) -> None:
        seconds = self.limits.head_seconds
        error = REQUEST_TIMEOUT(detail=f"its head took longer than {seconds:g} s")
        while self._heads and next(iter(self._heads.values())) < self.now - seconds:
            self._end(next(iter(self._heads)), error, "without a whole head in time")

    def _expire_bodies(self, passed: float) -> None:
        limits = self.limits
        for connection, body in list(self._bodies.items()):
            if connection.is_held_up or self._streams(connection.target):
                body.started += passed
                body.last += passed
            paced = self.now - body.started - limits.idle_seconds
            if self.now - body.last > limits.idle_seconds:
                error = REQUEST_TIMEOUT(detail=f"nothing more of its body came within {limits.idle_seconds:g} s")
                self._end(connection, error, "without a whole body in time")
            elif body.received < paced * limits.body_bytes_per_second:
                error = REQUEST_TIMEOUT(detail=f"its body has under {limits.body_bytes_per_second} bytes a second")
                self._end(connection, error, "with too slow a body")

    def _expire_stalled(self) -> None:
        begun_before = self.now - self.limits.idle_seconds
        for connection, since in list(self._stalled.items()):
            if since < begun_before and not self._streams(connection.target):
                self._abort(connection, "that took nothing of an answer")

    def _expire_idle(self) -> None:
        begun_before = self.now - self.limits.idle_seconds
        for connection in list(self._open):
            if connection.is_idle and connection.idle_since < begun_before:
                # A part of every connection's life: nothing to tell of.
                connection.close()

    def _end(self, connection: Connection, error: ApiError, reason: str) -> None:
        self._closed[reason] += 1
        self.finished(connection)
        connection.expire(error)

    def _abort(self, connection: Connection, reason: str) -> None:
        self._closed[reason] += 1
        self.remove(connection)
        connection.abort()
