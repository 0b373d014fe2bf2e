"""`POST /ui/messages`: the lines of a scan, as it goes on; the scan ends when its client goes."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import orjson
from starlette.responses import Response

from magicbyte.http.page_settings import PageSettings
from magicbyte.http.routing.clients import client_key
from magicbyte.http.routing.request import Request
from magicbyte.kit.errors import ApiError
from magicbyte.ui.decode import MessageWorkers, unless_gone
from magicbyte.ui.messages.scan_request import ScanRequest
from magicbyte.ui.request_body import read_request
from magicbyte.ui.rest import Upstream
from magicbyte.ui.scan.range import range_of
from magicbyte.ui.scan.scan import Scan
from magicbyte.ui.scan.selecting import Selecting
from magicbyte.ui.scan.source import TopicSource
from magicbyte.ui.scan.turns import Turns, limits_of

log = logging.getLogger("magicbyte.ui")


class Scans:
    """Scans of topics; a client's scans wait for each other if all places are taken."""

    def __init__(self, rest: Upstream, workers: MessageWorkers, settings: PageSettings) -> None:
        """Prepare; nothing is read yet.

        Args:
            rest: The REST proxy.
            workers: The worker processes.
            settings: The limits of a scan.
        """
        self._rest = rest
        self._workers = workers
        self._settings = settings
        self._turns = Turns(settings)

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
        return self._turns.answer(client, self._lines(scan, wanted))

    async def _begun(self, request: Request, wanted: ScanRequest, client: str) -> Scan:
        """Take a place and find the offsets, so that a refusal of the proxy is the answer's status."""
        await self._turns.take(client)
        try:
            self._workers.warm_up()
            source = TopicSource(partial(self._rest.read, request.scope), wanted.topic or "")
            selecting = Selecting(partial(self._workers.convert, request.scope, client=client), wanted)
            return Scan(source, await range_of(source, wanted), wanted, selecting, limits_of(self._settings))
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
            log.debug(
                "a scan of %s has ended after %d records",
                wanted.topic,
                scan.scanned,
                extra={"event": "scan_ended", "topic": wanted.topic, "records": scan.scanned},
            )


def _json(line: Any) -> bytes:
    return orjson.dumps(line)
