"""The loop of the producing tools: reads lines and sends records."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from serdes.console.outcome import BAD_DATA, OK, Ended, tell
from serdes.console.produce.lines import BadLine
from serdes.console.produce.outbox import Outbox, Record
from serdes.console.produce.progress import Progress
from serdes.error import SerializationError
from serdes.letters.headers import DeadLetter, rule_headers

FAIL, SKIP, DLQ = "fail", "skip", "dlq"


class ToRecord(Protocol):
    """A function that converts lines to records."""

    def __call__(self, text: str, number: int) -> Record:
        """The record of a line; raises BadLine if the line is not a record."""


@dataclass(frozen=True, slots=True)
class Sending:
    """Options for sending lines.

    Attributes:
        topic: The topic of the records.
        config: The producer's configuration.
        on_error: How to handle a bad line: `fail`, `skip` or `dlq`.
        dlq_topic: The topic for bad lines, sent unchanged with headers that say why.
        one_by_one: Deliver each record before the next line is read.
        dry_run: Convert lines and send nothing.
        with_counts: An error also says how many records were delivered, and how many lines were never sent.
    """

    topic: str
    config: Mapping[str, Any]
    on_error: str = FAIL
    dlq_topic: str | None = None
    one_by_one: bool = False
    dry_run: bool = False
    with_counts: bool = False


def read_lines(source: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The lines of a stream as they arrive, with their numbers from 1."""
    number = 0
    while line := source.readline():
        number += 1
        yield number, line.removesuffix(b"\n").removesuffix(b"\r")


def produce(program: str, source: BinaryIO, sending: Sending, prepare: Callable[[], ToRecord]) -> int:
    """Sends the records of a stream's lines in UTF-8; arguments and errors as in `send_all`."""

    def prepare_lines() -> Callable[[bytes, int], Record]:
        to_record = prepare()
        return lambda line, number: to_record(_decoded(line, number), number)

    return send_all(program, read_lines(source), sending, prepare_lines, is_finite=_is_file(source))


def _is_file(source: BinaryIO) -> bool:
    try:
        return stat.S_ISREG(os.fstat(source.fileno()).st_mode)
    except OSError:
        return False


def send_all(
    program: str,
    items: Iterator[tuple[int, bytes]],
    sending: Sending,
    prepare: Callable[[], Callable[[bytes, int], Record]],
    unit: str = "line",
    *,
    is_finite: bool = False,
) -> int:
    """Sends the records of lines, or of other items; returns the exit code.

    Args:
        program: The tool's name in messages.
        items: The lines with their numbers.
        sending: How to send, and to which topic.
        prepare: Makes the function that converts lines to records; it may ask the registry.
        unit: What an item is called in messages.
        is_finite: Whether the items end by themselves, as those of a file do: the unsent ones can be counted.

    Raises:
        Ended: A record was not delivered, or lines of a dry run are bad.
        BadLine: A line is not a record, and `on_error` is `fail`; the records before it were delivered.
    """
    # First, so that the producer connects while the rest is imported.
    outbox = None if sending.dry_run else Outbox(sending.config)
    to_record = prepare()
    progress = Progress(items, unit)
    try:
        _send(program, progress, sending, outbox, to_record)
    except Exception as error:
        if outbox is not None and sending.with_counts:
            error.add_note(progress.counts(outbox, is_finite=is_finite))
        raise
    if progress.bad:
        text = f"{progress.bad} of {progress.number} {unit}s are bad"
        if sending.dry_run and sending.on_error == FAIL:
            raise Ended(BAD_DATA, text)
        tell(program, text)
    return OK


def _send(
    program: str,
    progress: Progress,
    sending: Sending,
    outbox: Outbox | None,
    to_record: Callable[[bytes, int], Record],
) -> None:
    try:
        for number, line in progress:
            try:
                record = to_record(line, number)
            except BadLine as error:
                progress.bad += 1
                _refuse(program, sending, outbox, line, error)
                continue
            if outbox is not None:
                outbox.send(sending.topic, record, number)
                if sending.one_by_one:
                    outbox.flush()
                if outbox.failed:
                    progress.unsent = number + 1
                    break
    finally:
        if outbox is not None:
            outbox.flush()
    if outbox is not None:
        progress.check_delivery(outbox)


def _refuse(program: str, sending: Sending, outbox: Outbox | None, line: bytes, error: BadLine) -> None:
    """Handles a bad line as `on_error` says; a dry run reports all bad lines."""
    if sending.on_error == FAIL and outbox is not None:
        raise error
    tell(program, str(error))
    if outbox is not None and sending.dlq_topic is not None:
        letter = _dead_letter(program, sending.topic, line, error)
        outbox.send(sending.dlq_topic, letter, error.line, is_letter=True)


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
    return Record(None, line, [*letter.headers(), *rule_headers(error.__cause__, topic)])


def convert(serialize: Callable[[str], bytes | None], text: str, number: int, column: int, part: str) -> bytes | None:
    """Serializes a part of a line.

    Raises:
        BadLine: The text is not a datum of the schema.
    """
    from serdes.rules.error import RuleFailed  # noqa: PLC0415  # already imported
    from serdes.rules.inline.rule import ValidationRulesFailed  # noqa: PLC0415  # as above
    from serdes.text.text_serdes import BadText  # noqa: PLC0415  # as above

    try:
        return serialize(text)
    except BadText as error:
        raise BadLine(number, column + error.offset, str(error), part) from error
    except SerializationError as error:
        is_of_line = type(error) is SerializationError or isinstance(error, RuleFailed | ValidationRulesFailed)
        if is_of_line or error.__class__.__module__ == "serdes.console.plain":
            raise BadLine(number, column, str(error), part) from error
        raise


def open_source(path: str | None) -> BinaryIO:
    """Opens a file, or stdin if the path is None or `-`."""
    return sys.stdin.buffer if path in {None, "-"} else Path(str(path)).open("rb")
