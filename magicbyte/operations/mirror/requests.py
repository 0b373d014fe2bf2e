"""Comparing how two registries answer the read requests of an access log."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from magicbyte.kit.failure import Failure
from magicbyte.operations.registry_end import RegistryEnd
from serdes.error import RegistryError

#: How many requests are sent at a time.
_AT_ONCE = 8
#: Paths whose answers tell about the server, not about schemas, or do not end.
_LEFT_OUT = ("/events", "/export", "/metrics", "/health", "/_health", "/overview", "/master_available", "/ui", "/v1")
#: How much of a body a difference shows, in characters.
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Answer:
    """A registry's answer: its status, and its body, as JSON if it is JSON."""

    status: int
    body: Any


@dataclass(frozen=True, slots=True)
class DifferentAnswer:
    """A request that two registries answer differently."""

    path: str
    left: Answer
    right: Answer

    def to_json(self) -> dict[str, Any]:
        """The difference as a JSON value."""
        sides = {"left": self.left, "right": self.right}
        return {
            "path": self.path,
            **{name: {"status": answer.status, "body": answer.body} for name, answer in sides.items()},
        }

    def text(self) -> str:
        """The difference in two lines."""
        return f"GET {self.path}\n  left  {_shown(self.left)}\n  right {_shown(self.right)}"


@dataclass(frozen=True, slots=True)
class RequestReport:
    """The result of a comparison: how many paths were asked and left out, and what differs."""

    asked: int
    left_out: int
    different: tuple[DifferentAnswer, ...]


def read_requests(file: Path) -> tuple[list[str], int]:
    """The distinct paths of GET requests, with their queries, and how many lines hold something else.

    A line is an object of the JSON access log, or a path such as `/subjects/a/versions/1`, with or without `GET `.

    Raises:
        Failure: The file cannot be read, or a line is neither.
    """
    paths: dict[str, None] = {}
    others = 0
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                path = _path_of(line.strip(), f"{file}:{number}")
                if path is None or path.startswith(_LEFT_OUT):
                    others += 1
                else:
                    paths[path] = None
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"{file} cannot be read: {error}") from None
    return list(paths), others


def _path_of(line: str, place: str) -> str | None:
    """The path of a GET request; None if the line is of another request or another event."""
    method, path = "GET", line
    if line.startswith("{"):
        try:
            entry = json.loads(line)
        except ValueError as error:
            raise Failure(f"{place} is no JSON: {error}") from None
        path = entry.get("target") or entry.get("path") or ""
        method = str(entry.get("method", ""))
        query = entry.get("query")
        path = f"{path}?{query}" if query and "?" not in path else path
        if not method or not path:
            return None
    elif not line.startswith("/"):
        method, _, path = line.partition(" ")
        path = path.strip()
        if not method.isalpha() or not path.startswith("/"):
            raise Failure(
                f"{place}: expected a line of a JSON access log, or a path such as /subjects, not {line[:80]!r}"
            )
    if method.upper() != "GET":
        return None
    parts = urlsplit(str(path))
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def compare_requests(left: RegistryEnd, right: RegistryEnd, paths: Iterable[str], *, left_out: int) -> RequestReport:
    """Send GET requests to two registries and compare statuses and bodies; nothing but GET is sent.

    Raises:
        Unreachable: A registry does not answer, or refuses the client.
    """
    asked = 0
    different: list[DifferentAnswer] = []
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for path, (first, second) in _answers(pool, left, right, paths):
            asked += 1
            if first != second:
                different.append(DifferentAnswer(path, first, second))
    return RequestReport(asked, left_out, tuple(different))


def _answers(
    pool: ThreadPoolExecutor, left: RegistryEnd, right: RegistryEnd, paths: Iterable[str]
) -> Iterator[tuple[str, tuple[Answer, Answer]]]:
    listed = list(paths)
    yield from zip(listed, pool.map(lambda path: (_ask(left, path), _ask(right, path)), listed), strict=True)


def _ask(end: RegistryEnd, path: str) -> Answer:
    try:
        body = end.exchange("GET", path)
    except RegistryError as error:
        return Answer(error.status, {"error_code": error.code, "message": error.message})
    try:
        return Answer(200, json.loads(body))
    except ValueError:
        return Answer(200, body.decode(errors="replace"))


def _shown(answer: Answer) -> str:
    text = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
    return f"{answer.status} {text[:_SHOWN]}{'...' if len(text) > _SHOWN else ''}"
