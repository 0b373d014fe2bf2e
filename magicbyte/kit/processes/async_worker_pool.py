"""A pool of worker processes for an event loop; threads wait for their answers."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import Any

from magicbyte.kit.processes.worker_pool import PoolBusy, Worker, WorkerDied, WorkerFailed, WorkerPool
from magicbyte.kit.sharing.fair_queue import FairQueue, NoTurn

log = logging.getLogger(__name__)

#: How many workers more than its size a pool starts for clients whose jobs would wait for another client's.
_RESERVE = 1

#: Replies to a worker's question, on the event loop.
AsyncReply = Callable[[bytes], Coroutine[Any, Any, bytes]]


class AsyncWorkerPool:
    """A few workers that run one module, each doing one job at a time; call all methods from one event loop.

    Clients take turns (`FairQueue`). If the jobs of one client keep all workers busy, another client gets one more
    worker, so that it need not wait for a long job.
    """

    def __init__(
        self,
        module: str,
        *,
        arguments: Sequence[str] = (),
        size: int = 2,
        wait_seconds: float = 10.0,
        most_waiting: int | None = None,
    ) -> None:
        """Make a pool without workers.

        Args:
            module: The module that a worker runs with `python -m`.
            arguments: The module's arguments.
            size: How many workers may run at once; one more runs if one client uses them all.
            wait_seconds: How long a job may wait for a worker.
            most_waiting: How many jobs of one client may wait; None for no limit.
        """
        self._pool = WorkerPool(module, arguments=arguments, size=size + _RESERVE)
        self._queue = FairQueue(size, reserve=_RESERVE, most_waiting=most_waiting, wait_seconds=wait_seconds)
        self._threads = ThreadPoolExecutor(size + _RESERVE, thread_name_prefix=module)
        self._jobs: set[_Job] = set()
        #: Starts a worker that no job has asked for.
        self._starting: asyncio.Task[None] | None = None
        self._is_closed = False

    async def run(
        self,
        message: bytes,
        *,
        seconds: float,
        client: str,
        cpu_seconds: float = 0.0,
        reply: AsyncReply | None = None,
    ) -> bytes:
        """Return a worker's answer to a message; if the caller is cancelled, the worker is killed.

        Args:
            message: The argument of the worker's function.
            seconds: How long the worker may take, with the replies to its questions.
            client: The client that the job is for: its principal, or its network if nobody signs in.
            cpu_seconds: How much processor time the worker may take; 0 for no limit.
            reply: Replies to the worker's questions; None if it has none.

        Raises:
            PoolBusy: No worker was free in time, or too many jobs of the client wait.
            WorkerFailed: The worker did not answer.
        """
        try:
            async with self._queue.turn(client):
                if self._starting is not None:
                    # It is ready sooner than another one that starts now.
                    await asyncio.wait((self._starting,))
                return await self._run(_Job(message, seconds, cpu_seconds, reply))
        except NoTurn as refusal:
            raise PoolBusy(str(refusal)) from None

    def warm_up(self) -> None:
        """Start a worker unless one is at hand, so that the next job does not wait for the start; does not wait."""
        if not (self._is_closed or self._jobs or self._starting is not None or self._pool.has_idle):
            self._starting = asyncio.create_task(self._start_worker())

    async def _start_worker(self) -> None:
        try:
            await self._run(_Job(None, 0.0, 0.0, None))
        except (PoolBusy, WorkerFailed) as failure:
            # The next job tries again, and reports the failure.
            log.info(
                "no worker was started ahead of its first job: %s",
                failure,
                extra={"event": "worker_not_started", "error": str(failure)},
            )
        finally:
            self._starting = None

    async def _run(self, job: _Job) -> bytes:
        answer = asyncio.wrap_future(self._threads.submit(self._pool.run, job))
        self._jobs.add(job)
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            job.stop()
            raise
        finally:
            self._jobs.remove(job)
            # The future holds the error, whose traceback holds this frame: only the garbage collector would free them.
            del answer

    async def close(self) -> None:
        """End all workers at once."""
        self._is_closed = True
        self._queue.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        for job in self._jobs:
            job.stop()
        await asyncio.to_thread(self._threads.shutdown)
        self._pool.close()


class _Job:
    """A message for a worker, sent by a thread; the event loop may stop the job, and replies to the worker."""

    def __init__(self, message: bytes | None, seconds: float, cpu_seconds: float, reply: AsyncReply | None) -> None:
        #: None if the worker has only to start.
        self._message = message
        self._seconds = seconds
        self._cpu_seconds = cpu_seconds
        self._reply = reply
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._replying: Future[bytes] | None = None
        self._is_stopped = False

    def __call__(self, worker: Worker) -> bytes:
        self._hold(worker)
        try:
            if self._message is None:
                worker.wait_until_ready()
                if not worker.is_alive:
                    raise WorkerDied("it ended before it had a job")
                return b""
            return worker.ask(
                self._message, seconds=self._seconds, cpu_seconds=self._cpu_seconds, reply=self._reply_on_loop
            )
        finally:
            self._hold(None)

    def stop(self) -> None:
        with self._lock:
            self._is_stopped = True
            if self._worker is not None:
                self._worker.stop()
            if self._replying is not None:
                self._replying.cancel()

    def _hold(self, worker: Worker | None) -> None:
        """Set the worker that `stop` kills; None after the answer, when the worker may already do another job."""
        with self._lock:
            self._worker = worker
            if worker is not None and self._is_stopped:
                worker.stop()

    def _reply_on_loop(self, question: bytes, seconds: float) -> bytes:
        assert self._reply is not None, "this worker has nobody to ask"
        with self._lock:
            if self._is_stopped:
                return b""  # the worker has been killed
            replying = self._replying = asyncio.run_coroutine_threadsafe(self._reply(question), self._loop)
        try:
            return replying.result(seconds)
        except CancelledError:
            return b""  # as above
        except TimeoutError:
            replying.cancel()
            raise
