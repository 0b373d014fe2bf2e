"""Signals to a running server: SIGUSR1 logs everything for five minutes, SIGUSR2 logs what all threads and tasks do."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from magicbyte.kit.logs.set_up import DEBUGGING

log = logging.getLogger("magicbyte.logs")

DEBUG_SECONDS = 300.0
#: The most tasks that are logged one by one: each connection has one.
_MOST_TASKS = 200


def take_log_signals() -> None:
    """Handle SIGUSR1 and SIGUSR2 in this process; does nothing on systems without them."""
    if sys.platform != "win32" and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGUSR1, _debug)
        signal.signal(signal.SIGUSR2, _dump)


def _debug(_number: int, _frame: FrameType | None) -> None:
    _on_thread(DEBUGGING.begin, DEBUG_SECONDS)


def _dump(_number: int, _frame: FrameType | None) -> None:
    _on_thread(_log_stacks, _tasks())


def _on_thread(work: Callable[..., None], *arguments: object) -> None:
    """Run work that logs on a thread: a signal handler may interrupt a write to the log."""
    threading.Thread(target=work, args=arguments, name="log-signal", daemon=True).start()


def _tasks() -> list[tuple[str, list[str]]]:
    """The names and stacks of the tasks of this thread's event loop."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return []
    return [(task.get_name(), list(_awaiting(task.get_coro()))) for task in asyncio.all_tasks(loop)]


def _log_stacks(tasks: list[tuple[str, list[str]]]) -> None:
    """Write a line for each thread and each task: collectors of logs cut lines that are long."""
    frames = sys._current_frames()  # noqa: SLF001  its documented name
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    own = threading.get_ident()
    stacks = {names.get(ident, str(ident)): frame for ident, frame in frames.items() if ident != own}
    log.warning(
        "what %d threads and %d tasks do",
        len(stacks),
        len(tasks),
        extra={"event": "stacks_dumped", "threads": len(stacks), "tasks": len(tasks)},
    )
    for name, frame in stacks.items():
        stack = [_place(summary) for summary in traceback.extract_stack(frame, limit=50)]
        log.warning(
            "thread %s: %s",
            name,
            " > ".join(stack),
            extra={"event": "thread_stack", "thread_name": name, "stack": stack},
        )
    for name, stack in tasks[:_MOST_TASKS]:
        log.warning(
            "task %s: %s", name, " > ".join(stack), extra={"event": "task_stack", "task_name": name, "stack": stack}
        )


def _awaiting(coroutine: Any) -> Iterator[str]:
    """The places of a coroutine and of those that it awaits, outermost first."""
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "gi_frame", None)
        if frame is None:
            return
        yield f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_qualname}"
        coroutine = getattr(coroutine, "cr_await", None) or getattr(coroutine, "gi_yieldfrom", None)


def _place(summary: traceback.FrameSummary) -> str:
    return f"{summary.filename}:{summary.lineno} {summary.name}"
