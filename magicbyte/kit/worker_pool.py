"""Worker processes that answer messages: few, each of which can be killed.

A thread would share the interpreter lock with its program, and nothing could stop it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from struct import Struct
from typing import TypeVar
from weakref import WeakSet

from magicbyte.kit import process

#: A request is the processor time that it may take, in seconds, and the message.
_CPU_SECONDS = Struct(">d")
#: The first byte of what a worker sends: a part of an answer follows, or the error that ends the worker.
_ANSWER, _BROKEN = b"+", b"!"
#: How long a worker may take to start, and how long one that closed its connection has to end by itself.
_START_SECONDS = 30.0
_END_SECONDS = 1.0

T = TypeVar("T")


class PoolBusy(Exception):
    """All workers had work for as long as a caller may wait for one."""


class WorkerFailed(Exception):
    """A worker did not answer; the text says why, of an `it` that was asked for."""


class WorkerUnavailable(WorkerFailed):
    """A worker process cannot be started."""


class WorkerTimeout(WorkerFailed):
    """A worker was killed, because it took too long or was stopped."""


class WorkerDied(WorkerFailed):
    """A worker ended: it took too much memory, met a defect, or had had no work for a while."""


class Worker:
    """A process that runs a module, which calls `serve`; used by one thread at a time, but stopped by any.

    Args:
        module: The module's name; it is looked for in the `sys.path` of this process.

    Raises:
        WorkerUnavailable: The process cannot be started.
    """

    def __init__(self, module: str) -> None:
        if sys.platform == "win32":
            raise WorkerUnavailable("it needs a worker process, which does not run on Windows")
        if getattr(sys, "frozen", False) or not sys.executable:
            raise WorkerUnavailable("it needs a worker process, and no Python interpreter is known")
        # Modules are found where this process found them, whatever brought them: an environment, an archive of Spark's.
        path = os.pathsep.join(entry for entry in sys.path if entry)
        # A program of its own: not a fork of this process, whose threads may hold locks, and not multiprocessing's,
        # which would run the user's program again.
        try:
            self._connection, theirs = Pipe()
            with theirs:
                command = [sys.executable, "-P", "-m", module, str(theirs.fileno())]
                environment = {**os.environ, "PYTHONPATH": path}
                self._process = process.start(command, environment=environment, pass_fds=[theirs.fileno()])
        except OSError as error:
            raise WorkerUnavailable(f"its worker process cannot be started: {error}") from error
        self._cpu_seconds = 0.0
        self._is_ready = False
        self._is_stopped = False

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def ask(self, message: bytes, *, seconds: float, cpu_seconds: float = 0.0) -> bytes:
        """The first part of the answer to a message.

        Args:
            message: What the worker's function is called with.
            seconds: How long the worker may take for this part.
            cpu_seconds: How much processor time it may take for the whole answer; 0 for no limit.

        Raises:
            WorkerFailed: The worker did not answer, and has ended.
        """
        if not self._is_ready:
            try:
                self.receive(_START_SECONDS)
            except WorkerFailed as failure:
                raise WorkerUnavailable(f"its worker process did not start: {failure}") from None
            self._is_ready = True
        self._cpu_seconds = cpu_seconds
        with suppress(OSError):  # of a worker that has ended, as the receiver will learn
            self._connection.send_bytes(_CPU_SECONDS.pack(cpu_seconds) + message)
        return self.receive(seconds)

    def receive(self, seconds: float) -> bytes:
        """The next part of the answer; as `ask`."""
        failure: WorkerFailed
        try:
            if not self._connection.poll(seconds):
                failure = WorkerTimeout(f"it took more than {seconds:g} s")
            elif (part := self._connection.recv_bytes()).startswith(_ANSWER):
                return part[1:]
            else:
                failure = WorkerDied(f"it met {part[1:].decode()}")
        except (EOFError, OSError):
            failure = self._death()
        self.kill()
        raise failure

    def stop(self) -> None:
        """Kill the process, while another thread may wait for its answer."""
        self._is_stopped = True
        self._process.kill()

    def kill(self) -> None:
        """End the process, and wait for its end."""
        self._process.kill()
        self._process.wait()
        self._connection.close()

    def disown(self) -> None:
        """Leave the process to the parent of this one, which was forked from it."""
        self._process.returncode = 0  # it is no child of this process, which must not wait for it
        self._connection.close()

    def _death(self) -> WorkerFailed:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        self.kill()
        code = self._process.returncode
        if self._is_stopped:
            return WorkerTimeout("it was stopped")
        if code == -signal.SIGPROF:
            return WorkerTimeout(f"it took more than {self._cpu_seconds:g} s of processor time")
        return WorkerDied(f"its worker ended with {signal.Signals(-code).name if code < 0 else code}")


class WorkerPool:
    """A few workers that run one module; safe to share between threads, and empty in a forked process.

    A worker starts when there is work for it, and ends when it has had none for a while.
    """

    def __init__(self, module: str, *, size: int = 2, wait_seconds: float = 10.0) -> None:
        """Make a pool without workers.

        Args:
            module: What a worker runs with `python -m`.
            size: The most workers.
            wait_seconds: How long a caller waits for a worker.
        """
        self._module = module
        self._size = size
        self._wait_seconds = wait_seconds
        self._free = threading.BoundedSemaphore(size)
        #: The one that had work last at the end: it still knows what it has read.
        self._idle: deque[Worker] = deque()
        _pools.add(self)

    def run(self, use: Callable[[Worker], T]) -> T:
        """Have a worker used, for one conversation.

        Args:
            use: What is done with it. It is called again with another worker if one ends that had other work before:
                its time without work may be over, or its memory full.

        Raises:
            PoolBusy: No worker was free in time.
            WorkerFailed: The worker did not answer.
        """
        if not self._free.acquire(timeout=self._wait_seconds):
            raise PoolBusy(f"no worker was free within {self._wait_seconds:g} s")
        try:
            while (worker := self._pop_idle()) is not None:
                with suppress(WorkerDied):
                    return self._use(worker, use)
            return self._use(Worker(self._module), use)
        finally:
            self._free.release()

    def close(self) -> None:
        """End the workers without work; a later call starts new ones."""
        while (worker := self._pop_idle()) is not None:
            worker.kill()

    def forget(self) -> None:
        """Start anew in a forked process, which has copies of its parent's workers."""
        while (worker := self._pop_idle()) is not None:
            worker.disown()
        self._free = threading.BoundedSemaphore(self._size)

    def _pop_idle(self) -> Worker | None:
        try:
            return self._idle.pop()
        except IndexError:  # another thread may have taken the last
            return None

    def _use(self, worker: Worker, use: Callable[[Worker], T]) -> T:
        try:
            result = use(worker)
        except BaseException:
            # Whatever stops the conversation, the worker may still be at it.
            worker.kill()
            raise
        if worker.is_alive:
            self._idle.append(worker)
        return result


#: The pools of this process.
_pools: WeakSet[WorkerPool] = WeakSet()


def _forget_all() -> None:
    for pool in _pools:
        pool.forget()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_forget_all)


def serve(answer: Callable[[bytes], Iterable[bytes]], *, memory_bytes: int, idle_seconds: float = 60.0) -> None:
    """Answer messages until the parent has gone or has had none for a while: the main function of a worker.

    Args:
        answer: Makes the parts of a message's answer, each of which is sent when it is made.
        memory_bytes: The memory that the process may have, without its code; a message that needs more ends it.
        idle_seconds: How long the process stays without a message.
    """
    import resource  # noqa: PLC0415 - not on Windows, where no worker runs

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for limit, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_DATA, memory_bytes)):
        with suppress(OSError, ValueError):  # not every system knows these limits
            resource.setrlimit(limit, (most, most))
    with Connection(int(sys.argv[1])) as parent:
        try:
            parent.send_bytes(_ANSWER)
            while parent.poll(idle_seconds):
                request = parent.recv_bytes()
                # The kernel keeps this limit, so that a call ends which never returns to the interpreter.
                signal.setitimer(signal.ITIMER_PROF, *_CPU_SECONDS.unpack_from(request))
                for part in answer(request[_CPU_SECONDS.size :]):
                    parent.send_bytes(_ANSWER + part)
                signal.setitimer(signal.ITIMER_PROF, 0)
        except (EOFError, ConnectionError):
            return
        except Exception as error:
            parent.send_bytes(_BROKEN + repr(error).encode())
            raise
