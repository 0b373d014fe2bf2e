"""An httpx transport, blocking and asynchronous, that calls an ASGI app in this process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import MutableMapping
from concurrent.futures import Future
from typing import Any

import httpx

from magicbyte.http.relay.in_process import ask

#: The address that the app sees.
_CLIENT = ("127.0.0.1", 123)
Message = MutableMapping[str, Any]


class AsgiTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Calls an ASGI app on a separate event loop, so that blocking and asynchronous callers can share the app.

    The app's lifespan starts in the constructor and ends with `close`. If the app raises, the request fails as on a
    broken connection.
    """

    def __init__(self, app: Any) -> None:
        self._app = app
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="asgi-transport", daemon=True)
        self._thread.start()
        self._lifespan = _Lifespan(app)
        self._submit(self._lifespan.start()).result()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Calls the app and waits for its answer."""
        response: httpx.Response = self._submit(self._respond(request)).result()
        return response

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Calls the app on its own loop and awaits its answer."""
        return await asyncio.wrap_future(self._submit(self._respond(request)))

    def close(self) -> None:
        """Ends the app's lifespan and the loop."""
        if self._loop.is_closed():
            return
        self._submit(self._lifespan.stop()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def aclose(self) -> None:
        """Ends the app's lifespan and the loop."""
        await asyncio.to_thread(self.close)

    def abandon(self) -> None:
        """Silences the loop's errors at interpreter exit, when the threads for an orderly shut-down are gone."""
        self._loop.set_exception_handler(lambda _loop, _context: None)

    async def _respond(self, request: httpx.Request) -> httpx.Response:
        url, headers = request.url, [(name.lower(), value) for name, value in request.headers.raw]
        connection = {"scheme": url.scheme, "server": (url.host, url.port), "client": _CLIENT}
        target, body = url.raw_path.decode("ascii"), request.read()
        try:
            answer = await ask(self._app, request.method, target, headers, body=body, connection=connection)
        except Exception as error:
            raise httpx.RemoteProtocolError(f"the app raised {error!r}") from error
        return httpx.Response(answer.status, headers=list(answer.headers), content=answer.content)

    def _submit(self, coroutine: Any) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)


class SharedTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """A transport for one of several clients of an app: closing it does not stop the app."""

    def __init__(self, inner: AsgiTransport) -> None:
        self._inner = inner

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Calls the app and waits for its answer."""
        return self._inner.handle_request(request)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Calls the app on its own loop and awaits its answer."""
        return await self._inner.handle_async_request(request)


class _Lifespan:
    """The ASGI lifespan protocol: start-up and shut-down of an app, if it supports them."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._to_app: asyncio.Queue[Message] = asyncio.Queue()
        self._from_app: asyncio.Queue[Message] = asyncio.Queue()
        self._task = asyncio.create_task(self._run())
        await self._exchange("lifespan.startup")

    async def stop(self) -> None:
        if self._task is not None and not self._task.done():
            await self._exchange("lifespan.shutdown")
            await self._task

    async def _run(self) -> None:
        try:
            await self._app({"type": "lifespan", "asgi": {"version": "3.0"}}, self._to_app.get, self._from_app.put)
        except Exception as error:  # noqa: BLE001  # an app without a lifespan may raise anything
            await self._from_app.put({"type": "raised", "message": repr(error)})
        else:
            await self._from_app.put({"type": "returned"})

    async def _exchange(self, kind: str) -> None:
        await self._to_app.put({"type": kind})
        answer = await self._from_app.get()
        if answer["type"] == f"{kind}.failed":
            raise RuntimeError(answer.get("message") or f"the app's {kind} failed")
