"""Worker processes that validate what may take long: few, started when first needed, killed when they take too long."""

from __future__ import annotations

import atexit
import os
import sys
import threading

from serdes.error import ValidationUnavailable
from serdes.validation.described import DescribedSchema
from serdes.validation.process import WorkerDied, WorkerProcess
from serdes.validation.refusal import Refusal

#: Worker processes at most.
WORKERS = 2
#: Seconds that a caller waits for a worker that is free.
_QUEUE_PATIENCE = 30.0


class Pool:
    """The worker processes of this process; safe to share between threads."""

    def __init__(self) -> None:
        self._free = threading.BoundedSemaphore(WORKERS)
        self._idle: list[WorkerProcess] = []

    def judge(self, schema: DescribedSchema, text: bytes) -> Refusal | None:
        """The refusal of a value given as JSON text; None if the schema accepts it.

        A value that takes more time or memory than a worker has is refused.

        Raises:
            ValueError: The schema cannot be compiled.
            ValidationUnavailable: No worker can be started, or none is free in time.
        """
        try:
            return self._run(schema, text)
        except WorkerDied as death:
            return schema.given_up(f"validation was ended, as {death}")

    def forget(self) -> None:
        """Starts anew in a forked process, which has copies of its parent's workers."""
        idle, self._idle = self._idle, []
        self._free = threading.BoundedSemaphore(WORKERS)
        for worker in idle:
            worker.disown()

    def close(self) -> None:
        """Ends the workers; a later call starts new ones."""
        while self._idle:
            self._idle.pop().kill()

    def _run(self, schema: DescribedSchema, text: bytes) -> Refusal | None:
        if not self._free.acquire(timeout=_QUEUE_PATIENCE):
            raise ValidationUnavailable(f"no worker was free within {_QUEUE_PATIENCE:g} s")
        try:
            while True:
                worker = self._taken()
                try:
                    refusal = worker.judge(schema, text)
                except WorkerDied as death:
                    # An old worker may have died of what was before: its end of idling, or a full memory.
                    if worker.is_fresh or death.is_timeout:
                        raise
                except ValueError:
                    self._give_back(worker)
                    raise
                except BaseException:
                    worker.kill()
                    raise
                else:
                    self._give_back(worker)
                    return refusal
        finally:
            self._free.release()

    def _taken(self) -> WorkerProcess:
        while self._idle:
            worker = self._idle.pop()
            if worker.is_alive:
                return worker
            worker.kill()
        return WorkerProcess()

    def _give_back(self, worker: WorkerProcess) -> None:
        worker.is_fresh = False
        if worker.is_alive:
            self._idle.append(worker)


#: The pool of this process.
shared = Pool()

atexit.register(shared.close)
if sys.platform != "win32":
    os.register_at_fork(after_in_child=shared.forget)
