"""The seam of tracing: what the servers call, whether traces are exported or not.

Nothing here imports OpenTelemetry; `exporting.py` does, and sets `TRACING.tracer`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

from magicbyte.kit.traces.span import CURRENT_SPAN, Kind, Span, Value
from magicbyte.kit.traces.traceparent import Parent, parse_traceparent

Headers = Sequence[tuple[bytes, bytes]]
#: Decides whether a new trace, or one of a client, is recorded.
Sample = Callable[[int, str, Kind, Parent | None], bool]

_TRACEPARENT, _TRACESTATE = b"traceparent", b"tracestate"
_LONGEST_STATE = 512
#: The methods that a span's name may have; a client may send any.
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"))
_OTHER_METHOD = "HTTP"
#: Ids need not be secret. A system call for each id would release the interpreter lock.
_random_bits = random.Random().getrandbits  # noqa: S311  not secret
#: In the place of a span while traces are off.
NO_SPAN: AbstractContextManager[None] = nullcontext()


class Tracer:
    """Begins spans."""

    def __init__(self, export: Callable[[Span], None], sample: Sample | None = None) -> None:
        """Make a tracer.

        Args:
            export: Takes each sampled span at its end, on the thread that ends it.
            sample: Decides about the first span of this process in a trace; by default a client decides about its own
                traces, and all others are recorded. Further spans follow the first one.
        """
        self._export = export
        self._sample = sample

    def server(self, method: str, route: str, headers: Headers) -> Span:
        """Begin the span of a request, which continues the client's trace if it has one.

        Args:
            method: The request's method.
            route: The path's template; empty without a route.
            headers: The request's headers, with names in lower case.
        """
        parent, state = None, ""
        for name, value in headers:
            if name == _TRACEPARENT:
                parent = parse_traceparent(value.decode("latin-1"))
            elif name == _TRACESTATE and len(value) <= _LONGEST_STATE and value.isascii():
                state = value.decode("ascii")
        known = method if method in _METHODS else _OTHER_METHOD
        return self._first(f"{known} {route}" if route else known, Kind.SERVER, parent, state if parent else "")

    def begin(self, name: str, kind: Kind, links: Sequence[Parent] = ()) -> Span:
        """Begin a span within the current one, or a new trace if there is none."""
        current = CURRENT_SPAN.get()
        if current is None:
            return self._first(name, kind, None, "", links)
        return Span(
            current.trace_id,
            _random_bits(64) or 1,
            name,
            kind,
            self._export,
            is_sampled=current.is_sampled,
            parent=Parent(current.trace_id, current.span_id, current.is_sampled),
            state=current.state,
            links=links,
        )

    def _first(self, name: str, kind: Kind, parent: Parent | None, state: str, links: Sequence[Parent] = ()) -> Span:
        trace_id = (_random_bits(128) or 1) if parent is None else parent.trace_id
        if self._sample is not None:
            is_sampled = self._sample(trace_id, name, kind, parent)
        else:
            is_sampled = parent is None or parent.is_sampled
        return Span(
            trace_id,
            _random_bits(64) or 1,
            name,
            kind,
            self._export,
            is_sampled=is_sampled,
            parent=parent,
            state=state,
            links=links,
        )


class Tracing:
    """Holds the tracer of this process; None if traces are off."""

    __slots__ = ("tracer",)

    def __init__(self) -> None:
        self.tracer: Tracer | None = None


TRACING = Tracing()


def span(
    name: str,
    attributes: Mapping[str, Value] | None = None,
    *,
    kind: Kind = Kind.INTERNAL,
    links: Sequence[Parent] = (),
) -> AbstractContextManager[Span | None]:
    """Return the context manager of a span within the current one; of nothing if traces are off.

    Args:
        name: The span's name, one of a few.
        attributes: Name -> value.
        kind: The span's role.
        links: Further spans that it has to do with.
    """
    tracer = TRACING.tracer
    if tracer is None:
        return NO_SPAN
    begun = tracer.begin(name, kind, links)
    if attributes:
        begun.attributes.update(attributes)
    return begun
