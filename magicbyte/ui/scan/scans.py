"""`POST /ui/messages`: the lines of a scan, as it goes on; the scan ends when its client goes."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import orjson
from starlette.responses import Response

from magicbyte.http.held_stream import HeldStream
from magicbyte.http.page_settings import PageSettings
from magicbyte.http.routing.clients import client_key
from magicbyte.http.routing.request import Request
from magicbyte.kit.errors import ApiError
from magicbyte.kit.sharing.fair_queue import FairQueue, NoTurn
from magicbyte.ui import errors
from magicbyte.ui.decode import MessageWorkers, unless_gone
from magicbyte.ui.messages.scan_request import ScanRequest
from magicbyte.ui.rest import Upstream
from magicbyte.ui.scan.range import range_of
from magicbyte.ui.scan.request_body import read_request
from magicbyte.ui.scan.scan import Limits, Scan
from magicbyte.ui.scan.selecting import Selecting
from magicbyte.ui.scan.source import TopicSource

#: How many more scans run, of clients that have none.
_RESERVE = 2
_WAIT_SECONDS = 20.0
_RETRY_SECONDS = "1"
#: A proxy in front of the page must not collect the lines.
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_LINES = "application/x-ndjson"

log = logging.getLogger("magicbyte.ui")


class Scans:
    """Scans of topics; a client's scans wait for each other if all places are taken."""

    def __init__(self, rest: Upstream, workers: MessageWorkers, settings: PageSettings) -> None:
        """Describe where records come from, and who decodes them.

        Args:
            rest: The REST proxy.
            workers: The worker processes.
            settings: The limits of a scan.
        """
        self._rest = rest
        self._workers = workers
        self._settings = settings
        self._turns = FairQueue(
            settings.scans, reserve=_RESERVE, most_waiting=settings.messages_waiting, wait_seconds=_WAIT_SECONDS
        )

    def close(self) -> None:
        """Refuse the scans that wait."""
        self._turns.close()

    async def answer(self, request: Request) -> Response:
        """Answer with the lines of a scan.

        Raises:
            ApiError: 400 for a body that is no such request, 429 if too many scans run, or the REST proxy's refusal.
            ClientDisconnect: The client has gone.
        """
        wanted = await read_request(request, ScanRequest)
        client = client_key(request, self._settings.trusted_proxies)
        scan = await unless_gone(request.receive, self._begun(request, wanted, client))
        give_back = partial(self._turns.give_back, client)
        return HeldStream(self._lines(scan, wanted), give_back, headers=_HEADERS, media_type=_LINES)

    async def _begun(self, request: Request, wanted: ScanRequest, client: str) -> Scan:
        """Take a place and find the offsets, so that a refusal of the proxy is the answer's status."""
        try:
            await self._turns.take(client)
        except NoTurn as refusal:
            raise errors.TOO_MANY_SCANS(reason=refusal).with_headers(Retry_After=_RETRY_SECONDS) from None
        try:
            self._workers.warm_up()
            source = TopicSource(partial(self._rest.read, request.scope), wanted.topic or "")
            settings = self._settings
            limits = Limits(
                settings.scan_max_records,
                settings.scan_max_bytes,
                settings.scan_timeout_ms / 1000,
                settings.messages_max_bytes,
            )
            selecting = Selecting(partial(self._workers.convert, request.scope, client=client), wanted)
            return Scan(source, await range_of(source, wanted), wanted, selecting, limits)
        except BaseException:
            self._turns.give_back(client)
            raise

    async def _lines(self, scan: Scan, wanted: ScanRequest) -> AsyncIterator[bytes]:
        try:
            async for line in scan.lines():
                yield line + b"\n"
        except ApiError as error:
            yield _json({"error": {"status": error.status, **error.body()}, **scan.state()}) + b"\n"
        finally:
            log.debug("a scan of %s has ended after %d records", wanted.topic, scan.scanned)


def _json(line: Any) -> bytes:
    return orjson.dumps(line)
