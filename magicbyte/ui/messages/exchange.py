"""Messages between the server and a worker process: a task, questions with their replies, and the outcome."""

from __future__ import annotations

from typing import TypeVar

import msgspec


class Task(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A request for a worker.

    Attributes:
        name: One of the worker's functions, such as `decode`.
        body: The request's body.
        most_bytes: The largest total size of the items of the answer.
    """

    name: str
    body: bytes
    most_bytes: int


class Question(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A GET for the registry. The server adds who sends it: a worker has no credentials.

    Attributes:
        target: The path and the query, encoded.
        accept: The media types that the worker reads.
        offset: The offset token of an earlier reply; None for none.
        most_bytes: The largest answer that is wanted.
    """

    target: str
    accept: str
    offset: str | None = None
    most_bytes: int = 64 << 20


class Reply(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The registry's answer.

    Attributes:
        status: Its status; 0 if the registry did not answer.
        body: Its body.
        offset: Its offset token; None for none.
    """

    status: int
    body: bytes = b""
    offset: str | None = None


class Outcome(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The answer to a request.

    Attributes:
        status: Its status.
        body: Its JSON.
        trace: The traceback of a defect, for the server's log; empty for none.
    """

    status: int
    body: bytes
    trace: str = ""


S = TypeVar("S", bound=msgspec.Struct)


def pack(said: msgspec.Struct) -> bytes:
    """The bytes of a task, question, reply or outcome."""
    return msgspec.msgpack.encode(said)


def unpack(packed: bytes, kind: type[S]) -> S:
    """The task, question, reply or outcome in bytes; the reverse of `pack`."""
    return msgspec.msgpack.decode(packed, type=kind)
