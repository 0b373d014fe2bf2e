"""A sink whose rejected rows tests find beside its result."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from pyspark.sql import DataFrame

from spark_avro.pipeline.ports import BatchIdentity, Sink, SinkResult


@dataclass(frozen=True)
class RecordedResult(SinkResult):
    """The result of a batch, and the rows that the sink rejected; None if it rejected none."""

    rejected: DataFrame | None = None


class RecordedSink:
    """A sink that is given the receiver of rejected rows."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def write(self, rows: DataFrame, batch: BatchIdentity) -> RecordedResult:
        rejected: list[DataFrame] = []

        def reject(frame: DataFrame) -> None:
            # A sink may delete them when it has written the others.
            rejected.append(frame.sparkSession.createDataFrame(frame.collect(), frame.schema))

        result = self._sink.write(rows, batch, reject=reject)
        return RecordedResult(**asdict(result), rejected=rejected[-1] if rejected else None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sink, name)
