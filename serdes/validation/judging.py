"""Validates values in worker processes, which are killed if a value takes too much time or memory.

A request is COMPILE or JUDGE, the digest of the schema, and the packed schema or the value's JSON text. The answer is
ACCEPTED, INVALID with the schema's error, UNKNOWN if the schema must be compiled first, or REFUSED followed by a
second part: path, keyword and reason as JSON.
"""

from __future__ import annotations

import math
import time
from functools import partial

import orjson

from magicbyte.kit.processes.processor_time import add_seconds_of_worker
from magicbyte.kit.processes.worker_pool import (
    PoolBusy,
    Worker,
    WorkerFailed,
    WorkerOutOfMemory,
    WorkerPool,
    WorkerTimeout,
    WorkerUnavailable,
)
from serdes.error import ValidationUnavailable
from serdes.validation.described import DescribedSchema
from serdes.validation.refusal import Refusal

COMPILE, JUDGE = b"S", b"V"
ACCEPTED, REFUSED, UNKNOWN, INVALID = b"+", b"-", b"?", b"!"

#: The processor time for a value, and for compiling a schema, in seconds.
_CPU_SECONDS = 0.5
_COMPILE_CPU_SECONDS = 2.0
#: The time after which a worker is killed even if the machine gave it too little processor time, in seconds.
_PATIENCE = 20.0

#: The workers of this process.
pool = WorkerPool("serdes.validation.worker", wait_seconds=30.0)


#: How many seconds all further values of this process may take together.
_seconds_left = math.inf


def limit_judging(seconds: float) -> None:
    """Limit the time of all values from now on: a process that works on one request at a time sets it for each."""
    global _seconds_left  # noqa: PLW0603 - the time of the process
    _seconds_left = seconds


def judge(schema: DescribedSchema, text: bytes) -> Refusal | None:
    """Validate a value given as JSON text; returns the refusal, or None if the schema accepts it.

    A value that takes more time or memory than a worker may use is refused; so are all values after the time of
    `limit_judging`.

    Raises:
        ValueError: The schema cannot be compiled.
        ValidationUnavailable: No worker can be started, or none becomes free in time.
    """
    global _seconds_left  # noqa: PLW0603 - as above
    if _seconds_left <= 0:
        return schema.given_up("validation was not begun, as the values before it took all of its time")
    started = time.monotonic()
    try:
        return _judge(schema, text)
    finally:
        _seconds_left -= time.monotonic() - started


def _judge(schema: DescribedSchema, text: bytes) -> Refusal | None:
    try:
        verdict = pool.run(partial(_verdict, schema, text))
    except (PoolBusy, WorkerUnavailable) as error:
        raise ValidationUnavailable(str(error)) from error
    except WorkerFailed as failure:
        return schema.given_up(f"validation was ended, as {failure}")
    if isinstance(verdict, ValueError):
        raise verdict
    return verdict


def _verdict(schema: DescribedSchema, text: bytes, worker: Worker) -> Refusal | ValueError | None:
    worker.wait_until_ready()  # which takes processor time that is not the value's
    started = worker.cpu_time()
    try:
        verdict = _judged_by_worker(schema, text, worker)
    except (WorkerTimeout, WorkerOutOfMemory):
        add_seconds_of_worker(_CPU_SECONDS)  # the worker cannot be asked any more
        raise
    add_seconds_of_worker(worker.cpu_time() - started if worker.is_alive else _CPU_SECONDS)
    return verdict


def _judged_by_worker(schema: DescribedSchema, text: bytes, worker: Worker) -> Refusal | ValueError | None:
    ask = partial(worker.ask, JUDGE + schema.digest + text, seconds=_PATIENCE, cpu_seconds=_CPU_SECONDS)
    decision = ask()
    if decision == UNKNOWN:
        compiled = worker.ask(
            COMPILE + schema.digest + schema.packed, seconds=_PATIENCE, cpu_seconds=_COMPILE_CPU_SECONDS
        )
        if compiled.startswith(INVALID):
            return ValueError(compiled[1:].decode())
        decision = ask()
    if decision == ACCEPTED:
        return None
    # The decision comes first, because the time may run out during the explanation.
    try:
        path, keyword, reason = orjson.loads(worker.receive(_PATIENCE))
    except WorkerFailed as failure:
        return schema.given_up(f"the search for the reason ended, as {failure}")
    return Refusal(tuple(path), keyword, reason)
