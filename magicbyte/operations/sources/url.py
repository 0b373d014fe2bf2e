"""A registry over HTTP as a source: ours by its export, others version by version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from magicbyte.kit.errors import ApiError
from magicbyte.kit.failure import Failure
from magicbyte.operations.closing import Closing
from magicbyte.operations.failures import Unreadable
from magicbyte.operations.registry_end import LACKING, RegistryEnd
from magicbyte.operations.sources.foreign.reading import read_foreign
from magicbyte.operations.sources.port import Origin, Reading
from magicbyte.operations.sources.wholeness import notes_of, withheld_by
from magicbyte.operations.state import State
from registry.feed.export import check_lines
from serdes.client.flow import Answer
from serdes.error import RegistryError


class UrlSource(Closing):
    """A running registry."""

    def __init__(self, url: str, properties: Mapping[str, str]) -> None:
        self.end = RegistryEnd(url, properties)

    @property
    def name(self) -> str:
        """The URL without credentials."""
        return self.end.name

    def read(self) -> Reading:
        """Read the whole state; see `Source.read`."""
        try:
            answer = self.end.answer("GET", "/export")
        except RegistryError as error:
            if error.status in LACKING:
                return read_foreign(self.end)
            raise Failure(f"{self.name} cannot be exported: {error.message}") from None
        return self._reading(answer)

    def _reading(self, answer: Answer) -> Reading:
        lines = answer.body.splitlines(keepends=True)
        try:
            check_lines(lines, closed=True)
        except ApiError as error:
            raise Unreadable(f"the export of {self.name} is not whole: {error}") from None
        manifest: Mapping[str, Any] = orjson.loads(lines[0])
        origin = Origin(self.name, "magicbyte", str(manifest.get("magicbyte", "")), manifest.get("offset"))
        withheld = withheld_by(manifest, answer.headers)
        return Reading(State.of_lines(_values(lines)), origin, notes_of(manifest), withheld)

    def close(self) -> None:
        """Close the connections."""
        self.end.close()


def _values(lines: Sequence[bytes]) -> Iterator[Mapping[str, Any]]:
    for line in lines:
        if not line.isspace():
            yield orjson.loads(line)
