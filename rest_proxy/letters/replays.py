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
from rest_proxy.access.rights import ProxyRights
from rest_proxy.errors import CONFLICT, INVALID_PAYLOAD, KAFKA_BAD_REQUEST, KAFKA_RETRIABLE, THROTTLED
from rest_proxy.letters.replay import LetterReplay
from rest_proxy.letters.request import Replay, ReplayRequest
from rest_proxy.settings import RestProxySettings
from serdes.client.clients import RegistryClient
from serdes.console.outcome import BAD_DATA, BAD_USAGE, Ended
from serdes.error import SerdesError

#: How many replays run at once; each has a consumer, a producer and threads of theirs.
_AT_ONCE = 4
#: How long to wait for the brokers, in seconds, and the longest transaction, in ms.
_PATIENCE = 15.0
_TRANSACTION_MS, _DELIVERY_MS = 60_000, 15_000
#: Errors are answers, not lines on stderr.
_QUIET: Config = {"log_level": 2}
_ERRORS = {BAD_DATA: INVALID_PAYLOAD, BAD_USAGE: KAFKA_BAD_REQUEST}


class LetterReplays:
    """Runs replays."""

    def __init__(self, settings: RestProxySettings) -> None:
        """Prepare; no client is made yet."""
        self._settings = settings
        self._threads = ThreadPoolExecutor(_AT_ONCE, "dead-letters")
        self._running = 0
        self._stopping = threading.Event()

    def close(self) -> None:
        """Let replays end before their next letter; what a transaction has begun to commit is committed."""
        self._stopping.set()
        self._threads.shutdown(wait=False)

    async def run(self, request: ReplayRequest, rights: ProxyRights | None) -> Replay:
        """Replay letters with the rights of a sender.

        Raises:
            ApiError: THROTTLED: enough replays run; KAFKA_AUTHORIZATION: the sender lacks a right; CONFLICT: another
                replay took over; KAFKA_RETRIABLE: the brokers or the registry do not answer. Nothing was sent then.
        """
        if self._running >= _AT_ONCE:
            raise THROTTLED(detail=f"{_AT_ONCE} replays of dead letters run already; ask again later")
        self._running += 1
        running = asyncio.get_running_loop().run_in_executor(self._threads, partial(self._run, request, rights))
        running.add_done_callback(self._ended)
        # A request that is given up leaves the thread to its end: it sends all of its transaction or nothing.
        return await asyncio.shield(running)

    def _ended(self, running: asyncio.Future[Replay]) -> None:
        self._running -= 1
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
            raise KAFKA_RETRIABLE(detail=f"The registry did not help, and nothing was sent: {error}") from None


def _clients(settings: RestProxySettings) -> KafkaClients:
    # Letters of aborted transactions are none.
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
