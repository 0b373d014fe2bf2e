"""Whether the brokers can be used: requests for metadata that are repeated until a broker answers."""

from __future__ import annotations

import time
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from serdes.console.outcome import NOT_DELIVERED, Ended

#: Errors that persist however long the tool waits.
_REFUSED = (
    KafkaError._AUTHENTICATION,  # noqa: SLF001  # the names of librdkafka's internal codes
    KafkaError._SSL,  # noqa: SLF001
    KafkaError._RESOLVE,  # noqa: SLF001
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
)
_ASK_SECONDS = 2.0


def is_refusal(error: KafkaError) -> bool:
    """Whether an error persists however long the tool waits."""
    return error.code() in _REFUSED or error.fatal()


class Brokers:
    """The brokers of a client; requests are repeated until one answers or `patience` seconds have passed.

    Args:
        client: A consumer or an admin client.
        patience: How long to wait, in seconds.
    """

    def __init__(self, client: Any, patience: float) -> None:
        self._client = client
        self.patience = patience
        #: The last error that the client reported in the background.
        self.error: KafkaError | None = None

    def metadata(self, topic: str | None = None) -> Any:
        """The metadata of a topic, or of all topics.

        Raises:
            Ended: The broker refuses the request or does not answer.
        """
        deadline = time.monotonic() + self.patience
        while True:
            left = deadline - time.monotonic()
            try:
                topics = () if topic is None else (topic,)
                return self._client.list_topics(*topics, timeout=max(0.1, min(_ASK_SECONDS, left)))
            except KafkaException as error:
                self._client.poll(0)
                cause = self.error or error.args[0]
                if left <= 0 or is_refusal(cause):
                    raise Ended(NOT_DELIVERED, f"the broker cannot be used: {cause.str()}") from error
                time.sleep(min(0.1, max(0, left)))
