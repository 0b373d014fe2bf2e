"""A pool of worker processes for an event loop; threads wait for their answers."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from magicbyte.kit.processes.worker_pool import PoolBusy, Worker, WorkerPool


class AsyncWorkerPool:
    """A few workers that run one module, each doing one job at a time; call all methods from one event loop."""

    def __init__(self, module: str, *, size: int = 2, wait_seconds: float = 10.0) -> None:
        """Make a pool without workers; the arguments are those of `WorkerPool`."""
        self._pool = WorkerPool(module, size=size)
        self._wait_seconds = wait_seconds
        # There is one thread per worker, so jobs wait in the threads' queue until a worker is free.
        self._threads = ThreadPoolExecutor(size, thread_name_prefix=module)
        self._jobs: set[_Job] = set()

    async def run(self, message: bytes, *, seconds: float) -> bytes:
        """Return a worker's answer to a message; if the caller is cancelled, the worker is killed.

        Args:
            message: The argument of the worker's function.
            seconds: How long the worker may take.

        Raises:
            PoolBusy: No worker was free in time.
            WorkerFailed: The worker did not answer.
        """
        job = _Job(message, seconds)
        queued = self._threads.submit(self._pool.run, job)
        answer = asyncio.wrap_future(queued)
        self._jobs.add(job)
        try:
            await asyncio.wait([answer], timeout=self._wait_seconds)
            if queued.cancel():  # no thread has begun the job
                raise PoolBusy(f"no worker was free within {self._wait_seconds:g} s")
            return await answer
        except asyncio.CancelledError:
            answer.cancel()
            job.stop()
            raise
        finally:
            self._jobs.remove(job)

    async def close(self) -> None:
        """End all workers at once."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for job in self._jobs:
            job.stop()
        await asyncio.to_thread(self._threads.shutdown)
        self._pool.close()


class _Job:
    """A message for a worker, sent by a thread; the event loop may stop the job."""

    def __init__(self, message: bytes, seconds: float) -> None:
        self._message = message
        self._seconds = seconds
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._is_stopped = False

    def __call__(self, worker: Worker) -> bytes:
        self._hold(worker)
        try:
            return worker.ask(self._message, seconds=self._seconds)
        finally:
            self._hold(None)

    def stop(self) -> None:
        with self._lock:
            self._is_stopped = True
            if self._worker is not None:
                self._worker.stop()

    def _hold(self, worker: Worker | None) -> None:
        """Set the worker that `stop` kills; None after the answer, when the worker may already do another job."""
        with self._lock:
            self._worker = worker
            if worker is not None and self._is_stopped:
                worker.stop()
