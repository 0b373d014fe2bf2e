"""The change feed of a registry of ours, read in a thread of its own."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from magicbyte.operations.failures import Unreachable
from magicbyte.operations.registry_end import RegistryEnd, failure_of
from serdes.error import OAuthTokenError, RegistryError, RegistryUnavailable

#: After so many seconds without a line the connection counts as lost; the registry sends one every 15 s.
_SILENCE_SECONDS = 40.0
#: How many changes wait to be read; the registry then waits, too.
_MOST_WAITING = 5000
RESET = "reset"


@dataclass(frozen=True, slots=True)
class Event:
    """A change.

    Attributes:
        offset: Its offset in the log; -1 if the registry seals it.
        kind: Such as `schema.registered`; `reset` if changes before it are not at hand.
        subject: The subject or context; None for the global settings.
        data: All that the registry tells.
    """

    offset: int
    kind: str
    subject: str | None
    data: Mapping[str, Any]


class Feed:
    """The changes after an offset, as they come.

    Args:
        end: The registry.
        after: The offset.
    """

    def __init__(self, end: RegistryEnd, after: int) -> None:
        self._end = end
        self._after = after
        self._waiting: queue.Queue[Event | Exception] = queue.Queue(_MOST_WAITING)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mirror-feed", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Let the thread end at its next line; nothing more is returned."""
        self._stopped.set()
        with suppress(queue.Empty):
            while True:
                self._waiting.get_nowait()

    def take(self, most: int, seconds: float) -> list[Event]:
        """The changes that are here, at most so many; waits for the first one for some seconds.

        Raises:
            Unreachable: The connection is lost, and all changes before that were returned.
            Refused: The registry refuses the client.
            Failure: The registry refused the request.
        """
        events: list[Event] = []
        while len(events) < most:
            try:
                found = self._waiting.get(timeout=seconds) if not events else self._waiting.get_nowait()
            except queue.Empty:
                break
            if isinstance(found, Event):
                events.append(found)
            elif events:
                self._waiting.put(found)
                break
            else:
                raise found
        return events

    @property
    def waiting(self) -> int:
        """The number of changes that wait to be taken."""
        return self._waiting.qsize()

    def _run(self) -> None:
        headers = {"Last-Event-ID": str(self._after), "Accept": "text/event-stream"}
        try:
            with self._end.client.lines("/events", headers, silence=_SILENCE_SECONDS) as lines:
                for event in events_of(lines):
                    if self._stopped.is_set():
                        return
                    self._put(event)
            self._put(Unreachable(f"{self._end.name} has closed its change feed"))
        except RegistryError as error:
            self._put(failure_of(self._end.name, error))
        except (RegistryUnavailable, OAuthTokenError) as error:
            self._put(Unreachable(f"{self._end.name}: {error}"))
        except Exception as error:  # noqa: BLE001  whoever takes the changes has to learn of it
            self._put(Unreachable(f"{self._end.name}: its change feed cannot be read: {error!r}"))

    def _put(self, found: Event | Exception) -> None:
        while not self._stopped.is_set():
            with suppress(queue.Full):
                self._waiting.put(found, timeout=1)
                return


def events_of(lines: Iterable[str]) -> Iterator[Event]:
    """The events of the lines of a stream; comments and events without data are passed over."""
    data: list[str] = []
    kind = ""
    for line in lines:
        if not line:
            if data:
                value = json.loads("\n".join(data))
                offset = value.get("offset")
                yield Event(offset if isinstance(offset, int) else -1, kind, value.get("subject"), value)
            data, kind = [], ""
        name, _, text = line.partition(":")
        text = text.removeprefix(" ")
        if name == "data":
            data.append(text)
        elif name == "event":
            kind = text
