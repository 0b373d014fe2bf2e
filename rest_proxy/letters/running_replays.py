"""The replays of dead letters that run in this proxy: a few at once, each in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from magicbyte.dead_letters.kafka_clients import GROUP, KafkaClients
from magicbyte.dead_letters.sending import Fenced
from magicbyte.kit.errors import ApiError
from magicbyte.kit.kafka.client_settings import Config
from magicbyte.kit.sharing.fair_queue import FairQueue, NoTurn
from rest_proxy.access.rights import ProxyRights
from rest_proxy.errors import CONFLICT, INVALID_PAYLOAD, KAFKA_BAD_REQUEST, KAFKA_RETRIABLE, THROTTLED
from rest_proxy.letters.replay import LetterReplay
from rest_proxy.letters.request import Replay, ReplayRequest
from rest_proxy.settings import RestProxySettings
from serdes.client.clients import RegistryClient
from serdes.console.outcome import BAD_DATA, BAD_USAGE, Ended
from serdes.error import SerdesError

#: How many replays run at once, and how many more of clients that have none; each has a consumer, a producer and
#: threads of theirs.
_AT_ONCE, _RESERVE = 2, 2
#: How many replays of a client wait, and how long, in seconds.
_MOST_WAITING, _WAIT_SECONDS = 4, 20.0
#: How long to wait for the brokers, in seconds, and the longest transaction, in ms.
_PATIENCE = 15.0
_TRANSACTION_MS, _DELIVERY_MS = 60_000, 15_000
#: Errors are returned to the sender, so librdkafka need not write them to stderr.
_QUIET: Config = {"log_level": 2}
_ERRORS = {BAD_DATA: INVALID_PAYLOAD, BAD_USAGE: KAFKA_BAD_REQUEST}


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
        settings = self._settings
        try:
            with RegistryClient(**settings.registry_client_options()) as client:
                return LetterReplay(request, _clients(settings), client, rights, self._stopping.is_set).run()
        except Ended as error:
            raise _error_of(error) from None
        except SerdesError as error:
            raise KAFKA_RETRIABLE(detail=f"The registry cannot be asked, and nothing was sent: {error}") from None


def _clients(settings: RestProxySettings) -> KafkaClients:
    # Skip the letters of aborted transactions.
    reading: Config = {
        "isolation.level": "read_committed",
        "group.id": GROUP,
        "enable.auto.commit": False,
        "fetch.wait.max.ms": 100,
        **_QUIET,
    }
    sending: Config = {"message.timeout.ms": _DELIVERY_MS, "transaction.timeout.ms": _TRANSACTION_MS, **_QUIET}
    producer = {name: value for name, value in settings.producer_config("all").items() if name != "delivery.timeout.ms"}
    return KafkaClients(
        {**settings.consumer_config(), **reading}, {**producer, **sending}, settings.admin_config(), _PATIENCE
    )


def _error_of(error: Ended) -> ApiError:
    if isinstance(error, Fenced):
        return CONFLICT(detail=str(error))
    return _ERRORS.get(error.code, KAFKA_RETRIABLE)(detail=str(error))
