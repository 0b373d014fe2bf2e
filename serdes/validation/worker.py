"""The worker process: `python -P -m serdes.validation.worker`, requests on stdin, answers on stdout.

It limits itself: the kernel ends it when one request takes more processor time or memory than it may, and it ends when
its parent closes the pipe or has nothing to ask for a while.
"""

from __future__ import annotations

import os
import resource
import signal
from collections import OrderedDict
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, NamedTuple

import orjson

from serdes.message.json_bytes import loads
from serdes.validation.described import DescribedSchema, unpacked
from serdes.validation.protocol import (
    COMPILE_CPU_SECONDS,
    CPU_SECONDS,
    DIGEST_BYTES,
    IDLE_SECONDS,
    MEMORY_BYTES,
    Answer,
    Request,
)

if TYPE_CHECKING:
    import jsonschema_rs

#: Schemas that a worker keeps.
_KEPT = 64
#: Lower priority than the program that asks, whose other work goes first.
_NICENESS = 10


class _Compiled(NamedTuple):
    schema: DescribedSchema
    validator: jsonschema_rs.Validator


def main() -> None:
    """Serves requests until there are no more."""
    requests = Connection(os.dup(0), writable=False)
    answers = Connection(os.dup(1), readable=False)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    os.nice(_NICENESS)
    answers.send_bytes(Answer.READY)
    # What libraries print must not come between the answers, and their last words are not for the program's log.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    try:
        _serve(requests, answers)
    except (EOFError, BrokenPipeError):
        return
    except Exception as error:  # noqa: BLE001  such as MemoryError
        answers.send_bytes(Answer.BROKEN + repr(error).encode())


def _serve(requests: Connection, answers: Connection) -> None:
    kept: OrderedDict[bytes, _Compiled] = OrderedDict()
    while requests.poll(IDLE_SECONDS):
        message = requests.recv_bytes()
        kind, digest, content = message[:1], message[1 : DIGEST_BYTES + 1], message[DIGEST_BYTES + 1 :]
        if kind == Request.COMPILE:
            signal.setitimer(signal.ITIMER_PROF, COMPILE_CPU_SECONDS)
            answers.send_bytes(_compile(kept, digest, content))
        elif digest not in kept:
            answers.send_bytes(Answer.UNKNOWN)
        else:
            kept.move_to_end(digest)
            signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
            _judge(answers, kept[digest], content)
        signal.setitimer(signal.ITIMER_PROF, 0)


def _compile(kept: OrderedDict[bytes, _Compiled], digest: bytes, packed: bytes) -> bytes:
    schema = unpacked(packed)
    try:
        kept[digest] = _Compiled(schema, schema.compile())
    except ValueError as error:
        return Answer.INVALID + str(error).encode()
    if len(kept) > _KEPT:
        kept.popitem(last=False)
    return Answer.ACCEPTED


def _judge(answers: Connection, compiled: _Compiled, text: bytes) -> None:
    value = loads(text.decode())
    if compiled.validator.is_valid(value):
        answers.send_bytes(Answer.ACCEPTED)
        return
    # The decision first: the explanation may be more than there is time for.
    answers.send_bytes(Answer.REFUSED)
    refusal = compiled.schema.explain(value, len(text))
    answers.send_bytes(orjson.dumps([refusal.path, refusal.keyword, refusal.reason]))


if __name__ == "__main__":
    main()
