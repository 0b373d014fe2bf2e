"""The serdes behind `POST /ui/decode`, `/ui/encode` and `/ui/example`, on threads and in bounded time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import orjson

from serdes.client.clients import RegistryClient

Scope = MutableMapping[str, Any]
#: Takes a request's ASGI scope; returns a client of the registry with the caller's credentials.
OpenClient = Callable[[Scope], RegistryClient]


class Answer(NamedTuple):
    """The status and the JSON of an answer."""

    status: int
    body: bytes


#: Takes a request's scope and body.
Handler = Callable[[Scope, bytes], Awaitable[Answer]]

#: The most seconds of a request, and the most requests at once: others are refused.
SECONDS = 20.0
_MOST_RUNNING, _MOST_WAITING = 2, 16

_log = logging.getLogger(__name__)


def decode_routes(open_client: OpenClient) -> Mapping[str, Handler]:
    """The handlers of `decode`, `encode` and `example`.

    Args:
        open_client: Makes the client that a request's schemas come from; it is closed after the request.
    """
    threads = _Threads()
    return {
        name: partial(_answer, threads, open_client, name)
        # The names of the functions in `_work`.
        for name in ("decode", "encode", "example")
    }


class _Threads:
    """Threads that are made on first use, and the number of requests that wait for them."""

    def __init__(self) -> None:
        self.count = 0
        self._pool: ThreadPoolExecutor | None = None

    def submit(self, work: Callable[[], Answer]) -> asyncio.Future[Answer]:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(_MOST_RUNNING, thread_name_prefix="ui-serdes")
        self.count += 1
        future = asyncio.get_running_loop().run_in_executor(self._pool, work)
        future.add_done_callback(self._finished)
        return future

    def _finished(self, future: asyncio.Future[Answer]) -> None:
        self.count -= 1
        if not future.cancelled():
            # Drop the result of a request that was given up.
            future.exception()


async def _answer(threads: _Threads, open_client: OpenClient, name: str, scope: Scope, body: bytes) -> Answer:
    if threads.count >= _MOST_RUNNING + _MOST_WAITING:
        return _refusal(429, 42901, "too many messages are being decoded; ask again later")
    try:
        future = threads.submit(partial(_work, open_client, name, scope, body))
        return await asyncio.wait_for(asyncio.shield(future), SECONDS)
    except TimeoutError:
        return _refusal(503, 50301, f"this takes longer than {SECONDS:g} s; ask for fewer messages")


def _work(open_client: OpenClient, name: str, scope: Scope, body: bytes) -> Answer:
    # Imported on the thread, at the first request: it takes time that a registry need not spend at its start.
    from magicbyte.ui.messages.decode import decoded  # noqa: PLC0415
    from magicbyte.ui.messages.encode import encoded  # noqa: PLC0415
    from magicbyte.ui.messages.example import example  # noqa: PLC0415
    from magicbyte.ui.messages.failure import failure_of  # noqa: PLC0415
    from magicbyte.ui.messages.request import (  # noqa: PLC0415
        BadRequest,
        DecodeRequest,
        EncodeRequest,
        ExampleRequest,
        read,
    )
    from serdes.error import NotAuthorized, RegistryError, SerdesError  # noqa: PLC0415

    functions: dict[str, tuple[type[Any], Callable[[RegistryClient, Any], bytes]]] = {
        "decode": (DecodeRequest, decoded),
        "encode": (EncodeRequest, encoded),
        "example": (ExampleRequest, example),
    }
    kind, function = functions[name]
    try:
        request = read(body, kind)
        with open_client(scope) as client:
            return Answer(200, function(client, request))
    except BadRequest as error:
        return _refusal(400, 40001, error.detail)
    except NotAuthorized as error:
        return _refusal(error.status, error.code, error.message)
    except RegistryError as error:
        status = error.status if 400 <= error.status < 500 else 502
        return _refusal(status, error.code if error.code > 0 else status * 100 + 1, error.message)
    except SerdesError as error:
        return _refusal(422, 42201, failure_of(error).error)
    except Exception:  # noqa: BLE001  hostile bytes and schemas may raise anything
        _log.exception("a message could not be converted")
        return _refusal(422, 42201, "the messages cannot be converted with these schemas")


def _refusal(status: int, code: int, message: str) -> Answer:
    return Answer(status, orjson.dumps({"error_code": code, "message": message}))
