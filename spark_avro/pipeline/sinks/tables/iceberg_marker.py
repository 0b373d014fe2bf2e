"""The marker of an Iceberg table: in the summary of the batch's snapshot, which a tag keeps from being expired.

A Spark writer cannot move a tag in the commit that makes the snapshot, so the tag follows. After a crash in between,
the marker is in a snapshot after that of the tag. A query without a batch has a tag, too, at the snapshot
that the table had before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.ports import BatchIdentity, SinkRefused
from spark_avro.pipeline.sinks.marker import Marker, MarkerKey, read_marker

#: The properties of a snapshot.
_QUERY, _BATCH, _MARKER = "magicbyte.query", "magicbyte.batch", "magicbyte.marker"
_FOREVER_MS = 2**63 - 1


class IcebergMarkers:
    """The markers of one query in a table that exists.

    Args:
        session: The batch's session.
        table: The table's name.
        key: The key of the query's markers.
    """

    def __init__(self, session: SparkSession, table: str, key: MarkerKey) -> None:
        self._session, self._name, self._key = session, table, key
        self._tag = f"magicbyte-{key.query_id}-{key.writer}"
        self._is_tagged = False

    def read(self, batch: BatchIdentity, *, attempted: bool) -> Marker | None:
        """The last batch; None if there is none.

        Args:
            batch: The batch that is to be written.
            attempted: Whether an earlier attempt may have written it.

        Raises:
            SinkRefused: Snapshots since the last batch were expired, and the batch may have been one of them.
        """
        table = self._load()
        reference = table.refs().get(self._tag)
        if reference is None:
            untagged = self._untagged()
            return None if untagged is None else untagged[1]
        self._is_tagged = True
        tagged = table.snapshot(reference.snapshotId())
        marker = self._marker(tagged)
        snapshot, follows = table.currentSnapshot(), True
        while snapshot is not None and snapshot.snapshotId() != tagged.snapshotId():
            if (later := self._marker(snapshot)) is not None:
                return later
            parent = snapshot.parentId()
            snapshot = None if parent is None else table.snapshot(parent)
            follows = parent is None or snapshot is not None
        if attempted and not follows and (marker is None or marker.batch < batch.number):
            since = "its start" if marker is None else f"batch {marker.batch}"
            raise SinkRefused(
                f"{self._name}: an earlier attempt at batch {batch} may have written it, but snapshots since {since}"
                " were expired, so that the table does not say. Look for its rows: if there are none,"
                " run once with --adopt; if they are there, start with a new checkpoint behind them"
            )
        return marker

    def begin(self) -> None:
        """Tag a snapshot, if none is tagged: without one, a batch whose snapshot was expired would be written again."""
        if self._is_tagged:
            return
        table, untagged = self._load(), self._untagged()
        if untagged is not None:
            self._point(table, untagged[0])
            return
        snapshot = table.currentSnapshot() or self._append_nothing(table, {})
        self._point(table, snapshot.snapshotId())

    def note(self, marker: Marker) -> None:
        """Move the tag to the snapshot of the batch, which was committed just now."""
        table = self._load()
        # A MERGE without changes makes no snapshot.
        snapshot = self._committed(table, marker) or self._append_nothing(table, self.properties(marker))
        self._point(table, snapshot.snapshotId())

    def _point(self, table: Any, snapshot: int) -> None:
        """Create the tag, or move it."""
        change = table.manageSnapshots()
        point = change.replaceTag if self._tag in table.refs() else change.createTag
        # The table may have a limit on the age of its references.
        point(self._tag, snapshot).setMaxRefAgeMs(self._tag, _FOREVER_MS).commit()

    def _append_nothing(self, table: Any, properties: Mapping[str, str]) -> Any:
        """The snapshot of an append without rows."""
        append = table.newAppend()
        for name, value in properties.items():
            append.set(name, value)
        append.commit()
        table.refresh()
        return table.currentSnapshot()

    def properties(self, marker: Marker) -> dict[str, str]:
        """The properties of a batch's snapshot."""
        return {_QUERY: str(self._key), _BATCH: str(marker.batch), _MARKER: marker.text()}

    def _committed(self, table: Any, marker: Marker) -> Any:
        """The snapshot of a batch, at the end of the table's history; None if there is none."""
        snapshot = table.currentSnapshot()
        while snapshot is not None:
            last = self._marker(snapshot)
            if last is not None:
                return snapshot if last.batch == marker.batch else None
            parent = snapshot.parentId()
            snapshot = None if parent is None else table.snapshot(parent)
        return None

    def _marker(self, snapshot: Any) -> Marker | None:
        summary = snapshot.summary()
        return self._of(summary.get(_QUERY), summary.get(_MARKER))

    def _untagged(self) -> tuple[int, Marker] | None:
        """The last marker in all snapshots, and its snapshot, if no snapshot is tagged."""
        summary = F.col("summary")
        last = (
            self._session.table(f"{self._name}.snapshots")
            .where(summary[_QUERY] == str(self._key))
            .orderBy(summary[_BATCH].cast("bigint").desc())
            .select("snapshot_id", *(summary[name] for name in (_QUERY, _MARKER)))
            .first()
        )
        marker = None if last is None else self._of(*last[1:])
        return None if last is None or marker is None else (int(last[0]), marker)

    def _of(self, query: str | None, marker: str | None) -> Marker | None:
        """The marker of a snapshot's properties; None if the snapshot is not of the query."""
        return read_marker(marker or "", f"{self._name}, {_MARKER}") if query == str(self._key) else None

    def _load(self) -> Any:
        jvm: Any = self._session._jvm  # noqa: SLF001 - Iceberg's Java API
        return jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(self._session._jsparkSession, self._name)  # noqa: SLF001
