"""Functions that a server calls when it starts, while it runs, and when it stops."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from magicbyte.kit.processes.service_manager import WATCHDOG, ServiceManager

log = logging.getLogger("magicbyte.http")


@dataclass(frozen=True, slots=True)
class Hooks:
    """Functions of the caller of `serve`.

    Attributes:
        on_start: Called when the server has started to listen; None logs if nobody has to sign in.
        before_stop: Called in a thread when the stop begins, while the server still takes requests.
        on_stop: Called after that; it ends answers that would never end by themselves.
        pulse: Returns a value that changes as long as the server's background threads work, without waiting; None if
            there are none.
    """

    on_start: Callable[[], None] | None = None
    before_stop: Callable[[], None] | None = None
    on_stop: Callable[[], None] | None = None
    pulse: Callable[[], object] | None = None


async def send_signs_of_life(manager: ServiceManager, pause: float, pulse: Callable[[], object] | None) -> None:
    """Send the service manager a sign of life after each pause in which the pulse has changed.

    This runs on the event loop, so there are no signs while the loop is blocked, either.

    Args:
        manager: The service manager.
        pause: The pause, in seconds.
        pulse: As in `Hooks`.
    """
    before: object = None
    is_stuck = False
    while True:
        current = None if pulse is None else pulse()
        was_stuck, is_stuck = is_stuck, pulse is not None and current == before
        if not is_stuck:
            manager.notify(WATCHDOG)
        elif not was_stuck:
            log.error(
                "the thread that reads the log has done nothing for %.0f s; the watchdog gets no sign",
                pause,
                extra={"event": "reader_stuck", "seconds": pause},
            )
        before = current
        await asyncio.sleep(pause)
