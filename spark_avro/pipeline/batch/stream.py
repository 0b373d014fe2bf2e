"""The batches of a stream, as the query that runs them sees them; with and without state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from pyspark.sql import DataFrame

from spark_avro.pipeline.batch.counts import BatchCounts
from spark_avro.pipeline.batch.runner import BatchRunner
from spark_avro.pipeline.ports import BatchIdentity
from spark_avro.pipeline.sources.checkpoint import Checkpoint


class QueryOutdated(Exception):
    """The plan of the query does not serve this batch: the query starts again, and repeats it."""


@dataclass(frozen=True, slots=True)
class StreamQuery:
    """The query that Spark runs.

    Attributes:
        rows: The plan.
        output_mode: Spark's output mode.
        settings: Spark's settings when the query starts.
    """

    rows: DataFrame
    output_mode: str = "append"
    settings: Mapping[str, str] = field(default_factory=dict)


class Batches(Protocol):
    """The batches of a stream."""

    @property
    def runner(self) -> BatchRunner:
        """Writes and counts them."""

    @property
    def can_rewind(self) -> bool:
        """Whether a topic that was made again may be read from its beginning by the next batch."""

    def query(self, records: DataFrame) -> StreamQuery:
        """The query over the records of the source.

        Raises:
            PipelineError: the steps or the checkpoint do not allow it.
        """

    def run(self, rows: DataFrame, batch: BatchIdentity) -> BatchCounts:
        """Run a batch of the query.

        Raises:
            QueryOutdated: the query has to start again, and repeat the batch.
            Failure: as `BatchRunner.run`.
        """

    def are_outdated(self) -> bool:
        """Whether the query has to start again before the next batch."""

    def note(self, query: Any) -> None:
        """Note what Spark tells of the query's last batches; called while it runs, and at its end."""


@dataclass(frozen=True, slots=True)
class PlainBatches:
    """Batches whose steps remember nothing: a batch has the records of the source, and the runner does the rest."""

    runner: BatchRunner
    checkpoint: Checkpoint
    can_rewind: bool = True

    def query(self, records: DataFrame) -> StreamQuery:
        """The records themselves."""
        self.checkpoint.align_sources(1)
        return StreamQuery(records)

    def run(self, rows: DataFrame, batch: BatchIdentity) -> BatchCounts:
        """Decode the records, and carry them through the steps."""
        return self.runner.run(rows, batch)

    def are_outdated(self) -> bool:
        """Never: each batch is planned anew."""
        return False

    def note(self, _query: Any) -> None:
        """Nothing: such a query has no state."""
