"""Turns in which requests begin, so that one client with many connections does not hold up the others."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from magicbyte.kit.sharing.fair_queue import Turns

#: How many requests begin at most in one turn of the event loop, on all connections together, if none waited when it
#: began. A turn costs about as much as a request, so a busy server needs many requests for each.
REQUESTS_PER_TURN = 48
#: As long as more may begin, they are not counted anew: a server with few clients does not pay for turns.
_SPARE = 32
#: How many begin in a turn if some waited: a request that needs many turns, such as a sign-in, needs short ones.
WAITING_PER_TURN = 8
#: How many applications learn in one turn that their clients have left.
LEAVING_PER_TURN = 16


class RequestTurns:
    """Begins a few requests in each turn of the event loop; clients take turns, and so do the lines of a client.

    Without it, each turn would serve one request of every connection that has sent one. With hundreds of connections of
    one client, each step of another client's request (a sign-in has ten) would wait for as many requests.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin without requests.

        Args:
            loop: The event loop of the connections.
        """
        self._loop = loop
        self._waiting: Turns[Callable[[], None]] = Turns()
        self._leaving: deque[Callable[[], None]] = deque()
        #: How many more requests may begin before the next turn that is scheduled.
        self._left = REQUESTS_PER_TURN
        self._is_turn_due = False

    def may_begin(self) -> bool:
        """Tell whether a request may begin at once, and count it; takes less than a microsecond."""
        if not self._left:
            return False
        self._left -= 1
        if self._left < _SPARE:
            self._schedule()
        return True

    def add(self, begin: Callable[[], None], client: str, line: str) -> None:
        """Begin a request when it is its turn; use it after `may_begin` has returned False.

        Args:
            begin: Begins the request.
            client: The network of the client's address.
            line: Which of the client's lines the request joins.
        """
        self._waiting.add(begin, client, line)

    def leave(self, wake: Callable[[], None]) -> None:
        """Tell an application soon that its client has left; thousands may leave at once.

        Args:
            wake: Tells it.
        """
        self._leaving.append(wake)
        self._schedule()

    def _schedule(self) -> None:
        if not self._is_turn_due:
            self._is_turn_due = True
            self._loop.call_soon(self._serve)

    def _serve(self) -> None:
        self._is_turn_due = False
        self._left = WAITING_PER_TURN if self._waiting else REQUESTS_PER_TURN
        try:
            for _ in range(min(LEAVING_PER_TURN, len(self._leaving))):
                self._leaving.popleft()()
            while self._left and (following := self._waiting.take()) is not None:
                self._left -= 1
                following[1]()
        finally:
            if self._left < _SPARE or self._leaving:
                self._schedule()
