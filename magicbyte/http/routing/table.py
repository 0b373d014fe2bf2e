"""The rows of a server as a compiled table, which finds the row for a method and a path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import NamedTuple

from magicbyte.http.routing.recorder import Tallies
from magicbyte.http.routing.rows import Row, Streams
from magicbyte.kit.errors import ApiError

#: The label for requests without a route; a path that a client chose must not become a label.
NO_ROUTE = "none"
#: How many look-ups are cached, and the longest path of one, so that clients cannot fill the memory with them.
_CACHED = 4096
_LONGEST_CACHED = 256
#: The end of a last parameter that stands for one or more segments, in the framework's notation: `{path:path}`.
_REST = ":path}"

#: Strips a path to the route's path; returns it with the parameters of the stripped parts. Raises ApiError.
Locate = Callable[[str], tuple[str, Mapping[str, str]]]


class RouteMatch(NamedTuple):
    """The row that answers a request, and the parts of the request's path.

    Attributes:
        row: The row; a placeholder if there is no route.
        tallies: Counts its answers.
        path: The stripped path, from `Locate`.
        parameters: The path's parameters, percent-encoded as they were sent.
        error: The error of `Locate`, if the path is invalid.
        allowed: The methods of the path, if the request's method is not one of them.
    """

    row: Row
    tallies: Tallies
    path: str
    parameters: Mapping[str, str]
    error: ApiError | None = None
    allowed: Sequence[str] = ()


@dataclass(slots=True)
class _Pattern:
    """The path of one or more rows: its literal segments and its parameters' names, by position."""

    literals: tuple[tuple[int, str], ...]
    parameters: tuple[tuple[int, str], ...]
    rows: dict[str, tuple[Row, Tallies]] = field(default_factory=dict)

    def match(self, segments: Sequence[str]) -> dict[str, str] | None:
        """Return the path's parameters, or None if the path does not match."""
        for position, literal in self.literals:
            if segments[position] != literal:
                return None
        parameters = {name: segments[position] for position, name in self.parameters}
        return parameters if all(parameters.values()) else None


@dataclass(slots=True)
class _Beginning:
    """The path of rows whose last parameter stands for the rest of a path, which may have any segments."""

    literals: Sequence[str]
    parameter: str
    rows: dict[str, tuple[Row, Tallies]] = field(default_factory=dict)

    def match(self, segments: Sequence[str]) -> dict[str, str] | None:
        """Return the path's parameter, or None if the path does not match."""
        length = len(self.literals)
        if len(segments) <= length or segments[:length] != self.literals:
            return None
        return {self.parameter: "/".join(segments[length:])}


class Table:
    """Finds the row of a request; literal segments win over parameters, and both over a parameter for many segments.

    The order of the rows has no effect.
    """

    def __init__(self, rows: Iterable[Row], locate: Locate, without_route: Row) -> None:
        """Compile the rows.

        Args:
            rows: All routes of the server.
            locate: Strips a path before it is looked up.
            without_route: Answers requests without a route.

        Raises:
            ValueError: Two rows have the same method and path, or the same operation id.
        """
        self.rows = tuple(rows)
        self._locate = locate
        self.without_route = without_route
        #: Counts requests without a row.
        self.unrouted = Tallies(NO_ROUTE, NO_ROUTE)
        #: Patterns by the number of segments and the first segment, which is None if it is a parameter.
        self._patterns: dict[tuple[int, str | None], list[_Pattern]] = {}
        #: Patterns of paths with any number of segments, by the first segment; the longest come first.
        self._beginnings: dict[str, list[_Beginning]] = {}
        self.tallies = [self.unrouted]
        self._cache: dict[tuple[str, bytes], RouteMatch] = {}
        self._compile()

    def _compile(self) -> None:
        names = set[str]()
        by_path: dict[str, _Pattern | _Beginning] = {}
        for row in self.rows:
            pattern = by_path.get(row.path) or _pattern(row.path)
            by_path[row.path] = pattern
            if row.method in pattern.rows or row.operation_id in names:
                raise ValueError(f"{row.method} {row.path} ({row.operation_id}) is in the table already")
            names.add(row.operation_id)
            tallies = Tallies(row.method, row.path)
            self.tallies.append(tallies)
            pattern.rows[row.method] = (row, tallies)
            if row.method == "GET" and row.is_safe:
                pattern.rows["HEAD"] = (row, tallies)
        for path, pattern in sorted(by_path.items(), key=_literals_first):
            first, *rest = path.split("/")[1:]
            if isinstance(pattern, _Beginning):
                beginnings = self._beginnings.setdefault(first, [])
                beginnings.append(pattern)
                beginnings.sort(key=lambda beginning: -len(beginning.literals))
                continue
            key = (1 + len(rest), None if first.startswith("{") else first)
            self._patterns.setdefault(key, []).append(pattern)

    def find(self, method: str, raw_path: bytes) -> RouteMatch:
        """Return the row for a method and path; a placeholder if there is no route."""
        match = self._cache.get((method, raw_path))
        if match is None:
            match = self._find(method, raw_path)
            if (match.row.is_remembered or match.row.is_quiet) and len(raw_path) <= _LONGEST_CACHED:
                if len(self._cache) >= _CACHED:
                    self._cache.clear()
                self._cache[method, raw_path] = match
        return match

    def _find(self, method: str, raw_path: bytes) -> RouteMatch:
        # Look up the path as it was sent, so that %2F within a segment is not taken for a separator.
        path = raw_path.partition(b"?")[0].decode("latin-1")
        try:
            path, outer_parameters = self._locate(path)
        except ApiError as error:
            return RouteMatch(self.without_route, self.unrouted, path, {}, error)
        allowed: list[str] = []
        for pattern, parameters in self._matching(path):
            entry = pattern.rows.get(method)
            if entry is not None:
                return RouteMatch(*entry, path, {**outer_parameters, **parameters} if outer_parameters else parameters)
            allowed += [other for other in pattern.rows if other not in allowed]
        return RouteMatch(self.without_route, self.unrouted, path, outer_parameters, allowed=allowed)

    def _matching(self, path: str) -> Iterable[tuple[_Pattern | _Beginning, dict[str, str]]]:
        first, *rest = segments = path.split("/")[1:]
        for key in ((1 + len(rest), first), (1 + len(rest), None)):
            for pattern in self._patterns.get(key, ()):
                parameters = pattern.match(segments)
                if parameters is not None:
                    yield pattern, parameters
        for beginning in self._beginnings.get(first, ()):
            parameters = beginning.match(segments)
            if parameters is not None:
                yield beginning, parameters

    def streams(self, raw_path: bytes) -> Streams:
        """Tell what the routes of a path stream."""
        return reduce(or_, (row.streams for row in self._rows_at(raw_path)), Streams.NOTHING)

    def is_safe(self, raw_path: bytes) -> bool:
        """Tell whether a GET of a path changes nothing."""
        return all(row.is_safe for row in self._rows_at(raw_path))

    def is_for_own_pages(self, raw_path: bytes) -> bool:
        """Tell whether pages of other origins are refused at a path."""
        return any(row.for_own_pages for row in self._rows_at(raw_path))

    def _rows_at(self, raw_path: bytes) -> list[Row]:
        try:
            path, _ = self._locate(raw_path.partition(b"?")[0].decode("latin-1"))
        except ApiError:
            return []
        return [row for pattern, _ in self._matching(path) for row, _ in pattern.rows.values()]


def _literals_first(item: tuple[str, object]) -> list[bool]:
    return [segment.startswith("{") for segment in item[0].split("/")]


def _pattern(path: str) -> _Pattern | _Beginning:
    if path.endswith(_REST):
        *literals, last = path.split("/")[1:]
        return _Beginning(literals, last.removeprefix("{").removesuffix(_REST))
    segments = list(enumerate(path.split("/")[1:]))
    return _Pattern(
        tuple((position, segment) for position, segment in segments if not segment.startswith("{")),
        tuple((position, segment.strip("{}")) for position, segment in segments if segment.startswith("{")),
    )
