"""`errors.retry`: retries after temporary errors, such as a time-out or a deadlock, never after faulty data."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from confluent_kafka import KafkaException

from spark_avro.pipeline.file.policies import Retry

log = logging.getLogger(__name__)

_Result = TypeVar("_Result")

#: Seconds before the second try; later pauses are twice as long each.
_FIRST_PAUSE = 0.2
#: Prefixes of the SQLSTATEs of temporary errors: no connection, conflict or deadlock, no resources, server stops.
_SQL_STATES = ("08", "40001", "40P01", "53", "55P03", "57P0")
#: SQLite has no SQLSTATE.
_SQLITE = ("database is locked", "database table is locked")
#: Java's exception classes of temporary errors.
_JAVA = (
    "org.apache.kafka.common.errors.TimeoutException",
    "org.apache.kafka.common.errors.RetriableException",
    "org.apache.kafka.common.errors.NotLeaderOrFollowerException",
    "org.apache.kafka.common.errors.DisconnectException",
    "java.net.SocketTimeoutException",
    "java.net.ConnectException",
    "java.sql.SQLTransientException",
    "java.sql.SQLRecoverableException",
)


def retried(action: Callable[[], _Result], retry: Retry, sleep: Callable[[float], None] = time.sleep) -> _Result:
    """The result of an action; retries it with growing pauses as long as its errors are temporary.

    Args:
        action: The function to call; it must be safe to call it again.
        retry: How long to try again.
        sleep: Waits for a number of seconds.

    Raises:
        Exception: the action's error, if it is not temporary or the time is over.
    """
    end = time.monotonic() + retry.total.total_seconds()
    pause = _FIRST_PAUSE
    while True:
        try:
            return action()
        except Exception as error:
            if not may_pass(error) or time.monotonic() + pause > end:
                raise
            log.warning(
                "tried again in %.1f s: %s",
                pause,
                error,
                extra={"event": "step_retried", "seconds": pause, "error": str(error)},
            )
        sleep(pause)
        pause = min(pause * 2, retry.max_delay.total_seconds())


def may_pass(error: BaseException) -> bool:
    """Whether an error is temporary: the next try may succeed."""
    return any(_may_pass(cause) for cause in _causes(error))


def _may_pass(error: BaseException) -> bool:
    if isinstance(error, TimeoutError | ConnectionError):
        return True
    if isinstance(error, KafkaException):
        return bool(error.args[0].retriable())
    state = getattr(error, "sqlstate", None)
    if isinstance(state, str):
        return state.startswith(_SQL_STATES)
    text = str(error)
    return any(words in text for words in _SQLITE) or any(name in text for name in _JAVA)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error, its causes, and the driver's errors inside SQLAlchemy's."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        original = getattr(cause, "orig", None)
        if isinstance(original, BaseException):
            yield original
        cause = cause.__cause__
