"""Dead letters: records that could not be processed, kept as they came, with headers that say where and why.

Headers are Kafka Connect's (`errors.deadletterqueue.context.headers.enable`): texts in UTF-8, appended to those that
the record had, so that of a record that failed twice the last ones count. Ours beside them begin with `__errors.`.
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
        topic, partition, offset: Where the record was read.
        connector: The application or consumer group that gave up.
        task: Its instance, from 0.
        stage: What was being done, one of STAGES.
        executing: The class or function that did it, by its qualified name.
        exception: The error's class, if there was one.
        message: The error's text.
        stacktrace: Where it was raised.
        schema_id: The id in the record's prefix, where it has one.
        subject: The subject that the schema was looked for in.
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
        """The headers to append to the record's own, in Connect's order; what is unknown is left out."""
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
            # Connect writes a null where the exception has no message.
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
    """What the dead letter's headers say, by name without `__connect.errors.`; the last of a name counts."""
    return {
        name.removeprefix(CONNECT): None if value is None else value.decode("utf-8", "replace")
        for name, value in headers
        if name.startswith((CONNECT, OWN))
    }


def original_headers(headers: Iterable[Header]) -> list[Header]:
    """The headers that the record had before it failed: what to send it back with."""
    return [(name, value) for name, value in headers if not name.startswith((CONNECT, OWN))]


def _cut(text: str) -> bytes:
    return text.encode()[:MAX_STACKTRACE].decode("utf-8", "ignore").encode()
