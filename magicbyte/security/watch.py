"""Reloads files when they change, or on request."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Protocol

from magicbyte.kit.failure import Failure
from magicbyte.security.metrics import METRICS

log = logging.getLogger("magicbyte.security")

#: A file's identity and modification; symbolic links are followed. None if there is no file.
Signature = tuple[tuple[int, int, int, int] | None, ...]


class Source(Protocol):
    """An object loaded from files; if a reload fails, it keeps its previous state."""

    name: str

    @property
    def paths(self) -> Iterable[Path]:
        """The files to watch."""

    def reload(self) -> None:
        """Load all files again, or raise Failure or OSError and change nothing."""


class Watch:
    """A thread that checks the files once a second.

    A change is loaded only after two checks in a row see the same files, so that no half-written file is read. If
    loading fails, it is tried again after the next change.
    """

    def __init__(self, sources: Sequence[Source], *, seconds: float = 1.0) -> None:
        self._sources = sources
        self._seconds = seconds
        self._taken = [_signature(source.paths) for source in sources]
        self._pending: list[Signature | None] = [None] * len(sources)
        #: True to reload at once, False to stop. A signal handler may put a value at any moment.
        self._requests: SimpleQueue[bool] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="security-watch", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; a reload in progress is finished first."""
        self._requests.put(False)
        self._thread.join()

    def reload_now(self) -> None:
        """Request a reload of everything; may be called from a signal handler."""
        self._requests.put(True)

    def look(self) -> None:
        """Check all files once; load those that changed and have been the same for two checks."""
        for index, source in enumerate(self._sources):
            signature = _signature(source.paths)
            if signature == self._taken[index]:
                self._pending[index] = None
            elif signature != self._pending[index]:
                self._pending[index] = signature
            else:
                self._take(index, signature)

    def _run(self) -> None:
        while True:
            try:
                request = self._requests.get(timeout=self._seconds)
            except Empty:
                self.look()
                continue
            if not request:
                return
            for index, source in enumerate(self._sources):
                self._take(index, _signature(source.paths))

    def _take(self, index: int, signature: Signature) -> None:
        source = self._sources[index]
        self._taken[index], self._pending[index] = signature, None
        try:
            source.reload()
        except (Failure, OSError) as error:
            METRICS.reloads[source.name, "failure"] += 1
            text = "%s: the new files are not used, what was loaded before stays: %s"
            log.error(  # noqa: TRY400  the text says it all; a traceback might show a secret
                text,
                source.name,
                error,
                extra={"event": "file_not_reloaded", "source": source.name, "error": str(error)},
            )
        else:
            METRICS.reloads[source.name, "success"] += 1
            log.info("%s: loaded again", source.name, extra={"event": "file_reloaded", "source": source.name})


def _signature(paths: Iterable[Path]) -> Signature:
    signature: list[tuple[int, int, int, int] | None] = []
    for path in paths:
        stat = None
        with suppress(OSError):
            stat = path.stat()
        signature.append(stat and (stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_size))
    return tuple(signature)
