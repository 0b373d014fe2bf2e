"""A pool of a few worker processes that answer messages, and can be killed.

A thread would share the interpreter lock with the rest of the program, and could not be stopped.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from struct import Struct
from typing import TypeVar
from weakref import WeakSet

from magicbyte.kit.processes import process

#: A request is its limit of processor time, in seconds, followed by the message.
_CPU_SECONDS = Struct(">d")
#: The first byte that a worker sends: a part of an answer follows, a question, or the error that ends the worker.
_ANSWER, _QUESTION, _BROKEN = b"+", b"?", b"!"
#: How the text of an error of missing memory begins.
_NO_MEMORY = "MemoryError("
#: How long a worker may take to start, and to end after it has closed its connection.
_START_SECONDS = 30.0
_END_SECONDS = 1.0

T = TypeVar("T")

#: Takes a worker's question and the seconds that are left; returns the reply, or raises TimeoutError.
Reply = Callable[[bytes, float], bytes]
#: Sends a question to the parent process and returns its reply.
Ask = Callable[[bytes], bytes]


class PoolBusy(Exception):
    """No worker became free within the time that a caller may wait."""


class WorkerFailed(Exception):
    """A worker did not answer; the text says why, and calls the caller's task `it`."""


class WorkerUnavailable(WorkerFailed):
    """A worker process cannot be started."""


class WorkerTimeout(WorkerFailed):
    """A worker was killed, because it took too long or was stopped."""


class WorkerOutOfCpu(WorkerTimeout):
    """A worker was killed, because it took too much processor time."""


class WorkerDied(WorkerFailed):
    """A worker ended: it took too much memory, hit a defect, or was idle for too long."""


class WorkerOutOfMemory(WorkerDied):
    """A worker ended, because it reached its limit of memory."""


class WorkerKilled(WorkerDied):
    """Somebody else killed the worker, such as the kernel of a machine without free memory."""


def _refuse(_question: bytes, _seconds: float) -> bytes:
    raise AssertionError("this worker has nobody to ask")


class Worker:
    """A process that runs a module, which calls `serve`; only one thread may use it at a time, but any may stop it.

    Args:
        module: The module's name; the worker imports it by the `sys.path` of this process.
        arguments: The module's arguments; `serve` leaves them to it, from `sys.argv[2]` on.

    Raises:
        WorkerUnavailable: The process cannot be started.
    """

    def __init__(self, module: str, arguments: Sequence[str] = ()) -> None:
        if sys.platform == "win32":
            raise WorkerUnavailable("it needs a worker process, which does not run on Windows")
        if getattr(sys, "frozen", False) or not sys.executable:
            raise WorkerUnavailable("it needs a worker process, and no Python interpreter is known")
        # The worker finds modules in the same places as this process, such as an environment or an archive of Spark.
        path = os.pathsep.join(entry for entry in sys.path if entry)
        # Start a new program: a fork of this process might inherit held locks, and a process of multiprocessing would
        # run the user's program again.
        try:
            self._connection, theirs = Pipe()
            with theirs:
                command = [sys.executable, "-P", "-m", module, str(theirs.fileno()), *arguments]
                environment = {**os.environ, "PYTHONPATH": path}
                self._process = process.start(command, environment=environment, pass_fds=[theirs.fileno()])
        except OSError as error:
            raise WorkerUnavailable(f"its worker process cannot be started: {error}") from error
        self._cpu_seconds = 0.0
        self._is_ready = False
        self._is_stopped = False

    @property
    def is_alive(self) -> bool:
        """Whether the process is alive."""
        return self._process.poll() is None

    def ask(self, message: bytes, *, seconds: float, cpu_seconds: float = 0.0, reply: Reply = _refuse) -> bytes:
        """Send a message and return the first part of the answer.

        Args:
            message: The argument of the worker's function.
            seconds: How long the worker may take for this part, with the replies to its questions.
            cpu_seconds: How much processor time the whole answer may take; 0 for no limit.
            reply: Replies to the worker's questions.

        Raises:
            WorkerFailed: The worker did not answer, and has ended.
        """
        self.wait_until_ready()
        self._cpu_seconds = cpu_seconds
        self._send(_CPU_SECONDS.pack(cpu_seconds) + message)
        return self.receive(seconds, reply)

    def wait_until_ready(self) -> None:
        """Wait until the process has started; raises WorkerUnavailable if it has not."""
        if not self._is_ready:
            try:
                self.receive(_START_SECONDS)
            except WorkerFailed as failure:
                raise WorkerUnavailable(f"its worker process did not start: {failure}") from None
            self._is_ready = True

    def cpu_time(self) -> float:
        """The processor time that the process has used, in seconds; the wall time on systems that do not tell it."""
        try:
            # The clock of a process: MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED) of Linux.
            return time.clock_gettime(~self._process.pid << 3 | 2)
        except OSError:
            return time.monotonic()

    def receive(self, seconds: float, reply: Reply = _refuse) -> bytes:
        """Return the next part of the answer; raises the same errors as `ask`."""
        answer = self._answer(seconds, reply)
        if isinstance(answer, bytes):
            return answer
        self.kill()
        try:
            raise answer
        finally:
            # The error's traceback holds this frame, and so the message: only the garbage collector would free them.
            del answer

    def _answer(self, seconds: float, reply: Reply) -> bytes | WorkerFailed:
        until = time.monotonic() + seconds
        try:
            while (left := until - time.monotonic()) > 0 and self._connection.poll(left):
                part = self._connection.recv_bytes()
                if part.startswith(_ANSWER):
                    return part[1:]
                if part.startswith(_BROKEN):
                    error = part[1:].decode()
                    kind = WorkerOutOfMemory if error.startswith(_NO_MEMORY) else WorkerDied
                    return kind(f"it met {error}")
                self._send(reply(part[1:], until - time.monotonic()))
        except TimeoutError:
            pass
        except (EOFError, OSError):
            return self._death()
        return WorkerTimeout(f"it took more than {seconds:g} s")

    def stop(self) -> None:
        """Kill the process, even if another thread waits for its answer."""
        self._is_stopped = True
        self._process.kill()

    def kill(self) -> None:
        """Kill the process, and wait for its end."""
        self._process.kill()
        self._process.wait()
        self._connection.close()

    def disown(self) -> None:
        """Leave the worker to the parent process; for use in a forked process."""
        self._process.returncode = 0  # it is not a child of this process, so do not wait for it
        self._connection.close()

    def _send(self, message: bytes) -> None:
        with suppress(OSError):  # the worker has ended; `receive` raises that
            self._connection.send_bytes(message)

    def _death(self) -> WorkerFailed:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        self.kill()
        code = self._process.returncode
        if self._is_stopped:
            return WorkerTimeout("it was stopped")
        if code == -signal.SIGPROF:
            return WorkerOutOfCpu(f"it took more than {self._cpu_seconds:g} s of processor time")
        kind = WorkerKilled if code in (-signal.SIGKILL, -signal.SIGTERM) else WorkerDied
        return kind(f"its worker ended with {signal.Signals(-code).name if code < 0 else code}")


class WorkerPool:
    """A few workers that run one module; thread-safe, and empty in a forked process.

    A worker starts when there is work for it, and ends after it has been idle for a while.
    """

    def __init__(
        self, module: str, *, arguments: Sequence[str] = (), size: int = 2, wait_seconds: float = 10.0
    ) -> None:
        """Make a pool without workers.

        Args:
            module: The module that a worker runs with `python -m`.
            arguments: The module's arguments.
            size: How many workers may run at once.
            wait_seconds: How long a caller may wait for a worker.
        """
        self._module = module
        self._arguments = tuple(arguments)
        self._size = size
        self._wait_seconds = wait_seconds
        self._free = threading.BoundedSemaphore(size)
        #: The idle workers, the last used one at the end; it is used first, because its caches are the most recent.
        self._idle: deque[Worker] = deque()
        _pools.add(self)

    @property
    def has_idle(self) -> bool:
        """Whether a worker waits for work."""
        return any(worker.is_alive for worker in tuple(self._idle))

    def run(self, use: Callable[[Worker], T]) -> T:
        """Call a function with a worker that it may use until it returns.

        Args:
            use: The function. If it fails because a previously used worker ends, it is called again with another one:
                that worker may have reached its idle time or its memory limit.

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
            return self._use(Worker(self._module, self._arguments), use)
        finally:
            self._free.release()

    def close(self) -> None:
        """End the idle workers; a later call starts new ones."""
        while (worker := self._pop_idle()) is not None:
            worker.kill()

    def forget(self) -> None:
        """Reset the pool in a forked process, which has copies of its parent's workers."""
        while (worker := self._pop_idle()) is not None:
            worker.disown()
        self._free = threading.BoundedSemaphore(self._size)

    def _pop_idle(self) -> Worker | None:
        try:
            return self._idle.pop()
        except IndexError:  # another thread may have taken the last one
            return None

    def _use(self, worker: Worker, use: Callable[[Worker], T]) -> T:
        try:
            result = use(worker)
        except BaseException:
            # Whatever stopped the call, the worker may still be working.
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


def serve(answer: Callable[[bytes, Ask], Iterable[bytes]], *, memory_bytes: int, idle_seconds: float = 60.0) -> None:
    """Answer messages until the parent has gone or the worker is idle for too long; the main function of a worker.

    Args:
        answer: Yields the parts of a message's answer; each part is sent at once. Before that, it may ask the parent.
        memory_bytes: The memory limit of the process, without its code; a message that needs more ends the process.
        idle_seconds: How long the process waits for a message before it ends.
    """
    import resource  # noqa: PLC0415 - not available on Windows, which has no workers

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for limit, value in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_DATA, memory_bytes)):
        with suppress(OSError, ValueError):  # not every system has these limits
            resource.setrlimit(limit, (value, value))
    with Connection(int(sys.argv[1])) as parent:

        def ask(question: bytes) -> bytes:
            parent.send_bytes(_QUESTION + question)
            return parent.recv_bytes()

        try:
            parent.send_bytes(_ANSWER)
            while parent.poll(idle_seconds):
                request = parent.recv_bytes()
                # The kernel enforces this limit, even on a call that never returns to the interpreter.
                signal.setitimer(signal.ITIMER_PROF, *_CPU_SECONDS.unpack_from(request))
                for part in answer(request[_CPU_SECONDS.size :], ask):
                    parent.send_bytes(_ANSWER + part)
                signal.setitimer(signal.ITIMER_PROF, 0)
        except (EOFError, ConnectionError):
            return
        except Exception as error:
            parent.send_bytes(_BROKEN + repr(error).encode())
            raise
