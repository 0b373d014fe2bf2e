"""Reads Spark's checkpoints: the query's id, the offsets or files of each batch, and the batches that are committed."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from pyspark.sql import SparkSession

from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.ports import SourceRange

#: Our pointer to the folder of Spark's query, if it is not the checkpoint itself; the folders of such queries.
_POINTER, _QUERIES = "_magicbyte/query.json", "_magicbyte/queries"

Offsets = Mapping[str, Mapping[int, int]]


class Checkpoint:
    """The checkpoint of a pipeline, and Spark's checkpoint inside.

    Spark's query may begin anew with empty state (`begin_anew`) and then has a folder of its own. The id of the query
    and the numbers of batches go on, so the markers in the targets stay right: batch numbers here are those of the
    pipeline, which are Spark's numbers after a base.

    Attributes:
        folder: The checkpoint's folder; our own part of it is below `_magicbyte`.
    """

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.folder = Folder(spark, path)
        self._spark = spark
        self._find()

    def _find(self) -> None:
        text = self.folder.read(_POINTER)
        query = json.loads(text) if text else {}
        self.query = Folder(self._spark, f"{self.folder.path}/{query['folder']}") if query else self.folder
        self._base = int(query.get("base", 0))
        self._starts: Offsets = _offsets(json.dumps(query["starts"])) if query else {}

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

    @property
    def _before_base(self) -> int | None:
        return self._base - 1 if self._base else None

    def _last(self, name: str, otherwise: int | None) -> int | None:
        numbers = [int(entry) for entry in self.query.names(name) if entry.isdecimal()]
        return self.number(max(numbers)) if numbers else otherwise

    def begin_anew(self, starts: Offsets, settings: Mapping[str, str]) -> None:
        """Let the next query begin with empty state at the offsets of the last finished batch.

        A batch that is planned and not finished may be in some targets. It is planned again, with its number and its
        offsets. The pointer to the new folder is written last and at once, so that a crash before it changes nothing.

        Args:
            starts: The offsets at which the query begins.
            settings: The settings of Spark's that the new query's state is pinned to.
        """
        planned, committed = self.last_planned(), self.last_committed()
        metadata = self.query.read("metadata")
        assert metadata is not None
        base = 0 if committed is None else committed + 1
        name = f"{_QUERIES}/{base}-{uuid.uuid4().hex[:8]}"
        self.folder.write(f"{name}/metadata", metadata)
        if planned is not None and planned != committed:
            text = self.query.read(f"offsets/{planned - self._base}")
            assert text is not None
            self.folder.write(f"{name}/offsets/0", _without_state(text, settings))
        pointer = {"folder": name, "base": base, "starts": starts}
        self.folder.replace(_POINTER, json.dumps(pointer))
        self._find()

    def align_sources(self, reads: int) -> None:
        """Let the query's last batches have their offsets once for each place where the plan reads the source.

        Spark writes them so, and refuses a plan that reads its source more or fewer times than the plan before. All
        lines are the same: there is one source.

        Args:
            reads: How many times the plan reads the source.
        """
        numbers = sorted(int(entry) for entry in self.query.names("offsets") if entry.isdecimal())
        for number in numbers[-2:]:
            lines = (self.query.read(f"offsets/{number}") or "").rstrip("\n").split("\n")
            version, metadata, *offsets = lines
            if len(offsets) != reads:
                # Spark's checksum beside the file is that of its former text.
                self.query.delete(f"offsets/.{number}.crc")
                self.query.replace(f"offsets/{number}", "\n".join([version, metadata, *[offsets[-1]] * reads]))

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
        return _offsets(self.query.read(f"offsets/{number - self._base}"))

    def files_digest(self, number: int) -> str:
        """A digest of the paths and times of a batch's files; empty for sources other than files."""
        last = _log_offset(self.query.read(f"offsets/{number}"))
        if last is None:
            return ""
        before = _log_offset(self.query.read(f"offsets/{number - 1}")) if number else None
        first = -1 if before is None else before
        lines = sorted(f"{path} {time}\n" for entry in range(first + 1, last + 1) for path, time in self._files(entry))
        return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]

    def _files(self, entry: int) -> Iterator[tuple[str, int]]:
        """The files, with their times, of an entry in the log of Spark's file source."""
        # Spark joins all entries up to every tenth one into one file.
        text = self.query.read(f"sources/0/{entry}") or self.query.read(f"sources/0/{entry}.compact") or ""
        for line in text.splitlines():
            if line.startswith("{"):
                file = json.loads(line)
                if file["batchId"] == entry:
                    yield file["path"], file["timestamp"]

    def starts(self) -> Offsets:
        """The offsets from which the first batch reads."""
        return _offsets(self.query.read("sources/0/0")) or self._starts

    def rewind(self, number: int, starts: Offsets) -> int:
        """Let the next batch read some topics from other offsets, by a finished batch without records.

        A crash in between leaves a planned batch without records, which Spark finishes; the caller rewinds again.

        Args:
            number: The last batch, which is finished.
            starts: The offsets by topic and partition; other topics stay where they are.

        Returns:
            The number of the batch that leads back.
        """
        spark_number = number - self._base
        text = self.query.read(f"offsets/{spark_number}")
        done = self.query.read(f"commits/{spark_number}")
        assert text is not None
        assert done is not None
        ends = {**self.ends(number), **starts}
        # The offsets are the last line, as `_offsets` reads them.
        head = text.rstrip("\n").rpartition("\n")[0]
        self.query.write(f"offsets/{spark_number + 1}", f"{head}\n{json.dumps(ends, separators=(',', ':'))}")
        self.query.write(f"commits/{spark_number + 1}", done)
        return number + 1

    def forget_start(self, starts: Offsets) -> None:
        """Forget from which offsets the first batch reads some topics; no batch may be planned yet.

        Args:
            starts: The first offsets of these topics.
        """
        self.query.delete("sources/0")
        text = self.folder.read(_POINTER)
        if text:
            pointer = json.loads(text)
            self.folder.replace(_POINTER, json.dumps({**pointer, "starts": {**pointer["starts"], **starts}}))
            self._find()

    def ranges(self, number: int) -> tuple[SourceRange, ...]:
        """The offsets of a batch."""
        before = self.starts() if number == self._base else self.ends(number - 1)
        return tuple(
            SourceRange(topic, partition, start, end)
            for topic, partitions in sorted(self.ends(number).items())
            for partition, end in sorted(partitions.items())
            if (start := before.get(topic, {}).get(partition, 0)) < end
        )


def _without_state(text: str, settings: Mapping[str, str]) -> str:
    """The offsets of a batch as the first batch of a query that has no state yet."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("{") and "batchWatermarkMs" in line:
            metadata = json.loads(line)
            pinned = metadata.get("conf", {})
            metadata |= {"batchWatermarkMs": 0, "conf": {**pinned, **settings}}
            lines[number] = json.dumps(metadata, separators=(",", ":"))
    return "\n".join(lines)


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
