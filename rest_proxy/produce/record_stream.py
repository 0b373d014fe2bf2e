"""Producing a stream of records (v3): reading and reporting run concurrently, and each waits for the other.

A record is undecided from when it is sent until its report has been written to the connection. While too many bytes are
undecided, nothing is read; so a client that does not read its reports stops its own stream.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from magicbyte.http.errors import INTERNAL, MALFORMED_BODY, REQUEST_TIMEOUT
from magicbyte.http.routing.limits import within
from magicbyte.kit.errors import ApiError
from rest_proxy.errors import BAD_REQUEST, RATE_EXCEEDED, STREAM_TOO_OLD
from rest_proxy.exchange.bodies import text_of_refusal
from rest_proxy.exchange.kafka_span import produce_span
from rest_proxy.metrics import PRODUCE, RECORDS, REFUSED
from rest_proxy.produce.entry import ENTRY
from rest_proxy.produce.entry_encoder import Encoded, EntryEncoder
from rest_proxy.produce.json_objects import JsonObject, JsonObjects, MalformedJson, TooLong
from rest_proxy.produce.report import Reports, failed
from rest_proxy.produce.sent import SentRecord

if TYPE_CHECKING:
    from rest_proxy.produce.producers import Producers
    from rest_proxy.produce.rate_limit import ProduceRates

log = logging.getLogger("rest_proxy.produce.record_stream")

#: How long a stream may parse and encode before other requests have their turn, in seconds.
_TURN_SECONDS = 0.001
#: The most bytes of reports in one chunk.
_CHUNK_BYTES = 65536
_RECORD_TOO_SLOW = replace(REQUEST_TIMEOUT, message="The request was not complete in time: a record is not whole")
_TOO_LARGE = "Error processing message: Produce request size is larger than allowed threshold"

#: The next bytes of the body; None at its end.
Receive = Callable[[], Awaitable[bytes | None]]
Send = Callable[[bytes], Awaitable[None]]


class Disconnected(Exception):
    """The client has closed the connection."""


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """The limits of a stream.

    Attributes:
        record_bytes: The longest record, in bytes of JSON.
        undecided_bytes: How many bytes may be undecided before nothing more is read.
        seconds: The age from which records are refused.
        grace_seconds: How much later the stream ends.
        idle_seconds: The longest time without bytes within a record.
        bytes_per_second: The lowest average rate within a record after its first `idle_seconds`.
    """

    record_bytes: int
    undecided_bytes: int
    seconds: float
    grace_seconds: float
    idle_seconds: float
    bytes_per_second: int


class RecordStream:
    """One stream."""

    def __init__(
        self,
        producers: Producers,
        encoder: EntryEncoder,
        reports: Reports,
        rates: ProduceRates | None,
        limits: StreamLimits,
        topic: str,
        acks: str,
        *,
        pause: Callable[[], Awaitable[None]],
    ) -> None:
        """Prepare.

        Args:
            producers: Send the records.
            encoder: Encodes them.
            reports: Writes their reports.
            rates: The limits on the rate of all streams and batches; None for none.
            limits: The limits of this stream.
            topic: The topic.
            acks: `0`, `1` or `all`.
            pause: Waits until this stream may parse and encode again, because other requests have had their turns.
        """
        self._producers = producers
        self._encoder = encoder
        self._reports = reports
        self._rates = rates
        self._limits = limits
        self._topic = topic
        self._acks = acks
        self._pause = pause
        #: Undecided records in the order of the input: sent ones, and the reports of those that were refused.
        self._pending: deque[tuple[SentRecord, Encoded] | bytes] = deque()
        self._undecided = 0
        #: Set when a report may be due or the input has ended, and when fewer bytes are undecided.
        self._progress = asyncio.Event()
        self._room = asyncio.Event()
        self._has_ended = self._is_cut_off = self._must_end = False
        self._reader: asyncio.Task[None] | None = None

    async def serve(self, receive: Receive, send: Send) -> None:
        """Serve the stream until the input ends and all its records are reported.

        Args:
            receive: Receives the next bytes; raises Disconnected.
            send: Sends reports; waits while the client does not read.
        """
        with produce_span(self._topic):
            await self._serve(receive, send)

    async def _serve(self, receive: Receive, send: Send) -> None:
        loop = asyncio.get_running_loop()
        limits = self._limits
        self._now = loop.time
        self._refuses_at = loop.time() + limits.seconds
        self._reader = loop.create_task(self._read(receive))
        self._reader.add_done_callback(self._note_end)
        if self._must_end:
            self._reader.cancel()
        timer = loop.call_later(limits.seconds + limits.grace_seconds, self.end)
        try:
            while True:
                self._progress.clear()
                reports, size = self._due_reports()
                if reports:
                    await send(b"".join(reports))
                    self._undecided -= size
                    self._room.set()
                elif self._is_cut_off or (self._has_ended and not self._pending):
                    return
                else:
                    await self._progress.wait()
        finally:
            timer.cancel()
            self._reader.cancel()

    def end(self) -> None:
        """Read nothing more; the stream ends when all sent records are reported."""
        self._must_end = True
        if self._reader is not None:
            self._reader.cancel()

    def _note_end(self, _reader: asyncio.Task[None]) -> None:
        self._has_ended = True
        self._progress.set()

    def _due_reports(self) -> tuple[list[bytes], int]:
        """The next reports, up to the first that is undecided, and the undecided bytes of their records."""
        pending, reports, size, length = self._pending, list[bytes](), 0, 0
        while pending and length < _CHUNK_BYTES:
            first = pending[0]
            if isinstance(first, bytes):
                report = first
                size += len(first)
            else:
                sent, encoded = first
                if sent.message is None and sent.error is None:
                    break
                report = self._reports.of(sent, encoded)
                size += sent.size
            pending.popleft()
            reports.append(report)
            reports.append(b"\r\n")
            length += len(report)
        return reports, size

    async def _read(self, receive: Receive) -> None:
        """Take the records of the body, one after another."""
        objects = JsonObjects(ENTRY.decode, self._limits.record_bytes)
        try:
            while (chunk := await self._next_chunk(receive, objects)) is not None:
                await self._take_all(objects.feed(chunk))
            await self._take_all(objects.finish())
        except MalformedJson as error:
            self._fail(BAD_REQUEST(detail=f"Error processing message: {error}"))
        except TooLong:
            self._fail(BAD_REQUEST(detail=_TOO_LARGE))
        except ApiError as error:  # the client was too slow
            self._fail(error)
        except Disconnected:
            # Queued records are still delivered, but nobody reads their reports.
            self._is_cut_off = True
        except Exception:
            log.exception("a stream of records failed", extra={"event": "record_stream_failed"})
            self._fail(INTERNAL())

    async def _next_chunk(self, receive: Receive, objects: JsonObjects) -> bytes | None:
        """The next bytes; between records they may take any time, within a record they may not."""
        if not objects.unfinished:
            self._waited = 0.0
            return await receive()
        limits, loop = self._limits, asyncio.get_running_loop()
        left = limits.idle_seconds + objects.unfinished / limits.bytes_per_second - self._waited
        started = loop.time()
        try:
            seconds = max(0.0, min(left, limits.idle_seconds))
            return await within(partial(loop.call_later, seconds), receive(), _RECORD_TOO_SLOW)
        finally:
            self._waited += loop.time() - started

    async def _take_all(self, items: Iterator[JsonObject | None]) -> None:
        """Take records one after another; a long scan lets other requests have their turns."""
        turn_ends_at = self._now() + _TURN_SECONDS
        for item in items:
            if self._now() > turn_ends_at:
                await self._pause()
                turn_ends_at = self._now() + _TURN_SECONDS
            if item is not None:
                await self._take(item)

    async def _take(self, item: JsonObject) -> None:
        """Send a record, or note why it is refused."""
        try:
            while self._undecided > self._limits.undecided_bytes:
                self._room.clear()
                await self._room.wait()
            if self._now() >= self._refuses_at:
                raise STREAM_TOO_OLD()
            if item.refusal is not None:
                raise MALFORMED_BODY(detail=text_of_refusal(item.refusal))
            if self._rates is not None and not self._rates.allow(item.size):
                raise RATE_EXCEEDED()
            encoded = self._encoder.encode_now(item.value) or await self._encoder.encode(item.value)
            size = self._producers.size_of(encoded.record)
            budget = self._producers.budget
            if not budget.has_room(size):
                await budget.room(size)
            sent = self._producers.send(self._topic, encoded.record, size, self._acks, self._progress.set, encoded.form)
        except ApiError as error:
            RECORDS.tally(PRODUCE, "none", self._topic).add(REFUSED)
            self._fail(error)
        except asyncio.CancelledError:
            # The stream ended while this record waited, so do not send it.
            self._fail(STREAM_TOO_OLD())
            raise
        else:
            self._pending.append((sent, encoded))
            self._undecided += sent.size

    def _fail(self, error: ApiError) -> None:
        report = failed(error)
        self._pending.append(report)
        self._undecided += len(report)
        self._progress.set()
