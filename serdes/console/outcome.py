"""The end of a tool: exit codes, and errors as one line on stderr."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any

#: Success.
OK = 0
#: A line or record cannot be converted, or the registry refuses the schema.
BAD_DATA = 1
#: The command line or a setting is wrong.
BAD_USAGE = 2
#: The broker or the registry cannot be reached or refuses the client, or records were not delivered.
NOT_DELIVERED = 3
#: There was no record, and --fail-if-empty was given.
EMPTY = 4
_INTERRUPTED = 130
#: The most explanations to print, and the longest example in characters.
_MOST_EXPLANATIONS = 5
_LONGEST_EXAMPLE = 500


class Ended(Exception):
    """The end of a run that failed: an exit code, and a line that says why."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def tell(program: str, text: str) -> None:
    """Writes a line to stderr."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{program}: {text}\n")
        sys.stderr.flush()


def tell_explanations(program: str, explanations: Sequence[Mapping[str, Any]]) -> None:
    """Writes why the registry refused a schema: the change, a datum that shows the break, and the remedy."""
    errors = [explanation for explanation in explanations if explanation.get("severity") == "error"]
    for explanation in errors[:_MOST_EXPLANATIONS]:
        example = explanation.get("example")
        parts = (
            f"{explanation.get('rule')} at {explanation.get('path')}: {explanation.get('change')}",
            f"Example: {example}" if example and len(example) <= _LONGEST_EXAMPLE else "",
            explanation.get("effect"),
            f"Fix: {explanation['remedy']}" if explanation.get("remedy") else "",
        )
        tell(program, " ".join(part for part in parts if part))
    if len(errors) > _MOST_EXPLANATIONS:
        tell(program, f"and {len(errors) - _MOST_EXPLANATIONS} more")


def write_output(line: bytes) -> None:
    """Writes to stdout.

    Raises:
        Ended: The write failed, for instance on a full disk.
        BrokenPipeError: The reader closed stdout.
    """
    try:
        sys.stdout.buffer.write(line)
    except OSError as error:
        raise _unwritable(error) from error


def flush_output() -> None:
    """Flushes stdout's buffer.

    Raises:
        Ended, BrokenPipeError: As `write_output`.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        raise _unwritable(error) from error


def _unwritable(error: OSError) -> Exception:
    if isinstance(error, BrokenPipeError):
        return error
    return Ended(NOT_DELIVERED, f"stdout cannot be written: {error.strerror}")


def _discard_output() -> None:
    """Discards the output that cannot be written; else Python would try again at exit and print an error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def carried_out(program: str, run: Callable[[], int]) -> int:
    """Runs a tool; returns its exit code, and writes an error as a line to stderr.

    If the reader closes stdout (`| head`), the exit code is 0.
    """
    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGTERM, _interrupt)
    try:
        code = run()
        flush_output()
    except BrokenPipeError:
        _discard_output()
        return OK
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:
        error_code = exit_code(error)
        if error_code is None:
            raise
        code = error_code
        tell(program, str(error) or type(error).__name__)
        tell_explanations(program, getattr(error, "explanations", ()))
        for note in getattr(error, "__notes__", ()):
            tell(program, note)
        try:
            sys.stdout.flush()
        except OSError:
            _discard_output()
    return code


def exit_code(error: Exception) -> int | None:
    """The exit code for an error; None for a bug in this program."""
    from magicbyte.kit.extras import ExtraMissing  # noqa: PLC0415  # only after an error
    from magicbyte.kit.kafka.client_settings import KafkaSettingsError  # noqa: PLC0415
    from serdes.error import (  # noqa: PLC0415
        ConfigError,
        NotAuthorized,
        OAuthTokenError,
        RegistryUnavailable,
        SerdesError,
        ValidationUnavailable,
    )

    if isinstance(error, Ended):
        return error.code
    if isinstance(error, ConfigError | KafkaSettingsError | ExtraMissing):
        return BAD_USAGE
    if isinstance(error, RegistryUnavailable | NotAuthorized | OAuthTokenError | ValidationUnavailable):
        return NOT_DELIVERED
    if isinstance(error, SerdesError):
        return BAD_DATA
    from confluent_kafka import KafkaException  # noqa: PLC0415

    return NOT_DELIVERED if isinstance(error, KafkaException) else None


def _interrupt(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise KeyboardInterrupt
