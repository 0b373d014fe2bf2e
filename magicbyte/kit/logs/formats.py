"""The two forms of a log line: JSON for machines, and text for people."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import orjson

from magicbyte.kit.inert import escape_controls
from magicbyte.kit.logs.redaction import shown_field, without_secrets
from magicbyte.kit.logs.request_facts import CURRENT
from magicbyte.kit.traces.current import current_trace_id

#: Attributes that every log record has; the caller added all others.
_STANDARD = frozenset({*vars(logging.makeLogRecord({})), "message", "event", "fields", "repeats"})
#: Loggers of libraries -> the event of their lines.
_LIBRARIES = {
    "uvicorn": "server_message",
    "asyncio": "event_loop_message",
    "magicbyte.librdkafka": "kafka_client_message",
    "aiokafka": "kafka_client_message",
    "opentelemetry": "tracing_message",
}
#: The event of other lines of libraries.
_OTHER_LIBRARY = "library_message"


class JsonFormatter(logging.Formatter):
    """One JSON object for each record: time, level, logger, event, message, node, request, and the event's fields."""

    def __init__(self, node: str = "", *, is_chosen: bool = False) -> None:
        """Make a formatter.

        Args:
            node: The name of this process among the nodes; empty to leave it out.
            is_chosen: Whether the settings ask for JSON, so that nothing else may be written.
        """
        super().__init__()
        self.is_chosen = is_chosen
        self._node = {"node": node} if node else {}

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line."""
        entry: dict[str, object] = {
            "ts": f"{_second(int(record.created))}.{int(record.msecs):03d}Z",
            "level": record.levelname,
            "logger": record.name,
            "event": event_of(record),
            "msg": message_of(record),
            **self._node,
        }
        fields: Mapping[str, Any] | None = getattr(record, "fields", None)
        if fields is not None:
            # The access log's records bring their fields along, which saves looking for them.
            entry.update(fields)
        else:
            entry.update(_facts())
            entry.update(_fields_of(record))
        if record.exc_info:
            entry["exception"] = without_secrets(self.formatException(record.exc_info))
        try:
            return orjson.dumps(entry, default=_text_of).decode()
        except TypeError:  # half a surrogate pair, or an integer of more than 64 bits
            return json.dumps(entry, default=_text_of)


class TextFormatter(logging.Formatter):
    """Time, level, logger, message and request id, for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line, followed by its traceback if it has one."""
        fields = getattr(record, "fields", None) or vars(record)
        facts = CURRENT.get()
        request_id = fields.get("request_id") or (None if facts is None else facts.request_id)
        message = escape_controls(message_of(record))
        line = f"{self.formatTime(record, '%H:%M:%S')} {record.levelname:<7} {record.name}: {message}"
        if request_id:
            line += f" [{request_id}]"
        if record.exc_info:
            line += f"\n{without_secrets(self.formatException(record.exc_info))}"
        return line


def event_of(record: logging.LogRecord) -> str:
    """The name of a record's event; lines of libraries have one for each library."""
    event: str | None = getattr(record, "event", None)
    if event is not None:
        return event
    name = record.name or ""
    return _LIBRARIES.get(name) or _LIBRARIES.get(name.partition(".")[0]) or _OTHER_LIBRARY


def message_of(record: logging.LogRecord) -> str:
    """A record's message without secrets, and how many lines like it were left out."""
    message = without_secrets(record.getMessage())
    repeats = getattr(record, "repeats", 0)
    return f"{message} (and {repeats} more like it since the last such line)" if repeats else message


def _facts() -> Iterator[tuple[str, object]]:
    """The request that the record is about."""
    facts = CURRENT.get()
    trace_id = current_trace_id()
    if facts is not None:
        yield "request_id", facts.request_id
        trace_id = trace_id or facts.trace_id
        yield "principal", facts.principal
    if trace_id is not None:
        yield "trace_id", trace_id


def _fields_of(record: logging.LogRecord) -> Iterator[tuple[str, object]]:
    repeats = getattr(record, "repeats", 0)
    if repeats:
        yield "repeats", repeats
    for name, value in vars(record).items():
        if name not in _STANDARD:
            yield name, shown_field(name, value)


def _text_of(value: object) -> str:
    """A value that JSON has no form for, as a text without secrets."""
    return without_secrets(str(value))


@lru_cache(maxsize=8)
def _second(since_epoch: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(since_epoch))
