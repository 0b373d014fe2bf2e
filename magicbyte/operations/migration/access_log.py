"""Clients of a registry, by the User-Agent in its access log."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import orjson

from magicbyte.kit.failure import Failure
from magicbyte.kit.plural import plural
from magicbyte.operations.migration.finding import Finding

#: A line of the combined log format: the request, and the last quoted part.
_COMBINED = re.compile(r'"(?P<method>[A-Z]+) (?P<path>\S+)[^"]*".*"(?P<agent>[^"]*)"\s*$')
_AGENT_NAMES = ("user_agent", "userAgent", "http_user_agent", "user-agent")
_PATH_NAMES = ("path", "uri", "request_uri", "url")
#: Paths of Apicurio's own API, which no other registry has.
_NATIVE = re.compile(r"^/(?:apis/registry/|api/artifacts)")
_SHOWN = 10


def check_log(file: Path) -> Iterator[Finding]:
    """The clients in a log in the combined format, or of JSON lines.

    Raises:
        Failure: It cannot be read, or no line is of a known form.
    """
    agents: Counter[str] = Counter()
    native: Counter[str] = Counter()
    unread = 0
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                entry = _entry(line)
                if entry is None:
                    unread += bool(line.strip())
                    continue
                path, agent = entry
                agents[_product(agent)] += 1
                if _NATIVE.match(path):
                    native[_product(agent)] += 1
    except OSError as error:
        raise Failure(f"{file} cannot be read: {error.strerror}") from None
    if unread and not agents:
        raise Failure(f"{file} has no line of the combined log format, and no JSON line with a user_agent")
    if native:
        sentence = f"{plural(native.total(), 'request')} use Apicurio's own API: {_counted(native)}"
        yield Finding("NATIVE_API", sentence)
    if agents:
        passed = f"; {plural(unread, 'line')} of another form were passed over" if unread else ""
        yield Finding("CLIENTS", f"requests by client: {_counted(agents)}{passed}")


def _entry(line: str) -> tuple[str, str] | None:
    """The path and the User-Agent of a request; None if the line is of no known form."""
    if line.startswith("{"):
        try:
            value = orjson.loads(line)
        except ValueError:
            return None
        agent = next((value[name] for name in _AGENT_NAMES if isinstance(value.get(name), str)), None)
        path = next((value[name] for name in _PATH_NAMES if isinstance(value.get(name), str)), "")
        return None if agent is None else (path, agent)
    match = _COMBINED.search(line)
    return None if match is None else (match["path"], match["agent"])


def _product(agent: str) -> str:
    """The first product of a User-Agent, such as `confluent-kafka-python/2.6.0`."""
    return agent.split(" ", maxsplit=1)[0] or "no User-Agent"


def _counted(counts: Counter[str]) -> str:
    shown = ", ".join(f"{name} ({count:,})" for name, count in counts.most_common(_SHOWN))
    more = len(counts) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown
