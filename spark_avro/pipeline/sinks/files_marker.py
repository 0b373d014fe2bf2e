"""The marker of a folder: a file that is replaced after each batch, and beside it the manifest of the batch itself.

The manifest commits a batch, and the marker follows. After a crash in between, the manifest has the marker's contents.
A batch without rows has only the marker, and the manifest of a batch that was replaced is deleted.
"""

from __future__ import annotations

from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.ports import BatchIdentity
from spark_avro.pipeline.sinks.manifest import PRIVATE, Manifest
from spark_avro.pipeline.sinks.marker import Marker, MarkerKey, is_backfill, read_marker


class FilesMarker:
    """The marker of a batch's query in a folder.

    Args:
        folder: The folder.
        batch: The batch.
        manifest: The batch's manifest; None if it has none.

    Attributes:
        last: The last batch; None if there is none.
    """

    def __init__(self, folder: Folder, batch: BatchIdentity, manifest: Manifest | None) -> None:
        self._folder = folder
        self._path = f"{PRIVATE}/markers/{MarkerKey(batch.query_id)}.json"
        # A backfill is a single batch, whose manifest is enough.
        self._has_file = not is_backfill(batch)
        self._noted = self._read() if self._has_file else None
        is_behind = self._noted is None or self._noted.batch < batch.number
        self.last = manifest.marker(self._noted) if manifest is not None and is_behind else self._noted

    def note(self, marker: Marker) -> None:
        """Replace the marker; the batch's files are in their places."""
        if self._has_file and marker != self._noted:
            self._folder.replace(self._path, marker.text())

    def _read(self) -> Marker | None:
        text = self._folder.read(self._path)
        return None if text is None else read_marker(text, f"{self._folder.path}/{self._path}")
