"""Producing: a stream of records, and a batch."""

from __future__ import annotations

import asyncio
from functools import partial

from starlette.responses import Response

from magicbyte.http.asgi import Receive, Scope, Send, header
from magicbyte.http.errors import MALFORMED_BODY
from magicbyte.http.routing.clients import client_key
from magicbyte.http.routing.negotiation import charset_of
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import WholeResponse
from rest_proxy.access.decisions import rights_of
from rest_proxy.errors import INVALID_ENTITY, INVALID_PAYLOAD
from rest_proxy.exchange.parameters import long_query, segment, shorter
from rest_proxy.exchange.parts import part_of
from rest_proxy.exchange.produce_query import acks_of, schema_options
from rest_proxy.produce.entry_encoder import EntryEncoder
from rest_proxy.produce.open_streams import OpenStreams
from rest_proxy.produce.parts import Producing, Streaming
from rest_proxy.produce.record_batch import RecordBatch, read_batch, sizes_of
from rest_proxy.produce.record_stream import Disconnected, RecordStream, StreamLimits
from rest_proxy.produce.report import Reports
from rest_proxy.produce.topic_creation import may_create_topic
from rest_proxy.v3.call import Call, call_of
from rest_proxy.v3.envelopes import JSON
from rest_proxy.v3.route import json_both_ways

#: How long the answer to a stream waits for the first byte: an empty body is refused, but a client may want to see the
#: answer begin before it sends anything.
_FIRST_BYTE_SECONDS = 0.2
_CHARSETS = {"utf-8": "utf-8", "utf8": "utf-8", "us-ascii": "utf-8", "iso-8859-1": "latin-1", "latin-1": "latin-1"}
#: How much of one stream may be undecided, in bytes.
_UNDECIDED_BYTES = 1 << 20


def json_stream(request: Request) -> None:
    """Read and answer JSON, in UTF-8 or ISO-8859-1.

    Raises:
        ApiError: UNSUPPORTED_MEDIA_TYPE, NOT_ACCEPTABLE; MALFORMED_BODY for another charset.
    """
    json_both_ways(request)
    charset = charset_of(header(request.scope, b"content-type")).lower()
    request.negotiated = _CHARSETS.get(charset)
    if request.negotiated is None:
        text = 'Unsupported charset in Content-Type header. Supports "UTF-8" and "ISO-8859-1".'
        raise MALFORMED_BODY(detail=text)


def _topic(call: Call) -> str:
    topic = segment(call.request, "topic")
    if not topic:
        raise INVALID_ENTITY(detail="a topic needs a name")
    return topic


def _encoder(call: Call, topic: str, producing: Producing, streaming: Streaming) -> EntryEncoder:
    request, guard = call.request, streaming.guard
    return EntryEncoder(
        topic,
        producing,
        schema_options(request, call.settings),
        rights_of(request),
        None if guard is None else partial(guard.is_still_good, request.principal, request.scope),
    )


async def stream(request: Request) -> Response:
    """Produce the records of the body as they come, and report each as soon as those before it are decided."""
    call = await call_of(request)
    topic, settings = _topic(call), call.settings
    producing, streaming = part_of(request, Producing), part_of(request, Streaming)
    may_create = await may_create_topic(rights_of(request), producing.cluster, topic)
    limits = settings.limits
    largest = settings.request_max_bytes
    records = RecordStream(
        producing.producers.of_sender(may_create=may_create),
        _encoder(call, topic, producing, streaming),
        Reports(call.cluster_id, topic),
        streaming.rates,
        StreamLimits(
            record_bytes=min(settings.produce_max_bytes or largest, largest),
            undecided_bytes=_UNDECIDED_BYTES,
            seconds=settings.stream_max_ms / 1000,
            grace_seconds=settings.stream_grace_ms / 1000,
            idle_seconds=limits.idle_seconds,
            bytes_per_second=limits.body_bytes_per_second,
        ),
        topic,
        acks_of(call.request, settings),
        pause=partial(streaming.turns.pause, client_key(call.request, settings.trusted_proxies)),
    )
    body = _Body(call.request)
    await body.begin()
    return _StreamedReports(streaming.open, records, body)


class _Body:
    """The body of a stream, in UTF-8."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._is_latin = request.negotiated == "latin-1"
        self._first: bytes | None = None
        self._has_ended = False

    async def begin(self) -> None:
        """Wait a moment for the first byte.

        Raises:
            ApiError: INVALID_PAYLOAD if the body is empty.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + _FIRST_BYTE_SECONDS
        first: bytes | None = b""
        while not (first or b"").strip():
            try:
                first = await asyncio.wait_for(self.receive(), max(0.001, end - loop.time()))
            except TimeoutError:
                return
            except Disconnected:
                self._has_ended = True
                return
            if first is None:
                raise INVALID_PAYLOAD(detail="Request body is empty. Data is required.")
        self._first = first

    async def receive(self) -> bytes | None:
        """The next bytes; None at the end.

        Raises:
            Disconnected: The client has closed the connection.
        """
        if self._first is not None:
            first, self._first = self._first, None
            return first
        if self._has_ended:
            return None
        message = await self._request.receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        self._has_ended = not message.get("more_body", False)
        body: bytes = message.get("body", b"")
        if not body and self._has_ended:
            return None
        return body.decode("latin-1").encode() if self._is_latin else body


class _StreamedReports(Response):
    """The answer of a stream: a report for each record, as chunks."""

    def __init__(self, streams: OpenStreams, records: RecordStream, body: _Body) -> None:
        # The header makes nginx, if it is in front, pass each part on at once.
        super().__init__(media_type=JSON, headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._open = streams
        self._records = records
        self._body = body

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Serve the stream."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})

        async def send_reports(reports: bytes) -> None:
            await send({"type": "http.response.body", "body": reports, "more_body": True})

        # The head of the answer goes out before the first report.
        await send_reports(b"")
        self._open.add(self._records)
        try:
            await self._records.serve(self._body.receive, send_reports)
        finally:
            self._open.remove(self._records)
        await send({"type": "http.response.body", "body": b""})


async def batch(request: Request) -> Response:
    """Produce up to some tens of records, each of which succeeds or fails by itself."""
    call = await call_of(request)
    topic, settings = _topic(call), call.settings
    producing, streaming = part_of(request, Producing), part_of(request, Streaming)
    body = await request.body()
    encoder = _encoder(call, topic, producing, streaming)
    entries = read_batch(body, settings.batch_max_entries)
    may_create = await may_create_topic(rights_of(request), producing.cluster, topic)
    records = RecordBatch(
        producing.producers.of_sender(may_create=may_create),
        encoder,
        Reports(call.cluster_id, topic),
        streaming.rates,
        topic,
        acks_of(call.request, settings),
        shorter(long_query(request, "timeout"), settings.produce_timeout_ms),
        producing.deadlines,
    )
    sizes = [0] * len(entries) if streaming.rates is None else sizes_of(body)
    return WholeResponse(await records.produce(entries, sizes), 207, JSON)
