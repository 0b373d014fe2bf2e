"""The interface of all sources: records as a stream or a batch, and rows decoded from them by the same code."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from pyspark.sql import DataFrame, Row

from spark_avro.pipeline.ports import SourceRange
from spark_avro.pipeline.sources.checkpoint_reader import Offsets
from spark_avro.pipeline.sources.parts import Part
from spark_avro.pipeline.sources.topic_ids import TopicIdsByName
from spark_avro.streams.followers import Plans


class Source(Protocol):
    """A source.

    Attributes:
        parts: The topics that are decoded in different ways: one or several parts of the pipeline's rows, whose name is
            empty, and one for each stream; none if the records are rows already.
        plans: The sources of the plans of all parts.
        refreshes: Whether versions registered after the start are read.
        table_topics: The topics that steps join as tables.
    """

    parts: Sequence[Part]
    plans: Mapping[str, Plans]
    refreshes: bool
    table_topics: Collection[str]

    def stream(self, starts: Offsets | None = None, topics: Collection[str] = ()) -> DataFrame | None:
        """The records as a stream; None for a source that is read once.

        Args:
            starts: The offsets at which a new query begins, instead of those of the file.
            topics: The only topics to read; all if empty.
        """

    def whole(self, topics: Collection[str]) -> DataFrame:
        """All records of some topics, from their first offsets to their ends."""

    def stream_starts(self) -> Offsets:
        """The offsets at which a new checkpoint begins to read the topics that are no tables."""

    def has_table_records(self) -> bool:
        """Whether a topic that is joined as a table has records."""

    def batch(self, ranges: Sequence[SourceRange] = ()) -> DataFrame:
        """The records of some offsets, or all records."""

    def empty(self) -> DataFrame:
        """No records, with the columns of all."""

    def positioned(self, records: DataFrame, name: str = "") -> DataFrame:
        """The records of the parts with a name, with `_kafka`; the columns `value` and `key` if these are decoded."""

    def place(self, position: Row, error: Row) -> str:
        """The place of a broken record in words.

        Args:
            position: Its `_kafka`.
            error: Its `error`, see `spark_avro.streams.decoder`.
        """

    def lag(self, ends: Offsets) -> Mapping[tuple[str, int], int]:
        """Return the number of records of each partition after some offsets."""

    def lost(self, ranges: Sequence[SourceRange]) -> int:
        """Return the number of records of some offsets that were deleted before they were read."""

    def topic_ids(self, topics: Collection[str]) -> TopicIdsByName:
        """The broker's ids of topics; empty if the source or the broker has none."""

    def topics(self) -> Collection[str]:
        """The topics that exist and are read; none if the source has none."""

    def cautions(self) -> Sequence[str]:
        """The changes that the source cannot notice, as `explain` tells them."""

    def first_offsets(self, topics: Collection[str]) -> Offsets:
        """The first offset of each partition of topics."""

    def replaced(self, topic_ids: TopicIdsByName) -> Collection[str]:
        """The topics that have other ids now: they were deleted and made again.

        Raises:
            TopicReplaced: there are such topics, and on-data-loss is fail.
        """

    def close(self) -> None:
        """Close connections."""
