"""The events of log lines, read from the calls that log them; `docs/events.md` has their tables."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("compat", "magicbyte", "registry", "rest_proxy", "serdes", "spark_avro")
LEVELS = ("debug", "info", "warning", "error", "exception", "critical")
#: What a name or an attribute of a logger is called.
_LOGGERS = ("log", "_log", "access_log", "logger")
#: It logs what its callers, which are read, tell it.
_MADE_BY_CALLERS = "magicbyte/kit/logs/repeats.py"
#: A `%` and its conversion in a message.
_VALUE = re.compile(r"%[-+.0-9]*[sdrfg]")
#: The part of the product -> the files whose events it has.
PARTS: dict[str, tuple[str, ...]] = {
    "servers": ("magicbyte/http/", "magicbyte/kit/"),
    "security": ("magicbyte/security/",),
    "registry": ("registry/", "compat/"),
    "proxy": ("rest_proxy/",),
    "page": ("magicbyte/ui/",),
    "pipelines": ("spark_avro/", "serdes/"),
}


@dataclass(frozen=True, slots=True)
class LogCall:
    """A call that logs a line.

    Attributes:
        file: The file.
        line: Its line.
        event: The name of the event; empty if the call names none.
        level: The level.
        logger: The name of the logger.
        fields: The fields of the event.
        message: The message, with an ellipsis for each value.
    """

    file: str
    line: int
    event: str
    level: str
    logger: str
    fields: tuple[str, ...]
    message: str


@dataclass(slots=True)
class Event:
    """An event of a part, with all calls that log it."""

    name: str
    levels: list[str] = field(default_factory=list)
    loggers: list[str] = field(default_factory=list)
    fields: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    def add(self, call: LogCall) -> None:
        """Add a call."""
        for values, value in ((self.levels, call.level), (self.loggers, call.logger), (self.messages, call.message)):
            if value not in values:
                values.append(value)
        self.fields += [name for name in call.fields if name not in self.fields]


#: Lines that are made in another way than by a call of a logger.
OTHERS = (
    LogCall(
        "magicbyte/http/routing/recorder.py",
        0,
        "request_answered",
        "info",
        "magicbyte.access",
        ("method", "path", "route", "status", "ms"),
        "METHOD PATH STATUS; a warning if the status is 500 or more",
    ),
    LogCall(
        "magicbyte/kit/kafka/outages.py",
        0,
        "broker_unreachable",
        "warning",
        "the Kafka client's",
        ("broker",),
        "no connection to the Kafka broker …: …; trying again",
    ),
    LogCall(
        "magicbyte/kit/kafka/outages.py",
        0,
        "kafka_client_message",
        "any",
        "magicbyte.kafka, the Kafka client's",
        (),
        "a line of a Kafka client",
    ),
    LogCall("magicbyte/kit/logs/formats.py", 0, "server_message", "any", "uvicorn", (), "a line of the HTTP server"),
    LogCall("magicbyte/kit/logs/formats.py", 0, "event_loop_message", "any", "asyncio", (), "a line of the event loop"),
    LogCall(
        "magicbyte/kit/logs/formats.py", 0, "tracing_message", "any", "opentelemetry", (), "a line of OpenTelemetry"
    ),
    LogCall("magicbyte/kit/logs/formats.py", 0, "library_message", "any", "others", (), "a line of another library"),
)


@cache
def log_calls() -> tuple[LogCall, ...]:
    """All calls of loggers in our packages, in the order of files and lines."""
    paths = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    # Reading the text takes a hundredth of the time of parsing it.
    logging = (path for path in paths if "getLogger" in path.read_text(encoding="utf-8"))
    return tuple(call for path in logging for call in calls_in(path))


def events_table(part: str) -> str:
    """The table of the events of a part, by name."""
    events: dict[str, Event] = {}
    for call in (*log_calls(), *OTHERS):
        if call.file.startswith(PARTS[part]):
            events.setdefault(call.event, Event(call.event)).add(call)
    lines = ["| Event | Level | Logger | Fields | Message |", "|---|---|---|---|---|"]
    for name in sorted(events):
        event = events[name]
        cells = (
            f"`{name}`",
            ", ".join(event.levels),
            "<br>".join(map(_code, event.loggers)),
            " ".join(map(_code, event.fields)),
            "<br>".join(message.replace("|", "\\|") for message in event.messages),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join((*lines, ""))


def _code(text: str) -> str:
    return f"`{text}`" if re.fullmatch(r"[\w.]+", text) else text


def calls_in(path: Path, root: Path = ROOT) -> Iterator[LogCall]:
    """The calls of loggers in a file, which is named by its path below a folder."""
    file = str(path.relative_to(root))
    if file == _MADE_BY_CALLERS:
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = dict(_constants(tree))
    logger = _logger_of(tree, file)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id == "OccasionalWarning":
            _, event, text = node.args[:3]
            yield LogCall(file, node.lineno, _text(event, texts), "warning", logger, (), _shown(_text(text, texts)))
        elif isinstance(node.func, ast.Attribute) and node.func.attr in LEVELS and _is_logger(node.func.value):
            extra = next((keyword.value for keyword in node.keywords if keyword.arg == "extra"), None)
            named = dict(_items(extra)) if isinstance(extra, ast.Dict) else {}
            level = "error" if node.func.attr == "exception" else node.func.attr
            message = _shown(_text(node.args[0], texts)) if node.args else ""
            names = tuple(name for name in named if name != "event")
            yield LogCall(file, node.lineno, _text(named.get("event"), {}), level, logger, names, message)


def _is_logger(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) == "logging.getLogger"
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name in _LOGGERS


def _items(node: ast.Dict) -> Iterator[tuple[str, ast.expr]]:
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key.value, value


def _constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The texts that names stand for in a module, also in its functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            text = _text(node.value, {})
            if text:
                yield node.targets[0].id, text


def _logger_of(tree: ast.Module, file: str) -> str:
    """The name of a module's logger."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "logging.getLogger" and node.args:
            name = _text(node.args[0], {})
            if name:
                return name
    return file.removesuffix(".py").replace("/", ".")


def _text(node: ast.expr | None, texts: dict[str, str]) -> str:
    """The text of a literal, or of a name that stands for one; empty for anything else."""
    if isinstance(node, ast.Name):
        return texts.get(node.id, "")
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _shown(template: str) -> str:
    """A message with an ellipsis for each value."""
    return " ".join(_VALUE.sub("…", template).split()) or "…"


def events_of(calls: Sequence[LogCall]) -> frozenset[str]:
    """The names of all events."""
    return frozenset(call.event for call in (*calls, *OTHERS))
