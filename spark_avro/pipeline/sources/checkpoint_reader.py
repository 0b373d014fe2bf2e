"""Reads Spark's checkpoints: the query's id, the offsets of each batch, and the batches that are committed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Generic, TypeVar

from spark_avro.pipeline.folder import ReadableFolder
from spark_avro.pipeline.ports import SourceRange

#: Our pointer to the folder of Spark's query, if it is not the checkpoint itself.
POINTER = "_magicbyte/query.json"

#: The offsets at which a first query reads topics that are no tables, if it reads tables before (`table_topics.py`).
FIRST_OFFSETS = "_magicbyte/first-offsets.json"

Offsets = Mapping[str, Mapping[int, int]]

F = TypeVar("F", bound=ReadableFolder)


class CheckpointReader(Generic[F]):
    """The checkpoint of a pipeline, and Spark's checkpoint inside.

    Spark's query may begin anew with empty state (`Checkpoint.begin_anew`) and then has a folder of its own. The id of
    the query and the numbers of batches go on, so the markers in the targets stay right: batch numbers here are those
    of the pipeline, which are Spark's numbers after a base.

    Attributes:
        folder: The checkpoint's folder; our own part of it is below `_magicbyte`.
        query: The folder of Spark's query.
    """

    def __init__(self, folder: F) -> None:
        self.folder = folder
        self._find()

    def _find(self) -> None:
        text = self.folder.read(POINTER)
        query = json.loads(text) if text else {}
        self.query: F = self.folder.inside(query["folder"]) if query else self.folder
        self._base = int(query.get("base", 0))
        self._starts: Offsets = offsets_in(json.dumps(query["starts"])) if query else {}

    @property
    def anew_from(self) -> Offsets:
        """The offsets from which a query that began anew reads; empty for the first query."""
        return self._starts

    def number(self, spark_number: int) -> int:
        """The number of a batch of Spark's."""
        return self._base + spark_number

    def query_id(self) -> str | None:
        """The query's id; None before its first start."""
        text = self.query.read("metadata")
        return None if text is None else str(json.loads(text)["id"])

    def has_batches(self) -> bool:
        """Whether Spark's query has planned a batch."""
        return any(entry.isdecimal() for entry in self.query.names("offsets"))

    def is_fresh(self) -> bool:
        """Whether Spark's query has run no batch yet: none is planned, or only the one that `begin_anew` planned."""
        return not self.query.names("commits") if self.query.path != self.folder.path else not self.has_batches()

    def last_planned(self) -> int | None:
        """The number of the last batch whose offsets are written; it may not be finished."""
        return self._last("offsets", self._before_base)

    def last_committed(self) -> int | None:
        """The number of the last batch that is finished."""
        return self._last("commits", self._before_base)

    def committed_at(self) -> float | None:
        """Return when the last batch was finished, in seconds since 1970; None if this query has finished none."""
        number = self._last("commits", None)
        return None if number is None else self.query.modified(f"commits/{number - self._base}")

    @property
    def _before_base(self) -> int | None:
        return self._base - 1 if self._base else None

    def _last(self, name: str, otherwise: int | None) -> int | None:
        numbers = [int(entry) for entry in self.query.names(name) if entry.isdecimal()]
        return self.number(max(numbers)) if numbers else otherwise

    def watermark(self) -> datetime | None:
        """The watermark of the last planned batch; None if it has none."""
        planned = self.last_planned()
        if planned is None or planned < self._base:
            return None
        for line in (self.query.read(f"offsets/{planned - self._base}") or "").splitlines():
            if line.startswith("{") and "batchWatermarkMs" in line:
                milliseconds = int(json.loads(line)["batchWatermarkMs"])
                return datetime.fromtimestamp(milliseconds / 1000, UTC) if milliseconds > 0 else None
        return None

    def ends(self, number: int) -> Offsets:
        """The end offsets of a batch by topic and partition; empty for sources other than Kafka."""
        if number < self._base:
            return self._starts
        return offsets_in(self.query.read(f"offsets/{number - self._base}"))

    def starts(self) -> Offsets:
        """The offsets from which the first batch reads."""
        return offsets_in(self.query.read("sources/0/0")) or self._starts

    def first_offsets(self) -> Offsets:
        """The offsets at which topics that are no tables begin, if the query reads tables before; else empty."""
        return self._starts or offsets_in(self.query.read(FIRST_OFFSETS))

    def ranges(self, number: int) -> tuple[SourceRange, ...]:
        """The offsets of a batch."""
        before = {**self.first_offsets(), **(self.starts() if number == self._base else self.ends(number - 1))}
        return tuple(
            SourceRange(topic, partition, start, end)
            for topic, partitions in sorted(self.ends(number).items())
            for partition, end in sorted(partitions.items())
            if (start := before.get(topic, {}).get(partition, 0)) < end
        )


def offsets_in(text: str | None) -> Offsets:
    """The offsets of Kafka's source in a file of a checkpoint: the last line that is a JSON object of objects."""
    for line in reversed((text or "").splitlines()):
        begin = line.find("{")
        if begin < 0:
            continue
        value = json.loads(line[begin:])
        if value and all(isinstance(partitions, dict) for partitions in value.values()):
            return {
                topic: {int(partition): int(offset) for partition, offset in partitions.items()}
                for topic, partitions in value.items()
            }
        return {}
    return {}
