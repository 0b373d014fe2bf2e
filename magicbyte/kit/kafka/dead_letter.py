"""Dead letters: records that could not be processed, kept unchanged, with headers that say what failed and why.

The headers are Kafka Connect's (`errors.deadletterqueue.context.headers.enable`): UTF-8 texts after the record's
original headers. If a record failed twice, the last headers count. Our additional headers begin with `__errors.`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

CONNECT = "__connect.errors."
OWN = "__errors."

#: Longest text of a stack trace, in bytes: brokers refuse large headers.
MAX_STACKTRACE = 16 * 1024

#: The stages that Connect names.
STAGES = (
    "TASK_POLL",
    "TASK_PUT",
    "TRANSFORMATION",
    "KEY_CONVERTER",
    "VALUE_CONVERTER",
    "HEADER_CONVERTER",
    "KAFKA_PRODUCE",
    "KAFKA_CONSUME",
)

Header = tuple[str, bytes | None]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """Why a record was not processed.

    Attributes:
        topic, partition, offset: Where the record was read from.
        connector: The application or consumer group that gave up.
        task: The connector's instance, from 0.
        stage: The stage that failed, one of STAGES.
        executing: The qualified name of the class or function that failed.
        exception: The error's class, if there was one.
        message: The error's text.
        stacktrace: The error's stack trace.
        schema_id: The id in the record's prefix, if there is one.
        subject: The subject in which the schema was looked up.
    """

    topic: str
    partition: int
    offset: int
    connector: str
    stage: str
    executing: str
    task: int = 0
    exception: str | None = None
    message: str | None = None
    stacktrace: str | None = None
    schema_id: int | None = None
    subject: str | None = None

    def headers(self) -> list[Header]:
        """Return the headers to append to the record's headers, in Connect's order; unknown ones are left out."""
        texts: list[tuple[str, str | None]] = [
            (f"{CONNECT}topic", self.topic),
            (f"{CONNECT}partition", str(self.partition)),
            (f"{CONNECT}offset", str(self.offset)),
            (f"{CONNECT}connector.name", self.connector),
            (f"{CONNECT}task.id", str(self.task)),
            (f"{CONNECT}stage", self.stage),
            (f"{CONNECT}class.name", self.executing),
        ]
        if self.exception is not None:
            # Connect writes a null if the exception has no message.
            texts += [
                (f"{CONNECT}exception.class.name", self.exception),
                (f"{CONNECT}exception.message", self.message),
                (f"{CONNECT}exception.stacktrace", self.stacktrace or ""),
            ]
        if self.schema_id is not None:
            texts.append((f"{OWN}schema.id", str(self.schema_id)))
        if self.subject is not None:
            texts.append((f"{OWN}schema.subject", self.subject))
        return [(name, None if text is None else _cut(text)) for name, text in texts]


def read_headers(headers: Iterable[Header]) -> Mapping[str, str | None]:
    """Return a dead letter's headers by name without `__connect.errors.`; if a name repeats, the last value counts."""
    return {
        name.removeprefix(CONNECT): None if value is None else value.decode("utf-8", "replace")
        for name, value in headers
        if name.startswith((CONNECT, OWN))
    }


def original_headers(headers: Iterable[Header]) -> list[Header]:
    """Return the headers that the record had before it failed, to send it back with."""
    return [(name, value) for name, value in headers if not name.startswith((CONNECT, OWN))]


def _cut(text: str) -> bytes:
    return text.encode()[:MAX_STACKTRACE].decode("utf-8", "ignore").encode()
