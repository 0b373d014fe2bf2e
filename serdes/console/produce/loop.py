"""The loop of the producing tools: reads lines and sends records."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from confluent_kafka import KafkaError, KafkaException, Producer

from serdes.console.outcome import BAD_DATA, NOT_DELIVERED, OK, Ended, tell
from serdes.console.produce.lines import BadLine
from serdes.error import SerializationError
from serdes.letters.headers import DeadLetter

FAIL, SKIP, DLQ = "fail", "skip", "dlq"


@dataclass(frozen=True, slots=True)
class Record:
    """A record to send; by default the partitioner chooses the partition, and the timestamp (in ms) is now."""

    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]] = field(default_factory=list)
    partition: int | None = None
    timestamp: int | None = None


class ToRecord(Protocol):
    """A function that converts lines to records."""

    def __call__(self, text: str, number: int) -> Record:
        """The record of a line; raises BadLine if the line is not a record."""


@dataclass(frozen=True, slots=True)
class Sending:
    """How lines are sent.

    Attributes:
        topic: The topic of the records.
        config: The producer's configuration.
        on_error: How to handle a bad line: `fail`, `skip` or `dlq`.
        dlq_topic: The topic for bad lines, sent unchanged with headers that say why.
        one_by_one: Deliver each record before the next line is read.
        dry_run: Convert lines and send nothing.
    """

    topic: str
    config: Mapping[str, Any]
    on_error: str = FAIL
    dlq_topic: str | None = None
    one_by_one: bool = False
    dry_run: bool = False


def read_lines(source: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The lines of a stream as they arrive, with their numbers from 1."""
    number = 0
    while line := source.readline():
        number += 1
        yield number, line.removesuffix(b"\n").removesuffix(b"\r")


class Outbox:
    """A producer that counts undelivered records and keeps the last reason."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._last_error = ""
        self._producer = Producer({**config, "error_cb": self._on_error})
        self.failed = 0
        self.reason = ""

    def send(self, topic: str, record: Record) -> None:
        """Queues a record; waits if the queue is full."""
        optional: dict[str, int] = {}
        if record.partition is not None:
            optional["partition"] = record.partition
        if record.timestamp is not None:
            optional["timestamp"] = record.timestamp
        while True:
            try:
                self._producer.produce(
                    topic,
                    record.value,
                    record.key,
                    headers=record.headers or None,
                    on_delivery=self._on_delivery,
                    **optional,
                )
            except BufferError:
                self._producer.poll(0.1)
            except KafkaException as error:
                self._count(error.args[0])
                return
            else:
                self._producer.poll(0)
                return

    def flush(self) -> None:
        """Waits until every record was delivered or has failed."""
        self._producer.flush()

    def _on_delivery(self, error: KafkaError | None, message: object) -> None:
        del message
        if error is not None:
            self._count(error)

    def _count(self, error: KafkaError) -> None:
        self.failed += 1
        self.reason = error.str()
        if self._last_error and error.code() in {KafkaError._MSG_TIMED_OUT, KafkaError._TIMED_OUT}:  # noqa: SLF001  # the names of librdkafka's internal codes
            self.reason += f"; last: {self._last_error}"

    def _on_error(self, error: KafkaError) -> None:
        # "All brokers are down" may follow an error that says more: keep that one.
        if not self._last_error or error.code() != KafkaError._ALL_BROKERS_DOWN:  # noqa: SLF001 - a local error's name
            self._last_error = error.str()


def produce(program: str, source: BinaryIO, sending: Sending, prepare: Callable[[], ToRecord]) -> int:
    """Sends the records of a stream's lines in UTF-8; arguments and errors as in `send_all`."""

    def prepare_lines() -> Callable[[bytes, int], Record]:
        to_record = prepare()
        return lambda line, number: to_record(_decoded(line, number), number)

    return send_all(program, read_lines(source), sending, prepare_lines)


def send_all(
    program: str,
    items: Iterable[tuple[int, bytes]],
    sending: Sending,
    prepare: Callable[[], Callable[[bytes, int], Record]],
    unit: str = "lines",
) -> int:
    """Sends the records of lines, or of other items; returns the exit code.

    Args:
        program: The tool's name in messages.
        items: The lines with their numbers.
        sending: How to send, and to which topic.
        prepare: Makes the function that converts lines to records; it may ask the registry.
        unit: The items' name in messages.

    Raises:
        Ended: A record was not delivered, or lines of a dry run are bad.
        BadLine: A line is not a record, and `on_error` is `fail`; the records before it were delivered.
    """
    # First, so that the producer connects while the rest is imported.
    outbox = None if sending.dry_run else Outbox(sending.config)
    to_record = prepare()
    bad = number = 0
    try:
        for number, line in items:
            try:
                record = to_record(line, number)
            except BadLine as error:
                bad += 1
                _refuse(program, sending, outbox, line, error)
                continue
            if outbox is not None:
                outbox.send(sending.topic, record)
                if sending.one_by_one:
                    outbox.flush()
                if outbox.failed:
                    break
    finally:
        if outbox is not None:
            outbox.flush()
    if outbox is not None and outbox.failed:
        raise Ended(NOT_DELIVERED, f"{outbox.failed} records were not delivered: {outbox.reason}")
    if bad:
        text = f"{bad} of {number} {unit} are bad"
        if sending.dry_run and sending.on_error == FAIL:
            raise Ended(BAD_DATA, text)
        tell(program, text)
    return OK


def _refuse(program: str, sending: Sending, outbox: Outbox | None, line: bytes, error: BadLine) -> None:
    """Handles a bad line as `on_error` says; a dry run reports all bad lines."""
    if sending.on_error == FAIL and outbox is not None:
        raise error
    tell(program, str(error))
    if outbox is not None and sending.dlq_topic is not None:
        outbox.send(sending.dlq_topic, _dead_letter(program, sending.topic, line, error))


def _decoded(line: bytes, number: int) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        column = len(line[: error.start].decode()) + 1
        raise BadLine(number, column, f"it is no UTF-8 text: {error.reason}") from error


def _dead_letter(program: str, topic: str, line: bytes, error: BadLine) -> Record:
    """The unchanged line with the reason in headers; the partition is -1, and the line's number is the offset."""
    letter = DeadLetter(
        topic=topic,
        partition=-1,
        offset=error.line,
        connector=program,
        stage="VALUE_CONVERTER",
        executing=f"{__name__}.produce",
        exception=f"{type(error).__module__}.{type(error).__qualname__}",
        message=str(error),
    )
    return Record(None, line, letter.headers())


def convert(serialize: Callable[[str], bytes | None], text: str, number: int, column: int, part: str) -> bytes | None:
    """Serializes a part of a line.

    Raises:
        BadLine: The text is not a datum of the schema.
    """
    from serdes.text.text_serdes import BadText  # noqa: PLC0415  # already imported

    try:
        return serialize(text)
    except BadText as error:
        raise BadLine(number, column + error.offset, str(error), part) from error
    except SerializationError as error:
        if type(error) is SerializationError or error.__class__.__module__ == "serdes.console.plain":
            raise BadLine(number, column, str(error), part) from error
        raise


def open_source(path: str | None) -> BinaryIO:
    """Opens a file, or stdin if the path is None or `-`."""
    return sys.stdin.buffer if path in {None, "-"} else Path(str(path)).open("rb")
