"""The replays of dead letters that run in this proxy: a few at once, each in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from magicbyte.kit.sharing.fair_queue import FairQueue, NoTurn
from rest_proxy.access.rights import ProxyRights
from rest_proxy.errors import THROTTLED
from rest_proxy.letters.request import Replay, ReplayRequest
from rest_proxy.settings import RestProxySettings

#: How many replays run at once, and how many more of clients that have none; each has a consumer, a producer and
#: threads of theirs.
_AT_ONCE, _RESERVE = 2, 2
#: How many replays of a client wait, and how long, in seconds.
_MOST_WAITING, _WAIT_SECONDS = 4, 20.0


class LetterReplays:
    """Runs replays."""

    def __init__(self, settings: RestProxySettings) -> None:
        """Prepare; no client is made yet."""
        self._settings = settings
        self._threads = ThreadPoolExecutor(_AT_ONCE + _RESERVE, "dead-letters")
        self._turns = FairQueue(_AT_ONCE, reserve=_RESERVE, most_waiting=_MOST_WAITING, wait_seconds=_WAIT_SECONDS)
        self._stopping = threading.Event()

    def close(self) -> None:
        """Let replays end before their next letter; what a transaction has begun to commit is committed."""
        self._stopping.set()
        self._turns.close()
        self._threads.shutdown(wait=False)

    async def run(self, request: ReplayRequest, rights: ProxyRights | None, client: str) -> Replay:
        """Replay letters with the rights of a sender.

        Args:
            request: What to replay.
            rights: The rights of the sender; None without rules.
            client: The client that it counts for.

        Raises:
            ApiError: THROTTLED: enough replays of this client wait, or no place was free; KAFKA_AUTHORIZATION: the
                sender lacks a right; CONFLICT: another replay took over; KAFKA_RETRIABLE: the brokers or the registry
                do not answer. Nothing was sent then.
        """
        try:
            await self._turns.take(client)
        except NoTurn as refusal:
            raise THROTTLED(detail=f"too many replays of dead letters: {refusal}; ask again later") from None
        # The rules may have changed while it waited.
        work = partial(self._run, request, None if rights is None else rights.now())
        running = asyncio.get_running_loop().run_in_executor(self._threads, work)
        running.add_done_callback(partial(self._ended, client))
        # If the sender disconnects, the thread finishes: it sends its transaction as a whole or not at all.
        return await asyncio.shield(running)

    def _ended(self, client: str, running: asyncio.Future[Replay]) -> None:
        self._turns.give_back(client)
        if not running.cancelled():
            running.exception()

    def _run(self, request: ReplayRequest, rights: ProxyRights | None) -> Replay:
        # Few proxies replay letters, and what decodes them takes a tenth of a proxy's memory.
        from rest_proxy.letters.replay import replay_letters  # noqa: PLC0415  see above

        return replay_letters(self._settings, request, rights, self._stopping.is_set)
