"""A pool of workers for an event loop, which awaits them in threads."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from magicbyte.kit.worker_pool import PoolBusy, Worker, WorkerPool


class AsyncWorkerPool:
    """A few workers that run one module, and do one job after the other; all methods belong to one event loop."""

    def __init__(self, module: str, *, size: int = 2, wait_seconds: float = 10.0) -> None:
        """Make a pool without workers; the arguments are those of `WorkerPool`."""
        self._pool = WorkerPool(module, size=size)
        self._wait_seconds = wait_seconds
        # As many threads as workers: a job waits for a worker in the threads' queue.
        self._threads = ThreadPoolExecutor(size, thread_name_prefix=module)
        self._jobs: set[_Job] = set()

    async def run(self, message: bytes, *, seconds: float) -> bytes:
        """Have a message answered; if the wait for the answer is cancelled, its worker is killed.

        Args:
            message: What the worker's function is called with.
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
            if queued.cancel():  # no thread has taken it
                raise PoolBusy(f"no worker was free within {self._wait_seconds:g} s")
            return await answer
        except asyncio.CancelledError:
            answer.cancel()
            job.stop()
            raise
        finally:
            self._jobs.remove(job)

    async def close(self) -> None:
        """End all workers, whatever they do."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for job in self._jobs:
            job.stop()
        await asyncio.to_thread(self._threads.shutdown)
        self._pool.close()


class _Job:
    """A message to answer, in a thread; the event loop may stop it."""

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
        """Note which worker a stop kills: none of them once it has answered, as its next message is another job's."""
        with self._lock:
            self._worker = worker
            if worker is not None and self._is_stopped:
                worker.stop()
