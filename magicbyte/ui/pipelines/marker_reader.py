"""Reads the topic of markers through the REST proxy, with the rights of the sender of each request."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from magicbyte.http.asgi import Scope
from magicbyte.kit.errors import ApiError
from magicbyte.ui.pipelines.marker_book import MARKERS, MarkerBook
from magicbyte.ui.rest import Upstream
from magicbyte.ui.scan.source import Bounds, TopicSource

#: How long a request reads, and how long it may take with its wait for other requests, in seconds.
_READ_SECONDS, _MOST_SECONDS = 5.0, 15.0
_RECORDS, _BYTES = 2_000, 1 << 20
_NOT_FOUND = 404
_REFUSALS = (401, 403)
_READS_ON = "the next request reads on"
_NO_V3 = "markers need version 3 of the REST proxy; it has none, or does not tell this user the cluster's id"


@dataclass(frozen=True, slots=True)
class MarkersRead:
    """The markers that a request may see.

    Attributes:
        state: `read`; `partial` if a later request reads on; `missing` if there is no such topic; `forbidden` if the
            sender may not read it; `unavailable` if the proxy does not answer; `none` without a proxy.
        reason: Why they are not read whole.
        book: The markers; None if the sender sees none.
    """

    state: str
    reason: str = ""
    book: MarkerBook | None = None


class MarkerReader:
    """Reads the topic once, and then what is new; all requests share the records.

    The rights are those of the sender: a request without a new record to read reads an old one first.
    """

    def __init__(self, rest: Upstream) -> None:
        """Begin without records.

        Args:
            rest: The REST proxy.
        """
        self._rest = rest
        self._turn = asyncio.Lock()
        self._book = MarkerBook()
        #: The next offset to read, by partition.
        self._positions: dict[int, int] = {}

    async def read(self, scope: Scope) -> MarkersRead:
        """Read what is new as the sender of a request.

        Args:
            scope: The request that this is read for.
        """
        source = TopicSource(partial(self._rest.read, scope), MARKERS, committed=True, waits=False)
        try:
            async with asyncio.timeout(_MOST_SECONDS), self._turn:
                bounds = await source.bounds()
                if not source.has_v3:
                    return MarkersRead("unavailable", _NO_V3)
                return await self._read(source, bounds)
        except TimeoutError:
            return MarkersRead("unavailable", f"the REST proxy did not return the markers within {_MOST_SECONDS:.0f} s")
        except ApiError as refusal:
            if refusal.status in _REFUSALS:
                return MarkersRead("forbidden", refusal.message)
            return MarkersRead("missing" if refusal.status == _NOT_FOUND else "unavailable", refusal.message)

    async def _read(self, source: TopicSource, bounds: Mapping[int, Bounds]) -> MarkersRead:
        if any(bounds.get(partition, Bounds(0, 0)).end < at for partition, at in self._positions.items()):
            # The topic was deleted and made again.
            self._book, self._positions = MarkerBook(), {}
        until = time.monotonic() + _READ_SECONDS
        has_read, is_whole = False, True
        for partition, bound in sorted(bounds.items()):
            at = max(bound.first, self._positions.get(partition, 0))
            while at < bound.end:
                if time.monotonic() > until:
                    return MarkersRead("partial", _READS_ON, self._book)
                page = await source.read(partition, at, records=_RECORDS, size=_BYTES)
                if not source.has_v3:
                    return MarkersRead("unavailable", _NO_V3)
                has_read = True
                for record in page.records:
                    self._book.add(record)
                if page.next_offset <= at:
                    # The broker had nothing ready.
                    is_whole = False
                    break
                at = self._positions[partition] = page.next_offset
        last = next(((partition, bound) for partition, bound in bounds.items() if bound.end > bound.first), None)
        if not has_read and last is not None:
            # Offsets need only DESCRIBE: reading a record shows that the sender may see all of them.
            partition, bound = last
            await source.read(partition, bound.end - 1, records=1, size=1)
        return MarkersRead("read", "", self._book) if is_whole else MarkersRead("partial", _READS_ON, self._book)
