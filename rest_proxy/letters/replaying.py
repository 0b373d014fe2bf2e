"""One replay of dead letters, with clients of its own."""

from __future__ import annotations

from collections.abc import Callable

from magicbyte.dead_letters.kafka_clients import GROUP, KafkaClients
from magicbyte.dead_letters.sending import Fenced
from magicbyte.kit.errors import ApiError
from magicbyte.kit.kafka.client_settings import Config
from rest_proxy.access.rights import ProxyRights
from rest_proxy.errors import CONFLICT, INVALID_PAYLOAD, KAFKA_BAD_REQUEST, KAFKA_RETRIABLE
from rest_proxy.letters.replay import LetterReplay
from rest_proxy.letters.request import Replay, ReplayRequest
from rest_proxy.settings import RestProxySettings
from serdes.client.clients import RegistryClient
from serdes.console.outcome import BAD_DATA, BAD_USAGE, Ended
from serdes.error import SerdesError

#: How long to wait for the brokers, in seconds, and the longest transaction, in ms.
_PATIENCE = 15.0
_TRANSACTION_MS, _DELIVERY_MS = 60_000, 15_000
#: Errors are returned to the sender, so librdkafka need not write them to stderr.
_QUIET: Config = {"log_level": 2}
_ERRORS = {BAD_DATA: INVALID_PAYLOAD, BAD_USAGE: KAFKA_BAD_REQUEST}


def replay(
    settings: RestProxySettings, request: ReplayRequest, rights: ProxyRights | None, is_stopping: Callable[[], bool]
) -> Replay:
    """Replay letters, on a thread of its own.

    Args:
        settings: The settings of the proxy, for the clients.
        request: What to replay.
        rights: The rights of the sender; None without rules.
        is_stopping: Whether the replay ends before its next letter.

    Raises:
        ApiError: KAFKA_AUTHORIZATION, CONFLICT or KAFKA_RETRIABLE, as for `LetterReplays.run`. Nothing was sent.
    """
    try:
        with RegistryClient(**settings.registry_client_options()) as client:
            return LetterReplay(request, _clients(settings), client, rights, is_stopping).run()
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
