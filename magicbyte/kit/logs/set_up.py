"""Sets up the logs of a process: form, level, access log, and the signals that change them."""

from __future__ import annotations

import atexit
import logging
import sys
import threading
from enum import StrEnum

from magicbyte.kit.logs.access import ACCESS, LoggedAnswers
from magicbyte.kit.logs.formats import JsonFormatter, TextFormatter
from magicbyte.kit.logs.handler import LineHandler
from magicbyte.kit.logs.repeats import RepeatedWarnings

log = logging.getLogger("magicbyte.logs")

#: Libraries whose lines are not for operators: they tell each request, at debug with its headers.
_QUIET = {"httpx": logging.WARNING, "httpcore": logging.INFO, "urllib3": logging.INFO, "py4j": logging.WARNING}


class Form(StrEnum):
    """The form of log lines."""

    AUTO = "auto"
    JSON = "json"
    TEXT = "text"


class _Debugging:
    """Logs everything for a while."""

    def __init__(self) -> None:
        self.level = logging.INFO
        self._timer: threading.Timer | None = None
        # Each signal begins on a thread of its own.
        self._lock = threading.RLock()

    def begin(self, seconds: float) -> None:
        """Log everything from now on; a time that runs already begins again."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = timer = threading.Timer(seconds, lambda: self._end(timer))
            timer.name, timer.daemon = "log-debug", True
            self._log_all()
            log.warning("everything is logged for %.0f s", seconds, extra={"event": "debug_began", "seconds": seconds})
            timer.start()

    def set_level(self, level: int) -> None:
        """Take a level from settings, which counts when the time for everything is over."""
        with self._lock:
            self.level = level
            if self._timer is not None:
                self._log_all()

    def end(self) -> None:
        """Log again what the settings say."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = None
            log.warning("the log has its level again", extra={"event": "debug_ended"})
            logging.getLogger().setLevel(self.level)
            ACCESS.log_all(for_now=False)

    def _end(self, timer: threading.Timer) -> None:
        """End the time of a timer, unless it has begun again."""
        with self._lock:
            if self._timer is timer:
                self.end()

    @staticmethod
    def _log_all() -> None:
        logging.getLogger().setLevel(logging.DEBUG)
        ACCESS.log_all(for_now=True)


DEBUGGING = _Debugging()


def tell_failure(error: Exception) -> bool:
    """Log why this server ends if its logs have to be JSON; returns whether it did."""
    formatters = [handler.formatter for handler in logging.getLogger().handlers]
    is_told = any(isinstance(formatter, JsonFormatter) and formatter.is_chosen for formatter in formatters)
    if is_told:
        log.critical("%s", error, extra={"event": "server_failed"})
    return is_told


def set_up_logs(level: str, *, form: str = Form.AUTO, access: str = LoggedAnswers.ERRORS, node: str = "") -> None:
    """Send all logs of this process to standard error; a further call replaces what an earlier one has set up.

    Args:
        level: The lowest level of lines, except for the access log.
        form: The form of lines, one of `Form`.
        access: Which answers are logged, one of `LoggedAnswers`.
        node: The name of this process among its nodes, which JSON lines have.
    """
    # Our formats do not use these values, so do not compute them for every record (logging HOWTO, Optimization).
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = LineHandler(sys.stderr)
    is_json = form == Form.JSON or (form == Form.AUTO and not sys.stderr.isatty())
    handler.setFormatter(JsonFormatter(node, is_chosen=form == Form.JSON) if is_json else TextFormatter())
    repeated = RepeatedWarnings(handler.write_unfiltered)
    handler.addFilter(repeated)
    atexit.register(repeated.repeats.look, at_end=True)
    lowest_level = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(level=lowest_level, handlers=[handler], force=True)
    for name, lowest in _QUIET.items():
        logging.getLogger(name).setLevel(lowest)
    logging.getLogger("magicbyte.access").setLevel(logging.DEBUG)
    ACCESS.choose(LoggedAnswers(access))
    # A signal may have come before the settings were read.
    DEBUGGING.set_level(lowest_level)
