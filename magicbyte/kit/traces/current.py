"""The current span, for logs and for requests to other servers.

It imports little, because every client of a registry imports it.
"""

from __future__ import annotations

from magicbyte.kit.traces.span import CURRENT_SPAN


def current_trace_id() -> str | None:
    """The id of the current trace in hexadecimal digits; None if there is none."""
    current = CURRENT_SPAN.get()
    return None if current is None else f"{current.trace_id:032x}"


def outgoing_headers() -> dict[str, str]:
    """The headers that make the current span the parent of the span of a server that is asked; empty without one."""
    current = CURRENT_SPAN.get()
    if current is None:
        return {}
    headers = {"traceparent": current.traceparent}
    if current.state:
        headers["tracestate"] = current.state
    return headers
