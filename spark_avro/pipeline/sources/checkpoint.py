"""Reads Spark's checkpoints: the query's id, the offsets or files of each batch, and the batches that are committed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping

from pyspark.sql import SparkSession

from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.ports import SourceRange

Offsets = Mapping[str, Mapping[int, int]]


class Checkpoint:
    """A query's checkpoint folder."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.folder = Folder(spark, path)

    def query_id(self) -> str | None:
        """The query's id; None before its first start."""
        text = self.folder.read("metadata")
        return None if text is None else str(json.loads(text)["id"])

    def last_planned(self) -> int | None:
        """The number of the last batch whose offsets are written; it may not be finished."""
        return _last(self.folder.names("offsets"))

    def last_committed(self) -> int | None:
        """The number of the last batch that is finished."""
        return _last(self.folder.names("commits"))

    def ends(self, number: int) -> Offsets:
        """The end offsets of a batch by topic and partition; empty for sources other than Kafka."""
        return _offsets(self.folder.read(f"offsets/{number}"))

    def files_digest(self, number: int) -> str:
        """A digest of the paths and times of a batch's files; empty for sources other than files."""
        last = _log_offset(self.folder.read(f"offsets/{number}"))
        if last is None:
            return ""
        before = _log_offset(self.folder.read(f"offsets/{number - 1}")) if number else None
        first = -1 if before is None else before
        lines = sorted(f"{path} {time}\n" for entry in range(first + 1, last + 1) for path, time in self._files(entry))
        return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]

    def _files(self, entry: int) -> Iterator[tuple[str, int]]:
        """The files, with their times, of an entry in the log of Spark's file source."""
        # Spark joins all entries up to every tenth one into one file.
        text = self.folder.read(f"sources/0/{entry}") or self.folder.read(f"sources/0/{entry}.compact") or ""
        for line in text.splitlines():
            if line.startswith("{"):
                file = json.loads(line)
                if file["batchId"] == entry:
                    yield file["path"], file["timestamp"]

    def starts(self) -> Offsets:
        """The offsets from which the first batch reads."""
        return _offsets(self.folder.read("sources/0/0"))

    def rewind(self, number: int, starts: Offsets) -> int:
        """Let the next batch read some topics from other offsets, by a finished batch without records.

        A crash in between leaves a planned batch without records, which Spark finishes; the caller rewinds again.

        Args:
            number: The last batch, which is finished.
            starts: The offsets by topic and partition; other topics stay where they are.

        Returns:
            The number of the batch that leads back.
        """
        text = self.folder.read(f"offsets/{number}")
        done = self.folder.read(f"commits/{number}")
        assert text is not None
        assert done is not None
        ends = {**self.ends(number), **starts}
        # The offsets are the last line, as `_offsets` reads them.
        head = text.rstrip("\n").rpartition("\n")[0]
        self.folder.write(f"offsets/{number + 1}", f"{head}\n{json.dumps(ends, separators=(',', ':'))}")
        self.folder.write(f"commits/{number + 1}", done)
        return number + 1

    def forget_start(self) -> None:
        """Forget from which offsets the first batch reads; no batch may be planned yet."""
        self.folder.delete("sources/0")

    def ranges(self, number: int) -> tuple[SourceRange, ...]:
        """The offsets of a batch."""
        before = self.starts() if number == 0 else self.ends(number - 1)
        return tuple(
            SourceRange(topic, partition, start, end)
            for topic, partitions in sorted(self.ends(number).items())
            for partition, end in sorted(partitions.items())
            if (start := before.get(topic, {}).get(partition, 0)) < end
        )


def _last(names: list[str]) -> int | None:
    return max((int(name) for name in names if name.isdecimal()), default=None)


def _log_offset(text: str | None) -> int | None:
    """The offset of Spark's file source in a file of a checkpoint: the entry of its log; None for other sources."""
    line = (text or "").rpartition("\n")[2]
    offset = json.loads(line).get("logOffset") if line.startswith("{") else None
    return None if offset is None else int(offset)


def _offsets(text: str | None) -> Offsets:
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
