"""A registry over HTTP as a source: ours by its export, others version by version."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Self

import orjson

from magicbyte.kit.errors import ApiError
from magicbyte.kit.failure import Failure
from magicbyte.operations.failures import Unreadable
from magicbyte.operations.registry_end import RegistryEnd
from magicbyte.operations.sources.port import Origin, Reading
from magicbyte.operations.state import State
from registry.feed.export import check_lines
from serdes.error import RegistryError


class UrlSource:
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
            lines = self.end.exchange("GET", "/export").splitlines(keepends=True)
        except RegistryError as error:
            raise Failure(f"{self.name} has no /export: {error.message}") from None
        try:
            check_lines(lines, closed=True)
        except ApiError as error:
            raise Unreadable(f"the export of {self.name} is not whole: {error}") from None
        values = [orjson.loads(line) for line in lines]
        manifest = values[0]
        origin = Origin(self.name, "magicbyte", str(manifest.get("magicbyte", "")), manifest.get("offset"))
        return Reading(State.of_lines(values), origin)

    def __enter__(self) -> Self:
        """Return this source."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Close the connections."""
        self.end.__exit__(kind, error, trace)
