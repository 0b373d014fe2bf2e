"""The loop of a mirror: full syncs, then change by change; it waits while an end is away."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from magicbyte.operations.failures import Refused, Unreachable, Withheld
from magicbyte.operations.mirror.feed import RESET, Feed
from magicbyte.operations.mirror.mark import Anchor, Mark
from magicbyte.operations.mirror.mirroring import Mirroring, anchor_of
from magicbyte.operations.mirror.origin import Origin, Seen
from magicbyte.operations.registry_end import RegistryEnd
from registry.log.port import BEGINNING

#: How many changes are written at once, and how long the first one is waited for, in seconds.
_MOST_CHANGES, _TAKE_SECONDS = 500, 1.0
#: The pauses while an end is away, in seconds.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 5.0
#: How long the source may take to show the mark's change again, in seconds.
_ANCHOR_SECONDS = 10.0
#: After a full sync, the last change is looked for among so many entries; a source without changes is asked so long.
_ANCHOR_ENTRIES, _NO_CHANGE_SECONDS = 100, 1.0
#: The mark is written so often if changes need no write, in seconds.
_MARK_SECONDS = 10.0
_TOO_OLD = "the source no longer has all changes since the mark"


@dataclass(frozen=True, slots=True)
class Timing:
    """The intervals at which a mirror looks for changes.

    Attributes:
        poll_seconds: The pause between two readings of a source without a change feed.
        compare_seconds: The pause between two comparisons of everything, in case a change was not told.
    """

    poll_seconds: float = 10.0
    compare_seconds: float = 600.0


class Follower:
    """Follows the source until it is stopped.

    Args:
        source: The source.
        mirroring: Writes to the target.
        tell: Writes a line to the log.
        timing: How often it looks.
    """

    def __init__(
        self, source: Origin, mirroring: Mirroring, tell: Callable[[str], None], timing: Timing | None = None
    ) -> None:
        self._source = source
        self._mirroring = mirroring
        self._metrics = mirroring.metrics
        self._tell = tell
        self._timing = timing or Timing()
        self._stopped = threading.Event()
        self._was_connected = False
        #: The log of the source may be another one: it refused to show an offset, or a change, that it had shown.
        self._is_doubtful = False

    def stop(self) -> None:
        """Let `run` return soon."""
        self._stopped.set()

    def run_once(self) -> None:
        """Make the target what the source is.

        Raises:
            Unreachable: An end does not answer.
            Failure: A conflict, or the target was promoted.
        """
        self._mirroring.attach()
        has_feed = self._source.has_feed()
        if has_feed:
            # It finds out whether the log of the source is still the one of the mark.
            self._connected().close()
        if not self._metrics.full_syncs:
            self._mirroring.sync_all(reason="asked for", polled=not has_feed)
        self._mirroring.save_mark()

    def run(self) -> None:
        """Follow the source until `stop`.

        Raises:
            Refused: At the start, an end refuses the client.
            Withheld: An end does not show everything: what is hidden looks deleted.
            Failure: A conflict, or another mirror or a promotion has taken over.
        """
        pause, away = _FIRST_PAUSE, ""
        while not self._stopped.is_set():
            try:
                self._mirroring.attach()
                for _ in self._rounds():
                    if away:
                        self._tell("both registries answer again")
                    pause, away, self._was_connected = _FIRST_PAUSE, "", True
                    if self._stopped.is_set():
                        break
            except Unreachable as error:
                if isinstance(error, Withheld) or (isinstance(error, Refused) and not self._was_connected):
                    raise
                self._metrics.behind()
                if not away:
                    away = str(error)
                    self._tell(f"waiting: {away}")
                self._stopped.wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
        try:
            self._mirroring.save_mark()
        except Unreachable as error:
            self._tell(f"the mark is not written, the next start looks at some changes again: {error}")

    def _rounds(self) -> Iterator[None]:
        return self._follow() if self._source.has_feed() else self._poll()

    def _poll(self) -> Iterator[None]:
        reason = "the source has no change feed, it is read every few seconds"
        while True:
            self._mirroring.sync_all(reason=reason, polled=True)
            reason = ""
            self._metrics.equal()
            yield
            self._stopped.wait(self._timing.poll_seconds)
            self._mirroring.attach()

    def _follow(self) -> Iterator[None]:
        feed = self._connected()
        self._metrics.waiting = lambda: feed.waiting
        self._metrics.taken = 0
        compared = saved = time.monotonic()
        try:
            while True:
                yield
                events = feed.take(_MOST_CHANGES, _TAKE_SECONDS)
                now = time.monotonic()
                if any(event.kind == RESET for event in events):
                    feed.close()
                    feed = self._after_full_sync(_TOO_OLD, strict=False)
                    compared = now
                elif events:
                    self._metrics.behind()
                    self._metrics.taken = len(events)
                    self._mirroring.sync_events(events)
                    self._metrics.taken = 0
                elif now - compared > self._timing.compare_seconds:
                    self._mirroring.sync_all()
                    compared = now
                if not feed.waiting:
                    self._metrics.equal()
                if now - saved > _MARK_SECONDS:
                    self._mirroring.save_mark()
                    saved = now
        finally:
            feed.close()

    def _connected(self) -> Feed:
        """The feed from the mark on, or after a full sync if the mark is of no use.

        The source has to show the last change again that was followed: else its log was replaced or set back.
        """
        mark = self._mirroring.mark
        if mark.offset is None or not mark.log_id:
            return self._after_full_sync("the target has no mark to go on from", strict=False)
        reason = self._set_back(self._head_from(mark))
        if reason:
            return self._after_full_sync(reason, strict=True)
        if mark.anchor is None:
            return self._after_full_sync(
                "the source has shown no change that tells whether its log is the same", strict=True
            )
        feed = Feed(self._end, mark.anchor.offset - 1)
        try:
            events = feed.take(1, _ANCHOR_SECONDS)
        except BaseException:
            feed.close()
            raise
        if events and anchor_of(events[0]) == mark.anchor:
            self._tell(f"following {self._source.name} from offset {mark.offset}")
            return feed
        feed.close()
        if events and events[0].kind == RESET:
            return self._after_full_sync(_TOO_OLD, strict=False)
        reason = f"the log of the source was replaced: it no longer has the change at offset {mark.anchor.offset}"
        return self._after_full_sync(reason, strict=True)

    def _head_from(self, mark: Mark) -> Seen:
        """The source's log, from a node that has reached the mark if there is one."""
        self._source.require(mark.log_id, BEGINNING if mark.offset is None else mark.offset)
        try:
            head = self._source.head()
        except Unreachable:
            if not self._is_doubtful:
                # Perhaps the node is behind; the client asks for the mark's offset once more.
                self._is_doubtful = True
                raise
            head = self._source.head()
        self._is_doubtful = False
        return head

    def _set_back(self, head: Seen) -> str:
        mark = self._mirroring.mark
        if head.log_id != mark.log_id:
            return f"the log of the source was replaced, its id is {head.log_id} and was {mark.log_id}"
        if mark.offset is not None and head.offset < mark.offset:
            return f"the log of the source was set back, it ends at offset {head.offset} and had offset {mark.offset}"
        return ""

    def _after_full_sync(self, reason: str, *, strict: bool) -> Feed:
        """A full sync, and the feed from its offset on."""
        # If the changes are not at hand, nothing tells whether the log is the same: as for a polled source.
        self._mirroring.sync_all(reason=reason, strict=strict, polled=not strict)
        mark = self._mirroring.mark
        offset = BEGINNING if mark.offset is None else mark.offset
        if (anchor := self._last_change(offset)) is not None:
            self._mirroring.note_anchor(anchor)
        feed = Feed(self._end, offset)
        try:
            self._require_same_log()
        except BaseException:
            feed.close()
            raise
        return feed

    def _last_change(self, offset: int) -> Anchor | None:
        """The last change up to an offset; None if the source does not show one."""
        if offset == BEGINNING:
            return None
        feed, last = Feed(self._end, max(offset - _ANCHOR_ENTRIES, BEGINNING)), None
        try:
            while events := feed.take(_MOST_CHANGES, _NO_CHANGE_SECONDS):
                if any(event.kind == RESET for event in events):
                    return None
                last = next((event for event in reversed(events) if event.offset <= offset), last)
                if events[-1].offset >= offset:
                    break
        finally:
            feed.close()
        return None if last is None else anchor_of(last)

    def _require_same_log(self) -> None:
        if self._set_back(self._source.head()):
            raise Unreachable(f"{self._source.name}: its log was replaced during the full sync")

    @property
    def _end(self) -> RegistryEnd:
        assert self._source.end is not None
        return self._source.end
