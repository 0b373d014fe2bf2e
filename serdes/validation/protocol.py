"""What a worker process is asked and answers, and the limits it has."""

from __future__ import annotations

#: Seconds of processor time that a value may take, and that a schema may take to compile.
CPU_SECONDS = 0.5
COMPILE_CPU_SECONDS = 2.0
#: Memory of a worker in bytes.
MEMORY_BYTES = 512 * 1024 * 1024
#: Seconds without a request after which a worker ends.
IDLE_SECONDS = 60.0
#: Bytes of the digest that names a schema.
DIGEST_BYTES = 16


class Request:
    """The first byte of a request; the schema's digest follows, then the packed schema or the value's JSON text."""

    COMPILE = b"S"
    JUDGE = b"V"


class Answer:
    """The first byte of an answer.

    After REFUSED comes a message of its own: path, keyword and reason as JSON. BROKEN and INVALID are followed by text.
    """

    READY = b"R"
    ACCEPTED = b"+"
    REFUSED = b"-"
    #: The schema must be sent first.
    UNKNOWN = b"?"
    #: The schema cannot be compiled.
    INVALID = b"!"
    #: The worker ends, because of an error of its own.
    BROKEN = b"X"
