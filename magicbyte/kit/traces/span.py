"""A span: one piece of work of a trace, with its times.

OpenTelemetry's own spans take 25 us each to record and 20 us to encode, which is more than a cached answer of the
registry takes. These take 3 us; `encoding.py` writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar, Token
from enum import IntEnum
from time import time_ns
from types import TracebackType
from typing import ClassVar, Self

from magicbyte.kit.traces.traceparent import Parent, format_traceparent

Value = str | int | float | bool

#: The span that the current task or thread works on.
CURRENT_SPAN: ContextVar[Span | None] = ContextVar("span", default=None)


class Kind(IntEnum):
    """The role of a span, by its number in OTLP."""

    INTERNAL = 1
    SERVER = 2
    CLIENT = 3
    PRODUCER = 4
    CONSUMER = 5


class _Flags:
    """The flags of each span that is exported."""

    sampled = True


class _Context:
    """The part of a span that OpenTelemetry's batches read before they take the span."""

    trace_flags = _Flags()


class Span:
    """A span, and the context manager in which it is the current one; an exception makes it a failure.

    Attributes:
        trace_id: The id of its trace.
        span_id: Its own id.
        is_sampled: Whether it is exported.
        parent: The span that it is a part of; None for the first one of a trace.
        state: The `tracestate` of the client; empty without one.
        name: Its name.
        kind: Its role.
        start: When it began, in ns since 1970.
        end: When it ended; 0 before.
        attributes: Name -> value.
        links: Further spans that it has to do with.
        error: The type of the error that it failed with; empty if it did not.
    """

    __slots__ = (
        "_export",
        "_token",
        "attributes",
        "end",
        "error",
        "is_sampled",
        "kind",
        "links",
        "name",
        "parent",
        "span_id",
        "start",
        "state",
        "trace_id",
    )

    context: ClassVar[_Context] = _Context()

    def __init__(
        self,
        trace_id: int,
        span_id: int,
        name: str,
        kind: Kind,
        export: Callable[[Span], None],
        *,
        is_sampled: bool,
        parent: Parent | None,
        state: str = "",
        links: Sequence[Parent] = (),
    ) -> None:
        self.trace_id = trace_id
        self.span_id = span_id
        self.name = name
        self.kind = kind
        self.is_sampled = is_sampled
        self.parent = parent
        self.state = state
        self.links = links
        self.attributes: dict[str, Value] = {}
        self.error = ""
        self.start = time_ns()
        self.end = 0
        self._export = export
        self._token: Token[Span | None] | None = None

    @property
    def traceparent(self) -> str:
        """The `traceparent` that makes this span the parent of another server's."""
        return format_traceparent(self.trace_id, self.span_id, is_sampled=self.is_sampled)

    @property
    def as_parent(self) -> Parent:
        """This span, as the parent or link of another one of this process."""
        return Parent(self.trace_id, self.span_id, self.is_sampled)

    def enter(self) -> None:
        """Make this span the current one, until it ends."""
        self._token = CURRENT_SPAN.set(self)

    def finish(self) -> None:
        """End this span and export it; the one before is current again."""
        token, self._token = self._token, None
        if token is not None:
            CURRENT_SPAN.reset(token)
        if self.is_sampled and not self.end:
            self.end = time_ns()
            self._export(self)

    def __enter__(self) -> Self:
        self.enter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # A client that has left is no failure. The name, because asyncio takes long to import.
        if kind is not None and kind.__name__ != "CancelledError":
            self.error = kind.__name__
        self.finish()
