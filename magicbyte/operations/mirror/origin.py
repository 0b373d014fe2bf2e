"""The source of a mirror: a Magicbyte registry with its change feed, or any other source, which is read as a whole."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from magicbyte.kit.errors import ApiError
from magicbyte.kit.failure import Failure
from magicbyte.operations.closing import Closing
from magicbyte.operations.failures import Unreachable
from magicbyte.operations.registry_end import RegistryEnd
from magicbyte.operations.sources.opening import Properties, open_source
from magicbyte.operations.sources.port import Reading, Source
from magicbyte.operations.state import State
from registry.feed.export import check_lines
from serdes.error import RegistryError

#: How many subjects, and about how many bytes of their names, one request asks for.
_MOST_NAMES, _MOST_BYTES = 50, 4000
#: A subject that no registry has, to ask for the manifest alone.
_NOTHING = "magicbyte.mirror.of.no.subject"


@dataclass(frozen=True, slots=True)
class Seen:
    """The source as it was read.

    Attributes:
        state: Its state, or the part that was asked for.
        log_id: The id of its log; empty if it has none.
        offset: The offset that the state is of; -1 if it has none.
    """

    state: State
    log_id: str = ""
    offset: int = -1


class Origin(Closing):
    """A source that is followed by its change feed if it has one.

    Args:
        name: As for `open_source`.
        properties: How to connect.

    Attributes:
        end: The registry; None for another kind of source.
    """

    def __init__(self, name: str, properties: Properties) -> None:
        is_url = name.startswith(("http://", "https://"))
        self.end: RegistryEnd | None = RegistryEnd(name, properties.registry) if is_url else None
        self._source: Source = open_source(name, properties)

    @property
    def name(self) -> str:
        """The source's name, without secrets."""
        return self._source.name

    def has_feed(self) -> bool:
        """Tell whether the source has a change feed and exports.

        Raises:
            Unreachable: It does not answer, or refuses the client.
        """
        if self.end is None:
            return False
        try:
            return "logId" in self._export((_NOTHING,), -1)[0]
        except RegistryError as error:
            if error.status in (404, 405):
                return False
            raise self._away(error) from None

    def context_name(self) -> str:
        """The context that `--context auto` stands for: the same for the same cluster; empty if it has no id."""
        if self.end is None:
            return ""
        try:
            clusters = self.end.call("GET", "/v1/metadata/id")["scope"]["clusters"]
        except (RegistryError, KeyError, TypeError):
            return ""
        ids = orjson.dumps(clusters, option=orjson.OPT_SORT_KEYS)
        return f"mirror-{hashlib.sha256(ids).hexdigest()[:8]}"

    def read(self) -> Seen:
        """Read the whole source.

        Raises:
            Unreachable, Unreadable, Failure: As for a source.
        """
        if self.end is None:
            reading = self._whole()
            return Seen(reading.state, "", -1 if reading.origin.offset is None else reading.origin.offset)
        try:
            return _seen(self._export((), -1))
        except RegistryError as error:
            if error.status in (404, 405):
                return Seen(self._whole().state)
            raise self._away(error) from None

    def _whole(self) -> Reading:
        reading = self._source.read()
        if reading.withheld:
            raise Failure(
                f"{self.name} does not show everything, and what is hidden looks deleted: {'; '.join(reading.withheld)}"
            )
        return reading

    def head(self) -> Seen:
        """The id and the offset of the source's log.

        Raises:
            Unreachable: It does not answer, or refuses the client.
        """
        return self.read_names((_NOTHING,), -1)

    def require(self, log_id: str, offset: int) -> None:
        """Let no node of the source answer from a state before an offset."""
        if self.end is not None and log_id:
            self.end.client.requester.require_offset(f"{log_id}:{offset}")

    def read_names(self, names: Iterable[str], least_offset: int) -> Seen:
        """Read subjects and contexts' settings; `:.:` stands for the global ones.

        Args:
            names: The names.
            least_offset: The offset that the state must have reached.

        Raises:
            Unreachable: The source does not answer, or only from an earlier state.
        """
        seen = Seen(State())
        try:
            for part in _parts(names):
                seen = _joined(seen, _seen(self._export(part, least_offset)))
        except RegistryError as error:
            raise self._away(error) from None
        return seen

    def _export(self, names: Iterable[str], least_offset: int) -> list[dict[str, Any]]:
        assert self.end is not None
        answer = self.end.answer("GET", "/export", {"subject": list(names)})
        if answer.headers.get("magicbyte-complete") == "false":
            raise Failure(
                f"{self.name} hides subjects from the mirror's user, and what is hidden looks deleted; give it READ "
                "and DESCRIBE_CONFIGS on all subjects, and DESCRIBE on the registry"
            )
        raw = answer.body.splitlines(keepends=True)
        try:
            check_lines(raw, closed=True)
        except ApiError as error:
            # The connection was cut.
            raise Unreachable(f"the export of {self.name} is not whole: {error}") from None
        lines = [orjson.loads(line) for line in raw]
        if lines[0].get("offset", -1) < least_offset:
            raise Unreachable(f"{self.name} answers from offset {lines[0].get('offset')}, before {least_offset}")
        return lines

    def _away(self, error: RegistryError) -> Failure:
        if error.status >= 500 or error.status == 429:
            return Unreachable(f"{self.name}: {error.message}")
        return Failure(f"{self.name} refuses the mirror: {error.message}")

    def close(self) -> None:
        """Close the connections."""
        self._source.close()
        if self.end is not None:
            self.end.close()


def _seen(lines: list[dict[str, Any]]) -> Seen:
    manifest = lines[0]
    return Seen(State.of_lines(lines), str(manifest.get("logId", "")), int(manifest.get("offset", -1)))


def _joined(left: Seen, right: Seen) -> Seen:
    def both(name: str) -> Mapping[Any, Any]:
        return {**getattr(left.state, name), **getattr(right.state, name)}

    state = State(both("contexts"), both("versions"), both("configs"), both("modes"))
    return Seen(state, right.log_id, right.offset)


def _parts(names: Iterable[str]) -> Iterator[list[str]]:
    part, size = list[str](), 0
    for name in sorted(names):
        if part and (len(part) == _MOST_NAMES or size + len(name) > _MOST_BYTES):
            yield part
            part, size = [], 0
        part.append(name)
        size += len(name.encode())
    if part:
        yield part
