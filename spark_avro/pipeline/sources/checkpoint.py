"""The checkpoint of a pipeline that runs: what is written into it besides Spark's own files."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterator, Mapping

from pyspark.sql import SparkSession

from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.sources.checkpoint_reader import FIRST_OFFSETS, POINTER, CheckpointReader, Offsets

#: The folders of queries that began anew.
_QUERIES = "_magicbyte/queries"


class Checkpoint(CheckpointReader[Folder]):
    """A checkpoint that is read and written; see `CheckpointReader`."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        super().__init__(Folder(spark, path))

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
        self.folder.replace(POINTER, json.dumps(pointer))
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

    def note_first_offsets(self, starts: Offsets) -> None:
        """Note at which offsets the topics begin that are read after the tables."""
        self.query.replace(FIRST_OFFSETS, json.dumps(starts))

    def add_offsets(self, number: int, starts: Offsets) -> None:
        """Let the batch after a finished one read further topics, too.

        Args:
            number: The last batch, which is finished.
            starts: The offsets at which these topics begin.
        """
        name = f"offsets/{number - self._base}"
        version, metadata, *offsets = (self.query.read(name) or "").rstrip("\n").split("\n")
        ends = json.dumps({**starts, **self.ends(number)}, separators=(",", ":"))
        # Spark's checksum beside the file is that of its former text.
        self.query.delete(f"offsets/.{number - self._base}.crc")
        self.query.replace(name, "\n".join([version, metadata, *[ends] * len(offsets)]))

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
        # The offsets are the last line, as `offsets_in` reads them.
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
        self.query.delete(FIRST_OFFSETS)
        text = self.folder.read(POINTER)
        if text:
            pointer = json.loads(text)
            self.folder.replace(POINTER, json.dumps({**pointer, "starts": {**pointer["starts"], **starts}}))
            self._find()


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
