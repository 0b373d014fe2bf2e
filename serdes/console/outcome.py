"""How a tool ends: its exit codes, and errors as one line on stderr."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

#: All was done.
OK = 0
#: A line or record cannot be converted, or the registry refuses the schema.
BAD_DATA = 1
#: The command line or a setting is wrong.
BAD_USAGE = 2
#: The broker or the registry cannot be reached or refuses us, or records were not delivered.
NOT_DELIVERED = 3
#: There was no record, and --fail-if-empty was given.
EMPTY = 4
_INTERRUPTED = 130


class Ended(Exception):
    """The end of a run that did not go well: an exit code and the line that says why."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def tell(program: str, text: str) -> None:
    """Writes a line to stderr."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{program}: {text}\n")
        sys.stderr.flush()


def write_output(line: bytes) -> None:
    """Writes to stdout.

    Raises:
        Ended: That is not possible, such as on a full disk.
        BrokenPipeError: Nobody reads it any more.
    """
    try:
        sys.stdout.buffer.write(line)
    except OSError as error:
        raise _unwritable(error) from error


def flush_output() -> None:
    """Writes what stdout has buffered.

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
    """Lets what cannot be written go; Python would try again at its end, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def carried_out(program: str, run: Callable[[], int]) -> int:
    """The exit code of a run; what it raises becomes a line on stderr.

    A closed stdout (`| head`) is the wish of whoever closed it: exit code 0.
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
        known = exit_code(error)
        if known is None:
            raise
        code = known
        tell(program, str(error) or type(error).__name__)
        try:
            sys.stdout.flush()
        except OSError:
            _discard_output()
    return code


def exit_code(error: Exception) -> int | None:
    """The exit code that an error stands for; None for one that is a mistake of ours."""
    from magicbyte.kit.extras import ExtraMissing  # noqa: PLC0415  # only where something went wrong
    from magicbyte.kit.kafka import KafkaSettingsError  # noqa: PLC0415
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
