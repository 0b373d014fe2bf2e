"""Jobs that an event loop has done by child processes: few of them, each of which can be killed.

A thread would share the interpreter lock with the event loop, and nothing could stop it.
"""

from __future__ import annotations

import asyncio
import gc
import resource
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from magicbyte.kit import process

#: Each message is its length and its bytes.
_LENGTH = struct.Struct(">Q")
_READ_AHEAD = 1 << 20
#: How many objects more than before are looked through for cycles.
_OBJECTS_A_COLLECTION = 100_000
_REAP_SECONDS = 1.0


class PoolBusy(Exception):
    """All children had work for as long as a job may wait for one."""


class JobTimeout(Exception):
    """A job took longer than it may; its child was killed."""


class JobDied(Exception):
    """A job ended its child: it took too much memory, or met a defect."""


class JobPool:
    """A few child processes that run one module, and do one job after the other.

    A child starts when there is work for it, and ends after it had none for a while. All methods belong to one event
    loop.
    """

    def __init__(self, module: str, *, size: int = 2, idle_seconds: float = 60.0, wait_seconds: float = 10.0) -> None:
        """Make a pool without children.

        Args:
            module: What a child runs with `python -m`; it calls `serve_jobs`.
            size: The most children.
            idle_seconds: How long a child stays without work.
            wait_seconds: How long a job waits for a child.
        """
        self._module = module
        self._size = size
        self._idle_seconds = idle_seconds
        self._wait_seconds = wait_seconds
        self._free = asyncio.Semaphore(size)
        #: The children without work, the one that had some last at the end: it still knows what it has read.
        self._idle: list[_Child] = []
        self._children: set[_Child] = set()
        #: The processes that were killed, and may not have ended yet.
        self._killed: list[subprocess.Popen[bytes]] = []
        self._collector: asyncio.TimerHandle | None = None

    async def run(self, job: bytes, *, seconds: float) -> bytes:
        """Have a job done.

        Args:
            job: What the child's function is given.
            seconds: How long the child may take.

        Returns:
            What that function returned.

        Raises:
            PoolBusy: No child was free in time.
            JobTimeout: The job took too long.
            JobDied: The child has ended.
        """
        try:
            async with asyncio.timeout(self._wait_seconds):
                await self._free.acquire()
        except TimeoutError:
            raise PoolBusy(f"no child process was free within {self._wait_seconds:.0f} s") from None
        try:
            async with asyncio.timeout(seconds):
                return await self._do(job)
        except TimeoutError:
            raise JobTimeout(f"it took more than {seconds:.0f} s") from None
        except (EOFError, OSError):
            raise JobDied("the process that did it has ended") from None
        finally:
            self._free.release()

    async def _do(self, job: bytes) -> bytes:
        child = self._pop_idle() or await self._start()
        try:
            answer = await child.ask(job)
        except BaseException:
            # Whatever stops the wait, the child may still be at it.
            self._end(child)
            raise
        child.idle_since = time.monotonic()
        self._idle.append(child)
        self._collect_later(self._idle_seconds + _REAP_SECONDS)
        return answer

    def _pop_idle(self) -> _Child | None:
        while self._idle:
            child = self._idle.pop()
            if child.process.poll() is None:
                return child
            self._end(child)
        return None

    async def close(self) -> None:
        """End all children, whatever they do."""
        for child in list(self._children):
            self._end(child)
        self._idle.clear()
        if self._collector is not None:
            self._collector.cancel()
        for killed in self._killed:
            killed.wait()

    async def _start(self) -> _Child:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-P", "-m", self._module, str(theirs.fileno())]
            started = process.start(command, pass_fds=[theirs.fileno()])
        try:
            reader, writer = await asyncio.open_connection(sock=ours, limit=_READ_AHEAD)
        except BaseException:
            started.kill()
            raise
        child = _Child(started, reader, writer)
        self._children.add(child)
        return child

    def _end(self, child: _Child) -> None:
        child.end()
        self._children.discard(child)
        self._killed.append(child.process)
        self._collect_later(_REAP_SECONDS)

    def _collect_later(self, seconds: float) -> None:
        if self._collector is None:
            self._collector = asyncio.get_running_loop().call_later(seconds, self.collect)

    def collect(self) -> None:
        """End the children that have had no work for long enough; the pool calls it from time to time."""
        self._collector = None
        self._killed = [killed for killed in self._killed if killed.poll() is None]
        until = time.monotonic() - self._idle_seconds
        for child in [child for child in self._idle if child.idle_since < until]:
            self._idle.remove(child)
            self._end(child)
        if self._idle:
            self._collect_later(self._idle_seconds + _REAP_SECONDS)


class _Child:
    """A process, and the connection to it."""

    def __init__(
        self, started: subprocess.Popen[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.process = started
        self.idle_since = 0.0
        self._reader = reader
        self._writer = writer

    async def ask(self, job: bytes) -> bytes:
        self._writer.write(_LENGTH.pack(len(job)))
        self._writer.write(job)
        await self._writer.drain()
        (length,) = _LENGTH.unpack(await self._reader.readexactly(_LENGTH.size))
        return await self._reader.readexactly(length)

    def end(self) -> None:
        self._writer.close()
        self.process.kill()


def serve_jobs(perform: Callable[[bytes], bytes], *, most_memory: int) -> None:
    """Do jobs until the parent has gone: the main function of a child.

    Args:
        perform: Makes a job's answer.
        most_memory: The address space that the process may have, in bytes; a job that needs more ends it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError, ValueError):  # not every system knows this limit
        resource.setrlimit(resource.RLIMIT_AS, (most_memory, most_memory))
    # As in the server: what a job makes goes with it or is kept, and is looked through for cycles seldom.
    gc.freeze()
    gc.set_threshold(_OBJECTS_A_COLLECTION)
    with socket.socket(fileno=int(sys.argv[1])) as parent, suppress(EOFError, ConnectionError):
        while True:
            (length,) = _LENGTH.unpack(_receive(parent, _LENGTH.size))
            answer = perform(_receive(parent, length))
            parent.sendall(_LENGTH.pack(len(answer)) + answer)


def _receive(parent: socket.socket, length: int) -> bytes:
    received = bytearray(length)
    view = memoryview(received)
    while view:
        count = parent.recv_into(view)
        if not count:
            raise EOFError
        view = view[count:]
    return bytes(received)
