"""An application that is asked without a network: its requests are the scopes that a server would make of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from magicbyte.http.routing.application import Application
from magicbyte.http.routing.identity import PEER
from magicbyte.security.principal import Peer

ADDRESS = "10.1.2.3"


@dataclass(frozen=True)
class Answer:
    """Status, headers and the whole body; of a stream, its first part.

    Attributes:
        headers: The last line of each name.
        challenges: The lines of WWW-Authenticate.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    challenges: Sequence[str]


class InProcess:
    """Asks an application whose lifespan has begun."""

    def __init__(self, app: Application, runner: asyncio.Runner) -> None:
        self._app, self._runner = app, runner

    def ask(
        self,
        method: str,
        path: str,
        headers: Sequence[tuple[str, str]] = (),
        *,
        body: bytes = b"",
        certificate: bytes | None = None,
        expires: float | None = None,
    ) -> Answer:
        """Answer one request; `path` is as it stands in the request's first line."""
        raw_path, _, query = path.encode().partition(b"?")
        given = [(name.lower().encode(), value.encode()) for name, value in headers]
        if body:
            given += [(b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")]
        scope: dict[str, Any] = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "https",
            "path": path,
            "raw_path": raw_path,
            "query_string": query,
            "headers": [(b"host", b"localhost"), *given],
            "client": (ADDRESS, 1),
            "server": ("localhost", 1),
            PEER: Peer(ADDRESS, certificate, expires),
        }
        return self._runner.run(self._answer(scope, body))

    async def _answer(self, scope: dict[str, Any], body: bytes) -> Answer:
        told: dict[str, Any] = {"body": b""}
        parts = [{"type": "http.request", "body": body}]
        has_begun = asyncio.Event()

        async def receive() -> Any:
            if parts:
                return parts.pop()
            # A stream has no end of its own: the client goes once it has begun.
            await has_begun.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                told.update(message)
            else:
                told["body"] += message.get("body", b"")
                has_begun.set()

        await self._app(scope, receive, send)
        headers = {name.decode(): value.decode() for name, value in told["headers"]}
        challenges = [value.decode() for name, value in told["headers"] if name == b"www-authenticate"]
        return Answer(told["status"], headers, told["body"], challenges)


@contextmanager
def running(app: Application) -> Iterator[InProcess]:
    """Begin the application's lifespan, and end it."""
    with asyncio.Runner() as runner:
        lifespan = app.fastapi.router.lifespan_context(app.fastapi)
        runner.run(lifespan.__aenter__())
        try:
            yield InProcess(app, runner)
        finally:
            runner.run(lifespan.__aexit__(None, None, None))
