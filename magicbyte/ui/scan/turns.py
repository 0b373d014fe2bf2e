"""The turns of requests that read a topic: what they may read, and how their lines are sent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

from starlette.responses import Response

from magicbyte.http.held_stream import HeldStream
from magicbyte.http.page_settings import PageSettings
from magicbyte.kit.sharing.fair_queue import FairQueue, NoTurn
from magicbyte.ui import errors
from magicbyte.ui.scan.scan import Limits

#: How many more requests run, of clients that have none.
_RESERVE = 2
_WAIT_SECONDS = 20.0
_RETRY_SECONDS = "1"
#: A proxy in front of the page must not collect the lines.
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_LINES = "application/x-ndjson"


class Turns:
    """A queue of requests; those of one client wait for each other if all places are taken."""

    def __init__(self, settings: PageSettings) -> None:
        """Begin with an empty queue.

        Args:
            settings: The limits of a search.
        """
        self._queue = FairQueue(
            settings.scans, reserve=_RESERVE, most_waiting=settings.messages_waiting, wait_seconds=_WAIT_SECONDS
        )

    def close(self) -> None:
        """Refuse the requests that wait."""
        self._queue.close()

    async def take(self, client: str) -> None:
        """Wait for a turn; the caller gives it back.

        Raises:
            ApiError: 429: too many requests run.
        """
        try:
            await self._queue.take(client)
        except NoTurn as refusal:
            raise errors.TOO_MANY_SCANS(reason=refusal).with_headers(Retry_After=_RETRY_SECONDS) from None

    def give_back(self, client: str) -> None:
        """End a turn."""
        self._queue.give_back(client)

    def answer(self, client: str, lines: AsyncIterator[bytes]) -> Response:
        """Send lines of JSON; the turn ends with them, or when the client goes."""
        return HeldStream(lines, partial(self.give_back, client), headers=_HEADERS, media_type=_LINES)


def limits_of(settings: PageSettings) -> Limits:
    """The limits of a request that reads a topic."""
    return Limits(
        settings.scan_max_records,
        settings.scan_max_bytes,
        settings.scan_timeout_ms / 1000,
        settings.messages_max_bytes,
    )
