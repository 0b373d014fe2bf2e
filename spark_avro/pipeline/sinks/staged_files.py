"""The files of a batch in the staging folder, where no reader looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame

from spark_avro.pipeline.ports import BatchIdentity, Reject, SinkResult
from spark_avro.pipeline.sinks.files_marker import FilesMarker


@dataclass(frozen=True, slots=True)
class StagedFiles:
    """The files of a batch; see `StagedBatch`.

    Attributes:
        commit_files: Writes the manifest and moves the files.
        batch: The batch.
        marker: The marker of the batch's query.
        attempt: The name of the folder.
        written: The number of rows in the files.
        late: How many of them go to the folder of late rows.
        rejected: The rows that no file takes; None if there are none.
        repeated: The result of an earlier attempt that wrote the batch; None if there is none.
    """

    commit_files: Callable[[StagedFiles, Reject], SinkResult]
    batch: BatchIdentity
    marker: FilesMarker
    attempt: str = ""
    written: int = 0
    late: int = 0
    rejected: DataFrame | None = None
    repeated: SinkResult | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all rows are in the files, and no earlier attempt has written them."""
        return self.rejected is None and self.repeated is None

    def commit(self, *, reject: Reject) -> SinkResult:
        """Commit the files; see `StagedBatch`."""
        return self.commit_files(self, reject)
