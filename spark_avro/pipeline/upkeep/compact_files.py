"""Compaction of a folder: the files of an hour or day that is over become few large ones."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from zoneinfo import ZoneInfo

from pyspark.sql import SparkSession

from spark_avro.pipeline.file.sinks import FilesSink
from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.ports import BatchIdentity, SinkContext, SinkRefused
from spark_avro.pipeline.sinks.files import FilesTarget
from spark_avro.pipeline.sinks.manifest import DataFile, Manifest, read_manifests, write_manifest
from spark_avro.pipeline.sinks.time_partitions import BATCH
from spark_avro.pipeline.upkeep.file_batches import STAGING, finish_compactions, keep_replaced, live_files
from spark_avro.pipeline.upkeep.ranges import union
from spark_avro.stored_values import JSON_TIMES, exact_files

#: The query id of batches that compaction writes.
COMPACTION = "c"
_DAY = re.compile(r"dt=(\d{4}-\d\d-\d\d)(?:/hour=(\d\d))?(?:/|$)")


@dataclass(frozen=True, slots=True)
class Compacted:
    """The result of a compaction.

    Attributes:
        partitions: How many partitions it rewrote.
        before: Their files before.
        after: Their files after.
        deleted: Files that an earlier compaction kept until now.
    """

    partitions: int
    before: int
    after: int
    deleted: int


def compact_files(
    spark: SparkSession,
    spec: FilesSink,
    pipeline: str,
    older_than: dt.timedelta,
    now: dt.datetime,
    grace: dt.timedelta | None = None,
) -> Compacted:
    """Rewrite the partitions that are over, one after the other.

    Nobody else may read the folder meanwhile. With `grace`, readers that listed the folder before can still read it;
    readers that list it within that time see rows twice.

    Args:
        spark: The session.
        spec: The sink.
        pipeline: The pipeline's name.
        older_than: How long an hour or day has to be over.
        now: The time.
        grace: How long the old files stay; the first compaction after that time deletes them.

    Raises:
        SinkRefused: late rows may still come.
    """
    if spec.late is not None and older_than < spec.late:
        raise SinkRefused(
            f"--older-than: rows may come until {spec.late} after their time (sink.files.late); give at least as long"
        )
    folder = Folder(spark, spec.path)
    deleted = finish_compactions(folder, now)
    rewriting = _Rewriting(spark, spec, folder, pipeline, now, grace)
    before = after = partitions = 0
    for place, batches in _by_partition(folder).items():
        end = _end(place, ZoneInfo(spec.zone))
        files = [file for _, file in batches]
        enough = max(1, -(-sum(file.size for file in files) // spec.target))
        if end is None or end + older_than > now or len(files) <= enough:
            continue
        written = rewriting.rewrite(place, batches, enough)
        partitions, before, after = partitions + 1, before + len(files), after + written
    return Compacted(partitions, before, after, deleted)


def _by_partition(folder: Folder) -> dict[str, list[tuple[Manifest, DataFile]]]:
    """The files of each partition, with their batches."""
    manifests = list(read_manifests(folder))
    live = live_files(manifests)
    places: dict[str, list[tuple[Manifest, DataFile]]] = {}
    for manifest in manifests:
        for file in live[str(manifest.batch)]:
            places.setdefault(_partition(file.path), []).append((manifest, file))
    return places


def _partition(path: str) -> str:
    """The partition of a file: its path without the batch and the name."""
    return path.rpartition("/")[0].rpartition("/")[0]


def _end(place: str, zone: dt.tzinfo) -> dt.datetime | None:
    """The end of a partition's hour or day; None for late rows, and for partitions that are not by time."""
    match = _DAY.match(place)
    if match is None:
        return None
    begin = dt.datetime.fromisoformat(match[1]).replace(hour=int(match[2] or 0), tzinfo=zone)
    return begin + (dt.timedelta(days=1) if match[2] is None else dt.timedelta(hours=1))


@dataclass(frozen=True, slots=True)
class _Rewriting:
    spark: SparkSession
    spec: FilesSink
    folder: Folder
    pipeline: str
    now: dt.datetime
    grace: dt.timedelta | None

    def rewrite(self, place: str, batches: Sequence[tuple[Manifest, DataFile]], parts: int) -> int:
        """Rewrite the files of a partition; returns how many files there are afterwards."""
        spec, folder = self.spec, self.folder
        paths = sorted(file.path for _, file in batches)
        digest = int(sha256("\n".join(paths).encode()).hexdigest()[:12], 16)
        ranges = union(part for manifest, _ in batches for part in manifest.batch.ranges)
        batch = BatchIdentity(self.pipeline, COMPACTION, digest, ranges)
        staging = f"{STAGING}/{batch}"
        folder.delete(staging)
        columns = FilesTarget(spec, SinkContext(self.spark, self.pipeline)).columns()
        assert columns is not None
        reader = self.spark.read.format(spec.format).schema(columns)
        rows = reader.load([f"{spec.path}/{path}" for path in paths])
        options = {**(JSON_TIMES if spec.format == "json" else {}), **spec.options}
        writer = rows.coalesce(parts).write.format(spec.format).mode("overwrite")
        writer = writer.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false").options(**options)
        with exact_files(self.spark):
            writer.save(f"{spec.path}/{staging}/{place}")
        written = tuple(
            DataFile(f"{place}/{BATCH}={batch}/{path.rpartition('/')[2]}", size) for path, size in folder.files(staging)
        )
        if self.grace is not None:
            keep_replaced(folder, batch, self.now + self.grace)
        write_manifest(folder, Manifest(batch, rows.count(), written, tuple(paths)))
        finish_compactions(folder, self.now)
        return len(written)
