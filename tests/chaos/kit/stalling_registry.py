"""A registry that stops itself with SIGSTOP at one step of its first takeover.

python tests/chaos/kit/stalling_registry.py STEP [arguments as after `magicbyte`]
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

from magicbyte.cli.main import main
from registry.cluster.lead.leadership import Leadership
from registry.log.kafka import KafkaLog
from registry.log.kafka_writer import KafkaWriter

#: Step -> the method that it happens in, and whether before or after it.
STEPS: dict[str, tuple[type, str, bool]] = {
    "before-fencing": (KafkaWriter, "open", True),
    "before-reading": (KafkaWriter, "open", False),
    "before-settling": (KafkaLog, "settle", True),
    "before-commit": (KafkaWriter, "_check_place", False),
    "before-leading": (Leadership, "establish", True),
}


def stall(step: str) -> None:
    """Have the process stop once when it comes to a step."""
    owner, name, before = STEPS[step]
    method: Callable[..., Any] = getattr(owner, name)
    waiting = [True]

    def stop_once() -> None:
        if waiting and waiting.pop():
            os.kill(os.getpid(), signal.SIGSTOP)

    @wraps(method)
    def stalled(*arguments: Any, **named: Any) -> Any:
        if before:
            stop_once()
        try:
            return method(*arguments, **named)
        finally:
            if not before:
                stop_once()

    setattr(owner, name, stalled)


if __name__ == "__main__":
    stall(sys.argv.pop(1))
    sys.exit(main())
