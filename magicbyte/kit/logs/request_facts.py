"""The request that the current code serves: its id, its trace and its sender, for all log lines that it causes."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from contextvars import ContextVar

from magicbyte.kit.traces.traceparent import parse_traceparent

#: A valid request id of a client; any other id is replaced, so that a client cannot forge log lines.
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")
#: Makes request ids, which need not be secret. A system call for each id would release the interpreter lock.
_random_bits = random.Random().getrandbits  # noqa: S311  not secret


class RequestFacts:
    """The facts of a request for log lines; the ids are found when they are first needed.

    Attributes:
        headers: The request's headers, with names in lower case.
        principal: The name of its sender.
    """

    __slots__ = ("_id", "headers", "principal")

    def __init__(self, headers: Sequence[tuple[bytes, bytes]], principal: str) -> None:
        self.headers = headers
        self.principal = principal
        self._id: str | None = None

    @property
    def request_id(self) -> str:
        """The client's `X-Request-ID` if it is valid, else a new id."""
        if self._id is None:
            client_id = _header(self.headers, b"x-request-id")
            self._id = client_id if client_id and _REQUEST_ID.fullmatch(client_id) else f"{_random_bits(128):032x}"
        return self._id

    @property
    def trace_id(self) -> str | None:
        """The trace id of the client's `traceparent`; None without a valid one."""
        parts = parse_traceparent(self.traceparent)
        return None if parts is None else f"{parts.trace_id:032x}"

    @property
    def traceparent(self) -> str | None:
        """The client's `traceparent`; None without one."""
        return _header(self.headers, b"traceparent")


#: The facts of the request that the current task or thread serves; None outside of requests.
CURRENT: ContextVar[RequestFacts | None] = ContextVar("request", default=None)


def _header(headers: Sequence[tuple[bytes, bytes]], name: bytes) -> str | None:
    for key, value in headers:
        if key == name:
            return str(value, "latin-1")
    return None
