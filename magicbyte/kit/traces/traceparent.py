"""The `traceparent` header of W3C Trace Context."""

from __future__ import annotations

import re
from typing import NamedTuple

#: Version, trace id, id of the parent span, flags. Later versions may add parts.
_TRACEPARENT = re.compile(r"(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.ASCII)


class Parent(NamedTuple):
    """A span of another process, or of another thread.

    Attributes:
        trace_id: The id of its trace.
        span_id: Its own id.
        is_sampled: Whether it is recorded.
        is_remote: Whether it came with a request.
    """

    trace_id: int
    span_id: int
    is_sampled: bool
    is_remote: bool = False


def parse_traceparent(text: str | None) -> Parent | None:
    """The span that a `traceparent` names; None if the text is not valid."""
    match = None if text is None else _TRACEPARENT.fullmatch(text)
    if match is None or (match[1] == "00" and match[5]):
        return None
    trace_id, span_id = int(match[2], 16), int(match[3], 16)
    if not (trace_id and span_id):
        return None
    return Parent(trace_id, span_id, bool(int(match[4], 16) & 1), is_remote=True)


def format_traceparent(trace_id: int, span_id: int, *, is_sampled: bool) -> str:
    """The `traceparent` that names a span."""
    return f"00-{trace_id:032x}-{span_id:016x}-{'01' if is_sampled else '00'}"
