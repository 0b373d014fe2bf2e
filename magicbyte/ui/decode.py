"""The serdes behind `POST /ui/decode`, `/ui/encode` and `/ui/example`, in worker processes that can be killed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect
from starlette.responses import Response

from magicbyte.http.asgi import Receive, Scope
from magicbyte.http.held_stream import HeldStream
from magicbyte.http.page_settings import PageSettings
from magicbyte.http.routing.clients import client_key
from magicbyte.http.routing.request import Request
from magicbyte.kit.errors import ApiError
from magicbyte.kit.processes.async_worker_pool import AsyncWorkerPool
from magicbyte.kit.processes.worker_pool import (
    PoolBusy,
    WorkerDied,
    WorkerFailed,
    WorkerKilled,
    WorkerOutOfCpu,
    WorkerOutOfMemory,
    WorkerTimeout,
)
from magicbyte.kit.sharing.byte_budget import ByteBudget, NoRoom
from magicbyte.ui import errors
from magicbyte.ui.messages.exchange import Outcome, Question, Reply, Task, pack, unpack
from magicbyte.ui.messages.request import LARGEST_BODY
from magicbyte.ui.request_body import bounded_body

#: Sends a worker's GET to the registry as the sender of the request with this scope; raises OSError if there is no
#: answer.
ReadRegistry = Callable[[Scope, Question], Awaitable[Reply]]

#: How long a request may wait for its turn, in seconds.
_WAIT_SECONDS = 20.0
_RETRY_SECONDS = "1"
#: How many bytes of bodies and unread answers one client and all clients may hold, as multiples of the largest answer.
_MOST_HELD, _MOST_HELD_BY_ALL = 4, 8
#: A longer answer is sent in parts, and counts until its client has read it.
_PART_BYTES = 64 << 10

T = TypeVar("T")

log = logging.getLogger(__name__)


class MessageWorkers:
    """Worker processes that decode, encode and make up messages; each starts when it is needed, or soon will be."""

    def __init__(self, read_registry: ReadRegistry, settings: PageSettings) -> None:
        """Describe the workers.

        Args:
            read_registry: Sends the workers' questions to the registry.
            settings: The limits of a request.
        """
        self._read_registry = read_registry
        self._settings = settings
        self._pool = AsyncWorkerPool(
            "magicbyte.ui.messages.worker",
            arguments=[str(settings.messages_memory_bytes)],
            size=settings.messages_workers,
            wait_seconds=_WAIT_SECONDS,
            most_waiting=settings.messages_waiting,
        )
        largest = LARGEST_BODY + settings.messages_max_bytes
        self._held = ByteBudget(_MOST_HELD * largest, _MOST_HELD_BY_ALL * largest)

    def warm_up(self) -> None:
        """Start a worker if none is idle: its start takes longer than the first messages may."""
        self._pool.warm_up()

    async def close(self) -> None:
        """End the workers at once."""
        await self._pool.close()

    async def answer(self, request: Request, name: str) -> Response:
        """Answer a request by a worker; if its client goes, the worker is killed.

        Args:
            request: The request.
            name: `decode`, `encode` or `example`.

        Raises:
            ApiError: 400 for a body that is too large; 422 if the request needs more processor time or memory than the
                settings allow; 429 if the client has too many requests or unread answers; 503 if others use all workers
                or the memory, or if the registry is too slow.
            ClientDisconnect: The client has gone.
        """
        client = client_key(request, self._settings.trusted_proxies)
        with self._held.hold(client) as held:
            try:
                body = await bounded_body(request, LARGEST_BODY, held.set)
                task = Task(name, body, self._settings.messages_max_bytes)
                outcome = await unless_gone(request.receive, self.convert(request.scope, task, client))
                held.set(len(outcome.body))
            except NoRoom:
                error = errors.UNREAD_ANSWERS(limit=self._held.most_per_client)
                raise error.with_headers(Retry_After=_RETRY_SECONDS) from None
            except asyncio.CancelledError:
                if held.was_cancelled():
                    raise errors.NO_ROOM().with_headers(Retry_After=_RETRY_SECONDS) from None
                raise
            if len(outcome.body) <= _PART_BYTES:
                return Response(outcome.body, outcome.status, media_type="application/json")
            held.keep()
        return HeldStream(
            _parts(outcome.body),
            held.give_back,
            status=outcome.status,
            headers={"content-length": str(len(outcome.body))},
            media_type="application/json",
        )

    async def convert(self, scope: Scope, task: Task, client: str) -> Outcome:
        """Let a worker do a task for a request; if the caller is cancelled, the worker is killed.

        Args:
            scope: The request, whose sender reads the schemas.
            task: The task.
            client: The client that the request counts for.

        Raises:
            ApiError: 422, 429 or 503, as `answer`.
        """
        settings = self._settings
        converting = self._pool.run(
            pack(task),
            seconds=settings.messages_timeout_ms / 1000,
            client=client,
            cpu_seconds=settings.messages_cpu_ms / 1000,
            reply=partial(self._reply, scope),
        )
        try:
            outcome = unpack(await converting, Outcome)
        except PoolBusy as refusal:
            raise errors.TOO_MANY_MESSAGES(reason=refusal).with_headers(Retry_After=_RETRY_SECONDS) from None
        except WorkerFailed as failure:
            raise self._error_of(failure) from None
        if outcome.trace:
            log.error("a message could not be converted\n%s", outcome.trace, extra={"event": "message_not_converted"})
        return outcome

    async def _reply(self, scope: Scope, packed: bytes) -> bytes:
        try:
            reply = await self._read_registry(scope, unpack(packed, Question))
        except OSError as error:
            log.warning(
                "the registry does not answer: %r", error, extra={"event": "registry_unreachable", "error": repr(error)}
            )
            reply = Reply(0)
        return pack(reply)

    def _error_of(self, failure: WorkerFailed) -> ApiError:
        settings = self._settings
        if isinstance(failure, WorkerOutOfCpu):
            return errors.TOO_MUCH_CPU(limit=settings.messages_cpu_ms)
        if isinstance(failure, WorkerOutOfMemory):
            return errors.TOO_MUCH_MEMORY(limit=settings.messages_memory_bytes)
        if isinstance(failure, WorkerTimeout):
            error = errors.MESSAGES_TOO_SLOW(limit=settings.messages_timeout_ms)
        elif isinstance(failure, WorkerDied) and not isinstance(failure, WorkerKilled):
            log.error("a message could not be converted, as %s", failure, extra={"event": "message_not_converted"})
            return errors.WORKER_DIED(reason=failure)
        else:
            error = errors.NO_WORKER(reason=failure)
        return error.with_headers(Retry_After=_RETRY_SECONDS)


async def _parts(body: bytes) -> AsyncIterator[bytes]:
    """Yield the parts of an answer; the next one is made when the client has read most of the one before."""
    for start in range(0, len(body), _PART_BYTES):
        yield body[start : start + _PART_BYTES]


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """Return the work's result; cancel the work if the client disconnects.

    Args:
        receive: Receives what the client sends after its request.
        work: The work.

    Raises:
        ClientDisconnect: The client has disconnected.
    """
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        # The task holds the error, whose traceback holds this frame: only the garbage collector would free them.
        del working


async def _gone(receive: Receive) -> None:
    """Wait until the client has disconnected; its whole body has been received."""
    while (await receive())["type"] != "http.disconnect":
        pass
