"""A thread that runs commands one at a time, and a repeated step between them."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from rest_proxy.errors import ILLEGAL_STATE

T = TypeVar("T")

#: Enough for a few nested calls and the client library.
_STACK_BYTES = 512 * 1024
_ENDED = "This consumer has already been closed."


class Worker:
    """A thread for an object that only one thread may use: it runs all commands in order.

    Attributes:
        stepping: Whether the step runs between commands; if not, the thread sleeps until a command comes. Only
            commands set it.
        ended: Whether the thread accepts no more commands.
    """

    def __init__(self, name: str, step: Callable[[], None], interrupt: Callable[[], None]) -> None:
        """Start the thread.

        Args:
            name: The thread's name.
            step: Called between commands; must return soon.
            interrupt: Called when a command comes; makes a waiting step return sooner.
        """
        self.stepping = False
        self.ended = False
        self._step = step
        self._interrupt = interrupt
        self._commands: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = queue.SimpleQueue()
        threading.stack_size(_STACK_BYTES)
        threading.Thread(target=self._run, name=name, daemon=True).start()
        threading.stack_size(0)

    async def do(self, command: Callable[[], T]) -> T:
        """Run a function on the thread and wait for its result.

        Raises:
            ApiError: ILLEGAL_STATE if the worker has ended.
        """
        return await asyncio.wrap_future(self.post(command))

    def post(self, command: Callable[[], T]) -> Future[T]:
        """Run a function on the thread when its turn comes."""
        future: Future[T] = Future()
        self._commands.put((command, future))
        self._interrupt()
        if self.ended:
            self._refuse()
        return future

    @property
    def has_commands(self) -> bool:
        """Whether a command is waiting."""
        return not self._commands.empty()

    def _run(self) -> None:
        while not self.ended:
            self._run_commands(wait=not self.stepping)
            if self.stepping and not self.ended:
                self._step()
        self._refuse()

    def _refuse(self) -> None:
        while True:
            try:
                _, future = self._commands.get(block=False)
            except queue.Empty:
                return
            future.set_exception(ILLEGAL_STATE(detail=_ENDED))

    def _run_commands(self, *, wait: bool) -> None:
        while not self.ended:
            try:
                command, future = self._commands.get(block=wait)
            except queue.Empty:
                return
            wait = False
            # The caller may have cancelled the command meanwhile.
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(command())
            except Exception as error:  # noqa: BLE001  the caller of the command gets it
                future.set_exception(error)
