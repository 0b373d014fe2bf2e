"""An admin client that waits for its brokers, and their errors as sentences with an exit code."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from magicbyte.kit.kafka.client_settings import COMMON_DEFAULTS, client_config
from serdes.console.brokers import Brokers
from serdes.console.outcome import BAD_USAGE, NOT_DELIVERED, Ended

Key = TypeVar("Key")

#: The longest time that librdkafka waits for a request, in seconds.
_LONGEST = 3600.0
#: The share of the request's time that a broker may spend on a change, so that its answer arrives in time.
_OF_BROKER = 0.8

#: Errors that another command line would not have.
_USAGE = frozenset(
    (
        KafkaError._INVALID_ARG,  # noqa: SLF001 - the name of librdkafka's internal code
        KafkaError.INVALID_CONFIG,
        KafkaError.INVALID_PARTITIONS,
        KafkaError.INVALID_REPLICATION_FACTOR,
        KafkaError.INVALID_REQUEST,
        KafkaError.TOPIC_EXCEPTION,
    )
)
_SENTENCES = {
    KafkaError.UNKNOWN_TOPIC_OR_PART: "{} does not exist",
    KafkaError.GROUP_ID_NOT_FOUND: "{} does not exist",
    KafkaError.TOPIC_AUTHORIZATION_FAILED: "{}: the broker does not authorize this client",
    KafkaError.GROUP_AUTHORIZATION_FAILED: "{}: the broker does not authorize this client",
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: "{}: the broker does not authorize this client",
    KafkaError.NON_EMPTY_GROUP: "{} has members; stop them first",
    # The broker's answers to a commit by a program that is not one of the group's members.
    KafkaError.UNKNOWN_MEMBER_ID: "{} has members; stop them first",
    KafkaError.REBALANCE_IN_PROGRESS: "{} has members; stop them first",
}


class Admin:
    """An admin client; its first request waits until a broker answers.

    Args:
        bootstrap: The brokers to connect to, `HOST:PORT,..`.
        kafka: The client's properties by Java's names; those of other clients are left out.
        patience: How long to wait for the brokers, in seconds.

    Attributes:
        client: The client. Keep it alive until its futures are done.
    """

    def __init__(self, bootstrap: str, kafka: Mapping[str, str], patience: float) -> None:
        config = client_config({"client.id": "magicbyte", **kafka, "bootstrap.servers": bootstrap}, role="admin")
        self.client = AdminClient({**COMMON_DEFAULTS, **config, "log_level": 2, "error_cb": self._on_error})
        self._brokers = Brokers(self.client, patience)
        self.timeout = min(max(patience, 0.1), _LONGEST)

    @property
    def change_timeout(self) -> float:
        """The longest time that a broker may wait for a change to be complete, in seconds."""
        return self.timeout * _OF_BROKER

    def topic_names(self) -> list[str]:
        """The names of all topics that the client may see; waits until a broker answers.

        Raises:
            Ended: The brokers refuse the client or do not answer.
        """
        return sorted(self._brokers.metadata().topics)

    def results(self, futures: Mapping[Key, Future[Any]], *, may_be_late: bool = False) -> dict[Key, Any]:
        """The results of requests by their keys; a KafkaError for a request that the broker refused.

        Args:
            futures: The requests.
            may_be_late: Whether a KafkaError also stands for a request whose broker did not answer.

        Raises:
            Ended: The brokers did not answer in time.
        """
        results: dict[Key, Any] = {}
        for key, future in futures.items():
            try:
                results[key] = future.result()
            except KafkaException as exception:
                error: KafkaError = exception.args[0]
                if not may_be_late and error.code() in {KafkaError._TIMED_OUT, KafkaError._TRANSPORT}:  # noqa: SLF001 - as above
                    self.client.poll(0)
                    cause = self._brokers.error or error
                    raise Ended(NOT_DELIVERED, f"the broker cannot be used: {cause.str()}") from exception
                results[key] = error
        return results

    def _on_error(self, error: KafkaError) -> None:
        self._brokers.error = error


def refused(subject: str, error: KafkaError) -> Ended:
    """The end of a run because of the broker's error.

    Args:
        subject: The thing at fault, such as `topic orders`.
        error: The broker's error.
    """
    code = BAD_USAGE if error.code() in _USAGE else NOT_DELIVERED
    sentence = _SENTENCES.get(error.code())
    return Ended(code, f"{subject}: {error.str()}" if sentence is None else sentence.format(subject))


def checked(subject: str, result: Any) -> Any:
    """A request's result.

    Raises:
        Ended: The result is the broker's error.
    """
    if isinstance(result, KafkaError):
        raise refused(subject, result)
    return result
