"""The marker of a Delta table: the transaction has the batch's number, and the commit's `userMetadata` the rest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.session_settings import applied
from spark_avro.pipeline.sinks.marker import Marker, MarkerKey, read_marker

#: Properties that give a commit a transaction's identity and metadata; a MERGE has no options for them.
_TRANSACTION = "spark.databricks.delta.write.txn{}"
_METADATA = "spark.databricks.delta.commitInfo.userMetadata"

#: What begins an application's id; the marker's key follows.
_APPLICATION = "magicbyte/"
_KEY, _MARKER = "magicbyte", "marker"


class DeltaMarkers:
    """The markers of one query in a table.

    Args:
        key: The key of the query's markers.
        table: The table's name in SQL.
    """

    def __init__(self, key: MarkerKey, table: str) -> None:
        self._key, self._table = key, table
        self._application = f"{_APPLICATION}{key}"
        self._last: Marker | None = None

    def read(self, session: SparkSession, path: str) -> Marker | None:
        """The last batch; None if there is none.

        Args:
            session: The batch's session.
            path: The table's folder.
        """
        number = self.last_number(session, path)
        if number < 0:
            return None
        if self._last is None or self._last.batch != number:
            # Delta deletes commits when `delta.logRetentionDuration` is over; the number stays.
            self._last = self._noted(session, number) or Marker(number, 0)
        return self._last

    def last_number(self, session: SparkSession, path: str) -> int:
        """The number of the last batch; -1 if there is none."""
        java: Any = session._jvm  # noqa: SLF001 - the transactions of a table are in no public API
        log = java.org.apache.spark.sql.delta.DeltaLog.forTable(session._jsparkSession, path)  # noqa: SLF001
        defaults = [getattr(log, f"update$default${number}")() for number in (1, 2, 3)]
        version = log.update(*defaults).transactions().get(self._application)
        return int(version.get()) if version.isDefined() else -1

    @contextmanager
    def committing(self, session: SparkSession, marker: Marker) -> Iterator[None]:
        """Commit with the marker; Delta skips a number that the table has."""
        properties = {
            _TRANSACTION.format("AppId"): self._application,
            _TRANSACTION.format("Version"): str(marker.batch),
            _METADATA: orjson.dumps({_KEY: str(self._key), _MARKER: orjson.loads(marker.text())}).decode(),
        }
        with applied(session, properties):
            yield
        self._last = marker

    def _noted(self, session: SparkSession, number: int) -> Marker | None:
        """The marker in the metadata of a commit; None if there is no such commit."""
        key, text = (F.get_json_object("userMetadata", f"$.{name}") for name in (_KEY, _MARKER))
        commits = session.sql(f"DESCRIBE HISTORY {self._table}").where(key == str(self._key))
        found = commits.orderBy(F.col("version").desc()).select(text.alias("marker")).first()
        marker = None if found is None else read_marker(found["marker"], f"{self._table}, userMetadata")
        return marker if marker is not None and marker.batch == number else None
