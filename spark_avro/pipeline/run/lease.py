"""The lease of a checkpoint: one driver runs a pipeline, and a second one is refused while the first lives."""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from magicbyte.kit.failure import Failure
from spark_avro.pipeline.folder import Folder, ReadableFolder

log = logging.getLogger(__name__)

FILE = "_magicbyte/owner.json"
#: Seconds between two heartbeats, and seconds without one after which an owner counts as gone.
_BEAT, _GONE = 5.0, 30.0


class LeaseHeld(Failure):
    """Another driver runs this pipeline."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that holds a lease.

    Attributes:
        shown: The process in words.
        problem: Why it does not run any more; empty if it does.
    """

    shown: str
    problem: str = ""

    @staticmethod
    def read(folder: ReadableFolder, now: float) -> Owner | None:
        """The owner of a checkpoint; None if nobody holds the lease.

        Args:
            folder: The checkpoint.
            now: Seconds since 1970.
        """
        owner = _owner_in(folder)
        if not owner:
            return None
        if _is_gone(owner):
            return Owner(_shown(owner), f"{_shown(owner)} ended without giving back the lease")
        silence = now - _time_of(owner)
        # Twice the time: the clocks of two hosts differ.
        problem = f"{_shown(owner)} gave no sign for {silence:.0f} s" if silence > 2 * _GONE else ""
        return Owner(_shown(owner), problem)


class Lease:
    """The lease, held while the context lasts.

    The owner writes its id and a counter that it raises every five seconds. A driver that finds another owner takes
    over at once if the owner was a process of this host that has ended; if not, after 30 seconds without a new count.

    Args:
        folder: The checkpoint.
        name: The pipeline's name, for messages.
        beat: Seconds between two heartbeats.
        gone: Seconds without a heartbeat after which an owner counts as gone.
    """

    def __init__(self, folder: Folder, name: str, *, beat: float = _BEAT, gone: float = _GONE) -> None:
        self._folder = folder
        self._name = name
        self._beat, self._gone = beat, gone
        self._id = uuid.uuid4().hex
        self._beats = 0
        self._stop = threading.Event()
        self._lost: str | None = None
        self._thread = threading.Thread(target=self._keep, name=f"lease of {name}", daemon=True)

    def __enter__(self) -> Self:
        self._wait_for_owner()
        self._write()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        if self.is_ours():
            self._folder.delete(FILE)

    def is_ours(self) -> bool:
        """Whether no other driver has taken the lease over."""
        return self._lost is None and self._owner().get("id") == self._id

    def check(self) -> None:
        """Raise LeaseHeld if another driver took the lease over."""
        if self._lost is not None:
            raise LeaseHeld(f"pipeline {self._name}: {self._lost} took over the checkpoint {self._folder.path}")

    def _wait_for_owner(self) -> None:
        first = self._owner()
        if not first and not self._folder.replaces_at_once:
            # While a heartbeat is written, the folder shows no owner for a moment.
            self._stop.wait(self._beat / 10)
            first = self._owner()
        deadline = time.monotonic() + self._gone
        while first and not _is_gone(first):
            if time.monotonic() > deadline:
                log.warning(
                    "%s gave no sign for %g s; its lease is taken over",
                    _shown(first),
                    self._gone,
                    extra={"event": "lease_taken_over"},
                )
                return
            self._stop.wait(self._beat / 5)
            now = self._owner()
            if now.get("beats") != first.get("beats") and now.get("id") == first.get("id"):
                raise LeaseHeld(
                    f"pipeline {self._name} is run by {_shown(first)}, on the checkpoint {self._folder.path}"
                )
            first = now

    def _keep(self) -> None:
        while not self._stop.wait(self._beat):
            try:
                owner = self._owner()
                if owner.get("id") != self._id:
                    self._lost = _shown(owner) if owner else "nobody, but the lease was deleted; another driver perhaps"
                    return
                self._write()
            except Exception as error:  # noqa: BLE001 - a file system that fails for a moment; the next beat tries again
                log.warning(
                    "the lease of %s cannot be renewed: %s",
                    self._name,
                    error,
                    extra={"event": "lease_not_renewed", "error": str(error)},
                )

    def _write(self) -> None:
        self._beats += 1
        owner = {"id": self._id, "host": socket.gethostname(), "pid": os.getpid(), "beats": self._beats}
        self._folder.replace(FILE, json.dumps({**owner, "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}))

    def _owner(self) -> Mapping[str, Any]:
        return _owner_in(self._folder)


def _owner_in(folder: ReadableFolder) -> Mapping[str, Any]:
    text = folder.read(FILE)
    try:
        owner = json.loads(text) if text else {}
    except ValueError:
        return {}
    return owner if isinstance(owner, dict) else {}


def _time_of(owner: Mapping[str, Any]) -> float:
    """The time of the last heartbeat; 0 if it is not known."""
    try:
        return datetime.fromisoformat(str(owner.get("time"))).timestamp()
    except ValueError:
        return 0.0


def _is_gone(owner: Mapping[str, Any]) -> bool:
    """Whether an owner was a process of this host that has ended."""
    if owner.get("host") != socket.gethostname() or owner.get("pid") == os.getpid():
        return False
    try:
        os.kill(int(owner["pid"]), 0)
    except ProcessLookupError:
        return True
    except (OSError, KeyError, ValueError):
        return False
    return False


def _shown(owner: Mapping[str, Any]) -> str:
    return f"process {owner.get('pid')} on {owner.get('host')}"
