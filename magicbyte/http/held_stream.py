"""A streamed answer that holds something, such as a place in a budget, and gives it back at its end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping

from starlette.responses import StreamingResponse

from magicbyte.http.asgi import Receive, Scope, Send


class HeldStream(StreamingResponse):
    """Calls a function when the answer has ended, whichever side ended it."""

    def __init__(
        self,
        parts: AsyncIterator[bytes],
        give_back: Callable[[], None],
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        media_type: str | None = None,
    ) -> None:
        super().__init__(parts, status, headers, media_type)
        self._give_back = give_back

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._give_back()
