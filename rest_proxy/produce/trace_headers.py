"""The trace of a request in its records: the header `traceparent`, for consumers that continue the trace."""

from __future__ import annotations

from collections.abc import Sequence

from magicbyte.kit.logs.request_facts import CURRENT
from magicbyte.kit.traces.current import outgoing_headers
from magicbyte.kit.traces.traceparent import parse_traceparent
from rest_proxy.formats.frame_places import Headers
from rest_proxy.produce.loop_producer import Record

_NAME = "traceparent"


def traced_records(records: Sequence[Record]) -> Sequence[Record]:
    """Records with the headers of the current trace; a record keeps a `traceparent` that its client gave it."""
    added = _headers()
    if not added:
        return records
    return [(key, value, place, timestamp, _with(headers, added)) for key, value, place, timestamp, headers in records]


def _with(headers: Headers | None, added: Headers) -> Headers:
    if headers is None:
        return added
    return headers if any(name == _NAME for name, _ in headers) else [*headers, *added]


def _headers() -> Headers:
    """The headers of the current span; if traces are off, the client's own `traceparent` if it is valid."""
    ours = outgoing_headers()
    if ours:
        return [(name, value.encode()) for name, value in ours.items()]
    facts = CURRENT.get()
    traceparent = None if facts is None else facts.traceparent
    if traceparent is None or parse_traceparent(traceparent) is None:
        return []
    return [(_NAME, traceparent.encode())]
