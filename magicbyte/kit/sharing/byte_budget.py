"""Byte budgets: how many bytes the requests of clients hold in memory, for each client and in all."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from types import TracebackType
from typing import Self


class NoRoom(Exception):
    """A client's requests hold as many bytes as they may."""


class ByteBudget:
    """Bounds the bytes of received bodies and of answers that their clients have not read; used on one event loop.

    If all clients together hold too much, the oldest request of the client that holds most is cancelled. So clients
    that do not read, or do not send on, take no room from the others.
    """

    def __init__(self, most_per_client: int, most: int) -> None:
        """Begin with nothing held.

        Args:
            most_per_client: How many bytes the requests of one client may hold.
            most: How many bytes all requests may hold.
        """
        self.most_per_client = most_per_client
        self._most = most
        self._all = 0
        self._held: Counter[str] = Counter()
        #: Client -> its requests, the oldest first.
        self._requests: dict[str, OrderedDict[HeldBytes, None]] = {}

    def hold(self, client: str) -> HeldBytes:
        """Begin a request, which the running task works on; it holds nothing yet.

        Args:
            client: The principal, or the network of the address if nobody signs in.
        """
        held = HeldBytes(self, client)
        self._requests.setdefault(client, OrderedDict())[held] = None
        return held

    def resize(self, held: HeldBytes, size: int) -> None:
        """Count that a request holds so many bytes from now on; see `HeldBytes.set`."""
        if held not in self._requests.get(held.client, {}):
            return  # it was cancelled, and its task has not run since
        more = size - held.size
        if self._held[held.client] + more > self.most_per_client:
            raise NoRoom(f"this client's requests hold over {self.most_per_client} bytes")
        while more > 0 and self._all + more > self._most:
            client = max(self._held, key=self._held.__getitem__)
            if client == held.client:
                raise NoRoom(f"all clients' requests hold over {self._most} bytes, and this client's the most")
            next(request for request in self._requests[client] if request.size).cancel()
        held.size = size
        self._held[held.client] += more
        self._all += more

    def end(self, held: HeldBytes) -> None:
        """Count a request no longer; harmless if it has ended before."""
        requests = self._requests.get(held.client)
        if requests is None or held not in requests:
            return
        del requests[held]
        self._all -= held.size
        self._held[held.client] -= held.size
        if not requests:
            del self._requests[held.client], self._held[held.client]


class HeldBytes:
    """The bytes of one request; ends with its context, unless `keep` leaves that to `give_back`."""

    def __init__(self, budget: ByteBudget, client: str) -> None:
        self.client = client
        self.size = 0
        #: Whether the request was cancelled because others need the room.
        self.is_cancelled = False
        self._budget = budget
        self._task = asyncio.current_task()
        self._is_kept = False

    def set(self, size: int) -> None:
        """Hold so many bytes from now on.

        Raises:
            NoRoom: The client's requests would hold too much.
        """
        self._budget.resize(self, size)

    def was_cancelled(self) -> bool:
        """Tell a task that has caught its cancellation whether others needed the room; if so, the task goes on."""
        if self.is_cancelled and self._task is not None:
            self._task.uncancel()
        return self.is_cancelled

    def keep(self) -> None:
        """Hold the bytes beyond the end of the context."""
        self._is_kept = True

    def give_back(self) -> None:
        """Hold nothing any more."""
        self._budget.end(self)

    def cancel(self) -> None:
        """Hold nothing any more, and cancel the task, because others need the room."""
        self.is_cancelled = True
        self.give_back()
        assert self._task is not None
        self._task.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._is_kept:
            self.give_back()
