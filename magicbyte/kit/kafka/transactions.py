"""Producers with transactions: how one starts, and why one has failed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import KafkaError, KafkaException, Producer

_FENCED = frozenset(
    {
        KafkaError._FENCED,  # noqa: SLF001  the client library's public name for a local error
        KafkaError.INVALID_PRODUCER_EPOCH,
        KafkaError.PRODUCER_FENCED,
    }
)

#: How long a producer is asked why it has failed, in seconds.
_CAUSE_SECONDS = 10.0


def is_fenced(error: KafkaError) -> bool:
    """Whether another producer has started with the same transactional id."""
    return error.code() in _FENCED


def start(producer: Producer, topic: str, seconds: float) -> None:
    """Fence the earlier producers of a transactional id, and abort their open transactions.

    Args:
        producer: A producer with a transactional id.
        topic: A topic that exists; the producer asks the brokers for its partitions.
        seconds: How long to wait for each answer.

    Raises:
        KafkaException: No broker answers, or it refuses.
    """
    # Without a connection to a broker, the client looks for the transaction's coordinator half a second later. The
    # first answer replaces the connection that it came by, and the second one shows that the new one is there.
    for _ in range(2):
        producer.list_topics(topic, timeout=seconds)
    producer.init_transactions(seconds)


@contextmanager
def true_errors(producer: Producer) -> Iterator[None]:
    """Raise why a producer has failed where `produce` only tells that it has.

    The brokers' answers come while records are queued. From then on, `produce` raises a general error, whichever the
    answer was, and the requests of transactions raise the answer.

    Args:
        producer: A producer with a transactional id; all calls within are its.

    Raises:
        KafkaException: What the block raised, or the error behind it.
    """
    try:
        yield
    except KafkaException as error:
        if error.args[0].code() != KafkaError._FATAL:  # noqa: SLF001  the client library's public name for a local error
            raise
        cause = _cause(producer)
        if cause is None:
            raise
        raise cause from error


def _cause(producer: Producer) -> KafkaException | None:
    """The error of a producer that has failed; None if it has not."""
    try:
        # A failed producer answers at once, but not within no time at all.
        producer.abort_transaction(_CAUSE_SECONDS)
    except KafkaException as cause:
        return cause
    return None
