"""The measured figures of `make bench-capacity` and their slopes: for `magicbyte capacity` and docs/capacity.md.

`figures.json` is the one table of figures; `make bench-capacity ARGS=--write` replaces it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).with_name("figures.json")


@dataclass(frozen=True, slots=True)
class OfSchemas:
    """A registry on a topic with so many schemas: the topic's and the process's MB, and the seconds of its start.

    Attributes:
        schemas: Versions in the topic, of about 1 KB each; one in ten has a reference.
        text_mb: The texts of all schemas.
        topic_mb: The topic's segments on the broker's disk.
        rss_mb: Resident memory after the first write.
        ready_seconds: From the start of the process to the first answered read.
        first_write_seconds: From then to the first acknowledged registration.
    """

    schemas: int
    text_mb: float
    topic_mb: float
    rss_mb: float
    ready_seconds: float
    first_write_seconds: float


@dataclass(frozen=True, slots=True)
class OfClients:
    """Registrations a second with so many clients that each wait for their answer, and the median answer in ms."""

    clients: int
    per_second: float
    p50_ms: float


@dataclass(frozen=True, slots=True)
class OfReads:
    """GETs a second for each core that the server uses: a hot path, and the p99 in ms with 32 clients."""

    path: str
    per_core: float
    p99_ms: float


@dataclass(frozen=True, slots=True)
class OfRecords:
    """Records a second through the proxy in a format, so many a request, with 8 clients; and the records a core."""

    format: str
    batch: int
    per_second: float
    per_core: float


@dataclass(frozen=True, slots=True)
class OfInstances:
    """The proxy's resident memory with so many idle consumer instances, each in a group of its own."""

    instances: int
    rss_mb: float


@dataclass(frozen=True, slots=True)
class Figures:
    """All figures of one run.

    Attributes:
        date: The day of the run, as ISO 8601.
        machine: What it ran on: a name for each fact.
        schemas: By the number of schemas.
        clients: By the number of clients.
        reads: By path.
        records: By format and batch.
        instances: By the number of instances.
    """

    date: str
    machine: Mapping[str, str]
    schemas: tuple[OfSchemas, ...]
    clients: tuple[OfClients, ...]
    reads: tuple[OfReads, ...]
    records: tuple[OfRecords, ...]
    instances: tuple[OfInstances, ...]

    def slope(self, name: str) -> Line:
        """Return the line through a figure of `OfSchemas`, over the number of schemas."""
        return line([row.schemas for row in self.schemas], [getattr(row, name) for row in self.schemas])

    def of_instances(self) -> Line:
        """Return the line through the proxy's memory, over the number of instances."""
        return line([row.instances for row in self.instances], [row.rss_mb for row in self.instances])


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line: the value at 0, and what one more adds."""

    at_zero: float
    each: float

    def at(self, count: float) -> float:
        """Return the value for a count; not below 0."""
        return max(self.at_zero + self.each * count, 0.0)


def line(counts: Sequence[float], values: Sequence[float]) -> Line:
    """Return the line through the least and the greatest count.

    A regression would let the large rows move the value at 0, which is what small registries need. More of something
    never needs less: a smaller last value is noise of the run, and the line is level then.

    Args:
        counts: At least two different counts, ascending.
        values: The measured value of each count.
    """
    each = max(values[-1] - values[0], 0.0) / (counts[-1] - counts[0])
    return Line(values[0] - each * counts[0], each)


def load(path: Path = FIGURES) -> Figures:
    """Read the figures of the last run."""
    return parse(json.loads(path.read_text(encoding="utf-8")))


def parse(data: Mapping[str, Any]) -> Figures:
    """Return figures from their JSON form."""
    return Figures(
        data["date"],
        data["machine"],
        tuple(OfSchemas(**row) for row in data["schemas"]),
        tuple(OfClients(**row) for row in data["clients"]),
        tuple(OfReads(**row) for row in data["reads"]),
        tuple(OfRecords(**row) for row in data["records"]),
        tuple(OfInstances(**row) for row in data["instances"]),
    )
