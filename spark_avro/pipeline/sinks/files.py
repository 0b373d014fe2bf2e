"""Files by event time: a batch is staged, committed by its manifest, and then moved into the folders of its readers.

After a crash before the manifest is written, the next attempt deletes the staged files and starts again. After a later
crash, the next attempt only finishes the moves. So an attempt may place rows elsewhere than the one before. Each
attempt has its own folder, and the manifest names one of them, so a replaced driver adds nothing to the batch.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.pipeline.file.sinks import FilesSink
from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.ports import (
    POSITION,
    REASON,
    BatchIdentity,
    Delivery,
    Guarantee,
    Reject,
    SinkContext,
    SinkRefused,
    SinkResult,
)
from spark_avro.pipeline.sinks.broken_texts import broken_text
from spark_avro.pipeline.sinks.columns import (
    ColumnChange,
    ColumnFit,
    can_widen,
    fit_columns,
    log_changes,
    merged,
    never,
    quoted,
)
from spark_avro.pipeline.sinks.files_marker import FilesMarker
from spark_avro.pipeline.sinks.manifest import PRIVATE, DataFile, Manifest, read_manifest, write_manifest
from spark_avro.pipeline.sinks.marker import is_written, marker_of
from spark_avro.pipeline.sinks.positions import NOT_DATA, place_position, placed_columns
from spark_avro.pipeline.sinks.staged_files import StagedFiles
from spark_avro.pipeline.sinks.time_partitions import BATCH, Partitions, plan_partitions
from spark_avro.pipeline.sinks.value_count import ValueCount
from spark_avro.stored_values import JSON_TIMES, NO_KEYS, exact_files, has_json

_SCHEMAS = f"{PRIVATE}/schemas"
_STAGING = f"{PRIVATE}/staging"

#: Format -> the types that a reader of all files together can widen. Spark cannot merge an int and a long in Parquet.
_WIDENS = {"parquet": never, "avro": never, "json": can_widen}


@dataclass(frozen=True, slots=True)
class _Layout:
    """The columns of the files, kept for batches with the same columns, because Spark takes long to make them.

    Attributes:
        rows: The schema of the rows.
        partitions: The partitions.
        rejection: The reason why a row is rejected, NULL for rows that are written; None if none can be.
        placed: The columns to select from the rows: those of the files, and the partitions under other names.
        columns: The columns to select from the result.
        data: The schema of `placed` without the partitions.
    """

    rows: spark.StructType
    partitions: Partitions
    rejection: Column | None
    placed: Sequence[Column]
    columns: Sequence[Column]
    data: spark.StructType


class FilesTarget:
    """A folder of Parquet, Avro or JSON files, in partitions that end with `batch=<query id>-<number>`."""

    def __init__(self, spec: FilesSink, context: SinkContext) -> None:
        self._spec = spec
        self._context = context
        self._folder = Folder(context.spark, spec.path)
        self._target: spark.StructType | None = None
        self._fit: tuple[spark.StructType, ColumnFit] | None = None
        self._layout: _Layout | None = None
        self._rows_a_file: int | None = None
        self.guarantee = Guarantee(
            Delivery.EXACTLY_ONCE,
            "a batch's files are moved into place after its manifest is written, and a repeated batch finds it",
            "rows of the old checkpoint stay, and the overlap is written again",
            f"tests/chaos/pipeline_killed.py --sink {spec.format}",
        )

    def prepare(self, schema: spark.StructType) -> tuple[str, ...]:
        """Check path, event time, partitions and columns; see `Sink`."""
        rows = self._context.spark.createDataFrame([], schema)
        partitions = plan_partitions(self._spec, rows, dt.datetime.now(dt.UTC))
        self._check_json(schema)
        fit = self._fitted(_data(place_position(rows, keep=self._spec.keep_position).schema, {*partitions.columns}))
        return tuple(f"{self._spec.path}: {change}" for change in fit.changes)

    def write(self, rows: DataFrame, batch: BatchIdentity, *, reject: Reject) -> SinkResult:
        """Write a batch, or finish what an earlier attempt began; see `Sink`."""
        return self.stage(rows, batch).commit(reject=reject)

    def stage(self, rows: DataFrame, batch: BatchIdentity) -> StagedFiles:
        """Write a batch's files to a folder of their own; see `StagingSink`."""
        committed = read_manifest(self._folder, str(batch))
        marker = FilesMarker(self._folder, batch, committed)
        if is_written(marker.last, batch, self._spec.path, adopt=self._context.adopt):
            assert marker.last is not None
            if committed is not None:
                self._move(committed)
            marker.note(marker.last)
            return StagedFiles(self._commit, batch, marker, repeated=marker.last.result())
        self._folder.delete(f"{_STAGING}/{batch}")
        attempt = uuid.uuid4().hex[:8]
        staging = f"{_STAGING}/{batch}/{attempt}"
        layout = self._laid_out(rows)
        good, rejecting, rejection = rows, None, layout.rejection
        if rejection is not None:
            rejecting = ValueCount(rows, rejection)
            good = rejecting.rows.where(rejection.isNull())
        written, late = self._write_files(good, layout, staging)
        rejected = None
        if rejecting is not None and rejection is not None and any(rejecting.result()):
            rejected = rows.where(rejection.isNotNull()).select(POSITION, rejection.alias(REASON))
        return StagedFiles(self._commit, batch, marker, attempt, written, late, rejected)

    def _commit(self, staged: StagedFiles, reject: Reject) -> SinkResult:
        """Commit staged files and move them to their places."""
        if staged.repeated is not None:
            return staged.repeated
        batch, marker, attempt = staged.batch, staged.marker, staged.attempt
        written, late = staged.written, staged.late
        refused = 0
        if staged.rejected is not None:
            refused = staged.rejected.count()
            reject(staged.rejected)
        if written:
            listed = self._folder.files(f"{_STAGING}/{batch}/{attempt}")
            files = tuple(DataFile(_place(path, batch), size) for path, size in listed)
            write_manifest(self._folder, Manifest(batch, written, files, attempt=attempt, late=late, refused=refused))
            # Another driver may have written a manifest at the same time.
            manifest = read_manifest(self._folder, str(batch))
            assert manifest is not None
            self._move(manifest)
            self._size_files(manifest)
        else:
            self._folder.delete(f"{_STAGING}/{batch}")
        marker.note(marker_of(batch, marker.last, written=written, refused=refused, late=late))
        return SinkResult(written, late=late)

    def close(self) -> None:
        """Nothing is open; see `Sink`."""

    def _laid_out(self, rows: DataFrame) -> _Layout:
        """The layout of rows; a limit for late rows moves with the clock, so it needs a new one for each batch."""
        if self._layout is None or self._layout.rows != rows.schema or self._spec.late is not None:
            partitions = plan_partitions(self._spec, rows, dt.datetime.now(dt.UTC))
            # A partition may be computed from a column that it replaces in the folder's name.
            inner = {name: f"{name}_partition_" for name in partitions.columns}
            placed = placed_columns(rows, keep=self._spec.keep_position)
            placed += [column.alias(inner[name]) for name, column in partitions.columns.items()]
            data = _data(rows.select(*placed).schema, {*partitions.columns, *inner.values()})
            outer = [F.col(quoted(inner[name])).alias(name) for name in partitions.columns]
            columns = [*self._fitted(data).columns(), *outer]
            reasons = [partitions.rejection, self._broken_text(rows, partitions)]
            present = [reason for reason in reasons if reason is not None]
            rejection = F.coalesce(*present) if present else None
            self._layout = _Layout(rows.schema, partitions, rejection, placed, columns, data)
        return self._layout

    def _check_json(self, schema: spark.StructType) -> None:
        """Refuse columns that JSON cannot have."""
        for field in schema.fields if self._spec.format == "json" else ():
            if field.name not in NOT_DATA and not has_json(field.dataType):
                kind = field.dataType.simpleString()
                raise SinkRefused(f"{self._spec.path}: column {field.name}: {NO_KEYS.format(kind=kind)}")

    def _broken_text(self, rows: DataFrame, partitions: Partitions) -> Column | None:
        """The reason to reject a row that would be changed in JSON or in a folder's name."""
        kinds = rows.select(*(column.alias(name) for name, column in partitions.columns.items())).schema
        of_folders = [(name, column, kinds[name].dataType) for name, column in partitions.columns.items()]
        # Parquet and Avro have the bytes of a text as they are.
        of_files = [
            (field.name, F.col(quoted(field.name)), field.dataType)
            for field in (rows.schema.fields if self._spec.format == "json" else ())
            if field.name not in NOT_DATA
        ]
        reasons = [broken_text(of_folders, "the folder's name"), broken_text(of_files, "JSON")]
        present = [reason for reason in reasons if reason is not None]
        return F.coalesce(*present) if present else None

    def _write_files(self, rows: DataFrame, layout: _Layout, staging: str) -> tuple[int, int]:
        """Write the files to the staging folder, and return how many rows are in them, and how many of those late."""
        partitions = layout.partitions
        self._add_schema(self._fitted(layout.data))
        selected = rows.select(*layout.placed).select(*layout.columns)
        if partitions.columns:
            selected = selected.repartition(*map(quoted, partitions.columns))
        # Count after the shuffle, in the tasks that write.
        counted = ValueCount(selected, F.lit(1), *([] if partitions.late is None else [partitions.late]))
        writer = counted.rows.write.format(self._spec.format).mode("overwrite")
        writer = writer.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
        if self._rows_a_file is not None:
            writer = writer.option("maxRecordsPerFile", self._rows_a_file)
        if self._spec.format == "json":
            writer = writer.options(**JSON_TIMES)
        with exact_files(rows.sparkSession):
            writer.options(**self._spec.options).partitionBy(*partitions.columns).save(f"{self._spec.path}/{staging}")
        written, *late = counted.result()
        return written, sum(late)

    def _move(self, manifest: Manifest) -> None:
        """Move a committed batch's files from the staging folder; skips files that were moved before."""
        staging = f"{_STAGING}/{manifest.batch}/{manifest.attempt}".rstrip("/")
        if not self._folder.exists(staging):
            return
        for target in sorted({file.path.rpartition("/")[0] for file in manifest.files}):
            source = f"{staging}/{target.rpartition('/')[0]}".rstrip("/")
            if not self._folder.exists(source):
                continue
            if not self._folder.exists(target):
                self._folder.rename(source, target)
                continue
            # An object store moves a folder file by file, so an attempt may have ended in between.
            for name in self._folder.names(source):
                self._folder.delete(f"{target}/{name}")
                self._folder.rename(f"{source}/{name}", f"{target}/{name}")
        self._folder.delete(f"{_STAGING}/{manifest.batch}")

    def _size_files(self, manifest: Manifest) -> None:
        size = sum(file.size for file in manifest.files)
        self._rows_a_file = max(1, manifest.rows * self._spec.target // max(1, size))

    def _fitted(self, schema: spark.StructType) -> ColumnFit:
        if self._fit is not None and self._fit[0] == schema:
            return self._fit[1]
        target = self.columns()
        widens = _WIDENS[self._spec.format]
        fit = fit_columns(target, schema, columns=self._context.columns, widens=widens, name=self._spec.path)
        self._fit = (schema, fit)
        return fit

    def columns(self) -> spark.StructType | None:
        """The columns of all files; None if there are none."""
        if self._target is None:
            texts = [self._folder.read(f"{_SCHEMAS}/{name}") for name in self._folder.names(_SCHEMAS) if name[0] != "."]
            schemas = [spark.StructType.fromJson(json.loads(text)) for text in texts if text is not None]
            self._target = reduce(_union, schemas) if schemas else self._schema_of_files()
        return self._target

    def _schema_of_files(self) -> spark.StructType | None:
        """The columns of files that another program wrote."""
        if not self._folder.names() or self._spec.format == "json":
            return None
        reader = self._context.spark.read.format(self._spec.format).option("mergeSchema", "true")
        try:
            columns = reader.load(self._spec.path).schema
        except AnalysisException:  # no file yet
            return None
        return spark.StructType([field for field in columns.fields if field.name != BATCH])

    def _add_schema(self, fit: ColumnFit) -> None:
        """Write the columns of the rows that follow to a file named by the hash of its content."""
        if self._target is not None and not fit.changes and self._folder.exists(_SCHEMAS):
            return
        self._target = fit.schema if self._target is None else merged(self._target, fit.changes)
        text = self._target.json()
        name = f"{_SCHEMAS}/{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
        if not self._folder.exists(name):
            self._folder.write(name, text)
            log_changes(self._spec.path, fit.changes)
        if self._fit is not None:
            self._fit = (self._fit[0], ColumnFit(fit.rows, fit.schema))


def _union(one: spark.StructType, other: spark.StructType) -> spark.StructType:
    changes: tuple[ColumnChange, ...] = fit_columns(one, other, columns="add", widens=can_widen, name=_SCHEMAS).changes
    return merged(one, changes)


def _data(schema: spark.StructType, partitions: set[str]) -> spark.StructType:
    """The columns in the files; partition columns are only in the folders' names."""
    return spark.StructType([field for field in schema.fields if field.name not in partitions])


def _place(staged: str, batch: BatchIdentity) -> str:
    """The path of a staged file in the folder: its partitions, the batch's, and its name."""
    partitions, _, name = staged.rpartition("/")
    return "/".join(part for part in (partitions, f"{BATCH}={batch}", name) if part)
