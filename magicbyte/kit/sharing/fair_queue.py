"""Fair queues: clients that wait for the same resource take turns, however much each of them asks for."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Generic, TypeVar

T = TypeVar("T")


class Turns(Generic[T]):
    """Items that wait: clients take turns, the parts of a client take turns, and the items of a part keep their order.

    A client is a principal, or the network of an address if nobody signs in. Adding and taking an item take constant
    time. Use it on one event loop, or under a lock.
    """

    def __init__(self) -> None:
        """Begin without items."""
        #: Client -> part -> items; the next client and its next part come first.
        self._clients: OrderedDict[str, OrderedDict[str, deque[T]]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        """The number of items."""
        return self._count

    def add(self, item: T, client: str, part: str = "") -> None:
        """Add an item; a client that has none waits for one turn of each other client at most.

        Args:
            item: The item.
            client: The client.
            part: Which of the client's own lines the item joins.
        """
        parts = self._clients.get(client)
        if parts is None:
            parts = self._clients[client] = OrderedDict()
        line = parts.get(part)
        if line is None:
            line = parts[part] = deque()
        line.append(item)
        self._count += 1

    def take(self, may_take: Callable[[str], bool] | None = None) -> tuple[str, T] | None:
        """Remove the next item and return it with its client; None if there is none.

        Args:
            may_take: Tells whether a client may have a turn now; the others keep their places.
        """
        for client in self._clients:
            if may_take is None or may_take(client):
                break
        else:
            return None
        parts = self._clients[client]
        part, line = next(iter(parts.items()))
        item = line.popleft()
        self._count -= 1
        if line:
            parts.move_to_end(part)
        else:
            del parts[part]
        if parts:
            self._clients.move_to_end(client)
        else:
            del self._clients[client]
        return client, item

    def put_back(self, item: T, client: str) -> None:
        """Put an item without a part back in front, so that it is the next one; undoes the last `take`.

        Args:
            item: The item.
            client: The client.
        """
        line = self._clients.setdefault(client, OrderedDict()).setdefault("", deque())
        line.appendleft(item)
        self._clients.move_to_end(client, last=False)
        self._count += 1

    def remove(self, item: T, client: str, part: str = "") -> None:
        """Remove an item before its turn.

        Raises:
            KeyError: The part has no items.
            ValueError: The part does not have this item.
        """
        parts = self._clients[client]
        line = parts[part]
        line.remove(item)
        self._count -= 1
        if not line:
            del parts[part]
            if not parts:
                del self._clients[client]


class NoTurn(Exception):
    """A request gets no turn: it has waited for too long, or too many of its client wait; the text says which."""


class FairQueue:
    """Lets a few requests at a time use a resource, such as worker processes; used on one event loop.

    If a place is free, a request gets it at once. Otherwise the waiting clients take turns, so the requests of one
    client delay another client by one turn, not by their number.
    """

    def __init__(
        self,
        places: int,
        *,
        reserve: int = 0,
        most_waiting: int | None = None,
        wait_seconds: float | None = None,
    ) -> None:
        """Begin with all places free.

        Args:
            places: How many requests may use the resource at once.
            reserve: How many more may use it at once, of clients that have no place. So one client with long
                requests in all places does not delay another client at all.
            most_waiting: How many requests of one client may wait; None for no limit.
            wait_seconds: The longest wait; None for no limit.
        """
        self._places = places
        self._reserve = reserve
        self._most_waiting = most_waiting
        self._wait_seconds = wait_seconds
        #: How many places are in use, how many each client has, and how many requests of each client wait.
        self._used = 0
        self._held: Counter[str] = Counter()
        self._waiting: Counter[str] = Counter()
        self._turns: Turns[asyncio.Future[None]] = Turns()
        self._is_closed = False

    def __len__(self) -> int:
        """The number of waiting requests."""
        return len(self._turns)

    def close(self) -> None:
        """Refuse all waiting requests and all later ones."""
        self._is_closed = True
        while (following := self._turns.take()) is not None:
            if not following[1].done():
                following[1].set_exception(NoTurn("the server stops"))

    @asynccontextmanager
    async def turn(self, client: str, part: str = "") -> AsyncIterator[None]:
        """Wait for a place, and keep it within the block.

        Args:
            client: The principal, or the network of the address if nobody signs in.
            part: Which of the client's own lines the request joins; these lines take turns, too.

        Raises:
            NoTurn: No place was free within the longest wait, or as many requests of the client wait as may.
        """
        await self.take(client, part)
        try:
            yield
        finally:
            self.give_back(client)

    async def take(self, client: str, part: str = "") -> None:
        """Wait for a place, and keep it until `give_back`; see `turn`.

        Raises:
            NoTurn: as `turn`.
        """
        if self._may_use(client) and not self._is_closed:
            # Nobody who waits could use this place: a place that becomes free is given away at once.
            self._use(client)
        else:
            await self._wait(client, part)

    async def _wait(self, client: str, part: str) -> None:
        if self._is_closed:
            raise NoTurn("the server stops")
        if self._most_waiting is not None and self._waiting[client] >= self._most_waiting:
            raise NoTurn(f"{self._most_waiting} requests of this client wait already")
        its_turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._turns.add(its_turn, client, part)
        self._waiting[client] += 1
        try:
            async with asyncio.timeout(self._wait_seconds):
                await its_turn
        except BaseException as error:
            if its_turn.cancelled():
                with suppress(KeyError, ValueError):  # it may have been skipped already
                    self._turns.remove(its_turn, client, part)
            elif its_turn.exception() is None:
                self.give_back(client)  # the place came at the moment of the cancellation
            if isinstance(error, TimeoutError):
                raise NoTurn(f"no place was free within {self._wait_seconds:g} s") from None
            raise
        finally:
            _decrease(self._waiting, client)

    def _may_use(self, client: str) -> bool:
        if self._used < self._places:
            return True
        return self._used < self._places + self._reserve and client not in self._held

    def _use(self, client: str) -> None:
        self._used += 1
        self._held[client] += 1

    def give_back(self, client: str) -> None:
        """Free a place, and give it to the next request that may use it."""
        self._used -= 1
        _decrease(self._held, client)
        while (following := self._turns.take(self._may_use)) is not None:
            client, its_turn = following
            if not its_turn.done():  # else it has just been cancelled, and its task has not run since
                self._use(client)
                its_turn.set_result(None)


def _decrease(counts: Counter[str], client: str) -> None:
    """Count one less; a client without any leaves nothing behind."""
    counts[client] -= 1
    if not counts[client]:
        del counts[client]
